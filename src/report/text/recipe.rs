//! Findings of `recipe check` for people: one a line, with its place in front, as compilers print them.

use std::io::{self, Write};

use crate::golden::Severity;
use crate::recipe::Finding;
use crate::report::excerpt::printable;
use crate::report::recipe::CheckRun;

use super::style::{BOLD, GREEN, RED, RESET, YELLOW};

/// Writes the findings in the order of files and lines, sanctioned ones behind, and a summary.
pub fn check(out: &mut dyn Write, run: &CheckRun) -> io::Result<()> {
    for finding in &run.findings {
        line(out, finding)?;
    }
    for (finding, allowed) in &run.allowed {
        writeln!(
            out,
            "{}: allowed: {}: until {}: {}",
            place(finding),
            finding.code,
            allowed.expires,
            printable(&allowed.reason)
        )?;
    }
    let color = if run.count(Severity::Error) > 0 {
        RED
    } else if run.count(Severity::Warning) > 0 {
        YELLOW
    } else {
        GREEN
    };
    writeln!(out, "{color}{}{RESET}", run.summary())
}

fn line(out: &mut dyn Write, finding: &Finding) -> io::Result<()> {
    let color = match finding.severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
        Severity::Note => BOLD,
    };
    writeln!(
        out,
        "{}: {color}{}{RESET}: {}: {}{}",
        place(finding),
        finding.severity,
        finding.code,
        subject(finding),
        printable(&finding.message)
    )
}

fn place(finding: &Finding) -> String {
    format!("{}:{}:{}", printable(&finding.file), finding.at.line, finding.at.column)
}

/// `override_deep, decode: `
pub(crate) fn subject(finding: &Finding) -> String {
    match &finding.variant {
        Some(variant) => format!("{}, {}: ", printable(variant), finding.role),
        None => format!("{}: ", finding.role),
    }
}
