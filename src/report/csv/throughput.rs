//! Points and sweeps as tables.

use std::io::{self, Write};

use csv::WriterBuilder;

use crate::throughput::{Standing, SweepReport};

use super::cell::text;

/// Points with their standing: `index`, the two columns, `standing`, `by`.
pub fn pareto(
    out: &mut dyn Write,
    points: &[(f64, f64)],
    standing: &[Standing],
    names: (&str, &str),
) -> io::Result<()> {
    let mut writer = WriterBuilder::new().from_writer(out);
    writer.write_record(["index", &text(names.0), &text(names.1), "standing", "by"])?;
    for (index, ((x, y), standing)) in points.iter().zip(standing).enumerate() {
        let (word, by) = match standing {
            Standing::Frontier => ("frontier", String::new()),
            Standing::Dominated { by } => ("dominated", by.to_string()),
            Standing::Invalid => ("invalid", String::new()),
        };
        // What is no number leaves its cell empty: a column of numbers holds nothing else.
        let number = |value: &f64| if value.is_finite() { value.to_string() } else { String::new() };
        writer.write_record([&index.to_string(), &number(x), &number(y), word, &by])?;
    }
    writer.flush()
}

/// One row a cell, the winner of its concurrency marked.
pub fn sweep(out: &mut dyn Write, report: &SweepReport) -> io::Result<()> {
    let mut writer = WriterBuilder::new().from_writer(out);
    writer.write_record([
        "concurrency",
        "draft_length",
        "accept_length",
        "basis",
        "factor_low",
        "factor_high",
        "steady_tps",
        "steady_tps_se",
        "output_tps",
        "e2e_mean_s",
        "e2e_p90_s",
        "tpot_mean_ms",
        "best",
    ])?;
    for cell in &report.cells {
        let optional = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.4}"));
        let best = report
            .best
            .iter()
            .any(|best| (best.concurrency, best.drafts) == (cell.concurrency, cell.drafts) && !best.is_tie);
        writer.write_record([
            cell.concurrency.to_string(),
            cell.drafts.to_string(),
            format!("{:.2}", cell.accept_length),
            cell.ground.basis.name().to_owned(),
            optional(cell.ground.stated().map(|(low, _)| low)),
            optional(cell.ground.stated().map(|(_, high)| high)),
            format!("{:.2}", cell.point.steady_tps.mean),
            cell.point.steady_tps.se.map_or_else(String::new, |error| format!("{error:.2}")),
            format!("{:.2}", cell.point.output_tps.mean),
            optional(cell.point.e2e_s.map(|found| found.mean)),
            optional(cell.point.e2e_s.map(|found| found.p90)),
            optional(cell.point.tpot_s.map(|found| found.mean * 1000.0)),
            best.to_string(),
        ])?;
    }
    writer.flush()
}
