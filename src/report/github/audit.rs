//! Verdicts and findings of an audit as annotations.

use std::io::{self, Write};

use super::command::{Annotation, Level};
use crate::audit::{PointReport, Reason, Severity, Verdict};
use crate::evidence::Place;
use crate::report::audit::{AuditRun, Summary};

/// Writes an annotation for each point that is not `consistent`, then one for each finding, the gravest first: GitHub
/// shows ten of each kind. The last line is none; it counts the points.
///
/// `inconsistent` is an error, `insufficient` and `unauditable` are warnings; a note is a `notice`.
pub fn write_audit(run: &AuditRun<'_>, out: &mut dyn Write) -> io::Result<()> {
    for error in run.errors {
        Annotation { level: Level::Error, place: None, column: None, title: "unreadable", message: error }
            .write(out)?;
    }
    for verdict in [Verdict::Inconsistent, Verdict::Unauditable, Verdict::Insufficient] {
        for point in run.points.iter().filter(|point| point.verdict == verdict) {
            write_verdict(run, point, out)?;
        }
    }
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        for point in run.points {
            write_findings(run, point, severity, out)?;
        }
    }
    for note in run.notes {
        Annotation { level: Level::Notice, place: None, column: None, title: "input", message: note }
            .write(out)?;
    }
    let (holds, all) = (run.count(Verdict::Consistent), run.points.len());
    // No foreign text: a plain line must not be read as a command.
    let points = if all == 1 { "point" } else { "points" };
    writeln!(out, "{}: {holds} of {all} {points} consistent; {}", run.verdict, Summary::of(run.points))
}

fn write_verdict(run: &AuditRun<'_>, point: &PointReport, out: &mut dyn Write) -> io::Result<()> {
    let level = match point.verdict {
        Verdict::Inconsistent => Level::Error,
        Verdict::Insufficient | Verdict::Unauditable => Level::Warning,
        Verdict::Consistent => Level::Notice,
    };
    let place = match point.reason {
        Reason::ImpossibleLine { place, .. } => place,
        _ => None,
    };
    // A file names the point where no line does.
    let place = place.or_else(|| point.files.first().map(|file| Place { file: *file, line: 1 }));
    let title = point.verdict.name();
    let message = format!("{}: {}", point.name, point.reason);
    Annotation { level, place: located(run, place), column: None, title, message: &message }.write(out)
}

fn write_findings(
    run: &AuditRun<'_>,
    point: &PointReport,
    severity: Severity,
    out: &mut dyn Write,
) -> io::Result<()> {
    let level = match severity {
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
        Severity::Note => Level::Notice,
    };
    for finding in point.findings.iter().filter(|finding| finding.severity == severity) {
        let title = finding.code.name();
        let message = format!("{}: {}", point.name, finding.message);
        Annotation { level, place: located(run, finding.evidence), column: None, title, message: &message }
            .write(out)?;
    }
    Ok(())
}

fn located<'a>(run: &AuditRun<'a>, place: Option<Place>) -> Option<(&'a str, u64)> {
    let place = place?;
    Some((run.file(place.file)?, place.line))
}
