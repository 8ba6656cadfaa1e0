//! The logs of one point by many commands: whatever tree their parts are merged in, the same bytes and the same verdict.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{TARGET, accsim, code, json, log, text, write};

fn part(folder: &Path, paths: &str, name: &str) {
    let output = accsim(folder, &format!("audit {paths} --partial --point run {TARGET} -o {name}"));
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
}

/// Merges parts into one and returns its bytes.
fn merge(folder: &Path, parts: &[&str], name: &str) -> Vec<u8> {
    let output = accsim(folder, &format!("merge {} --partial -o {name}", parts.join(" ")));
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let bytes = fs::read(folder.join(name)).unwrap();
    assert!(bytes.len() < 64 << 10, "{name}: {}", bytes.len());
    bytes
}

/// Merges in trees that the numbers choose, parts twice and in any order, and compares with all at once.
fn trees(folder: &Path, parts: &[String], cases: u32) {
    let all: Vec<&str> = parts.iter().map(String::as_str).collect();
    let expected = merge(folder, &all, "expected.json");
    let verdict = accsim(folder, &format!("merge {} --json", all.join(" "))).stdout;
    assert_eq!(accsim(folder, "merge expected.json --json").stdout, verdict);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let steps = prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4);
    let plan = (Just(parts.to_vec()).prop_shuffle(), steps);
    let run = runner.run(&plan, |(mut forest, steps)| {
        for (number, (left, right)) in steps.iter().enumerate() {
            let (left, right) = (left.index(forest.len()), right.index(forest.len()));
            let name = format!("step{number}.json");
            merge(folder, &[&forest[left], &forest[right]], &name);
            // The right one stays: it comes again.
            forest[left] = name;
        }
        let rest: Vec<&str> = forest.iter().map(String::as_str).collect();
        prop_assert_eq!(&merge(folder, &rest, "found.json"), &expected, "{:?}", &forest);
        let found = accsim(folder, &format!("merge {} --json", rest.join(" "))).stdout;
        prop_assert_eq!(&found, &verdict, "{:?}", &forest);
        Ok(())
    });
    run.unwrap();
}

fn folder_of(logs: &[(u64, &str)]) -> (tempfile::TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("run")).unwrap();
    let mut parts = Vec::new();
    for (number, (lines, flags)) in (0_u64..).zip(logs) {
        let name = format!("run/{number}.log");
        log(folder.path(), &name, number + 1, *lines, flags);
        part(folder.path(), &name, &format!("{number}.json"));
        parts.push(format!("{number}.json"));
    }
    (folder, parts)
}

#[test]
fn long_logs_of_many_batch_sizes_merge_to_the_same_bytes() {
    let many = "--running-req 1-300";
    let (folder, parts) = folder_of(&[
        (2500, many),
        (2500, many),
        (2500, many),
        (60, ""),
        (700, "--running-req 1-40 --ranks 2"),
    ]);
    trees(folder.path(), &parts, 1);
}

/// Short logs that fit by twos and not together: a verdict of all records would depend on who came last.
#[test]
fn logs_that_fit_by_twos_merge_to_the_same_bytes() {
    let some = "--running-req 1-64";
    let (folder, mut parts) = folder_of(&[(1000, some), (1000, some), (1000, some), (1000, some)]);
    // The verdict of one pass over some of them is of no use to the others.
    part(folder.path(), "run/0.log run/1.log", "two.json");
    parts.push("two.json".to_owned());
    trees(folder.path(), &parts, 2);
    // That of all of them stands, whatever else comes.
    part(folder.path(), "run", "whole.json");
    parts.push("whole.json".to_owned());
    trees(folder.path(), &parts, 1);
    let one = json(&accsim(folder.path(), &format!("audit run {TARGET} --json")));
    let found = json(&accsim(folder.path(), &format!("merge {} --json", parts.join(" "))));
    assert_eq!(found["points"][0]["replay"], one["points"][0]["replay"]);
}

/// What sums cannot tell is not told from the first lines alone.
#[test]
fn draws_of_sums_are_followed_by_nobody() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("run")).unwrap();
    for (number, seed) in [(0, 7), (1, 8)] {
        let name = format!("run/{number}.log");
        let line = format!(
            "simulate {TARGET} --random-seed {seed} --running-req 1-300 --lines 3000 --emit-log {name}"
        );
        assert_eq!(code(&accsim(folder.path(), &line)), 0);
        part(folder.path(), &name, &format!("{number}.json"));
    }
    let output = accsim(folder.path(), "merge 0.json 1.json --json");
    let found = json(&output);
    let replay = &found["points"][0]["replay"];
    assert_eq!(replay["status"], "unavailable", "{replay}");
    assert!(replay["reason"].as_str().unwrap().contains("only sums are here"), "{replay}");
}

/// Lines that are missing are missing in the part too: the draws go on behind them as in one pass.
#[test]
fn a_log_with_missing_lines_is_replayed_from_its_part_as_from_itself() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("run")).unwrap();
    let line = format!("simulate {TARGET} --random-seed 5 --batch 16 --lines 100 --emit-log whole.log");
    assert_eq!(code(&accsim(folder.path(), &line)), 0);
    let whole = fs::read_to_string(folder.path().join("whole.log")).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let mut runner = TestRunner::new(Config { cases: 4, failure_persistence: None, ..Config::default() });
    let dropped = prop::collection::vec(prop::bool::weighted(0.06), lines.len());
    let run = runner.run(&(dropped, 0..lines.len()), |(dropped, cut)| {
        let is_kept = |at: &usize| !dropped[*at];
        let text = |range: std::ops::Range<usize>| {
            range.filter(is_kept).map(|at| format!("{}\n", lines[at])).collect::<String>()
        };
        write(folder.path(), "run/a.log", &text(0..cut));
        write(folder.path(), "run/b.log", &text(cut..lines.len()));
        part(folder.path(), "run", "all.json");
        part(folder.path(), "run/a.log", "a.json");
        part(folder.path(), "run/b.log", "b.json");
        let one = json(&accsim(folder.path(), &format!("audit run {TARGET} --json")));
        for given in ["all.json", "b.json a.json"] {
            let found = json(&accsim(folder.path(), &format!("merge {given} --json")));
            prop_assert_eq!(&found["points"], &one["points"], "{}", given);
        }
        Ok(())
    });
    run.unwrap();
}
