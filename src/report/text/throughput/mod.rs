//! `throughput` for people.

use std::io::{self, Write};

use crate::throughput::sim::{Arrivals, Server};
use crate::throughput::{
    Bend, Coefficient, Comparison, Fitted, Ground, Law, Merged, Model, NOT_MODELLED, Outcome, PhaseFigures,
    SimulatedPoint, Standing, Sweep, SweepReport,
};

use super::style::{BOLD, RESET};
use super::table::{Align, Table};

mod predictions;

pub use predictions::predictions;

/// What a calibration found.
pub fn model(out: &mut dyn Write, model: &Model) -> io::Result<()> {
    for source in &model.sources {
        let excluded: Vec<String> =
            source.excluded.iter().map(|(reason, lines)| format!("{lines} {reason}")).collect();
        let excluded =
            if excluded.is_empty() { String::new() } else { format!(" ({})", excluded.join(", ")) };
        writeln!(
            out,
            "{}: draft length {}, {} of {} decode lines count{excluded}, {} prefill lines",
            source.name,
            length(source.drafts),
            source.used,
            source.decode_lines,
            source.prefill_lines
        )?;
    }
    for law in &model.laws {
        writeln!(out)?;
        write_law(out, law)?;
    }
    writeln!(out)?;
    levels(out, model)?;
    writeln!(out, "\nnot modelled: {}", NOT_MODELLED.join("; "))
}

fn write_law(out: &mut dyn Write, law: &Law) -> io::Result<()> {
    let lengths: Vec<String> = law.draft_lengths.iter().map(u32::to_string).collect();
    let name = if law.is_plain() {
        "no speculation".to_owned()
    } else if lengths.is_empty() {
        "draft length unknown".to_owned()
    } else {
        format!("draft length {}", lengths.join(", "))
    };
    let ranges = &law.ranges;
    match &law.outcome {
        Outcome::Fitted(fitted) => {
            writeln!(out, "{BOLD}{name}: step time fitted{RESET}")?;
            for (label, value) in coefficients(law, fitted) {
                writeln!(out, "  {label:<24} {value}")?;
            }
            let quality = &fitted.quality;
            writeln!(
                out,
                "  {:<24} median {:.1} %, 90 % below {:.1} %; condition number {:.1}",
                "residuals",
                quality.median_residual * 100.0,
                quality.p90_residual * 100.0,
                quality.condition_number
            )?;
            if let Some((median, largest)) = quality.left_out_median.zip(quality.left_out_largest) {
                writeln!(
                    out,
                    "  {:<24} median {:.1} %, largest {:.1} % in tokens a second",
                    "a batch left out",
                    median * 100.0,
                    largest * 100.0
                )?;
            }
        }
        Outcome::Refused { missing, slope_s_per_request } => {
            writeln!(out, "{BOLD}{name}: step law refused{RESET}")?;
            for missing in missing {
                writeln!(out, "  {missing}")?;
            }
            if let Some(slope) = slope_s_per_request {
                writeln!(out, "  merged slope: {:.1} us a running request", slope * 1e6)?;
            }
            writeln!(out, "  questions at the measured batches are answered")?;
        }
    }
    let contexts = if ranges.context.1 > 0.0 {
        format!("contexts of {:.0}-{:.0} tokens", ranges.context.0, ranges.context.1)
    } else {
        "contexts unknown".to_owned()
    };
    writeln!(
        out,
        "  {:<24} {}-{} running requests, {contexts}, accept length {:.2}-{:.2}",
        "covers", ranges.running.0, ranges.running.1, ranges.accept_length.0, ranges.accept_length.1
    )
}

fn coefficients(law: &Law, fitted: &Fitted) -> Vec<(&'static str, String)> {
    let step = &fitted.step;
    let merged = |kind| fitted.merged.contains(&kind);
    let fixed = if merged(Merged::DraftIntoFixed) { "a step (drafts included)" } else { "a step" };
    let number = |coefficient, value: f64, (scale, unit): (f64, &str)| match fitted
        .loose
        .iter()
        .find(|loose| loose.coefficient == coefficient)
    {
        None => format!("{:.3} {unit}", value * scale),
        Some(loose) => format!(
            "not told, between {:.3} and {:.3} {unit}; {}",
            loose.low_s * scale,
            loose.high_s * scale,
            coefficient.remedy()
        ),
    };
    let (ms, us, ns) = ((1e3, "ms"), (1e6, "us"), (1e9, "ns"));
    let mut rows = vec![
        (fixed, number(Coefficient::Step, step.a_s, ms)),
        ("a verified token", number(Coefficient::Token, step.b_s, us)),
        ("a KV token", number(Coefficient::Context, step.c_s, ns)),
    ];
    if step.lanes > 1.0 {
        rows.push(("contexts side by side", format!("{:.1} requests", step.lanes)));
    }
    if step.d_s > 0.0 || law.draft_lengths.len() > 1 {
        rows.push(("a draft pass", number(Coefficient::Draft, step.d_s, ms)));
    }
    match step.bend {
        Bend::None => {}
        Bend::Hinge { from_tokens, slope_s } => rows.push((
            "a verified token more",
            format!("beyond {from_tokens:.0} tokens a step: {}", number(Coefficient::Bend, slope_s, us)),
        )),
        Bend::Experts { experts, active, per_expert_s } => rows.push((
            "an expert touched",
            format!("{} ({active} of {experts} a token)", number(Coefficient::Bend, per_expert_s, us)),
        )),
    }
    if law.colocated {
        if !merged(Merged::BatchIntoPrompt) {
            rows.push(("a prefill batch", number(Coefficient::PrefillBatch, fitted.prefill.p0_s, ms)));
        }
        rows.push(("a prompt token", number(Coefficient::PromptToken, fitted.prefill.p1_s, us)));
    }
    rows
}

fn levels(out: &mut dyn Write, model: &Model) -> io::Result<()> {
    let mut table = Table::new([
        ("draft length", Align::Right),
        ("running", Align::Right),
        ("lines", Align::Right),
        ("accept len", Align::Right),
        ("tokens/s", Align::Right),
        ("5-95 %", Align::Right),
        ("step ms", Align::Right),
        ("prefill", Align::Right),
        ("context", Align::Right),
    ]);
    for level in &model.levels {
        table.row([
            length(level.drafts),
            level.running.to_string(),
            level.windows.to_string(),
            format!("{:.3}", level.accept_length),
            format!("{:.1}", level.tps),
            format!("{:.1}-{:.1}", level.tps_band.0, level.tps_band.1),
            optional(level.step_s.map(|step| step * 1e3), 3),
            level.prefill_share.map_or_else(|| "-".to_owned(), percent),
            optional(level.context, 0),
        ]);
    }
    table.write(out)
}

/// A draft length, where it is known.
fn length(drafts: Option<u32>) -> String {
    drafts.map_or_else(|| "unknown".to_owned(), |drafts| drafts.to_string())
}

fn optional(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A model beside what a client measured.
pub fn checks(out: &mut dyn Write, checks: &[Comparison]) -> io::Result<()> {
    writeln!(out, "\n{BOLD}against the client, simulated over measured{RESET}")?;
    let mut table = Table::new([
        ("concurrency", Align::Right),
        ("requests", Align::Right),
        ("steady tokens/s", Align::Right),
        ("mean latency", Align::Right),
        ("p90 latency", Align::Right),
        ("noise", Align::Right),
        ("basis", Align::Left),
    ]);
    for check in checks {
        let (measured, simulated) = check.steady.unwrap_or(check.whole);
        let off = |figure: fn(&PhaseFigures) -> f64| {
            format!("{:+.1} %", (figure(&simulated) / figure(&measured) - 1.0) * 100.0)
        };
        table.row([
            check.concurrency.to_string(),
            check.requests.to_string(),
            off(|figures| figures.tps),
            off(|figures| figures.mean_s),
            off(|figures| figures.p90_s),
            format!("{:.1} %", check.noise.mean_s * 100.0),
            check.ground.basis.name().to_owned(),
        ]);
    }
    table.write(out)
}

/// Factors that the truth may lie at, for an extrapolated number.
fn factors(ground: Ground) -> String {
    ground.stated().map_or_else(|| "-".to_owned(), |(low, high)| format!("{low:.2}-{high:.2} x"))
}

/// A simulation.
pub fn simulation(out: &mut dyn Write, server: &Server, points: &[SimulatedPoint]) -> io::Result<()> {
    writeln!(
        out,
        "{BOLD}{} at {:.2}, draft length {}{RESET}",
        server.law.kind(),
        server.law.mean(),
        server.drafts
    )?;
    let has_factor = points.iter().any(|simulated| simulated.ground.stated().is_some());
    let mut columns = vec![
        ("load", Align::Right),
        ("basis", Align::Left),
        ("tokens/s", Align::Right),
        ("steady", Align::Right),
        ("requests", Align::Right),
        ("E2E p50/p90/p99 s", Align::Right),
        ("TPOT p50/p90/p99 ms", Align::Right),
        ("gap p50/p90/p99 ms", Align::Right),
        ("accept len", Align::Right),
    ];
    if has_factor {
        columns.push(("truth may be", Align::Right));
    }
    let mut table = Table::new(columns);
    for simulated in points {
        let point = &simulated.point;
        let three = |values: Option<[f64; 3]>, digits: usize| {
            values.map_or_else(
                || "-".to_owned(),
                |[p50, p90, p99]| format!("{p50:.digits$}/{p90:.digits$}/{p99:.digits$}"),
            )
        };
        let mut cells = vec![
            match simulated.arrivals {
                Arrivals::Closed { concurrency } => clients(concurrency),
                Arrivals::Poisson { rate } => format!("{rate:.2}/s"),
                Arrivals::Trace => "trace".to_owned(),
            },
            simulated.ground.basis.name().to_owned(),
            format!("{:.1}", point.output_tps.mean),
            format!("{:.1}", point.steady_tps.mean),
            point.requests.to_string(),
            three(point.e2e_s.map(|found| [found.p50, found.p90, found.p99]), 3),
            three(point.tpot_s.map(|found| [found.p50 * 1e3, found.p90 * 1e3, found.p99 * 1e3]), 2),
            three(point.gaps_s.map(|gaps| gaps.map(|gap| gap * 1e3)), 2),
            optional(point.accept_length, 3),
        ];
        if has_factor {
            cells.push(factors(simulated.ground));
        }
        table.row(cells);
    }
    table.write(out)
}

/// A sweep: tokens a second by concurrency and draft length, then the winners.
pub fn sweep(out: &mut dyn Write, plan: &Sweep, report: &SweepReport) -> io::Result<()> {
    writeln!(
        out,
        "{BOLD}input {}, output {} tokens, {} x {:.0} s a cell{RESET}",
        plan.input, plan.output, plan.replicates.count, plan.duration_s
    )?;
    let mut columns = vec![
        ("concurrency", Align::Right),
        ("draft length", Align::Right),
        ("accept len", Align::Right),
        ("tokens/s", Align::Right),
        ("mean E2E s", Align::Right),
        ("p90 E2E s", Align::Right),
        ("basis", Align::Left),
    ];
    let has_factor = report.cells.iter().any(|cell| cell.ground.stated().is_some());
    if has_factor {
        columns.push(("truth may be", Align::Right));
    }
    let mut table = Table::new(columns);
    for cell in &report.cells {
        let mut cells = vec![
            cell.concurrency.to_string(),
            cell.drafts.to_string(),
            format!("{:.2}", cell.accept_length),
            format!("{:.1}", cell.point.steady_tps.mean),
            optional(cell.point.e2e_s.map(|found| found.mean), 3),
            optional(cell.point.e2e_s.map(|found| found.p90), 3),
            cell.ground.basis.name().to_owned(),
        ];
        if has_factor {
            cells.push(factors(cell.ground));
        }
        table.row(cells);
    }
    table.write(out)?;
    writeln!(out)?;
    for best in &report.best {
        let next = best.next.map_or_else(String::new, |next| {
            let margin = best.margin.mean * 100.0;
            let error =
                best.margin.se.map_or_else(|| "-".to_owned(), |error| format!("{:.1}", error * 100.0));
            format!(", {margin:.1} % (+-{error}) over draft length {next}")
        });
        let tie = if best.is_tie { ": a tie" } else { "" };
        writeln!(
            out,
            "concurrency {}: draft length {}{next}{tie} ({})",
            best.concurrency,
            best.drafts,
            report.basis(best).name()
        )?;
    }
    Ok(())
}

/// Points and their standing.
pub fn pareto(
    out: &mut dyn Write,
    points: &[(f64, f64)],
    standing: &[Standing],
    names: (&str, &str),
) -> io::Result<()> {
    let count = |wanted: fn(&Standing) -> bool| standing.iter().filter(|found| wanted(found)).count();
    let frontier = count(|found| *found == Standing::Frontier);
    let invalid = count(|found| *found == Standing::Invalid);
    writeln!(
        out,
        "{BOLD}{frontier} of {} points on the frontier{RESET} (smaller {}, larger {})",
        points.len() - invalid.min(points.len()),
        names.0,
        names.1
    )?;
    let mut table = Table::new([
        ("index".to_owned(), Align::Right),
        (names.0.to_owned(), Align::Right),
        (names.1.to_owned(), Align::Right),
        ("standing".to_owned(), Align::Left),
    ]);
    for (index, ((x, y), standing)) in points.iter().zip(standing).enumerate() {
        table.row([
            index.to_string(),
            x.to_string(),
            y.to_string(),
            match standing {
                Standing::Frontier => "frontier".to_owned(),
                Standing::Dominated { by } => format!("dominated by {by}"),
                Standing::Invalid => "invalid".to_owned(),
            },
        ]);
    }
    table.write(out)
}

/// How many clients: `1 client`, `16 clients`.
pub(crate) fn clients(concurrency: u32) -> String {
    format!("{concurrency} client{}", if concurrency == 1 { "" } else { "s" })
}
