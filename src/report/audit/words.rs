//! Words for what an audit measured, without anything of a format in them.

use crate::audit::{Confidence, IntervalSource, Margin, Mechanism, PointReport, Skipped};
use crate::evidence::ServerStart;
use crate::golden::{Target, TargetOrigin};

/// Three decimals: what a mean of printed lines can bear.
pub(in crate::report) fn decimal(tokens: f64) -> String {
    format!("{tokens:.3}")
}

/// `6,187`.
pub(in crate::report) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The plural's letter, where one is due.
pub(super) fn plural(number: u64) -> &'static str {
    if number == 1 { "" } else { "s" }
}

pub(in crate::report) fn target(target: &Target) -> String {
    let (length, max) = (target.accept_length(), target.max_accept_length());
    let source = match target.origin() {
        TargetOrigin::Golden(cell) => {
            format!("{} {}, draft length {}", cell.curve, cell.thinking, cell.draft_length)
        }
        TargetOrigin::Explicit => "as given, no golden value".to_owned(),
        TargetOrigin::Injected { place, .. } => format!("as the run was told ({place}), no golden value"),
    };
    format!("{length} of at most {max} tokens a verify step: {source}")
}

/// The name that programs read.
pub(in crate::report) fn source_of_target(target: &Target) -> &'static str {
    match target.origin() {
        TargetOrigin::Golden(_) => "golden",
        TargetOrigin::Explicit => "explicit",
        TargetOrigin::Injected { source, .. } => source.name(),
    }
}

pub(in crate::report) fn server(point: &PointReport) -> Option<String> {
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

/// Where the number of verify steps a line comes from.
pub(in crate::report) fn interval_source(source: IntervalSource) -> &'static str {
    match source {
        IntervalSource::Given => "as given",
        IntervalSource::Server => "server_args",
        IntervalSource::Inferred => "inferred from the values",
        IntervalSource::Assumed => "the default, not logged",
        IntervalSource::Windows => "on average; every window counts its own",
    }
}

/// The margin, in tokens where a target says what a share of it is, and why it is this one.
fn margin(point: &PointReport) -> String {
    let tokens = point.target.as_ref().map(|target| point.margin.tokens(target.accept_length().get()));
    let shown = match (point.margin, tokens) {
        (Margin::Share(_), Some(tokens)) => format!("{}, {} tokens", point.margin, decimal(tokens)),
        (margin, _) => margin.to_string(),
    };
    if point.margin == Margin::default() {
        format!("{shown} (the default: throughput moves by no larger share)")
    } else {
        format!("{shown} (as given)")
    }
}

/// The confidence, and why it is this one.
pub(in crate::report) fn confidence(point: &PointReport) -> String {
    let whence = if point.confidence == Confidence::default() { "the default" } else { "as given" };
    format!("{} ({whence})", point.confidence)
}

/// What the verdict rests on.
pub(in crate::report) fn basis(point: &PointReport) -> String {
    format!("margin {}; confidence {}", margin(point), confidence(point))
}

/// What the interval is: one for many looks is wider than one for a single look.
pub(in crate::report) fn interval_kind(point: &PointReport) -> &'static str {
    if point.sequence.is_some() { "confidence sequence" } else { "interval" }
}

/// The settings of the simulation that the log shows.
pub(in crate::report) fn injected(point: &PointReport) -> Vec<String> {
    point.injected.iter().map(|setting| format!("{}={}", setting.name, setting.value)).collect()
}

pub(in crate::report) fn skipped(skipped: Skipped) -> Option<String> {
    let counts = [
        (skipped.truncated, "truncated"),
        (skipped.duplicate, "duplicate"),
        (skipped.lookalike, "no decode lines"),
        (skipped.idle, "without requests"),
        (skipped.not_finite, "not finite"),
        (skipped.out_of_scope, "outside of what was asked for"),
    ];
    let parts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Smallest and largest line, and what lines of the target show.
pub(in crate::report) fn per_line(point: &PointReport) -> Option<String> {
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

pub(in crate::report) fn mechanism(point: &PointReport) -> Option<String> {
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

/// The graph flags of the decode lines.
pub(in crate::report) fn graphs(point: &PointReport) -> String {
    let (on, off) = point.graphs;
    let without = point.decode_lines.saturating_sub(on).saturating_sub(off);
    match (on, off, without) {
        (0, 0, _) => "none with a graph flag".to_owned(),
        (_, 0, 0) => "all with `cuda graph: True`".to_owned(),
        (0, _, 0) => "all with `cuda graph: False`".to_owned(),
        _ => {
            let parts = [
                (on, "with `cuda graph: True`"),
                (off, "with `cuda graph: False`"),
                (without, "without a flag"),
            ];
            let parts = parts.into_iter().filter(|(count, _)| *count > 0);
            parts.map(|(count, what)| format!("{} {what}", thousands(count))).collect::<Vec<_>>().join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_three_digits() {
        for (number, shown) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (6187, "6,187"), (1_234_567, "1,234,567")]
        {
            assert_eq!(thousands(number), shown);
        }
    }
}
