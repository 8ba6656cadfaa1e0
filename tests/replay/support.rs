//! Reading and auditing logs.

use std::path::{Path, PathBuf};

use accsim::audit::{Options, PointBuilder, PointReport, judge};
use accsim::evidence::{Record, Scanner};
use accsim::golden::Target;
use accsim::replay::{Replay, ReplayOptions, StatedTarget};

pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/h200").join(format!("{name}.log"))
}

/// The lines of a log.
pub(crate) fn log(name: &str) -> Vec<String> {
    let text = std::fs::read(path(name)).unwrap();
    String::from_utf8_lossy(&text).split_inclusive('\n').map(str::to_owned).collect()
}

pub(crate) fn is_decode(line: &str) -> bool {
    line.contains("] Decode batch")
}

/// Indices of the decode lines.
pub(crate) fn decode_lines(lines: &[String]) -> Vec<usize> {
    lines.iter().enumerate().filter(|(_, line)| is_decode(line)).map(|(index, _)| index).collect()
}

/// What is looked for when a target is known.
pub(crate) fn options(length: f64, max: u32) -> ReplayOptions {
    let stated = Some(StatedTarget { accept_length: length, max_accept_length: Some(max) });
    // A search for a lost start takes its time without optimisation; tests about it ask for it.
    ReplayOptions {
        stated,
        cells: vec![2.78, 2.99, 3.46, 3.5, 3.52, 3.54, 3.61],
        search_limit: 0,
        ..ReplayOptions::default()
    }
}

pub(crate) fn audit_with(text: &[u8], length: f64, max: u32, replay: ReplayOptions) -> PointReport {
    let mut point = PointBuilder::new("log").with_replay(replay);
    let mut add = |place, record: &Record<'_>| point.add(place, record);
    Scanner::new(0).lines(text, &mut add);
    judge(&point.finish(), Some(&Target::explicit(length, max).unwrap()), &Options::default())
}

pub(crate) fn audit(text: &[u8], length: f64, max: u32) -> PointReport {
    audit_with(text, length, max, options(length, max))
}

pub(crate) fn replay(text: &[u8], length: f64, max: u32) -> Replay {
    audit(text, length, max).replay.unwrap()
}

/// Small numbers for tests: `SplitMix64`.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// In [0, 1).
    pub(crate) fn share(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).unwrap()) / 4_294_967_296.0
    }
}
