//! `replay` of an audited point.

use serde::Serialize;

use crate::evidence::Place;
use crate::replay::{Replay, SideBySide, Slip};

use super::number::tidy;

#[derive(Debug, Serialize)]
pub(super) struct ReplayEntry<'a> {
    status: &'static str,
    seed: Option<u64>,
    target: Option<f64>,
    method: Option<&'static str>,
    max_accept_length: Option<u32>,
    lines_checked: u64,
    lines_exact: u64,
    lines_bounded: u64,
    steady_lines: u64,
    steady_exact: u64,
    first_mismatch: Option<LineEntry<'a>>,
    /// The first lines, printed and recomputed.
    first_lines: Vec<LineEntry<'a>>,
    draws: u64,
    slips: Vec<SlipEntry<'a>>,
    log10_chance: Option<f64>,
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct LineEntry<'a> {
    file: Option<&'a str>,
    line: u64,
    printed: f64,
    expected: f64,
}

#[derive(Debug, Serialize)]
struct SlipEntry<'a> {
    file: Option<&'a str>,
    line: u64,
    draws: i64,
}

impl<'a> ReplayEntry<'a> {
    pub(super) fn new(replay: &Replay, files: &'a [&'a str]) -> Self {
        let tokens = |hundredths: u32| f64::from(hundredths) / 100.0;
        let line = |line: &SideBySide| LineEntry {
            file: name(files, line.place),
            line: line.place.line,
            printed: tokens(line.printed),
            expected: tokens(line.expected),
        };
        let slip = |slip: &Slip| SlipEntry {
            file: name(files, slip.place),
            line: slip.place.line,
            draws: slip.draws,
        };
        Self {
            status: replay.status.name(),
            seed: replay.seed,
            target: replay.law.map(|law| law.accept_length()),
            method: replay.law.map(|law| law.method().name()),
            max_accept_length: replay.law.filter(|_| replay.max_known).map(|law| law.max()),
            lines_checked: replay.lines_checked,
            lines_exact: replay.lines_exact,
            lines_bounded: replay.lines_bounded,
            steady_lines: replay.steady_lines,
            steady_exact: replay.steady_exact,
            first_mismatch: replay.first_mismatch.as_ref().map(line),
            first_lines: replay.first_lines.iter().map(line).collect(),
            draws: replay.draws,
            slips: replay.slips.iter().map(slip).collect(),
            log10_chance: replay.log10_chance.map(tidy),
            reason: replay.reason.as_ref().map(ToString::to_string),
        }
    }
}

fn name<'a>(files: &[&'a str], place: Place) -> Option<&'a str> {
    files.get(usize::try_from(place.file).ok()?).copied()
}
