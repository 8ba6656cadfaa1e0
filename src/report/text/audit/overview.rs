//! Several points: a line for each, then what stands out, the gravest first, then the verdict over all.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, Write};

use crate::audit::{Finding, Mechanism, PointReport, Severity, Verdict};
use crate::report::audit::{AuditRun, Summary, basis, target};
use crate::report::excerpt::printable;

use super::super::style::RESET;
use super::super::{Align, Table};
use super::{Detail, REMARK, color, colored, said, severity, whence};

/// The longest verdict.
const WIDTH: usize = 12;

/// Points named in one remark; more are counted.
const MAX_NAMES: usize = 8;

/// What is unknown.
const NONE: &str = "-";

pub(super) fn write(run: &AuditRun<'_>, detail: Detail, out: &mut dyn Write) -> io::Result<()> {
    let shared = run.target();
    if let (Some(shared), Some(first)) = (shared, run.points.first()) {
        writeln!(out, "  {:<11} {}", "target", printable(&target(shared)))?;
        if let Some(cell) = shared.cell() {
            writeln!(out, "  {:<11} {}", "source", printable(&cell.source))?;
        }
        writeln!(out, "  {:<11} {}\n", "judged by", basis(first))?;
    }
    table(run, shared.is_none(), out)?;
    writeln!(out)?;
    for point in run.points.iter().filter(|point| point.verdict != Verdict::Consistent) {
        let verdict = format!("{}{:<WIDTH$}{RESET}", color(point.verdict), point.verdict.to_string());
        let (name, reason) = (printable(&point.name), &point.reason);
        writeln!(out, "  {verdict} {name}: {reason}{}", whence(run, reason))?;
    }
    if detail == Detail::Overview {
        for remark in remarks(run) {
            let (severity, who) = (severity(remark.finding.severity, WIDTH), who(run, &remark));
            writeln!(out, "  {severity} {who}{}", remark.text)?;
        }
    }
    writeln!(out, "\n{}", Summary::of(run.points))?;
    let holds = run.count(Verdict::Consistent);
    let all = run.points.len();
    writeln!(out, "verdict over {all} points: {}, {holds} of {all} consistent", colored(run.verdict))?;
    if holds > 0 {
        writeln!(out, "{REMARK}")?;
    }
    Ok(())
}

fn table(run: &AuditRun<'_>, own_targets: bool, out: &mut dyn Write) -> io::Result<()> {
    let (left, right) = (Align::Left, Align::Right);
    let mut columns = vec![("POINT", left)];
    if own_targets {
        columns.push(("TARGET", right));
    }
    columns.extend([
        ("LINES", right),
        ("ACCEPT LEN", right),
        ("INTERVAL", left),
        ("MECHANISM", left),
        ("BATCH", right),
        ("GRAPH", right),
        ("FINDINGS", left),
        ("VERDICT", left),
    ]);
    let mut table = Table::new(columns);
    for point in run.points {
        table.row(row(point, own_targets));
    }
    table.write(out)
}

fn row(point: &PointReport, own_target: bool) -> Vec<String> {
    let none = || NONE.to_owned();
    let accept_len = point.accept_len.as_ref();
    let interval = accept_len.and_then(|accept_len| accept_len.interval);
    let mechanism = point.mechanisms.as_ref();
    let mut cells = vec![printable(&point.name)];
    if own_target {
        let target = point.target.as_ref().map(|target| target.accept_length().to_string());
        cells.push(target.unwrap_or_else(none));
    }
    cells.extend([
        point.decode_lines.to_string(),
        accept_len.map_or_else(none, |accept_len| format!("{:.3}", accept_len.mean)),
        interval.map_or_else(none, |interval| format!("{:.3} to {:.3}", interval.low, interval.high)),
        mechanism.map_or_else(none, |found| found.best.map_or("undetermined", Mechanism::name).to_owned()),
        point.running_req.map_or_else(none, |(min, max)| {
            if min == max { max.to_string() } else { format!("{min}-{max}") }
        }),
        graph(point),
        counts(&point.findings),
        // The last column may hold codes: nothing has to stand in line behind it.
        colored(point.verdict),
    ]);
    cells
}

/// Share of the decode lines that ran a captured graph.
fn graph(point: &PointReport) -> String {
    match point.graphs {
        (0, 0) => NONE.to_owned(),
        (on, _) if on == point.decode_lines => "all".to_owned(),
        (on, _) => format!("{on}/{}", point.decode_lines),
    }
}

/// `1 error, 2 notes`.
fn counts(findings: &[Finding]) -> String {
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let parts: Vec<String> = [Severity::Error, Severity::Warning, Severity::Note]
        .into_iter()
        .map(|severity| (count(severity), severity))
        .filter(|(count, _)| *count > 0)
        .map(|(count, severity)| format!("{count} {severity}{}", if count == 1 { "" } else { "s" }))
        .collect();
    if parts.is_empty() { NONE.to_owned() } else { parts.join(", ") }
}

/// A finding, and the points that have it in the same words.
struct Remark<'a> {
    finding: &'a Finding,
    text: String,
    points: Vec<&'a PointReport>,
}

/// The points that a remark is about.
fn who(run: &AuditRun<'_>, remark: &Remark<'_>) -> String {
    let points = remark.points.as_slice();
    if points.len() == run.points.len() {
        return "every point: ".to_owned();
    }
    if points.len() == 1 && remark.finding.evidence.is_some() {
        // The line that shows it names the file.
        return String::new();
    }
    let mut names: Vec<String> = points.iter().take(MAX_NAMES).map(|point| printable(&point.name)).collect();
    if points.len() > MAX_NAMES {
        names.push(format!("{} more", points.len() - MAX_NAMES));
    }
    format!("{}: ", names.join(", "))
}

/// Findings of all points, the gravest first; what several points say in the same words is said once.
fn remarks<'a>(run: &AuditRun<'a>) -> Vec<Remark<'a>> {
    let mut remarks: Vec<Remark<'a>> = Vec::new();
    let mut known = HashMap::new();
    for point in run.points {
        for finding in &point.findings {
            let next = remarks.len();
            let index =
                *known.entry((finding.code, finding.severity, finding.message.as_str())).or_insert(next);
            match remarks.get_mut(index) {
                Some(remark) => remark.points.push(point),
                None => remarks.push(Remark { finding, text: said(run, finding), points: vec![point] }),
            }
        }
    }
    // A stable sort: points in their order.
    remarks.sort_by_key(|remark| Reverse(remark.finding.severity));
    remarks
}
