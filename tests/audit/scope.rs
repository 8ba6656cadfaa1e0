//! Which lines count: times, warm-up, segments.

use super::*;

const TARGET: &str = "--accept-length 2 --max-accept-length 4";

fn counted(document: &Value) -> Vec<(String, u64)> {
    let points = document["points"].as_array().unwrap();
    let name = |point: &Value| {
        let name = point["name"].as_str().unwrap();
        name.rsplit('/').next().unwrap().to_owned()
    };
    points.iter().map(|point| (name(point), point["decode_lines"].as_u64().unwrap())).collect()
}

fn named(pairs: &[(&str, u64)]) -> Vec<(String, u64)> {
    pairs.iter().map(|(name, lines)| ((*name).to_owned(), *lines)).collect()
}

#[test]
fn times_and_warm_up_leave_lines_out_and_say_so() {
    let log = lines("", &["2.00"; 20]);
    for (flags, kept) in [
        ("--since 2026-10-12T00:00:05", 15),
        ("--until 2026-10-12T00:00:05", 6),
        ("--since 00:00:05 --until 00:00:06", 2),
        ("--skip-lines 7", 13),
        ("--since 00:00:05 --skip-lines 7", 8),
    ] {
        let (_, document) = audit("window.log", &log, &format!("{TARGET} {flags}"));
        assert_eq!(counted(&document), named(&[("window.log", kept)]), "{flags}");
        assert_eq!(document["points"][0]["skipped_lines"]["out_of_scope"], 20 - kept, "{flags}");
    }
    let (code, document) = audit("window.log", &log, &format!("{TARGET} --since 2027-01-01"));
    assert_eq!(code, 3);
    assert!(
        finding(&document, "no-decode-lines")["message"]
            .as_str()
            .unwrap()
            .contains("all of 20 decode lines lie")
    );
    let refused = run("audit e3k5_al351.log --accept-length 3.51 --since yesterday");
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("2026-10-12T01:02:03"));
}

#[test]
fn skipped_lines_are_counted_for_each_rank() {
    let log = lines(" DP0 TP0", &["2.00"; 8]) + &lines(" DP1 TP1", &["2.00"; 8]);
    let (_, document) = audit("ranks.log", &log, &format!("{TARGET} --skip-lines 3"));
    let ranks = document["points"][0]["ranks"].as_array().unwrap().clone();
    assert_eq!(ranks.iter().map(|rank| rank["lines"].as_u64().unwrap()).collect::<Vec<_>>(), [5, 5]);
}

/// Only the servers whose lines count are looked at.
#[test]
fn a_time_window_picks_one_of_two_servers() {
    let second = lines("", &["2.00"; 8]).replace("2026-10-12", "2026-10-13");
    let log = [server("EAGLE", 5, 6), lines("", &["3.00"; 8]), server("EAGLE", 3, 4), second].concat();
    let (code, document) = audit("two.log", &log, &format!("{TARGET} --since 2026-10-13"));
    assert_eq!((code, codes(&document)), (0, vec![]));
    let (code, _) = audit("two.log", &log, "--accept-length 3 --max-accept-length 6 --until 2026-10-12");
    assert_eq!(code, 0);
}

#[test]
fn segments_are_points_of_their_own() {
    let day = |day: u32, value: &str| lines("", &[value; 8]).replace("2026-10-12", &format!("2026-10-{day}"));
    let flush = "[2026-10-13 01:00:00] Cache flushed successfully!\n";
    let log = [
        server("EAGLE", 3, 4),
        day(12, "2.00"),
        server("EAGLE", 5, 6),
        day(13, "3.00"),
        flush.to_owned(),
        day(14, "3.00"),
        // The clock goes back.
        day(11, "3.00"),
    ]
    .concat();
    let (code, document) = audit("runs.log", &log, &format!("{TARGET} --point-by segment"));
    assert_eq!(code, 1);
    assert_eq!(
        counted(&document),
        named(&[("runs.log#1", 8), ("runs.log#2", 8), ("runs.log#3", 8), ("runs.log#4", 8)])
    );
    let point = |index: usize, key: &str| document["points"][index]["server"][key].clone();
    assert_eq!([0, 1, 2, 3].map(|index| point(index, "num_steps")), [3, 5, 5, 5]);
    let verdicts: Vec<&str> = document["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| point["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["consistent", "inconsistent", "inconsistent", "inconsistent"]);
    // One run has no number, and a log twice in one file is one run.
    let (_, document) = audit(
        "run.log",
        &[day(12, "2.00"), day(12, "2.00")].concat(),
        &format!("{TARGET} --point-by segment"),
    );
    assert_eq!(counted(&document), named(&[("run.log", 8)]));
}

/// What is out of scope is shown as other skipped lines are, and segments share the hundred lines of their log.
#[test]
fn lines_out_of_scope_are_shown_on_demand() {
    let log = lines("", &["2.00"; 8]);
    let path = file("shown.log", &log);
    let output = run(&format!("audit -v {} {TARGET} --skip-lines 2", path.display()));
    let errors = text(&output.stderr);
    let shown: Vec<&str> = errors.lines().filter(|line| line.starts_with("skipped: ")).collect();
    assert_eq!(shown.len(), 2, "{errors}");
    for (line, number) in shown.iter().zip(1..) {
        let start = format!("skipped: {}:{number}: out_of_scope: #running-req: ", path.display());
        assert!(line.starts_with(&start), "{line} does not start with {start}");
    }

    let cut = "[2026-10-12 00:00:04] Decode batch, #running-req: 4\n";
    let flush = "[2026-10-12 01:00:00] Cache flushed successfully!\n";
    let segment = |day: u32| {
        lines("", &["2.00"; 8]).replace("2026-10-12", &format!("2026-10-{day}")) + &cut.repeat(70) + flush
    };
    let path = file("shown.log", &(segment(12) + &segment(13) + &lines("", &["2.00"; 8])));
    let output = run(&format!("audit -v --json {} {TARGET} --point-by segment", path.display()));
    let errors = text(&output.stderr);
    assert_eq!(errors.lines().filter(|line| line.starts_with("skipped: ")).count(), 100);
    assert_eq!(json(&output)["points"][1]["skipped_lines"]["truncated"], 70);
}

/// Lines that were not asked for were drawn all the same: passing over them is no slip.
#[test]
fn lines_that_are_passed_over_are_no_slip() {
    for flags in ["--skip-lines 5", "--skip-lines 0"] {
        let output =
            run(&format!("audit e3k5_al351.log --json --accept-length 3.51 --max-accept-length 6 {flags}"));
        let replay = json(&output)["points"][0]["replay"].clone();
        assert_eq!(replay["status"], "proved", "{replay:#}");
        assert_eq!(replay["slips"].as_array().unwrap().len(), 0, "{replay:#}");
        let lines = replay["lines_checked"].as_u64().unwrap();
        assert_eq!(replay["draws"], lines * 40, "{replay:#}");
    }
}
