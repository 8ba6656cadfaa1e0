//! `simulate --env` and `--recipe` with `--json`: what injected settings make a log show.

use serde::Serialize;

use crate::simulate::{Check, Expected, Holds, Instead};

use super::number::tidy;
use super::prediction::PredictionEntry;

/// One entry a server.
#[derive(Debug, Serialize)]
pub struct CheckDocument<'a> {
    file: &'a str,
    holds: Option<bool>,
    checks: Vec<CheckEntry<'a>>,
}

#[derive(Debug, Serialize)]
struct CheckEntry<'a> {
    role: Option<&'a str>,
    engine: PredictionEntry,
    settings: Vec<SettingEntry<'a>>,
    /// What the settings ask for, in tokens a step.
    asked: Option<f64>,
    /// What they should ask for.
    golden: Option<f64>,
    max_accept_length: u32,
    holds: Option<bool>,
    expected: Option<ExpectedEntry>,
    instead: Vec<InsteadEntry>,
}

#[derive(Debug, Serialize)]
struct SettingEntry<'a> {
    kind: &'static str,
    name: &'static str,
    value: &'a str,
    line: usize,
}

#[derive(Debug, Serialize)]
struct ExpectedEntry {
    method: Option<&'static str>,
    lines: u64,
    interval: u32,
    batch: u32,
    mean: f64,
    mean_low95: f64,
    mean_high95: f64,
    line_sd: f64,
    lines_low95: f64,
    lines_high95: f64,
    lines_min: f64,
    lines_max: f64,
}

#[derive(Debug, Serialize)]
struct InsteadEntry {
    fault: &'static str,
    expected: Option<ExpectedEntry>,
    lines_to_tell: Option<u64>,
}

impl<'a> CheckDocument<'a> {
    /// The document for the checks of one file.
    #[must_use]
    pub fn new(file: &'a str, holds: Holds, checks: &'a [Check]) -> Self {
        Self { file, holds: flag(holds), checks: checks.iter().map(CheckEntry::from).collect() }
    }
}

fn flag(holds: Holds) -> Option<bool> {
    match holds {
        Holds::Yes => Some(true),
        Holds::No => Some(false),
        Holds::Undecided => None,
    }
}

impl<'a> From<&'a Check> for CheckEntry<'a> {
    fn from(check: &'a Check) -> Self {
        let method = check.prediction.outcome.law().map(|law| law.kind().name());
        let settings = check.settings.iter().map(|setting| SettingEntry {
            kind: setting.kind.name(),
            name: setting.name,
            value: &setting.value,
            line: setting.line,
        });
        Self {
            role: check.role.as_deref(),
            engine: PredictionEntry::new(&check.server, &check.prediction),
            settings: settings.collect(),
            asked: check.prediction.asked.map(tidy),
            golden: check.golden.map(tidy),
            max_accept_length: check.max,
            holds: flag(check.holds),
            expected: check.expected.as_ref().map(|expected| ExpectedEntry::new(expected, method)),
            instead: check.instead.iter().map(InsteadEntry::from).collect(),
        }
    }
}

impl ExpectedEntry {
    fn new(expected: &Expected, method: Option<&'static str>) -> Self {
        let load = expected.load;
        Self {
            method,
            lines: load.lines,
            interval: load.interval,
            batch: load.batch,
            mean: tidy(expected.mean),
            mean_low95: tidy(expected.mean_low),
            mean_high95: tidy(expected.mean_high),
            line_sd: tidy(expected.line_sd),
            lines_low95: printed(expected.lines_within.0),
            lines_high95: printed(expected.lines_within.1),
            lines_min: printed(expected.possible.0),
            lines_max: printed(expected.possible.1),
        }
    }
}

impl From<&Instead> for InsteadEntry {
    fn from(instead: &Instead) -> Self {
        Self {
            fault: instead.fault.name(),
            expected: instead.expected.as_ref().map(|expected| ExpectedEntry::new(expected, None)),
            lines_to_tell: instead.lines_to_tell,
        }
    }
}

/// A printed value as a number.
fn printed(hundredths: u32) -> f64 {
    f64::from(hundredths) / 100.0
}
