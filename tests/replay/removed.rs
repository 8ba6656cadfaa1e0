//! Honest logs with lines missing at any place: never contradicted.

use accsim::audit::Verdict;
use accsim::replay::{Replay, ReplayStatus};

use super::support::{audit, decode_lines, log};

/// The log without ten decode lines from number `from` on.
fn without(name: &str, length: f64, max: u32, from: usize) -> (Replay, Verdict, usize) {
    let lines = log(name);
    let decode = decode_lines(&lines);
    let missing = &decode[from..from + 10];
    let kept = lines.iter().enumerate().filter(|(index, _)| missing.binary_search(index).is_err());
    let text: String = kept.map(|(_, line)| line.as_str()).collect();
    let report = audit(text.as_bytes(), length, max);
    (report.replay.unwrap(), report.verdict, decode.len() - from - 10)
}

fn every_place(name: &str, length: f64, max: u32, places: impl Iterator<Item = usize>) {
    let mut proved = 0;
    let mut all = 0;
    let mut bad = Vec::new();
    let mut unreported = Vec::new();
    let mut open = Vec::new();
    for from in places {
        let (replay, _, behind) = without(name, length, max, from);
        all += 1;
        match replay.status {
            ReplayStatus::Proved => {
                proved += 1;
                if replay.slips.is_empty() && behind > 0 {
                    unreported.push(from);
                }
            }
            ReplayStatus::Unavailable => open.push(from),
            _ => bad.push(from),
        }
    }
    eprintln!("{name}: {proved} of {all}; bad {bad:?}; unavailable {open:?}; unreported {unreported:?}");
    assert!(bad.is_empty());
}

#[test]
fn ten_lines_of_e3k5_al351() {
    every_place("e3k5_al351", 3.51, 6, 0..64);
}
#[test]
fn ten_lines_of_e3k3_al299() {
    every_place("e3k3_al299", 2.99, 4, 0..77);
}
#[test]
fn ten_lines_of_var_k5_al351() {
    every_place("var_k5_al351", 3.51, 6, 0..110);
}
#[test]
fn ten_lines_of_flush_k5_al278() {
    every_place("flush_k5_al278", 2.78, 6, 0..105);
}
#[test]
fn ten_lines_of_e3k5_al351_int1() {
    every_place("e3k5_al351_int1", 3.51, 6, (0..540).step_by(27).chain(540..584));
}
