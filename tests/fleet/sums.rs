//! Verdicts by sums: what one pass tests by lines is tested, or the verdict is none.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{accsim, code, json, text, write};

const TARGET: &str = "--accept-length 3.51 --max-accept-length 6 --decode-log-interval 40";

/// A log of so many lines of changing batches that begins at this hour; each line shows these hundredths.
fn written(folder: &Path, name: &str, day: u64, lines: u64, hundredths: impl Fn(u64, u64) -> u64) {
    written_at(folder, name, day, lines, |state| 1 + state % 300, hundredths);
}

/// The same with these batches.
fn written_at(
    folder: &Path,
    name: &str,
    day: u64,
    lines: u64,
    batch: impl Fn(u64) -> u64,
    hundredths: impl Fn(u64, u64) -> u64,
) {
    let mut text = String::new();
    let mut state = day;
    for line in 0..lines {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (batch, value) = (batch(state >> 33), hundredths(line, state >> 20));
        writeln!(
            text,
            "[2026-10-{day:02} {:02}:{:02}:{:02} TP0] Decode batch, #running-req: {batch}, #token: {line}, token usage: 0.05, \
             accept len: {}.{:02}, accept rate: 0.50, cuda graph: True, gen throughput (token/s): {}.25, #queue-req: 0",
            line / 3600,
            line / 60 % 60,
            line % 60,
            value / 100,
            value % 100,
            400 + line % 97,
        )
        .unwrap();
    }
    write(folder, name, &text);
}

/// The sum of 40 draws of 3 or 4, the latter with a chance of `share` of 256, by the bits of a number.
fn drawn(state: u64, share: u64) -> u64 {
    drawn_of(state, share, 256)
}

/// The same with a chance of `share` of `of`.
fn drawn_of(mut state: u64, share: u64, of: u64) -> u64 {
    let mut tokens = 120;
    for _ in 0..40 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        tokens += u64::from((state >> 40) % of < share);
    }
    accsim::law::printed(tokens, 40).unwrap().into()
}

/// The point of logs by parts of two commands, and the exit code.
fn merged(folder: &Path, logs: usize) -> (Value, i32) {
    let names = |half: usize| {
        let names = (0..logs).filter(|log| log % 2 == half).map(|log| format!("{log}.log"));
        names.collect::<Vec<_>>().join(" ")
    };
    for half in 0..2 {
        let line = format!("audit {} --partial --point run {TARGET} -o {half}.json", names(half));
        assert_eq!(code(&accsim(folder, &line)), 0);
    }
    let merged = accsim(folder, "merge 1.json 0.json --json");
    (json(&merged)["points"][0].clone(), code(&merged))
}

fn codes(point: &Value) -> Vec<&str> {
    point["findings"].as_array().unwrap().iter().filter_map(|finding| finding["code"].as_str()).collect()
}

#[test]
fn honest_logs_are_consistent_by_sums_and_the_table_says_that_sums_decided() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..4 {
        written(folder.path(), &format!("{number}.log"), number + 1, 1500, |_, state| drawn(state, 131));
    }
    let (merged, exit) = merged(folder.path(), 4);
    assert_eq!((merged["verdict"].as_str(), exit), (Some("consistent"), 0), "{merged}");
    assert!(codes(&merged).contains(&"judged-by-sums"), "{merged}");
    let table = super::rows(&accsim(folder.path(), "merge 0.json 1.json --format csv").stdout);
    assert!(table[0]["notes"].contains("judged-by-sums"), "{:?}", table[0]);
    let report = text(&accsim(folder.path(), "merge 0.json 1.json").stdout);
    assert!(report.contains("judged-by-sums: of some lines only sums are here"), "{report}");
    // And whoever wrote a part knew it at once.
    let line = format!("audit 0.log 1.log 2.log 3.log --partial --point run {TARGET} -o p.json");
    let said = text(&accsim(folder.path(), &line).stderr);
    let note = "run: these records do not fit: the part keeps sums of the later lines, and a verdict by lines, which stands";
    assert!(said.contains(note) && !said.contains("in one command"), "{said}");
    // Without a second look at the logs there is no such verdict.
    let mut command = Command::new(env!("CARGO_BIN_EXE_accsim"));
    command
        .current_dir(folder.path())
        .args(format!("audit - --partial {TARGET} -o p.json").split_whitespace());
    let logs: Vec<u8> =
        (0..4).flat_map(|log| fs::read(folder.path().join(format!("{log}.log"))).unwrap()).collect();
    write(folder.path(), "all.log", &text(&logs));
    let said = command.stdin(fs::File::open(folder.path().join("all.log")).unwrap()).output().unwrap();
    assert!(
        text(&said.stderr).contains("audit all logs of this point in one command"),
        "{}",
        text(&said.stderr)
    );
}

/// Lines near a whole number print wider than their sums scatter: that is no other law. Where sums give no interval, more
/// lines would not help.
#[test]
fn honest_logs_near_a_whole_number_are_not_inconsistent_by_sums() {
    for hundredths in [302, 303, 397] {
        let folder = tempfile::tempdir().unwrap();
        let flags = format!(
            "--accept-length {}.{:02} --max-accept-length 6 --decode-log-interval 40 --replay off",
            hundredths / 100,
            hundredths % 100
        );
        for number in 0..2 {
            let value = |_, state: u64| drawn_of(state, hundredths - 300, 100);
            written_at(folder.path(), &format!("{number}.log"), number + 1, 8000, |_| 16, value);
            let line = format!("audit {number}.log --partial --point run {flags} -o {number}.json");
            assert_eq!(code(&accsim(folder.path(), &line)), 0);
        }
        let merged = accsim(folder.path(), "merge 0.json 1.json --json");
        let point = &json(&merged)["points"][0];
        assert_ne!(point["verdict"], "inconsistent", "{hundredths}: {point}");
        if point["verdict"] == "insufficient" {
            assert!(
                point["reason"].as_str().unwrap().contains("only sums are here"),
                "{hundredths}: {point}"
            );
        }
    }
}

#[test]
fn another_law_of_the_same_mean_is_not_consistent() {
    // Too wide and too narrow for two lengths, around the same mean.
    for spread in [40, 8] {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..4 {
            let value = |_, state: u64| 351 - spread / 2 + state % (spread + 1);
            written(folder.path(), &format!("{number}.log"), number + 1, 1500, value);
        }
        let (merged, exit) = merged(folder.path(), 4);
        let line = format!("audit 0.log 1.log 2.log 3.log --point-by dir {TARGET} --json");
        let one = json(&accsim(folder.path(), &line))["points"][0].clone();
        assert_eq!(
            (one["verdict"].as_str(), merged["verdict"].as_str()),
            (Some("inconsistent"), Some("inconsistent"))
        );
        assert_eq!(exit, 1, "{merged}");
    }
}

#[test]
fn a_late_change_is_seen_and_named() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..4 {
        let value = |line: u64, state: u64| drawn(state, if number == 1 && line >= 1300 { 70 } else { 131 });
        written(folder.path(), &format!("{number}.log"), number + 1, 1500, value);
    }
    let (merged, exit) = merged(folder.path(), 4);
    assert_eq!((merged["verdict"].as_str(), exit), (Some("inconsistent"), 1), "{merged}");
    let findings = merged["findings"].as_array().unwrap();
    let change = findings.iter().find(|finding| finding["code"] == "config-changed-mid-run").unwrap();
    let place = &change["evidence"];
    assert_eq!(place["file"], "1.log", "{change}");
    assert!(place["line"].as_u64().unwrap().abs_diff(1300) <= 100, "{change}");
}

/// Of an evaluation run the sums do not rule out that some lines were simulated, and say so.
#[test]
fn an_evaluation_run_is_not_consistent_by_sums() {
    const FLAGS: &str = "--expect-real --decode-log-interval 40";
    let folder = tempfile::tempdir().unwrap();
    for number in 0..2 {
        written(folder.path(), &format!("{number}.log"), number + 1, 2500, |_, state| 347 + state % 9);
        let line = format!("audit {number}.log --partial --point run {FLAGS} -o {number}.json");
        assert_eq!(code(&accsim(folder.path(), &line)), 0);
    }
    let one = json(&accsim(folder.path(), &format!("audit 0.log 1.log --point-by dir {FLAGS} --json")));
    assert_eq!(one["points"][0]["verdict"], "consistent", "{one}");
    let merged = accsim(folder.path(), "merge 0.json 1.json --json");
    let point = &json(&merged)["points"][0];
    assert_eq!((point["verdict"].as_str(), code(&merged)), (Some("insufficient"), 3), "{point}");
    assert!(point["reason"].as_str().unwrap().contains("only sums are here"), "{point}");
}
