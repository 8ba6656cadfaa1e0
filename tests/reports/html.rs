//! Pages and drawings, without a browser; `tests/browser/` opens them in one.

use std::fmt::Write as _;
use std::fs;

use crate::support::{GOLDEN, SEVERAL, folder, logs, program, run, snapshot, stdout, text};

/// The page without its style and its script, which are the same on every page.
fn bare(page: &str) -> String {
    let mut rest = page;
    let mut bare = String::new();
    for (open, close) in [("<style>", "</style>"), ("<script>", "</script>")] {
        let (before, behind) = rest.split_once(open).unwrap();
        let (_, behind) = behind.split_once(close).unwrap();
        bare.push_str(before);
        rest = behind;
    }
    bare + rest
}

/// Without what follows from its look alone.
fn shown(page: &str) -> String {
    let bare = bare(page).replace(env!("CARGO_PKG_VERSION"), "[VERSION]");
    let line = |line: &&str| !line.contains("Content-Security-Policy");
    bare.lines().filter(line).fold(String::new(), |text, line| text + line + "\n")
}

fn page_of(line: &str, code: i32) -> String {
    let output = run(&format!("{line} --format html"));
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(code), String::new()), "{line}");
    stdout(&output)
}

#[test]
fn one_point_as_a_page() {
    snapshot("golden.html", shown(&page_of(GOLDEN, 0)));
}

#[test]
fn a_page_is_one_file_under_a_strict_policy() {
    let page = page_of(SEVERAL, 1);
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    let policy = page.lines().find(|line| line.contains("Content-Security-Policy")).unwrap();
    for part in ["default-src &#39;none&#39;", "base-uri &#39;none&#39;", "form-action &#39;none&#39;"] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    let bare = bare(&page);
    for foreign in
        ["http:", "https:", "src=", "<link rel=\"stylesheet\"", "style=\"", "onclick", "<iframe", "@import"]
    {
        assert!(!bare.contains(foreign), "{foreign}");
    }
    // Each plot has a title and a description; each finding that a line shows leads to its mark.
    let count = |what: &str| bare.matches(what).count();
    assert_eq!((count("<svg "), count("<desc "), count("role=\"img\"")), (18, 18, 18));
    assert_eq!(count("show in the plot"), count("class=\"mark\""));
    assert!(count("class=\"mark\"") >= 6);
    // The sign-off text is the Markdown report.
    let markdown = stdout(&run(&format!("{SEVERAL} --format markdown")));
    let signoff =
        bare.split_once("<pre id=\"signoff\" tabindex=\"0\">").unwrap().1.split_once("</pre>").unwrap().0;
    let plain =
        signoff.replace("&#39;", "'").replace("&#34;", "\"").replace("&#60;", "<").replace("&#62;", ">");
    assert_eq!(plain.replace("&#38;", "&"), markdown);
}

#[test]
fn a_page_beside_the_result_leaves_it_as_it_is() {
    let folder = folder("beside");
    let file = folder.join("page.html");
    let mut command = program(&logs(), SEVERAL);
    let output = command.arg("--html").arg(&file).output().unwrap();
    assert_eq!(output.stdout, run(SEVERAL).stdout);
    assert_eq!(fs::read_to_string(&file).unwrap(), page_of(SEVERAL, 1));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    let output = program(&logs(), GOLDEN).args(["--html", "no/such/folder/page.html"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn a_hostile_log_marks_nothing_up() {
    let page = crate::hostile::report("html");
    snapshot("hostile.html", shown(&page));
    let bare = bare(&page);
    assert!(!bare.contains(['\u{1b}', '\u{202e}']));
    for (what, times) in
        [("<img", 0), ("<b>", 0), ("<script", 0), ("<style", 0), ("onerror=", 0), ("</td><", 0)]
    {
        // A table cell is followed by another, or by the end of its row.
        let found = bare.replace("</td><td", "").replace("</td></tr>", "").matches(what).count();
        assert_eq!(found, times, "{what}");
    }
    assert!(bare.contains("&#60;img src=a&#62;"), "the name is shown");
}

#[test]
fn drawings_are_files_that_parse() {
    let folder = folder("drawings");
    let data = logs().join("../throughput");
    let lines = [
        (logs(), SEVERAL.to_owned(), 1),
        (data.clone(), "throughput predict h200_k3_k5.json --draft-length 5 --accept-length 2,3.51".to_owned(), 0),
        (
            data.clone(),
            "throughput simulate h200_k3_k5.json --draft-length 5 --accept-length 3.51 --concurrency 1,4 --isl 100 --osl 100 \
             --duration 5"
                .to_owned(),
            0,
        ),
        (data.clone(), "throughput sweep h200_k3_k5.json --curve glm5.2_mtp --duration 5 --replicates 2".to_owned(), 0),
        (data.clone(), "throughput pareto signoff_points.csv --x e2e_p75_s --y tps_per_gpu".to_owned(), 0),
        (data, "curves plot".to_owned(), 0),
    ];
    for (number, (place, line, code)) in lines.into_iter().enumerate() {
        let file = folder.join(format!("{number}.svg"));
        let output = program(&place, &line).arg("-o").arg(&file).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(code), 0), "{line}: {said}");
        let drawing = fs::read_to_string(&file).unwrap();
        let document = roxmltree::Document::parse(&drawing).unwrap();
        let count = |name: &str| {
            document
                .descendants()
                .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", name)))
                .count()
        };
        assert!(count("desc") >= 1 && count("path") >= 4 && count("script") == 0, "{line}");
        assert_eq!(count("title"), count("desc") + 1 + drawing.matches("class=\"mark\"").count(), "{line}");
    }
}

#[test]
fn terminals_have_small_plots() {
    let folder = logs().join("../throughput");
    for line in [
        "throughput predict h200_k3_k5.json --draft-length 5 --accept-length 2,3.51",
        "throughput pareto signoff_points.csv --x e2e_p75_s --y tps_per_gpu",
    ] {
        let plain = stdout(&program(&folder, &format!("{line} -q")).output().unwrap());
        let drawn = stdout(&program(&folder, &format!("{line} -v")).output().unwrap());
        assert!(drawn.starts_with(&plain) && !plain.contains('└'), "{line}");
        assert!(drawn.contains('└') && drawn.contains('•'), "{drawn}");
        let first = stdout(&program(&folder, line).output().unwrap());
        assert!(drawn.starts_with(&first) && first.matches('└').count() == 1, "{first}");
        assert!(
            drawn.lines().all(|line| line.starts_with(plain.lines().next().unwrap())
                || line.chars().count() <= 110
                || plain.contains(line)),
            "{drawn}"
        );
    }
}

/// A hundred thousand lines of four ranks, one of which stands out far.
#[test]
fn many_lines_are_drawn_in_stretches_that_lose_no_extreme() {
    let folder = folder("many");
    let mut log = String::from(
        "[2026-10-12 00:00:00] server_args=ServerArgs(model_path='m', speculative_algorithm='EAGLE3', speculative_num_steps=5, \
         speculative_eagle_topk=1, speculative_num_draft_tokens=6, decode_log_interval=40)\n",
    );
    for line in 0..100_000_u32 {
        let (rank, second) = (line % 4, line / 8);
        let value = if line == 54_321 { 599 } else { 300 + line.wrapping_mul(2_654_435_761) % 41 * 5 / 2 };
        writeln!(
            log,
            "[2026-10-12 {:02}:{:02}:{:02} DP{rank}] Decode batch, #running-req: {}, #token: 100, token usage: 0.05, accept \
             len: {}.{:02}, accept rate: 0.50, cuda graph: True, gen throughput (token/s): {}.00, #queue-req: 0",
            second / 3600,
            second / 60 % 60,
            second % 60,
            8 + line % 7,
            value / 100,
            value % 100,
            500 + line % 90
        )
        .unwrap();
    }
    fs::write(folder.join("many.log"), log).unwrap();
    let line = "audit many.log --accept-length 3.51 --max-accept-length 6 --format html";
    let page = stdout(&program(&folder, line).output().unwrap());
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let caption = page.split_once("<figcaption>").unwrap().1.split_once("</figcaption>").unwrap().0;
    assert!(caption.starts_with("100,000 decode lines of 4 ranks. Downsampled: "), "{caption}");
    assert!(caption.contains("stretches of up to 32 lines"), "{caption}");
    // The top of the axis is 6: the line that stands out is in a band.
    let first = page.split_once("<svg ").unwrap().1.split_once("</svg>").unwrap().0;
    assert!(first.contains(">6.0</text>") && first.contains("class=\"band s3\""), "{first:.2000}");
}
