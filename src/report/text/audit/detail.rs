//! One point in full: what was measured, what stands out, and last the verdict with its reason.

use std::io::{self, Write};

use crate::audit::{PointReport, PooledSource, RankReport, Verdict};
use crate::golden::Target;
use crate::report::audit::{
    AuditRun, basis, decimal, graphs, injected, interval_kind, interval_source, mechanism, per_line, server,
    skipped, target,
};
use crate::report::excerpt::printable;
use crate::report::plot;

use super::super::replay::write_replay;
use super::super::style::{BOLD, RESET};
use super::{REMARK, colored, said, severity, whence};

/// Ranks listed one by one; more are summed up.
const MAX_RANKS: usize = 16;

/// Stretches of lines of a plot: two a column.
const STRETCHES: usize = 128;

pub(super) fn write(run: &AuditRun<'_>, point: &PointReport, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{BOLD}{}{RESET}", printable(&point.name))?;
    for (label, value) in facts(point) {
        writeln!(out, "  {label:<11} {}", printable(&value))?;
    }
    if let Some(replay) = point.told_replay() {
        write_replay(replay, run, out)?;
    }
    for figure in [plot::accept_length(point, "p", STRETCHES), plot::values(point, "p")].into_iter().flatten()
    {
        writeln!(out)?;
        plot::draw(&figure, "  ", out)?;
    }
    if point.series.is_some() {
        writeln!(out)?;
    }
    for finding in &point.findings {
        writeln!(out, "  {} {}", severity(finding.severity, 11), said(run, finding))?;
    }
    let (verdict, reason) = (colored(point.verdict), &point.reason);
    writeln!(out, "  {:<11} {verdict}: {reason}{}", "verdict", whence(run, reason))?;
    if point.verdict == Verdict::Consistent {
        writeln!(out, "  {:<11} {REMARK}", "")?;
    }
    Ok(())
}

pub(in crate::report) fn facts(point: &PointReport) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut add = |label, value: Option<String>| facts.extend(value.map(|value| (label, value)));
    add("target", Some(point.target.as_ref().map_or_else(|| "none".to_owned(), target)));
    add("source", point.target.as_ref().and_then(Target::cell).map(|cell| cell.source.clone()));
    add("judged by", point.target.as_ref().map(|_| basis(point)));
    add("server", server(point));
    let settings = injected(point);
    add("injected", (!settings.is_empty()).then(|| settings.join(" ")));
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

fn lines(point: &PointReport) -> String {
    let decode = point.decode_lines;
    let not_log = point.pooled_from.filter(|source| *source != PooledSource::Log);
    if let Some((source, pool)) = not_log.zip(point.pooled.as_ref()) {
        let lines = if decode == 0 { "none".to_owned() } else { format!("{decode} decode") };
        return format!(
            "{lines}; judged by {}: {} accepted drafts in {} verify steps, {:.0} independent",
            source.evidence(),
            pool.accepted,
            point.steps,
            point.independent_steps
        );
    }
    if point.spec_lines == 0 {
        return format!("{decode} decode, none speculative");
    }
    format!(
        "{decode} decode, {} speculative; {} verify steps of {} a line ({}), {:.0} independent",
        point.spec_lines,
        point.steps,
        point.interval.steps,
        interval_source(point.interval.source),
        point.independent_steps
    )
}

fn ranks(ranks: &[RankReport]) -> String {
    let mut parts: Vec<String> = ranks
        .iter()
        .take(MAX_RANKS)
        .map(|rank| {
            let tags = if rank.tags.is_empty() { "untagged".to_owned() } else { rank.tags.to_string() };
            let mean = rank.accept_len.map_or_else(String::new, |mean| format!(" at {mean:.3}"));
            let batch =
                rank.max_running_req.map_or_else(String::new, |batch| format!(", batch at most {batch}"));
            format!("{tags}: {}{mean}{batch}", rank.lines)
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
        |interval| {
            let kind = interval_kind(point);
            format!("{} {kind} {:.3} to {:.3}", accept_len.confidence, interval.low, interval.high)
        },
    );
    Some(format!(
        "mean {}, {interval}; weighted by batch {}",
        decimal(accept_len.mean),
        decimal(accept_len.weighted)
    ))
}

fn batch(point: &PointReport) -> Option<String> {
    let (min, max) = point.running_req?;
    let queue = point.max_queue_req.map_or_else(String::new, |queue| format!(", queue at most {queue}"));
    let lines = point.decode_lines;
    Some(format!("{min} to {max} running requests{queue}; {lines} decode lines, {}", graphs(point)))
}

fn throughput(point: &PointReport) -> Option<String> {
    let (median, mean) = (point.median_tps?, point.steady_mean_tps?);
    Some(format!("median {median:.1}, mean {mean:.1} tokens/s without idle time, all ranks"))
}
