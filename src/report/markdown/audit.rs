//! An audit for a sign-off: sentences to quote, a table with a line for each point, then each point with what it rests
//! on.

use std::io::{self, Write};

use super::escape::{code, prose};
use crate::audit::{PointReport, RankReport, Reason, Verdict};
use crate::golden::{Target, TargetOrigin};
use crate::report::audit::{
    AuditRun, Summary, basis, batches, confidence, decimal, graphs, interval_kind, interval_source,
    mechanism, per_line, server, side_by_side, skipped, slips, thousands,
};

/// Ranks listed one by one; more are summed up.
const MAX_RANKS: usize = 16;

/// Files listed one by one.
const MAX_FILES: usize = 16;

/// Writes the report. Its headings begin at the third level, to stand below those of a pull request.
pub fn write_audit(run: &AuditRun<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (holds, all) = (run.count(Verdict::Consistent), run.points.len());
    writeln!(out, "### Accept length audit: {}\n", run.verdict)?;
    if all != 1 {
        writeln!(out, "- {holds} of {all} points consistent")?;
    }
    writeln!(out, "- {}", Summary::of(run.points))?;
    // One point says it itself.
    if let Some(shared) = run.target().filter(|_| all != 1) {
        writeln!(out, "- target {}", target(shared))?;
    }
    for error in run.errors {
        writeln!(out, "- **not read to its end**: {}", prose(error))?;
    }
    for note in run.notes {
        writeln!(out, "- {}", prose(note))?;
    }
    writeln!(out)?;
    if all > 0 {
        write_table(run, out)?;
    }
    for point in run.points {
        write_point(run, point, out)?;
    }
    if holds > 0 {
        writeln!(
            out,
            "\nA simulated acceptance was configured: `consistent` shows that the setting was honoured, and is no evidence \
             about the draft model."
        )?;
    }
    Ok(())
}

fn write_table(run: &AuditRun<'_>, out: &mut dyn Write) -> io::Result<()> {
    let level = run.points.first().map_or_else(String::new, |point| format!("{} ", point.confidence));
    writeln!(
        out,
        "| point | verdict | target | mean accept len | {level}interval | decode lines | largest batch per rank | `cuda graph` |"
    )?;
    writeln!(out, "|---|---|---:|---:|---|---:|---:|---|")?;
    for point in run.points {
        let accept_len = point.accept_len.as_ref();
        let interval = accept_len.and_then(|accept_len| accept_len.interval);
        let none = || "-".to_owned();
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            code(&point.name),
            verdict(point.verdict),
            point.target.as_ref().map_or_else(none, |target| target.accept_length().to_string()),
            accept_len.map_or_else(none, |accept_len| decimal(accept_len.mean)),
            interval.map_or_else(none, |it| format!("{} to {}", decimal(it.low), decimal(it.high))),
            thousands(point.decode_lines),
            point.running_req.map_or_else(none, |(_, max)| max.to_string()),
            flags(point),
        )?;
    }
    Ok(())
}

fn write_point(run: &AuditRun<'_>, point: &PointReport, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n#### {}: {}\n", code(&point.name), point.verdict)?;
    let whence = match &point.reason {
        Reason::ImpossibleLine { place: Some(place), .. } => format!(" ({})", code(&run.place(*place))),
        _ => String::new(),
    };
    let mut item = |label: &str, value: Option<String>| match value {
        Some(value) => writeln!(out, "- {label}: {value}"),
        None => Ok(()),
    };
    item("verdict", Some(format!("**{}**, {}{whence}", point.verdict, prose(&point.reason.to_string()))))?;
    item("target", Some(point.target.as_ref().map_or_else(|| "none".to_owned(), target)))?;
    item("judged by", point.target.as_ref().map(|_| basis(point)))?;
    item("injected settings", Some(settings(run, point)))?;
    item("server", server(point).map(|server| prose(&server)))?;
    item("mean accept len", accept_len(point))?;
    item("per line", per_line(point))?;
    item("batch", batches(point))?;
    item("ranks", ranks(&point.ranks))?;
    item("mechanism", mechanism(point))?;
    item("replay", point.told_replay().map(|replay| prose(&replay.to_string())))?;
    if let Some(lines) = point.told_replay().and_then(|replay| side_by_side(run, replay)) {
        item("printed", Some(format!("{} ({} and on)", code(&lines.printed), code(&lines.place))))?;
        item("recomputed", Some(code(&lines.recomputed)))?;
    }
    let slips = point.told_replay().and_then(|replay| slips(run, replay));
    item("draws passed over", slips.map(|slips| prose(&slips)))?;
    item("skipped lines", skipped(point.skipped))?;
    item("read from", files(run, point))?;
    for finding in &point.findings {
        let at = finding.evidence.map_or_else(String::new, |place| format!(" ({})", code(&run.place(place))));
        let message = prose(&finding.message);
        writeln!(out, "- {} `{}`: {message}{at}", finding.severity, finding.code)?;
    }
    Ok(())
}

fn verdict(verdict: Verdict) -> String {
    match verdict {
        Verdict::Consistent => verdict.to_string(),
        Verdict::Inconsistent | Verdict::Insufficient | Verdict::Unauditable => format!("**{verdict}**"),
    }
}

fn target(target: &Target) -> String {
    let (length, max) = (target.accept_length(), target.max_accept_length());
    let whence = match target.origin() {
        TargetOrigin::Golden(cell) => format!(
            "golden cell {} {}, draft length {}, from {}",
            code(&cell.curve),
            code(cell.thinking.key()),
            cell.draft_length,
            prose(&cell.source)
        ),
        TargetOrigin::Explicit => "as given, no golden value".to_owned(),
        TargetOrigin::Injected { place, .. } => {
            format!("as the run was told ({}), no golden value", code(place))
        }
    };
    format!("{length} of at most {max} tokens a verify step: {whence}")
}

/// What was injected, each with the line that says so.
fn settings(run: &AuditRun<'_>, point: &PointReport) -> String {
    if point.injected.is_empty() {
        return "none shown by the log".to_owned();
    }
    let settings = point.injected.iter().map(|setting| {
        format!(
            "{} ({})",
            code(&format!("{}={}", setting.name, setting.value)),
            code(&run.place(setting.place))
        )
    });
    settings.collect::<Vec<_>>().join(", ")
}

fn accept_len(point: &PointReport) -> Option<String> {
    let accept_len = point.accept_len.as_ref()?;
    let interval = accept_len.interval.map_or_else(
        || "too few lines for an interval".to_owned(),
        |it| {
            format!(
                "{} {} to {} at confidence {}",
                interval_kind(point),
                decimal(it.low),
                decimal(it.high),
                confidence(point)
            )
        },
    );
    Some(format!(
        "{}, {interval}; {} independent verify steps in {} decode lines of {} steps ({})",
        decimal(accept_len.mean),
        thousands(crate::law::whole(point.independent_steps.round())),
        thousands(point.spec_lines),
        point.interval.steps,
        interval_source(point.interval.source),
    ))
}

fn ranks(ranks: &[RankReport]) -> Option<String> {
    if ranks.len() < 2 {
        return None;
    }
    let mut parts: Vec<String> = ranks
        .iter()
        .take(MAX_RANKS)
        .map(|rank| {
            let tags = if rank.tags.is_empty() { "untagged".to_owned() } else { rank.tags.to_string() };
            let mean = rank.accept_len.map_or_else(String::new, |mean| format!(" at {}", decimal(mean)));
            let batch =
                rank.max_running_req.map_or_else(String::new, |batch| format!(", batch at most {batch}"));
            format!("{} {} lines{mean}{batch}", code(&tags), thousands(rank.lines))
        })
        .collect();
    if ranks.len() > MAX_RANKS {
        parts.push(format!("{} more", ranks.len() - MAX_RANKS));
    }
    Some(parts.join("; "))
}

fn files(run: &AuditRun<'_>, point: &PointReport) -> Option<String> {
    let mut names: Vec<String> =
        point.files.iter().take(MAX_FILES).filter_map(|file| run.file(*file)).map(code).collect();
    if point.files.len() > MAX_FILES {
        names.push(format!("{} more", point.files.len() - MAX_FILES));
    }
    // A point of one file goes by its name.
    let says_more = names.len() > 1 || run.file(*point.files.first()?) != Some(point.name.as_str());
    says_more.then(|| names.join(", "))
}

/// `True on all`, for a cell.
fn flags(point: &PointReport) -> String {
    match point.graphs {
        (0, 0) => "-".to_owned(),
        (on, 0) if on == point.decode_lines => "`True` on all".to_owned(),
        _ => graphs(point),
    }
}
