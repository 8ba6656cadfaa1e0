//! `audit` for a reviewer at a terminal: one point in full; several as a table, one line a point, then what stands out.

mod detail;
mod overview;

use std::io::{self, Write};

use crate::audit::{Finding, Reason, Severity, Verdict};
use crate::report::audit::AuditRun;
use crate::report::excerpt::printable;

pub(in crate::report) use detail::facts;

use super::style::{BOLD, GREEN, RED, RESET, YELLOW};

/// How much of several points is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// A line for each point, and what is remarkable.
    Overview,
    /// Every point in full before that.
    Full,
}

/// Writes the results. Verdicts and severities carry terminal colours; a stream that is no terminal has to strip them.
pub fn write_audit(run: &AuditRun<'_>, detail: Detail, out: &mut dyn Write) -> io::Result<()> {
    let is_one = run.points.len() == 1;
    if is_one || detail == Detail::Full {
        for point in run.points {
            detail::write(run, point, out)?;
            if !is_one {
                writeln!(out)?;
            }
        }
    }
    // Without a point every input failed, and that was said.
    if run.points.len() > 1 { overview::write(run, detail, out) } else { Ok(()) }
}

/// The severity in a column as wide as the given number of letters, with its colour.
fn severity(severity: Severity, width: usize) -> String {
    let color = match severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
        Severity::Note => BOLD,
    };
    format!("{color}{:<width$}{RESET}", severity.to_string())
}

/// What a finding says, and the line that shows it.
fn said(run: &AuditRun<'_>, finding: &Finding) -> String {
    let at = finding.evidence.map_or_else(String::new, |place| format!(" ({})", run.place(place)));
    printable(&format!("{}: {}{at}", finding.code, finding.message))
}

/// Where the line stands that the reason speaks of.
fn whence(run: &AuditRun<'_>, reason: &Reason) -> String {
    match reason {
        Reason::ImpossibleLine { place: Some(place), .. } => format!(" ({})", printable(&run.place(*place))),
        _ => String::new(),
    }
}

/// What a consistent audit does not say.
pub(in crate::report) const REMARK: &str = "this acceptance was configured: it shows that the setting was honoured, and is no evidence about the draft model";

pub(super) fn colored(verdict: Verdict) -> String {
    format!("{}{verdict}{RESET}", color(verdict))
}

fn color(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Consistent => GREEN,
        Verdict::Inconsistent => RED,
        Verdict::Insufficient | Verdict::Unauditable => YELLOW,
    }
}
