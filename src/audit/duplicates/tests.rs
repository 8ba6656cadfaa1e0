use crate::evidence::{Record, Scanner};

use super::super::voices::Voices;
use super::*;

fn line(second: u32, tags: &str, tokens: u32, tps: &str) -> String {
    format!(
        "[2026-10-12 {:02}:{:02}:{:02}{tags}] Decode batch, #running-req: 1, #token: {tokens}, token usage: 0.00, \
         accept len: 3.52, gen throughput (token/s): {tps}, #queue-req: 0\n",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

fn judged(log: &str) -> Vec<Novelty> {
    let (mut voices, mut duplicates, mut found) = (Voices::default(), Duplicates::default(), Vec::new());
    Scanner::new(0).lines(log.as_bytes(), &mut |_, record| {
        if let Record::Decode(line) = record {
            found.push(duplicates.check(voices.number(line.tags), line));
        }
    });
    found
}

#[test]
fn equal_lines_of_one_second_are_one_line_and_near_ones_are_not() {
    let log = [line(1, "", 10, "1.00"), line(1, "", 11, "1.00"), line(1, "", 10, "1.00")].concat();
    assert_eq!(judged(&log), [Novelty::New, Novelty::New, Novelty::Again]);
}

#[test]
fn a_log_joined_with_itself_counts_once() {
    let log: String = (0..1000).map(|second| line(second / 3, " DP0 TP0", second, "5.00")).collect();
    let mut expected = vec![Novelty::New; 1000];
    expected.resize(3000, Novelty::Again);
    assert_eq!(judged(&log.repeat(3)), expected);
}

#[test]
fn an_overlap_counts_once_and_what_is_new_in_it_does_not_vanish() {
    let part = |from, to| -> String { (from..to).map(|second| line(second, "", second, "5.00")).collect() };
    // The second piece begins before the first ends; one line of it was lost in the first.
    let first = part(0, 500).replace(&line(400, "", 400, "5.00"), "");
    let found = judged(&(first + &part(300, 700)));
    let again = found.iter().filter(|novelty| **novelty == Novelty::Again).count();
    assert_eq!((found.len(), again), (899, 199));
    assert_eq!(found[499 + 100], Novelty::NewAfterJump);
}

#[test]
fn another_tensor_rank_prints_a_copy() {
    let log = [
        line(1, " DP0 TP1", 10, "7.01"),
        line(1, " DP0 TP0", 10, "7.02"),
        line(1, " DP1 TP2", 10, "7.02"),
        line(2, " DP0 TP0", 20, "7.03"),
        line(2, " DP0 TP1", 20, "7.03"),
        line(2, " DP0 TP1", 30, "7.03"),
    ]
    .concat();
    assert_eq!(
        judged(&log),
        [Novelty::New, Novelty::CopyOf(0), Novelty::New, Novelty::New, Novelty::CopyOf(1), Novelty::New]
    );
}

#[test]
fn lines_without_a_time_are_all_new() {
    let bare = "Decode batch, #running-req: 1, #token: 1, accept len: 3.52, #queue-req: 0\n";
    assert_eq!(judged(&bare.repeat(3)), [Novelty::New; 3]);
}

/// A clock that jumps back and forth over and over neither stalls the check nor fills memory.
#[test]
fn a_wild_clock_is_given_up() {
    let (mut memory, mut room) = (Memory::default(), 1000);
    for step in 0..200_000_u64 {
        let time = (step * 7919) % 1000;
        assert_ne!(memory.check(time, fingerprint(step, b""), &mut room), Novelty::Again);
    }
    assert!(memory.prints.len() <= 1000 && memory.runs.len() <= MAX_RUNS + 1);
    assert!(memory.misses <= MAX_MISSES);
}
