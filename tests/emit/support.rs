//! Writing plans and reading them back.

use accsim::evidence::{Graph, Hundredths, Record, Scanner, ServerStart, SkipReason, Tags};
use accsim::law::{AcceptanceLaw, Draws, Setting};
use accsim::simulate::log::{
    DrawSource, DrawStream, LawSource, LogPlan, Run, SglangLog, SglangPlan, Summary, Window, write_log_with,
};

/// A fixed cycle of lengths.
#[derive(Clone)]
pub(crate) struct Cycle(pub(crate) Vec<u32>, pub(crate) usize);

impl DrawStream for Cycle {
    fn draw(&mut self) -> u32 {
        let length = self.0[self.1 % self.0.len()];
        self.1 += 1;
        length
    }
}

impl DrawSource for Cycle {
    type Stream = Self;

    fn stream(&self, _server: u32, _rank: u32) -> Self {
        self.clone()
    }

    fn draws(&self, _server: u32) -> Draws {
        Draws::Shared
    }

    fn longest(&self, _server: u32) -> u32 {
        *self.0.iter().max().unwrap()
    }
}

/// A log in memory with what it was made of.
pub(crate) struct Written {
    pub(crate) text: Vec<u8>,
    pub(crate) summary: Summary,
    pub(crate) windows: Vec<Window>,
}

/// What a decode line says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decode {
    pub(crate) timestamp: Option<String>,
    pub(crate) tags: Tags,
    pub(crate) iteration: Option<u64>,
    pub(crate) running: u64,
    pub(crate) queue: u64,
    pub(crate) tokens: Option<u64>,
    pub(crate) accept_len: Option<Hundredths>,
    pub(crate) accept_rate: Option<Hundredths>,
    pub(crate) graph: Option<Graph>,
    pub(crate) capped: bool,
    pub(crate) speed: Option<f64>,
    pub(crate) message: String,
}

/// What the reader finds in a log.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) decode: Vec<Decode>,
    /// Line number of each.
    pub(crate) places: Vec<u64>,
    pub(crate) prefill: u64,
    pub(crate) starts: Vec<ServerStart>,
    pub(crate) flushes: u64,
    pub(crate) truncated: u64,
    pub(crate) otherwise_skipped: Vec<SkipReason>,
}

pub(crate) fn version(text: &str) -> accsim::engine::EngineVersion {
    text.parse().unwrap()
}

/// A plain log of a version.
pub(crate) fn log(version_text: &str, runs: Vec<Run>) -> SglangLog {
    SglangLog::new(version(version_text), "2026-10-12T01:02:03".parse().unwrap(), runs)
}

pub(crate) fn match_expected(length: f64) -> LawSource {
    LawSource::new(AcceptanceLaw::match_expected(Setting::new(length, 6).unwrap()), 11)
}

pub(crate) fn write_sglang(log: SglangLog, source: &impl DrawSource) -> Written {
    write(&LogPlan::Sglang(SglangPlan::new(log).unwrap()), source)
}

pub(crate) fn write(plan: &LogPlan, source: &impl DrawSource) -> Written {
    let (mut text, mut windows) = (Vec::new(), Vec::new());
    let summary =
        write_log_with(plan, source, &mut text, &mut |window| windows.push(window.clone())).unwrap();
    assert_eq!(summary.bytes, text.len() as u64);
    assert_eq!(summary.decode_lines, windows.len() as u64);
    Written { text, summary, windows }
}

pub(crate) fn read(text: &[u8]) -> Found {
    let mut found = Found::default();
    let mut scanner = Scanner::new(0);
    let mut see = |place: accsim::evidence::Place, record: &Record<'_>| match record {
        Record::Decode(line) => {
            found.places.push(place.line);
            found.decode.push(Decode {
                timestamp: line.timestamp.map(|time| time.as_str().to_owned()),
                tags: line.tags,
                iteration: line.iteration,
                running: line.running_req.into(),
                queue: line.queue_req.into(),
                tokens: line.tokens(),
                accept_len: line.accept_len,
                accept_rate: line.accept_rate,
                graph: line.graph,
                capped: line.capped,
                speed: line.gen_throughput_tps,
                message: String::from_utf8(line.message.to_vec()).unwrap(),
            });
        }
        Record::Prefill(_) => found.prefill += 1,
        Record::Start(start) => found.starts.push(ServerStart::clone(start)),
        Record::CacheFlush(_) => found.flushes += 1,
        Record::Setting(setting) => panic!("no emitted log echoes a setting: {setting:?}"),
        Record::Counters(record) => panic!("no log has counters: {record:?}"),
        Record::Engine(line) => panic!("SGLang writes no line of another engine: {line:?}"),
        Record::Skipped(skipped) if skipped.reason == SkipReason::Truncated => found.truncated += 1,
        Record::Skipped(skipped) => found.otherwise_skipped.push(skipped.reason),
    };
    scanner.lines(text, &mut see);
    scanner.finish(&mut see);
    found
}

impl Written {
    /// Reads the log and compares every decode line with the window that it was made of.
    pub(crate) fn check(&self) -> Found {
        let found = read(&self.text);
        assert_eq!(found.decode.len(), self.windows.len());
        assert_eq!((found.truncated, found.otherwise_skipped.len()), (0, 0));
        assert_eq!(found.prefill, self.summary.prefill_lines);
        assert_eq!(found.starts.len() as u64, self.summary.servers);
        for (line, window) in found.decode.iter().zip(&self.windows) {
            self.check_line(line, window);
        }
        found
    }

    pub(crate) fn check_line(&self, line: &Decode, window: &Window) {
        assert_eq!((line.running, line.queue), (window.running, window.queue));
        assert_eq!((line.accept_len, line.accept_rate), (window.accept_len, window.accept_rate));
        if let Some(tokens) = line.tokens {
            assert_eq!(tokens, window.tokens);
        }
        let rank =
            self.summary.ranks.iter().find(|rank| rank.server == window.server && rank.rank == window.rank);
        assert_eq!(line.tags, rank.unwrap().tags);
    }
}

pub(crate) fn lines(text: &[u8]) -> u64 {
    std::str::from_utf8(text).unwrap().lines().count() as u64
}

/// As C prints a quotient of counts with two decimals.
pub(crate) fn two_decimals(numerator: u64, denominator: u64) -> Hundredths {
    let text = format!("{:.2}", numerator as f64 / denominator as f64);
    Hundredths::new(text.replace('.', "").parse().unwrap())
}
