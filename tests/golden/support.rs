//! What the tests share.

use std::path::PathBuf;

use accsim::golden::{Catalogue, CurveIssue, LookupError, Parsed, Query, Thinking, parse_curve};

/// Hand-maintained table of every compiled-in cell.
pub(crate) const CELLS: &str = include_str!("../data/golden/cells.csv");

/// Curve, mode, draft length, value as text.
pub(crate) fn cells() -> impl Iterator<Item = (&'static str, Thinking, u32, &'static str)> {
    CELLS.lines().skip(1).map(|line| {
        let [curve, mode, draft_length, value] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let mode = match mode {
            "thinking_on" => Thinking::On,
            "thinking_off" => Thinking::Off,
            other => panic!("{other}"),
        };
        (curve, mode, draft_length.parse().unwrap(), value)
    })
}

/// A file of the folder beside the repository; `None` where there is none.
pub(crate) fn shared(path: &str) -> Option<String> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared")).join(path);
    std::fs::read_to_string(path).ok()
}

/// The value of a cell with two decimals, or the refusal.
pub(crate) fn value(query: &Query<'_>) -> Result<String, LookupError> {
    Catalogue::builtin().lookup(query).map(|found| found.target.accept_length().to_string())
}

pub(crate) fn parse(text: &str) -> Parsed {
    parse_curve("demo_mtp", text.as_bytes())
}

/// Code, severity, line and column of every finding.
pub(crate) fn found(issues: &[CurveIssue]) -> Vec<(&'static str, &'static str, usize, usize)> {
    let place = |issue: &CurveIssue| issue.at.map_or((0, 0), |at| (at.line, at.column));
    issues
        .iter()
        .map(|issue| (issue.code().name(), issue.severity().name(), place(issue).0, place(issue).1))
        .collect()
}
