//! Findings in plain words, each with its next step.

mod lines;
mod mechanism;
mod open;
mod replay;
mod server;
mod verdict;

pub(super) use lines::about_lines;
pub(super) use mechanism::{about_mechanism, one_off_too};
pub(super) use open::{real_or_simulated, while_growing};
pub(super) use replay::about_replay;
pub(super) use server::{about_interval, about_server};
pub(super) use verdict::{about_verdict, by_position, unexplained};

use crate::evidence::Place;

use super::finding::{Finding, FindingCode, Severity};

pub(super) fn error(code: FindingCode, evidence: Option<Place>, message: String) -> Finding {
    Finding { code, severity: Severity::Error, message, evidence }
}

pub(super) fn warning(code: FindingCode, evidence: Option<Place>, message: String) -> Finding {
    Finding { code, severity: Severity::Warning, message, evidence }
}

pub(super) fn note(code: FindingCode, evidence: Option<Place>, message: String) -> Finding {
    Finding { code, severity: Severity::Note, message, evidence }
}

/// `1 line`, `2 lines`.
pub(super) fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
