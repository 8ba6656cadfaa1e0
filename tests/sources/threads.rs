//! One log read by several threads, in blocks that end anywhere, gives what one thread gives.

use std::fs;
use std::io::Read;
use std::num::NonZeroUsize;

use accsim::audit::{Options, PointBuilder, Scope, judge};
use accsim::evidence::{Batch, Input, Limits, Place, Reader, Record, Scanner};
use accsim::replay::ReplayOptions;
use proptest::prelude::*;

use crate::read::decode_line;

/// All records with their places, as text.
fn records(limits: &Limits, threads: usize, log: &[u8], as_stream: bool) -> (Vec<String>, String) {
    let mut reader = Reader::new(limits.clone()).with_threads(NonZeroUsize::new(threads).unwrap());
    let mut seen = Vec::new();
    let mut sink = |place: Place, record: &Record<'_>| seen.push(format!("{} {record:?}", place.line));
    let errors = if as_stream {
        reader.read_stream("log", &mut Slow(log, 0), &mut sink)
    } else {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        fs::write(&path, log).unwrap();
        reader.read(&Input::from(&*path), &mut sink)
    };
    let passed: Vec<_> = reader.passed_over().iter().map(|passed| passed.why).collect();
    (seen, format!("{errors:?} {passed:?}"))
}

/// What a scanner makes of the whole text: no blocks, no threads.
fn whole(log: &[u8]) -> Vec<String> {
    let mut seen = Vec::new();
    let mut sink = |place: Place, record: &Record<'_>| seen.push(format!("{} {record:?}", place.line));
    let mut scanner = Scanner::new(0);
    scanner.lines(log, &mut sink);
    scanner.finish(&mut sink);
    seen
}

/// A stream that gives as many bytes at a time as it likes.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.1 += 1;
        let most = out.len().min(1 + self.1 * 7919 % 60_000);
        self.0.read(&mut out[..most])
    }
}

/// Part of a log: lines of a kind, and how often.
fn parts() -> impl Strategy<Value = Vec<u8>> {
    let decode = (0_usize..2000).prop_map(|line| decode_line(line).into_bytes());
    let ranks = (0_usize..8).prop_map(|rank| {
        format!(
            "[2026-10-12 01:02:03 DP{rank} TP{rank}] Decode batch, #running-req: {}, #token: 7, accept len: 3.52, accept rate: \
             0.50, cuda graph: True, gen throughput (token/s): 17{rank}.25, #queue-req: 0\n",
            16 * rank + 1
        )
        .into_bytes()
    });
    let prefill = (0_u32..2000).prop_map(|tokens| {
        format!("[2026-10-12 01:02:03 TP0] Prefill batch, #new-seq: 1, #new-token: {tokens}, #queue-req: 0\n")
            .into_bytes()
    });
    let other = prop_oneof![
        Just(b"INFO: 127.0.0.1:4711 - \"GET /health HTTP/1.1\" 200 OK\n".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"+ export SGLANG_SIMULATE_ACC_LEN=3.51\n".to_vec()),
        Just(
            b"\x1b[1menv: SGLANG_SIMULATE_ACC_LEN='2' SGLANG_SIMULATE_ACC_METHOD=multinomial\x1b[0m\n"
                .to_vec()
        ),
        Just(b"Decode batch, #running-req: 1, accept len: 3.\n".to_vec()),
        Just(
            b"\x1b[32m[2026-10-12 01:02:03]\x1b[0m Decode batch, #running-req: 1, #queue-req: 0\r\n".to_vec()
        ),
        Just(b"2026-06-01T10:00:02.0Z stdout P [2026-10-12 01:02:03] Decode batch, #running-r\n".to_vec()),
        Just(b"2026-06-01T10:00:02.0Z stdout F eq: 1, #queue-req: 0\n".to_vec()),
        (1_usize..400_000).prop_map(|length| [vec![b'x'; length], b"\n".to_vec()].concat()),
    ];
    let line = prop_oneof![8 => decode, 8 => ranks, 4 => prefill, 1 => other];
    (line, 1_usize..700).prop_map(|(line, times)| if line.len() > 1000 { line } else { line.repeat(times) })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn blocks_and_threads_change_nothing(parts in prop::collection::vec(parts(), 0..24), end in 0_usize..200) {
        let mut log = parts.concat();
        log.truncate(log.len().saturating_sub(end));
        // Shorter than some of the lines.
        let limits = Limits::default().with_line(1 << 18);
        let expected = records(&limits, 1, &log, false);
        if !expected.1.contains("LongLines") {
            prop_assert_eq!(&expected.0, &whole(&log));
        }
        for (threads, as_stream) in [(2, false), (5, false), (1, true), (3, true)] {
            prop_assert_eq!(&records(&limits, threads, &log, as_stream), &expected, "{} threads", threads);
        }
    }

    /// A point that takes batches comes to what one comes to that takes records.
    #[test]
    fn batches_add_up_as_records_do(
        pieces in prop::collection::vec((0_u32..4, 1_u32..4, 300_u32..304, 0_u32..3, 0_u32..40), 1..400), repeats in 1_usize..4,
        way in prop::sample::select(&WAYS),
    ) {
        let mut second = 0;
        let lines = pieces.iter().map(|(rank, running, length, gap, speed)| {
            second += gap;
            format!(
                "[2026-10-12 01:{:02}:{:02} DP{rank} TP{rank}] Decode batch, #running-req: {running}, #token: 7, accept len: 3.{:02}, \
                 cuda graph: {}, gen throughput (token/s): {}.00, #queue-req: {gap}\n",
                second / 60 % 60, second % 60, length % 100, if *speed == 39 { "False" } else { "True" }, 500 + speed,
            )
        });
        let log = lines.collect::<String>().repeat(repeats);
        let [by_batch, by_record] = both(&log, way);
        prop_assert_eq!(by_batch, by_record);
    }
}

/// How a point is built.
#[derive(Clone, Copy, Debug)]
struct Way {
    by_segment: bool,
    skip_lines: u64,
    /// The lines are laid against draws.
    replay: bool,
}

const PLAIN: Way = Way { by_segment: false, skip_lines: 0, replay: false };

/// Draws are followed in a test of its own: to find their law takes time.
const WAYS: [Way; 4] = [
    PLAIN,
    Way { replay: true, ..PLAIN },
    Way { by_segment: true, replay: true, ..PLAIN },
    Way { skip_lines: 5, replay: true, ..PLAIN },
];

/// All that an audit says of the points of a log: taken by batch, and by record.
fn both(log: &str, way: Way) -> [String; 2] {
    let point = || {
        let scope = Scope { by_segment: way.by_segment, skip_lines: way.skip_lines, ..Scope::default() };
        let point = PointBuilder::new("x").with_scope(scope);
        let options = ReplayOptions { search_limit: 0, ..ReplayOptions::default() };
        if way.replay { point.with_replay(options) } else { point }
    };
    let (mut by_batch, mut by_record) = (point(), point());
    Scanner::new(0).batches(log.as_bytes(), &mut |batch: &Batch<'_>| by_batch.add_batch(batch));
    Scanner::new(0).lines(log.as_bytes(), &mut |place, record| by_record.add(place, record));
    [by_batch, by_record].map(|point| {
        let reports: Vec<_> =
            point.finish_segments().iter().map(|seen| judge(seen, None, &Options::default())).collect();
        format!("{reports:#?}")
    })
}

/// A long log in which most lines take the shortest way, with what leads off it in between.
#[test]
fn a_long_log_adds_up_the_same_by_batch_and_by_record() {
    let mut log = String::new();
    for line in 0_u32..700_000 {
        let (second, rank) = (line / 7, line % 2);
        let (hours, minutes, seconds) = (second / 3600, second / 60 % 60, second % 60);
        let noise = line.wrapping_mul(2_654_435_761) >> 20;
        let running = if noise % 97 == 0 { 5 } else { 4 };
        let text = format!(
            "[2026-10-12 {hours:02}:{minutes:02}:{seconds:02} DP{rank}] Decode batch, #running-req: {running}, #token: {line}, \
             accept len: 3.{:02}, accept rate: 0.5{}, cuda graph: {}, gen throughput (token/s): {}.{:02}, #queue-req: {}\n",
            40 + noise % 23,
            noise % 3,
            if noise % 1009 == 0 { "False" } else { "True" },
            1500 + noise % 300,
            noise % 100,
            u32::from(noise % 499 == 0),
        );
        log.push_str(&text);
        match noise % 2003 {
            0 => log.push_str(
                "[2026-10-12 01:02:03 DP1] Prefill batch, #new-seq: 1, #new-token: 8, #queue-req: 0\n",
            ),
            // Once more, by the same rank or a copy of it.
            1 => log.push_str(&text),
            2 => log.push_str(&text.replace(" DP0]", " DP0 TP1]")),
            3 => log.push_str("Cache flushed successfully!\n"),
            _ => {}
        }
    }
    for way in [PLAIN, Way { replay: true, ..PLAIN }] {
        let [by_batch, by_record] = both(&log, way);
        assert_eq!(by_batch, by_record);
    }
}

/// Where the seed is known, every line goes to replay with its place, whole or in segments.
#[test]
fn draws_are_followed_the_same_by_batch_and_by_record() {
    let log = include_str!("../data/h200/e3k5_al351.log");
    for by_segment in [false, true] {
        let [by_batch, by_record] = both(log, Way { by_segment, replay: true, ..PLAIN });
        assert!(by_batch.contains("status: Proved"), "{by_batch}");
        assert_eq!(by_batch, by_record);
    }
}
