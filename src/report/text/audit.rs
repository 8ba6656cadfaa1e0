//! `audit` for a reviewer at a terminal: what was measured, what stands out, and last the verdict with its reason.

use std::io::{self, Write};

use crate::audit::{
    Finding, IntervalSource, Mechanism, PointReport, RankReport, Reason, Severity, Skipped, Verdict,
};
use crate::evidence::{Place, ServerStart};
use crate::golden::{Target, TargetOrigin};

use super::style::{BOLD, GREEN, RED, RESET, YELLOW};
use super::{Align, Table};

/// Ranks listed one by one; more are summed up.
const MAX_RANKS: usize = 16;

/// Writes every point and the verdict over all. `files` are the names that places refer to. Verdicts and severities
/// carry terminal colours; a stream that is no terminal has to strip them.
pub fn write_audit(
    points: &[PointReport],
    verdict: Verdict,
    files: &[&str],
    out: &mut dyn Write,
) -> io::Result<()> {
    for (index, point) in points.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        write_point(point, files, out)?;
    }
    if points.len() > 1 {
        writeln!(out)?;
        write_summary(points, out)?;
        writeln!(out, "\nverdict over {} points: {}", points.len(), colored(verdict))?;
    }
    Ok(())
}

fn write_point(point: &PointReport, files: &[&str], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{BOLD}{}{RESET}", point.name)?;
    for (label, value) in facts(point) {
        writeln!(out, "  {label:<11} {value}")?;
    }
    if let Some(replay) = &point.replay {
        super::replay::write_replay(replay, files, out)?;
    }
    for finding in &point.findings {
        write_finding(finding, files, out)?;
    }
    writeln!(
        out,
        "  {:<11} {}: {}{}",
        "verdict",
        colored(point.verdict),
        point.reason,
        whence(&point.reason, files)
    )?;
    if let Some(remark) = remark(point) {
        writeln!(out, "  {:<11} {remark}", "")?;
    }
    Ok(())
}

fn facts(point: &PointReport) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut add = |label, value: Option<String>| facts.extend(value.map(|value| (label, value)));
    add("target", Some(point.target.as_ref().map_or_else(|| "none".to_owned(), target)));
    add("source", point.target.as_ref().and_then(Target::cell).map(|cell| cell.source.clone()));
    add("server", server(point));
    add("lines", Some(lines(point)));
    add("skipped", skipped(point.skipped));
    if point.ranks.len() > 1 {
        add("ranks", Some(ranks(&point.ranks)));
    }
    add("accept len", accept_len(point));
    add("per line", per_line(point));
    add("mechanism", mechanism(point));
    add("batch", batch(point));
    add("throughput", throughput(point));
    facts
}

fn target(target: &Target) -> String {
    let (length, max) = (target.accept_length(), target.max_accept_length());
    let source = match target.origin() {
        TargetOrigin::Golden(cell) => {
            format!("{} {}, draft length {}", cell.curve, cell.thinking, cell.draft_length)
        }
        TargetOrigin::Explicit => "as given, no golden value".to_owned(),
    };
    format!("{length} of at most {max} tokens a verify step: {source}")
}

fn server(point: &PointReport) -> Option<String> {
    let engine = point.engine?.title();
    let arguments = match &point.server {
        None => "its arguments are not in the log".to_owned(),
        Some(server) => arguments(server),
    };
    Some(format!("{engine}, {arguments}"))
}

fn arguments(server: &ServerStart) -> String {
    let Some(algorithm) = &server.speculative_algorithm else {
        return "no speculative algorithm".to_owned();
    };
    let number = |name: &str, value: Option<u32>| value.map(|value| format!("{name} {value}"));
    // For block drafters the printed steps mean nothing.
    let steps = server.num_steps.filter(|steps| *steps > 0 && server.block_size.is_none());
    let parts = [
        Some(algorithm.clone()),
        number("num_steps", steps),
        number("block size", server.block_size),
        number("num_draft_tokens", server.num_draft_tokens),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn lines(point: &PointReport) -> String {
    let decode = point.decode_lines;
    if point.spec_lines == 0 {
        return format!("{decode} decode, none speculative");
    }
    let source = match point.interval.source {
        IntervalSource::Given => "as given",
        IntervalSource::Server => "server_args",
        IntervalSource::Inferred => "inferred from the values",
        IntervalSource::Assumed => "the default, not logged",
    };
    format!(
        "{decode} decode, {} speculative; {} verify steps of {} a line ({source}), {:.0} independent",
        point.spec_lines, point.steps, point.interval.steps, point.independent_steps
    )
}

fn skipped(skipped: Skipped) -> Option<String> {
    let counts = [
        (skipped.truncated, "truncated"),
        (skipped.duplicate, "duplicate"),
        (skipped.lookalike, "no decode lines"),
        (skipped.idle, "without requests"),
        (skipped.not_finite, "not finite"),
    ];
    let parts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn ranks(ranks: &[RankReport]) -> String {
    let mut parts: Vec<String> = ranks
        .iter()
        .take(MAX_RANKS)
        .map(|rank| {
            let tags = if rank.tags.is_empty() { "untagged".to_owned() } else { rank.tags.to_string() };
            let mean = rank.accept_len.map_or_else(String::new, |mean| format!(" at {mean:.3}"));
            format!("{tags}: {}{mean}", rank.lines)
        })
        .collect();
    if ranks.len() > MAX_RANKS {
        parts.push(format!("{} more", ranks.len() - MAX_RANKS));
    }
    parts.join("; ")
}

fn accept_len(point: &PointReport) -> Option<String> {
    let accept_len = point.accept_len.as_ref()?;
    let interval = accept_len.interval.map_or_else(
        || "too few lines for an interval".to_owned(),
        |interval| format!("{} interval {:.3} to {:.3}", accept_len.confidence, interval.low, interval.high),
    );
    Some(format!("mean {:.3}, {interval}; weighted by batch {:.3}", accept_len.mean, accept_len.weighted))
}

fn per_line(point: &PointReport) -> Option<String> {
    let accept_len = point.accept_len.as_ref()?;
    let shown = format!("{:.2} to {:.2}", accept_len.min, accept_len.max);
    let Some(expected) = point.expected_line else { return Some(shown) };
    Some(if expected.lo == expected.hi {
        format!("{shown}; expected {}.00 on every line", expected.lo)
    } else {
        format!(
            "{shown}; expected {:.2} to {:.2} in 95 of 100, {}.00 to {}.00 at most",
            expected.low95, expected.high95, expected.lo, expected.hi
        )
    })
}

fn mechanism(point: &PointReport) -> Option<String> {
    let mechanisms = point.mechanisms.as_ref()?;
    let best = mechanisms.best.map_or("undetermined", Mechanism::name).to_owned();
    let rejected: Vec<&str> = mechanisms.rejected.iter().map(|mechanism| mechanism.name()).collect();
    let mut values: Vec<String> =
        mechanisms.cells_alike.iter().map(|cell| cell.accept_length.to_string()).collect();
    values.sort_unstable();
    values.dedup();
    let misses = point.lattice.map_or(0, |lattice| lattice.misses);
    let parts = [
        Some(best),
        (!rejected.is_empty()).then(|| format!("rejected: {}", rejected.join(", "))),
        mechanisms
            .dispersion
            .map(|scatter| format!("scatter D {:.1} over {} steady lines", scatter.d, scatter.lines)),
        (misses > 0).then(|| format!("{misses} off the lattice")),
        (!values.is_empty()).then(|| format!("golden values that fit as well: {}", values.join(", "))),
    ];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

fn batch(point: &PointReport) -> Option<String> {
    let (min, max) = point.running_req?;
    let queue = point.max_queue_req.map_or_else(String::new, |queue| format!(", queue at most {queue}"));
    let (on, off) = point.graphs;
    let graphs = match (on, off) {
        (0, 0) => "no graph flag".to_owned(),
        (on, 0) => format!("cuda graph True on all {on} decode lines"),
        (on, off) => format!("cuda graph True on {on}, False on {off} decode lines"),
    };
    Some(format!("{min} to {max} running requests{queue}; {graphs}"))
}

fn throughput(point: &PointReport) -> Option<String> {
    let (median, mean) = (point.median_tps?, point.steady_mean_tps?);
    Some(format!("median {median:.1}, mean {mean:.1} tokens/s without idle time, all ranks"))
}

fn write_finding(finding: &Finding, files: &[&str], out: &mut dyn Write) -> io::Result<()> {
    let color = match finding.severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
        Severity::Note => BOLD,
    };
    let at = finding.evidence.map_or_else(String::new, |place| format!(" ({})", named(place, files)));
    writeln!(
        out,
        "  {color}{:<11}{RESET} {}: {}{at}",
        finding.severity.to_string(),
        finding.code,
        finding.message
    )
}

/// Where the line stands that the reason speaks of.
fn whence(reason: &Reason, files: &[&str]) -> String {
    match reason {
        Reason::ImpossibleLine { place: Some(place), .. } => format!(" ({})", named(*place, files)),
        _ => String::new(),
    }
}

/// What a consistent audit does not say.
fn remark(point: &PointReport) -> Option<&'static str> {
    (point.verdict == Verdict::Consistent).then_some(
        "this acceptance was configured: it shows that the setting was honoured, and is no evidence about the draft model",
    )
}

fn write_summary(points: &[PointReport], out: &mut dyn Write) -> io::Result<()> {
    let (left, right) = (Align::Left, Align::Right);
    let columns =
        [("POINT", left), ("LINES", right), ("ACCEPT LEN", right), ("INTERVAL", left), ("VERDICT", left)];
    let mut table = Table::new(columns);
    for point in points {
        let accept_len = point.accept_len.as_ref();
        let interval = accept_len.and_then(|accept_len| accept_len.interval);
        let none = || "-".to_owned();
        table.row([
            point.name.clone(),
            point.decode_lines.to_string(),
            accept_len.map_or_else(none, |accept_len| format!("{:.3}", accept_len.mean)),
            interval.map_or_else(none, |interval| format!("{:.3} to {:.3}", interval.low, interval.high)),
            point.verdict.to_string(),
        ]);
    }
    table.write(out)
}

pub(super) fn named(place: Place, files: &[&str]) -> String {
    let file = usize::try_from(place.file).ok().and_then(|index| files.get(index));
    file.map_or_else(|| format!("line {}", place.line), |file| format!("{file}:{}", place.line))
}

fn colored(verdict: Verdict) -> String {
    let color = match verdict {
        Verdict::Consistent => GREEN,
        Verdict::Inconsistent => RED,
        Verdict::Insufficient | Verdict::Unauditable => YELLOW,
    };
    format!("{color}{verdict}{RESET}")
}
