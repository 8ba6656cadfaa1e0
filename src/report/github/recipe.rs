//! Findings of `recipe check` as annotations.

use std::io::{self, Write};

use super::command::{Annotation, Level};
use crate::golden::Severity;
use crate::report::recipe::CheckRun;
use crate::report::text::recipe::subject;

/// Writes an annotation for each finding, the gravest first: GitHub shows ten of each kind. The last line is none; it
/// counts.
pub fn write_check(run: &CheckRun, out: &mut dyn Write) -> io::Result<()> {
    for error in &run.errors {
        Annotation { level: Level::Error, place: None, column: None, title: "unreadable", message: error }
            .write(out)?;
    }
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        let level = match severity {
            Severity::Error => Level::Error,
            Severity::Warning => Level::Warning,
            Severity::Note => Level::Notice,
        };
        for finding in run.findings.iter().filter(|finding| finding.severity == severity) {
            let line = u64::try_from(finding.at.line).unwrap_or(u64::MAX);
            let column = u64::try_from(finding.at.column).ok();
            let message = format!("{}{}", subject(finding), finding.message);
            let title = finding.code.name();
            Annotation { level, place: Some((&finding.file, line)), column, title, message: &message }
                .write(out)?;
        }
    }
    writeln!(out, "{}", run.summary())
}
