//! The deduplicator on whole logs: joined ones, copies by ranks, and honest lines that look alike.

use proptest::prelude::*;

use super::{Deduplicator, Novelty};
use crate::evidence::{DecodeLine, Record, Scanner, Tags, Timestamp};

/// One line of a log: second, tags, tokens, throughput in hundredths.
fn line(second: u32, tags: &str, tokens: u64, speed: u32) -> String {
    let (hours, minutes, seconds) = (second / 3600, second / 60 % 60, second % 60);
    format!(
        "[2026-10-12 {hours:02}:{minutes:02}:{seconds:02} {tags}] Decode batch, #running-req: 16, #token: {tokens}, token usage: 0.05, \
         accept len: 3.52, accept rate: 0.50, cuda graph: True, gen throughput (token/s): {}.{:02}, #queue-req: 0",
        speed / 100,
        speed % 100
    )
}

/// For each line of a log whether it is kept.
fn kept(dedup: &mut Deduplicator, lines: &[String]) -> Vec<bool> {
    let mut kept = Vec::new();
    Scanner::new(0).lines(lines.join("\n").as_bytes(), &mut |_, record: &Record<'_>| {
        if let Record::Decode(line) = record {
            kept.push(!dedup.is_duplicate(line));
        }
    });
    assert_eq!(kept.len(), lines.len());
    kept
}

fn count(lines: &[String]) -> usize {
    kept(&mut Deduplicator::default(), lines).into_iter().filter(|kept| *kept).count()
}

#[test]
fn same_time_and_values_with_another_tp_or_pp_tag_is_one_line() {
    let lines =
        ["DP0 TP0", "DP0 TP1", "DP0 PP1 TP0", "DP0 TP2 EP2", "DP1 TP0"].map(|tags| line(0, tags, 793, 58598));
    assert_eq!(kept(&mut Deduplicator::default(), &lines), [true, false, false, false, true]);
}

/// Each rank measures the throughput by its own clock.
#[test]
fn copies_may_differ_in_throughput_and_behind_it() {
    let lines = [line(0, "TP0", 793, 58598), line(0, "TP1", 793, 58601) + ", fwd occupancy: 97.12%"];
    assert_eq!(count(&lines), 1);
    let lines = [line(0, "TP0", 793, 58598), line(0, "TP0", 793, 58601)];
    assert_eq!(count(&lines), 2);
    let lines = [line(0, "TP0", 793, 58598), line(0, "TP0", 793, 58598) + ", fwd occupancy: 97.12%"];
    assert_eq!(count(&lines), 2);
}

#[test]
fn every_value_counts() {
    let first = line(0, "TP0", 793, 58598);
    for (from, to) in [
        ("16,", "15,"),
        ("793", "794"),
        ("0.05", "0.06"),
        ("3.52", "3.53"),
        ("0.50", "0.51"),
        ("True", "False"),
        ("585.98", "585.99"),
        ("#queue-req: 0", "#queue-req: 1"),
        ("Decode batch", "Decode batch [7]"),
        (":00 TP0", ":01 TP0"),
        (":00 TP0", ":00.001 TP0"),
        ("accept len", "#retracted-req: 0, accept len"),
    ] {
        let other = first.replace(from, to);
        assert_ne!(first, other);
        assert_eq!(count(&[first.clone(), other]), 2, "{from} -> {to}");
    }
    assert_eq!(count(&[first.clone(), first.clone() + ", "]), 1);
}

#[test]
fn a_duplicate_says_of_which_line() {
    let lines =
        [line(0, "TP1", 793, 58598), line(0, "TP0", 793, 58598), line(0, "TP1", 793, 58598)].join("\n");
    let mut dedup = Deduplicator::default();
    let mut seen = Vec::new();
    Scanner::new(0).lines(lines.as_bytes(), &mut |_, record: &Record<'_>| {
        if let Record::Decode(line) = record {
            seen.push(dedup.check(line));
        }
    });
    assert_eq!(seen, [Novelty::New, Novelty::CopyOf(Tags::parse(b"TP1")), Novelty::Again]);
}

#[test]
fn lines_without_a_time_are_never_duplicates() {
    let untimed = line(0, "TP0", 793, 58598).replace("2026-10-12 00:00:00 ", "");
    assert_eq!(count(&[untimed.clone(), untimed.clone(), untimed]), 3);
}

#[test]
fn the_lowest_tags_name_the_scheduler() {
    let tags = |text: &str| Tags::parse(text.as_bytes());
    let lines: Vec<String> =
        ["DP0 TP2", "DP0 TP0", "DP0 TP1", "DP1 TP3"].map(|tags| line(0, tags, 793, 58598)).into();
    let mut dedup = Deduplicator::default();
    kept(&mut dedup, &lines);
    assert_eq!(dedup.lowest(&tags("DP0 TP2")), tags("DP0 TP0"));
    assert_eq!(dedup.lowest(&tags("DP1 TP3")), tags("DP1 TP3"));
}

/// The second piece begins before the first ends, and holds a line that the first lost.
#[test]
fn an_overlap_counts_once_and_what_is_new_in_it_does_not_vanish() {
    let part = |from: u32, to: u32| (from..to).map(|second| line(second, "TP0", second.into(), 500));
    let lines: Vec<String> = part(0, 400).chain(part(401, 500)).chain(part(300, 700)).collect();
    let kept = kept(&mut Deduplicator::default(), &lines);
    assert_eq!(kept.iter().filter(|kept| !**kept).count(), 199);
    assert!(kept[499 + 100]);
}

/// Pipeline stages on two nodes print copies into two files.
#[test]
fn copies_in_another_file_are_recognised() {
    let file = |tags: &str, speed| {
        (0..5000).map(|second| line(second, tags, second.into(), speed)).collect::<Vec<_>>()
    };
    let mut dedup = Deduplicator::default();
    assert!(kept(&mut dedup, &file("PP0", 500)).iter().all(|kept| *kept));
    assert!(kept(&mut dedup, &file("PP1", 501)).iter().all(|kept| !*kept));
    assert_eq!(dedup.lowest(&Tags::parse(b"PP1")), Tags::parse(b"PP0"));
}

/// Many lines of one second, and a clock that jumps at will: nothing is lost, copies are found.
#[test]
fn many_lines_of_one_time_and_a_wild_clock() {
    let crowd: Vec<String> = (0..3000).map(|index| line(7, "TP0", index, 500)).collect();
    let wild: Vec<String> =
        (0..3000_u32).map(|index| line(index * 7919 % 1000, "TP0", index.into(), 500)).collect();
    for lines in [crowd, wild] {
        let mut dedup = Deduplicator::default();
        assert!(kept(&mut dedup, &lines).iter().all(|kept| *kept));
        assert!(kept(&mut dedup, &lines).iter().all(|kept| !*kept));
    }
}

/// Two million lines in order: none is lost. Then copies of the latest and of the earliest: those are recognised.
#[test]
fn a_long_log_loses_no_line() {
    const LINES: u64 = 2_000_000;
    let mut dedup = Deduplicator::default();
    let mut message = String::new();
    let mut duplicates = |range: std::ops::Range<u64>| {
        let (mut count, mut time) = (0, String::new());
        for index in range {
            use std::fmt::Write as _;
            if index % 40 == 0 {
                time = format!(
                    "{:04}-10-12 {:02}:{:02}:{:02}",
                    index / 40 / 86400,
                    index / 40 / 3600 % 24,
                    index / 2400 % 60,
                    index / 40 % 60
                );
            }
            message.clear();
            write!(message, " #token: {index}, gen throughput (token/s): 5.00, #queue-req: 0").unwrap();
            count += u64::from(dedup.is_duplicate(&decode(&time, message.as_bytes())));
        }
        count
    };
    assert_eq!(duplicates(0..LINES), 0);
    assert_eq!(duplicates(LINES - 2040..LINES), 2040);
    assert_eq!(duplicates(0..390_000), 390_000);
    // What lies between was forgotten.
    assert_eq!(duplicates(1_000_000..1_010_000), 0);
    assert!(dedup.is_full());
}

fn decode<'a>(time: &'a str, message: &'a [u8]) -> DecodeLine<'a> {
    DecodeLine {
        timestamp: Timestamp::parse(time.as_bytes()),
        tags: Tags::default(),
        iteration: None,
        running_req: 1,
        accept_len: None,
        accept_rate: None,
        graph: None,
        gen_throughput_tps: None,
        queue_req: 0,
        capped: false,
        message,
    }
}

/// Distinct lines of one rank, their times rising but for jitter.
fn log() -> impl Strategy<Value = Vec<String>> {
    let steps = prop::collection::vec((0_u32..3, 0_u32..2), 1..200);
    steps.prop_map(|steps| {
        let mut second = 10;
        let lines = steps.into_iter().enumerate().map(|(index, (step, jitter))| {
            second += step;
            line(second - jitter, "DP0 TP0", 100 + index as u64, 58598)
        });
        lines.collect()
    })
}

proptest! {
    #[test]
    fn a_log_joined_with_itself_is_the_log(lines in log(), cut in 0_usize..200) {
        let mut dedup = Deduplicator::default();
        prop_assert!(kept(&mut dedup, &lines).iter().all(|kept| *kept));
        // The second copy may be a part of the first, and the third follows.
        let part = &lines[cut.min(lines.len())..];
        prop_assert!(kept(&mut dedup, part).iter().all(|kept| !*kept));
        prop_assert!(kept(&mut dedup, &lines).iter().all(|kept| !*kept));
    }

    #[test]
    fn interleaved_copies_of_ranks_are_one_log(lines in log(), order in prop::collection::vec(0_usize..4, 200)) {
        let mut copies = Vec::new();
        for (line, first) in lines.iter().zip(&order) {
            for rank in 0..4 {
                let rank = (rank + first) % 4;
                let speed = format!("585.{rank}8");
                copies.push(line.replace("TP0", &format!("TP{rank}")).replace("585.98", &speed));
            }
        }
        let mut dedup = Deduplicator::default();
        let kept = kept(&mut dedup, &copies);
        prop_assert!(kept.chunks(4).all(|group| group == [true, false, false, false]));
        let lowest = dedup.lowest(&Tags::parse(b"DP0 TP3"));
        prop_assert_eq!(lowest, Tags::parse(b"DP0 TP0"));
    }

    #[test]
    fn ranks_of_data_parallelism_are_kept(lines in log(), ranks in 1_usize..8) {
        let mut dedup = Deduplicator::default();
        for rank in 0..ranks {
            let file: Vec<String> = lines.iter().map(|line| line.replace("DP0 TP0", &format!("DP{rank} TP{rank}"))).collect();
            prop_assert!(kept(&mut dedup, &file).iter().all(|kept| *kept));
        }
    }
}
