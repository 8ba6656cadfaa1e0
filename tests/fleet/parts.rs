//! `audit --partial` and `merge`: whatever the split and the order, what one pass over all logs says.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use super::{TARGET, accsim, code, json, log, rows, runs, text, write};

const REAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/h200/e3k3_al299.log");
const REAL_TARGET: &str = "--model glm5.2 --method mtp --draft-length 3";

/// What one pass over the folder says.
fn one_pass(folder: &Path, target: &str) -> Value {
    json(&accsim(folder, &format!("audit run {target} --json")))
}

/// Writes the part of some logs of the point `run`.
fn part(folder: &Path, name: &str, logs: &[&String], target: &str) {
    let logs: Vec<String> = logs.iter().map(|log| format!("run/{log}")).collect();
    let output =
        accsim(folder, &format!("audit {} --partial --point run {target} -o {name}", logs.join(" ")));
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
}

/// The document without what only a part's judge cannot know.
fn merged(folder: &Path, parts: &[String]) -> Value {
    let output = accsim(folder, &format!("merge {} --json", parts.join(" ")));
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    json(&output)
}

/// Splits the logs of `run` at random, merges at random, with duplicates and in steps, and compares with `expected`.
fn splits(folder: &Path, target: &str, cases: u32, expected: &Value) {
    let mut logs: Vec<String> = fs::read_dir(folder.join("run"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    logs.sort();
    let plan = (
        prop::collection::vec(0_usize..3, logs.len()),
        Just((0..logs.len()).collect::<Vec<_>>()).prop_shuffle(),
        prop::collection::vec(0_usize..3, 0..4),
        any::<bool>(),
        any::<bool>(),
    );
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    // Where sums decide, a part of all logs knows better: it has the verdict of one pass.
    let is_summed = expected["notes"].as_array().is_some_and(|notes| !notes.is_empty());
    let run = runner.run(&plan, |(groups, order, again, nested, backwards)| {
        prop_assume!(!is_summed || groups.iter().any(|group| *group != groups[0]));
        let mut parts = Vec::new();
        for group in 0..3 {
            let own: Vec<&String> =
                order.iter().filter(|log| groups[**log] == group).map(|log| &logs[*log]).collect();
            if !own.is_empty() {
                let name = format!("part{group}.json");
                part(folder, &name, &own, target);
                parts.push(name);
            }
        }
        let mut given = parts.clone();
        given.extend(again.iter().map(|index| parts[index % parts.len()].clone()));
        if backwards {
            given.reverse();
        }
        if nested {
            // The first two of them together, and that with all.
            let first = given.iter().take(2).cloned().collect::<Vec<_>>().join(" ");
            let output = accsim(folder, &format!("merge {first} --partial -o nested.json"));
            prop_assert_eq!(code(&output), 0);
            given.push("nested.json".to_owned());
            given.swap_remove(0);
        }
        let found = merged(folder, &given);
        prop_assert_eq!(&found, expected, "{:?}", given);
        Ok(())
    });
    run.unwrap();
}

/// A real log in pieces: the draws go on from file to file, and the proof with them.
#[test]
fn a_real_run_in_pieces_is_proved_from_its_parts() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("run")).unwrap();
    let whole = fs::read_to_string(REAL).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    for (number, piece) in lines.chunks(lines.len().div_ceil(4)).enumerate() {
        write(folder.path(), &format!("run/{number}.log"), &format!("{}\n", piece.join("\n")));
    }
    let expected = one_pass(folder.path(), REAL_TARGET);
    assert_eq!(expected["points"][0]["replay"]["status"], "proved");
    splits(folder.path(), REAL_TARGET, 4, &expected);
}

/// Ranks in files of their own, a file that repeats lines of another, and a copy under a second name.
#[test]
fn ranks_and_copies_between_files_count_as_in_one_pass() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("run")).unwrap();
    log(folder.path(), "all.log", 5, 300, "--ranks 4 --ranks-share-draws false");
    let all = fs::read_to_string(folder.path().join("all.log")).unwrap();
    let with = |tag: &str| {
        let lines: Vec<&str> = all.lines().filter(|line| line.contains(tag)).collect();
        lines.join("\n") + "\n"
    };
    for rank in 0..4 {
        let tag = format!("DP{rank}");
        assert!(!with(&tag).is_empty(), "{}", all.lines().next().unwrap());
        write(folder.path(), &format!("run/rank{rank}.log"), &with(&tag));
    }
    write(folder.path(), "run/copy.log", &with("DP1"));
    let own = with("DP2");
    let some: Vec<&str> = own.lines().skip(10).take(20).collect();
    write(folder.path(), "run/again.log", &format!("{}\n", some.join("\n")));
    let expected = one_pass(folder.path(), TARGET);
    let duplicates = expected["points"][0]["skipped_lines"]["duplicate"].as_u64().unwrap();
    assert!(duplicates >= 20, "{duplicates}");
    splits(folder.path(), TARGET, 4, &expected);
}

/// A long log's part stays small; what its sums say is what the lines say.
#[test]
fn a_long_log_is_small_and_its_sums_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("run")).unwrap();
    log(folder.path(), "run/a.log", 1, 9000, "");
    log(folder.path(), "run/b.log", 2, 5000, "");
    log(folder.path(), "run/c.log", 3, 100, "");
    let one = one_pass(folder.path(), TARGET);
    let all = ["a.log", "b.log", "c.log"].map(str::to_owned);
    let mut parts = Vec::new();
    for name in &all {
        let file = format!("{name}.json");
        part(folder.path(), &file, &[name], TARGET);
        let size = fs::metadata(folder.path().join(&file)).unwrap().len();
        assert!(size < 64 << 10, "{name}: {size}");
        parts.push(file);
    }
    let expected = merged(folder.path(), &parts);
    let (found, one) = (&expected["points"][0], &one["points"][0]);
    for same in [
        "verdict",
        "accept_len",
        "decode_lines",
        "spec_lines",
        "steps",
        "ranks",
        "running_req",
        "cuda_graph",
        "skipped_lines",
        "queue_req",
        "server",
        "independent_steps",
        "line",
        "files",
    ] {
        assert_eq!(found[same], one[same], "{same}");
    }
    assert_eq!(found["mechanism"]["best"], one["mechanism"]["best"]);
    assert_eq!(found["mechanism"]["dispersion"], one["mechanism"]["dispersion"]);
    // The sum over ranks of what nobody kept is not guessed, nor that of three servers at the same time.
    let alone = json(&accsim(folder.path(), &format!("audit run/a.log {TARGET} --json")));
    for name in ["median", "steady_mean"] {
        assert_eq!(found["gen_throughput_tps"][name], Value::Null, "{name}");
        assert_eq!(one["gen_throughput_tps"][name], Value::Null, "{name}");
        assert!(alone["points"][0]["gen_throughput_tps"][name].is_number(), "{name}");
    }
    // Lines whose draws nobody followed are proved by nobody.
    assert_ne!(found["replay"]["status"], "proved");
    splits(folder.path(), TARGET, 2, &expected);
}

/// Hostile or merely wild logs: many ranks, many batch sizes. The bound holds.
#[test]
fn no_log_makes_a_large_part() {
    use std::fmt::Write as _;
    let folder = tempfile::tempdir().unwrap();
    let mut wild = String::new();
    let mut state = 1_u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for line in 0..3500_u64 {
        let (rank, batch, value, rate, tps) = (next(200), next(5000), next(3000), next(100), next(100_000));
        let (minutes, seconds) = (line / 60 % 60, line % 60);
        writeln!(
            wild,
            "[2026-10-12 {:02}:{minutes:02}:{seconds:02} DP{rank} TP0] Decode batch, #running-req: {batch}, #token: {line}, \
             token usage: 0.05, accept len: {}.{:02}, accept rate: 0.{rate:02}, cuda graph: {}, gen throughput (token/s): \
             {tps}.00, #queue-req: {}",
            line / 3600,
            1 + value / 100,
            value % 100,
            if next(2) == 0 { "True" } else { "False" },
            next(1000),
        )
        .unwrap();
        if line % 100 == 0 {
            let long = "x".repeat(5000);
            writeln!(wild, "SGLANG_SIMULATE_ACC_LEN=3.{line}{long}").unwrap();
        }
    }
    write(folder.path(), "wild.log", &wild);
    let output = accsim(folder.path(), &format!("audit wild.log --partial {TARGET} -o wild.json"));
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let size = fs::metadata(folder.path().join("wild.json")).unwrap().len();
    assert!(size < 64 << 10, "{size}");
    let one = json(&accsim(folder.path(), &format!("audit wild.log {TARGET} --json")));
    let found = merged(folder.path(), &["wild.json".to_owned()]);
    for same in ["verdict", "accept_len", "decode_lines", "spec_lines"] {
        if same != "accept_len" {
            assert_eq!(found["points"][0][same], one["points"][0][same], "{same}");
        }
    }
    for same in ["mean", "weighted", "min", "max"] {
        assert_eq!(found["points"][0]["accept_len"][same], one["points"][0]["accept_len"][same], "{same}");
    }
}

#[test]
fn what_is_damaged_or_newer_is_refused_by_name_and_the_rest_kept() {
    let folder = runs();
    for name in ["a", "b"] {
        let output = accsim(folder.path(), &format!("audit {name}.log --partial {TARGET} -o {name}.json"));
        assert_eq!(code(&output), 0);
    }
    let good = fs::read_to_string(folder.path().join("b.json")).unwrap();
    let points = |output: &std::process::Output| json(output)["points"].as_array().unwrap().len();
    let check = |content: &str, said: &str| {
        write(folder.path(), "bad.json", content);
        let output = accsim(folder.path(), "merge a.json bad.json --json");
        assert_eq!((code(&output), points(&output)), (2, 1), "{said}");
        let errors = text(&output.stderr);
        assert!(errors.contains("bad.json") && errors.contains(said), "{said}: {errors}");
    };
    check(&good.replacen("\"accsim_part\":2", "\"accsim_part\":3", 1), "version 3");
    check(&good.replacen("\"accsim_part\":2", "\"accsim_part\":1", 1), "version 1");
    // A point that is gone.
    let end = good.find("\n],\"sum\"").unwrap();
    check(&format!("{}{}", &good[..=good.find('[').unwrap()], &good[end..]), "damaged");
    check("", "ends early");
    check("{}", "not a part");
    check(&good[..good.len() / 2], "ends early");
    check(&good.replacen("3.5", "3.6", 1), "damaged");
    // Any single character that is no blank.
    let bytes = good.as_bytes();
    for at in (0..bytes.len()).step_by(331) {
        if !bytes[at].is_ascii_alphanumeric() {
            continue;
        }
        let mut bad = bytes.to_vec();
        bad[at] = if bad[at] == b'x' { b'y' } else { b'x' };
        let bad = String::from_utf8(bad).unwrap();
        check(&bad, "bad.json");
    }
}

/// A transfer as text changes line ends, and an editor may put a mark before the first: the part is still whole.
#[test]
fn a_part_that_was_sent_as_text_is_read() {
    let folder = runs();
    let line = format!("audit a.log b.log --partial {TARGET} -o p.json");
    assert_eq!(code(&accsim(folder.path(), &line)), 0);
    let expected = accsim(folder.path(), "merge p.json --json");
    let part = fs::read_to_string(folder.path().join("p.json")).unwrap();
    for sent in [
        format!("\u{feff}{part}"),
        part.replace('\n', "\r\n"),
        format!("\u{feff}{}", part.replace('\n', "\r\n")),
    ] {
        write(folder.path(), "p.json", &sent);
        let found = accsim(folder.path(), "merge p.json --json");
        assert_eq!(
            (text(&found.stdout), code(&found)),
            (text(&expected.stdout), 0),
            "{}",
            text(&found.stderr)
        );
    }
}

#[test]
fn flags_that_a_part_cannot_keep_are_refused() {
    let folder = runs();
    for flags in [
        "--skip-lines 3",
        "--point-by segment",
        "--follow",
        "--html page.html",
        "--format csv",
        "--format markdown",
    ] {
        assert_eq!(
            code(&accsim(folder.path(), &format!("audit a.log --partial {TARGET} {flags}"))),
            2,
            "{flags}"
        );
    }
    write(folder.path(), "m.csv", "path,accept_length,max_accept_length,skip_lines\na.log,3.5,6,3\n");
    for line in [
        "audit --manifest m.csv --html page.html",
        "audit --manifest m.csv --partial --format csv",
        "audit --manifest m.csv --partial -o p.json",
    ] {
        assert_eq!(code(&accsim(folder.path(), line)), 2, "{line}");
    }
    assert!(!folder.path().join("page.html").exists());
    // The command line is told once, whatever the number of rows.
    for flags in ["--skip-lines 3", "--point-by segment"] {
        let output = accsim(folder.path(), &format!("audit --manifest m.csv --partial {flags} -o no.json"));
        let said = text(&output.stderr);
        assert_eq!((code(&output), said.lines().count()), (2, 1), "{said}");
        assert!(
            said.starts_with(&format!("error: {flags}").replace(" 3", "")) && !said.contains("line "),
            "{said}"
        );
        assert!(!folder.path().join("no.json").exists());
    }
    // A row is told in its own words.
    let refused = text(&accsim(folder.path(), "audit --manifest m.csv --partial -o p.json").stderr);
    assert!(refused.contains("line 2: skip_lines counts from"), "{refused}");
    accsim(folder.path(), &format!("audit a.log --partial {TARGET} -o p.json"));
    assert_eq!(code(&accsim(folder.path(), "merge p.json --partial --format csv")), 2);
    // What it can keep decides at the merge as it would have in the audit.
    for flags in ["--margin 0.7%", "--confidence 0.99", "--replay off", "--since 00:00:10", "--expect-real"] {
        let target = if flags == "--expect-real" { "" } else { TARGET };
        accsim(folder.path(), &format!("audit a.log --partial {target} {flags} -o p.json"));
        let found = accsim(folder.path(), "merge p.json --json");
        let expected = accsim(folder.path(), &format!("audit a.log {target} {flags} --json"));
        assert_eq!(json(&found), json(&expected), "{flags}");
        assert_eq!(code(&found), code(&expected), "{flags}");
    }
}

/// The recipe of a Slurm array: shards of a manifest, each a part, then one merge.
#[test]
fn shards_of_a_manifest_merge_to_its_table() {
    let folder = runs();
    let manifest = "\
path,accept_length,max_accept_length,label_team
a.log,3.5,6,red
rounded.log,3.5,6,blue
none.log,3.5,6,red
b.log,3.5,6,
";
    write(folder.path(), "m.csv", manifest);
    let expected = accsim(folder.path(), "audit --manifest m.csv --format csv");
    for index in 1..=2 {
        let line =
            format!("audit --manifest m.csv --shard {index}/2 --journal j{index} --partial -o p{index}.json");
        assert_eq!(code(&accsim(folder.path(), &line)), if index == 1 { 2 } else { 0 });
    }
    for order in ["p1.json p2.json", "p2.json p1.json p2.json"] {
        let found = accsim(folder.path(), &format!("merge {order} --format csv"));
        assert_eq!(text(&found.stdout), text(&expected.stdout));
        assert_eq!(code(&found), code(&expected));
    }
    assert_eq!(rows(&expected.stdout).len(), 4);
    let table = accsim(folder.path(), "merge p1.json p2.json --format parquet -o t.parquet");
    assert_eq!(code(&table), 2);
    assert!(folder.path().join("t.parquet").exists());
}
