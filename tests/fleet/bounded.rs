//! Parts stay small however long the logs of a point are and however many, and lose nothing of a verdict by it.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{TARGET, accsim, code, json, log, text, write};

/// The first point as one pass over the paths judges it.
fn one_pass(folder: &Path, paths: &str) -> Value {
    json(&accsim(folder, &format!("audit {paths} {TARGET} --json")))["points"][0].clone()
}

/// The first point of some parts, without what only tables of many runs say, and what was noted.
fn merged(folder: &Path, parts: &str) -> (Value, String) {
    let output = accsim(folder, &format!("merge {parts} --json"));
    let document = json(&output);
    let mut point = document["points"][0].clone();
    for own in ["row", "labels"] {
        point.as_object_mut().unwrap().remove(own);
    }
    (point, document["notes"].to_string())
}

/// Fields of a judged point, but for its target, which stands elsewhere in an audit of one.
fn same(found: &Value, expected: &Value, what: &str) {
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&found[name], value, "{what}: {name}");
    }
}

fn part(folder: &Path, paths: &str, name: &str) -> u64 {
    let output = accsim(folder, &format!("audit {paths} --partial --point run {TARGET} -o {name}"));
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    fs::metadata(folder.join(name)).unwrap().len()
}

#[test]
fn a_long_log_is_judged_as_one_pass_judges_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("run")).unwrap();
    log(folder.path(), "run/a.log", 1, 8000, "");
    let one = one_pass(folder.path(), "run");
    assert!(part(folder.path(), "run", "a.json") < 64 << 10);
    let (found, notes) = merged(folder.path(), "a.json a.json");
    same(&found, &one, "part");
    assert_eq!(notes, "[]");
    // Through another part, and back.
    assert_eq!(code(&accsim(folder.path(), "merge a.json --partial -o again.json")), 0);
    same(&merged(folder.path(), "again.json a.json").0, &one, "again");
    assert_eq!(
        fs::read(folder.path().join("a.json")).unwrap(),
        fs::read(folder.path().join("again.json")).unwrap()
    );
    // As a table: byte for byte.
    write(folder.path(), "m.csv", "path,accept_length,max_accept_length\nrun,3.5,6\n");
    let expected = accsim(folder.path(), "audit --manifest m.csv --format csv");
    assert_eq!(code(&accsim(folder.path(), "audit --manifest m.csv --partial -o m.json")), 0);
    let found = accsim(folder.path(), "merge m.json --format csv");
    assert_eq!(text(&found.stdout), text(&expected.stdout));
    // Another log joins: the sums decide, and that is said.
    log(folder.path(), "run/b.log", 2, 60, "");
    part(folder.path(), "run/b.log", "b.json");
    let (found, notes) = merged(folder.path(), "b.json a.json");
    let one = one_pass(folder.path(), "run");
    for name in ["verdict", "accept_len", "spec_lines", "steps", "independent_steps"] {
        assert_eq!(found[name], one[name], "{name}");
    }
    let output = accsim(folder.path(), "merge b.json a.json --json");
    assert!(text(&output.stdout).contains("of 1 of 2 logs the parts hold first lines and sums"), "{notes}");
}

#[test]
fn many_logs_of_one_point_stay_small_together() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("run")).unwrap();
    let mut parts = Vec::new();
    for number in 0..24 {
        log(folder.path(), &format!("run/{number:02}.log"), number, 400, "");
        // Each at another time: lines that logs share would be copies.
        let name = format!("run/{number:02}.log");
        let lines = fs::read_to_string(folder.path().join(&name)).unwrap();
        write(folder.path(), &name, &lines.replace("[20", &format!("[{}", 20 + number)));
        part(folder.path(), &name, &format!("p{number}.json"));
        parts.push(format!("p{number}.json"));
    }
    let one = one_pass(folder.path(), "run");
    assert!(part(folder.path(), "run", "whole.json") < 64 << 10);
    let (found, notes) = merged(folder.path(), "whole.json");
    same(&found, &one, "whole");
    assert_eq!(notes, "[]");
    // By commands of their own no one saw all of them: at once, in steps, in any order and with duplicates the same.
    let all = parts.join(" ");
    let (at_once, _) = merged(folder.path(), &all);
    assert_eq!(code(&accsim(folder.path(), &format!("merge {all} --partial -o all.json"))), 0);
    assert!(fs::metadata(folder.path().join("all.json")).unwrap().len() < 64 << 10);
    same(&merged(folder.path(), "all.json").0, &at_once, "all");
    same(&merged(folder.path(), "all.json p7.json").0, &at_once, "all and one");
    same(&merged(folder.path(), &format!("all.json whole.json {all}")).0, &one, "with one pass");
    let half = |range: std::ops::Range<usize>, name: &str| {
        let given = parts[range].join(" ");
        assert_eq!(code(&accsim(folder.path(), &format!("merge {given} --partial -o {name}"))), 0);
        let size = fs::metadata(folder.path().join(name)).unwrap().len();
        assert!(size < 64 << 10, "{name}: {size}");
    };
    half(0..15, "h1.json");
    half(9..24, "h2.json");
    let (forth, _) = merged(folder.path(), "h1.json h2.json");
    let (back, _) = merged(folder.path(), "h2.json h1.json h2.json");
    assert_eq!(forth, back);
    assert_eq!(forth, at_once);
    for name in ["verdict", "spec_lines", "decode_lines", "steps", "independent_steps", "ranks"] {
        assert_eq!(forth[name], one[name], "{name}");
    }
    for name in ["mean", "min", "max", "ci_low", "ci_high"] {
        let of = |point: &Value| point["accept_len"][name].as_f64().unwrap();
        assert!((of(&forth) - of(&one)).abs() < 0.0005, "{name}: {} {}", of(&forth), of(&one));
    }
}

/// Ranks of which only sums are left: nobody can see whether they drew the same, so no more steps count than if they did.
#[test]
fn ranks_of_sums_count_for_no_more_than_in_one_pass() {
    let ranks = |number: u64, ranks: &str| match ranks {
        "mixed" => 1 + number % 2,
        other => other.parse().unwrap(),
    };
    for (all, logs, lines, flags) in [
        ("8", 6, 200, ""),
        ("8", 6, 200, "--ranks-share-draws false"),
        ("mixed", 8, 800, "--running-req 1-20"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("run")).unwrap();
        let mut parts = Vec::new();
        for number in 0..logs {
            let name = format!("run/{number:02}.log");
            let flags = format!("{flags} --ranks {}", ranks(number, all));
            log(folder.path(), &name, number + 1, lines, &flags);
            // Lines that logs share would be copies.
            let content = fs::read_to_string(folder.path().join(&name)).unwrap();
            write(folder.path(), &name, &content.replace("[20", &format!("[{}", 20 + number)));
            part(folder.path(), &name, &format!("p{number}.json"));
            parts.push(format!("p{number}.json"));
        }
        let what = format!("{all} ranks {flags}");
        let one = one_pass(folder.path(), "run");
        let (found, notes) = merged(folder.path(), &parts.join(" "));
        assert!(notes.contains("several ranks count as one sample"), "{what}: {notes}");
        for name in ["decode_lines", "spec_lines", "steps", "ranks", "running_req", "skipped_lines"] {
            assert_eq!(found[name], one[name], "{what}: {name}");
        }
        for name in ["mean", "weighted", "min", "max"] {
            assert_eq!(found["accept_len"][name], one["accept_len"][name], "{what}: {name}");
        }
        let number = |point: &Value, name: &str| point[name].as_f64().unwrap();
        assert_eq!(found["rank_correlation"], 1.0, "{what}");
        let steps = [&found, &one].map(|point| number(point, "independent_steps"));
        assert!(steps[0] <= steps[1] + 1e-6, "{what}: {steps:?}");
        let width = |point: &Value| {
            point["accept_len"]["ci_high"].as_f64().unwrap() - point["accept_len"]["ci_low"].as_f64().unwrap()
        };
        assert!(width(&found) >= 0.999 * width(&one), "{what}: {} {}", width(&found), width(&one));
        let is_told = |finding: &Value| finding["code"] == "ranks-share-draws";
        assert!(found["findings"].as_array().unwrap().iter().any(is_told), "{what}");
        assert_eq!(found["gen_throughput_tps"]["median"], Value::Null, "{what}");
    }
}

/// Rows of one path that differ in what they say stay apart, and what fails in a row is that row's.
#[test]
fn rows_are_put_together_as_the_manifest_has_them() {
    let folder = super::runs();
    fs::create_dir(folder.path().join("workers")).unwrap();
    for worker in [10, 2] {
        let name = format!("workers/node1_decode_w{worker}.out");
        log(folder.path(), &name, worker, 60, "");
    }
    write(
        folder.path(),
        "short.env",
        "SGLANG_SIMULATE_ACC_LEN=3.5\nSGLANG_SIMULATE_ACC_METHOD=match-expected\n",
    );
    write(
        folder.path(),
        "m.jsonl",
        r#"{"path":"a.log","accept_length":3.5,"max_accept_length":6,"labels":{"b":"1"}}
{"path":"a.log","accept_length":3.5,"max_accept_length":6,"labels":{"a":"2"}}
{"path":["b.log","none.log"],"accept_length":3.5,"max_accept_length":6}
{"path":"workers","accept_length":3.5,"max_accept_length":6}
{"path":"a.log","accept_length":3.5,"max_accept_length":6,"labels":{"b":"1"}}
{"path":"b.log","accept_length":3.5}
{"path":"b.log","env":"short.env"}
{"path":"b.log","accept_length":3.5,"max_accept_length":6,"engine":"vllm"}
{"path":"c.log","accept_length":3.5,"max_accept_length":6,"since":"2026-10-13","until":"2026-10-12"}
"#,
    );
    let expected = accsim(folder.path(), "audit --manifest m.jsonl --format csv");
    for index in 1..=3 {
        accsim(
            folder.path(),
            &format!("audit --manifest m.jsonl --shard {index}/3 --partial -o p{index}.json"),
        );
    }
    for order in ["p1.json p2.json p3.json", "p3.json p1.json p2.json p1.json"] {
        let found = accsim(folder.path(), &format!("merge {order} --format csv"));
        assert_eq!(text(&found.stdout), text(&expected.stdout), "{order}");
        assert_eq!(code(&found), code(&expected));
        let found = accsim(folder.path(), &format!("merge {order} --json"));
        let expected = json(&accsim(folder.path(), "audit --manifest m.jsonl --json"));
        for part in ["points", "errors", "verdicts"] {
            assert_eq!(json(&found)[part], expected[part], "{order}: {part}");
        }
    }
    let table = text(&expected.stdout);
    assert!(table.lines().any(|line| line.starts_with("9,") && line.contains("2026-10-13")), "{table}");
    // The engine of a row decides as the flag does.
    let rows = super::rows(&expected.stdout);
    let row = rows.iter().find(|row| row["row"] == "8").unwrap();
    assert_eq!((row["engine"].as_str(), row["verdict"].as_str()), ("vllm", "insufficient"));
    let alone = json(&accsim(folder.path(), &format!("audit b.log {TARGET} --engine vllm --json")));
    assert_eq!(alone["points"][0]["verdict"], "insufficient");
    let flagged =
        super::rows(&accsim(folder.path(), "audit --manifest m.jsonl --engine vllm --format csv").stdout);
    assert!(flagged.iter().filter(|row| !row["verdict"].is_empty()).all(|row| row["engine"] == "vllm"));
}

/// Rows that whoever spread them had to give up.
#[test]
fn a_row_that_was_lost_says_why() {
    let folder = super::runs();
    write(folder.path(), "m.csv", "path,accept_length,max_accept_length\na.log,3.5,6\nb.log,3.5,6\n");
    accsim(folder.path(), "audit --manifest m.csv --shard 1/2 --partial -o p1.json");
    let lost =
        accsim(folder.path(), "audit --manifest m.csv --shard 2/2 --partial --failure=gone -o p2.json");
    assert_eq!(code(&lost), 2);
    let found = accsim(folder.path(), "merge p1.json p2.json --format csv");
    let rows = super::rows(&found.stdout);
    assert_eq!(
        (rows.len(), rows[0]["verdict"].as_str(), rows[1]["failure"].as_str()),
        (2, "consistent", "gone")
    );
}
