//! The scanner against a slow, obviously right reader, on logs of every release, wrapped and damaged at random; and
//! against itself, cut into other blocks.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "Clippy's leave for tests ends at the test functions; their helpers fail the same way"
)]
#![allow(clippy::format_push_string, reason = "a log of a few lines may cost an allocation a field")]

#[path = "../common/loggen.rs"]
mod loggen;
mod message;
mod pattern;
mod reader;
#[path = "../common/wrap.rs"]
mod wrap;

use std::io::Read;

use accsim::evidence::{Graph, Hundredths, Place, Reader, Record, Scanner, Timestamp};

use loggen::Rng;
use reader::{Found, Said};

/// Logs compared by each test.
const LOGS: u64 = 400;

/// What the scanner makes of a log that comes in these blocks.
fn scan<'a>(blocks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Found> {
    let mut found = Vec::new();
    let mut sink = |place: Place, record: &Record<'_>| {
        let (kind, said) = said(record);
        found.push(Found { line: place.line, kind, said });
    };
    let mut scanner = Scanner::new(0);
    for block in blocks {
        scanner.lines(block, &mut sink);
    }
    scanner.finish(&mut sink);
    found
}

/// A record in the words of the slow reader.
fn said(record: &Record<'_>) -> (&'static str, Said) {
    let mut said = Said::new();
    let mut say = |name, value: Option<String>| {
        if let Some(value) = value {
            said.insert(name, value);
        }
    };
    let time = |time: Option<Timestamp<'_>>| time.map(|time| time.as_str().to_owned());
    let graph = |graph: Option<Graph>| {
        graph.map(|graph| format!("{} {}", graph.label.name(), if graph.on { "True" } else { "False" }))
    };
    let decimals = |value: Option<Hundredths>| value.map(|value| value.to_string());
    let text = |count: Option<u64>| count.map(|count| count.to_string());
    let kind = match record {
        Record::Decode(line) => {
            say("timestamp", time(line.timestamp));
            say("tags", Some(line.tags.to_string()));
            say("iteration", text(line.iteration));
            say("running_req", Some(line.running_req.to_string()));
            say("tokens", text(line.tokens()));
            say("token_usage", decimals(line.token_usage()));
            say("accept_len", decimals(line.accept_len));
            say("accept_rate", decimals(line.accept_rate));
            say("graph", graph(line.graph));
            say("gen_throughput", line.gen_throughput_tps.map(|speed| speed.to_string()));
            say("queue_req", Some(line.queue_req.to_string()));
            say("capped", Some(line.capped.to_string()));
            say("message", Some(String::from_utf8_lossy(line.message).into_owned()));
            "decode"
        }
        Record::Prefill(line) => {
            let figures = line.figures();
            let small = |count: Option<u32>| count.map(|count| count.to_string());
            say("timestamp", time(line.timestamp));
            say("tags", Some(line.tags.to_string()));
            say("iteration", text(line.iteration));
            say("new_seq", small(figures.new_seq));
            say("new_tokens", text(figures.new_tokens));
            say("cached_tokens", text(figures.cached_tokens));
            say("token_usage", decimals(figures.token_usage));
            say("running_req", small(figures.running_req));
            say("queue_req", small(figures.queue_req));
            say("graph", graph(figures.graph));
            say("input_throughput", figures.input_throughput_tps.map(|speed| speed.to_string()));
            say("message", Some(String::from_utf8_lossy(line.message).into_owned()));
            "prefill"
        }
        Record::Start(start) => {
            say("timestamp", start.timestamp.clone());
            "start"
        }
        Record::CacheFlush(flush) => {
            say("timestamp", time(flush.timestamp));
            say("tags", Some(flush.tags.to_string()));
            "flush"
        }
        Record::Setting(setting) => {
            say("name", Some(setting.name.to_owned()));
            say("value", Some(setting.value.to_owned()));
            "setting"
        }
        Record::Engine(line) => {
            say("line", Some(format!("{line:?}")));
            "engine"
        }
        // No line of a log: files that the scanner does not read.
        Record::Counters(record) => panic!("a log says no counters: {record:?}"),
        Record::Skipped(skipped) => {
            say("reason", Some(skipped.reason.name().to_owned()));
            "skipped"
        }
    };
    (kind, said)
}

/// A log of one server: one release, rising times.
fn log(rng: &mut Rng) -> Vec<u8> {
    let at = rng.below(loggen::RELEASES.len());
    let is_runtime = rng.chance(10);
    // Lines of one layout take the scanner's fast path, as long as nothing else about them changes.
    let is_steady = rng.chance(50);
    let (mut log, mut last) = (Vec::new(), Vec::new());
    let mut second = rng.next() % 1_000_000;
    for _ in 0..=rng.below(30) {
        second += rng.next() % 3;
        if is_steady && !last.is_empty() && rng.chance(80) {
            let line = std::str::from_utf8(&last).map(|line| loggen::like(rng, line).into_bytes());
            log.extend(line.unwrap_or_else(|_| last.clone()));
            log.push(b'\n');
            continue;
        }
        let line = match rng.below(10) {
            0..6 => loggen::decode(rng, at, second).text,
            6..8 => loggen::prefill(rng, at, second).text,
            _ => loggen::other(rng, second),
        };
        last = if is_runtime { wrap::runtime(rng, &line).into_bytes() } else { wrap::wrap(rng, &line) };
        log.extend(&last);
        log.push(b'\n');
    }
    log
}

fn damaged(rng: &mut Rng) -> Vec<u8> {
    let mut log = log(rng);
    for _ in 0..=rng.below(6) {
        wrap::damage(rng, &mut log);
    }
    log
}

/// The first difference, with the line that it comes from.
fn assert_same(log: &[u8], seed: u64, fast: &[Found], slow: &[Found]) {
    if fast == slow {
        return;
    }
    let at = fast.iter().zip(slow).take_while(|(fast, slow)| fast == slow).count();
    let (fast, slow) = (fast.get(at), slow.get(at));
    let line = fast.or(slow).map_or(0, |found| found.line);
    let shown: Vec<_> =
        log.split(|byte| *byte == b'\n').skip(usize::try_from(line).unwrap() - 1).take(3).collect();
    let shown: Vec<_> = shown.into_iter().map(|line| line.escape_ascii().to_string()).collect();
    panic!("seed {seed}, line {line}:\n{}\nscanner: {fast:#?}\nslow reader: {slow:#?}", shown.join("\n"));
}

#[test]
fn lines_of_every_release_say_what_they_say() {
    let mut rng = Rng::new(1);
    for at in 0..loggen::RELEASES.len() {
        for second in 0..200 {
            let decode = loggen::decode(&mut rng, at, second);
            let prefill = loggen::prefill(&mut rng, at, second);
            for (kind, line) in [("decode", decode), ("prefill", prefill)] {
                for (reader, found) in
                    [("scanner", scan([line.text.as_bytes()])), ("slow", reader::read(line.text.as_bytes()))]
                {
                    let [found] = found.as_slice() else { panic!("{reader}: {}: {found:?}", line.text) };
                    assert_eq!(found.kind, kind, "{reader}: {}", line.text);
                    let mut said = found.said.clone();
                    said.remove("message");
                    let mut expected = line.said.clone();
                    if kind == "decode" {
                        expected.entry("capped").or_insert_with(|| "false".to_owned());
                    }
                    // Speeds are compared as numbers.
                    for name in ["gen_throughput", "input_throughput"] {
                        if let Some(speed) = expected.get_mut(name) {
                            *speed = speed.parse::<f64>().unwrap().to_string();
                        }
                    }
                    assert_eq!(said, expected, "{reader}: {}", line.text);
                }
            }
        }
    }
}

#[test]
fn whole_logs_read_alike() {
    for seed in 0..LOGS {
        let log = log(&mut Rng::new(seed));
        assert_same(&log, seed, &scan([log.as_slice()]), &reader::read(&log));
    }
}

#[test]
fn damaged_logs_read_alike() {
    for seed in 0..LOGS {
        let log = damaged(&mut Rng::new(1_000_000 + seed));
        assert_same(&log, 1_000_000 + seed, &scan([log.as_slice()]), &reader::read(&log));
    }
}

/// The same log in blocks that end anywhere a line does.
#[test]
fn blocks_change_nothing() {
    for seed in 0..LOGS {
        let mut rng = Rng::new(2_000_000 + seed);
        let log = damaged(&mut rng);
        let lines: Vec<&[u8]> = log.split_inclusive(|byte| *byte == b'\n').collect();
        let (mut blocks, mut start, mut end) = (Vec::new(), 0, 0);
        for line in &lines {
            end += line.len();
            if rng.chance(20) {
                blocks.push(&log[start..end]);
                start = end;
            }
        }
        blocks.push(&log[start..]);
        let whole = scan([log.as_slice()]);
        assert_same(&log, seed, &scan(blocks), &whole);
        assert_same(&log, seed, &scan(lines), &whole);
    }
}

/// Gives a few bytes at a time.
struct Trickle<'a> {
    bytes: &'a [u8],
    rng: Rng,
}

impl Read for Trickle<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let most = out.len().min(1 + self.rng.below(200));
        self.bytes.read(&mut out[..most])
    }
}

/// The same log as a stream, however little of it comes at a time.
#[test]
fn reads_change_nothing() {
    for seed in 0..LOGS {
        let mut rng = Rng::new(3_000_000 + seed);
        let log = damaged(&mut rng);
        let mut found = Vec::new();
        let mut source = Trickle { bytes: &log, rng };
        let errors = Reader::default().read_stream("log", &mut source, &mut |place, record| {
            let (kind, said) = said(record);
            found.push(Found { line: place.line, kind, said });
        });
        // Bytes that look like an archive are read as one.
        if errors.is_empty() {
            assert_same(&log, seed, &found, &scan([log.as_slice()]));
        }
    }
}
