//! `simulate` for people: what a log would show, the law beside a sample, and a line.

use std::io::{self, Write};

use crate::engine::Engine;
use crate::law::{AcceptanceLaw, Draws};
use crate::simulate::{Answer, Plan, SeededLines, Simulation};

use super::prediction;
use super::style::{BOLD, RESET};

/// Characters of the longest bar.
const BAR: f64 = 40.0;

/// Lengths rarer than this that were not drawn either are left out.
const LEAST: f64 = 5e-6;

/// Writes the answer.
pub fn simulate(out: &mut dyn Write, answer: &Answer) -> io::Result<()> {
    writeln!(out, "{BOLD}{}{RESET}", headline(answer))?;
    let mut facts = vec![("target", target(answer))];
    if let Some((plan, _)) = &answer.drawn {
        facts.push(("law", law(&plan.law)));
    }
    if let Some((server, prediction)) = &answer.engine {
        facts.extend(prediction::facts(server, prediction));
    }
    if let Some((plan, simulation)) = &answer.drawn {
        facts.push(("sample", sample(plan, simulation)));
    }
    rows(out, &facts)?;
    if let Some((plan, simulation)) = &answer.drawn {
        writeln!(out)?;
        histogram(out, plan, simulation)?;
        writeln!(out)?;
        let is_line = answer.engine.as_ref().is_none_or(|(server, _)| server.engine == Engine::Sglang);
        // Other engines' windows are not counted in steps.
        let mut facts = vec![(if is_line { "a line" } else { "a window" }, line(plan, simulation))];
        facts.extend(run(plan, simulation));
        rows(out, &facts)?;
    }
    if let Some(seeded) = &answer.seeded {
        seeded_lines(out, seeded)?;
    }
    Ok(())
}

/// What decode lines will read, ten in a row.
fn seeded_lines(out: &mut dyn Write, seeded: &SeededLines) -> io::Result<()> {
    writeln!(
        out,
        "  {:<11} of a server with random seed {}, as long as its batch does not change:",
        "lines", seeded.seed
    )?;
    for row in seeded.lines.chunks(10) {
        let row: Vec<String> = row.iter().map(ToString::to_string).collect();
        writeln!(out, "  {:<11} {}", "", row.join(" "))?;
    }
    Ok(())
}

fn rows(out: &mut dyn Write, facts: &[(&'static str, String)]) -> io::Result<()> {
    facts.iter().try_for_each(|(label, value)| writeln!(out, "  {label:<11} {value}"))
}

fn headline(answer: &Answer) -> String {
    match (&answer.engine, &answer.drawn) {
        (Some((server, prediction)), _) => {
            let verdict = prediction::verdict(server.engine, &prediction.outcome, Some(answer.accept_length));
            format!("{} {verdict}", prediction::server(server))
        }
        (None, Some((plan, _))) => format!("{} at {:.2}", plan.law.kind(), answer.accept_length),
        (None, None) => format!("{:.2}", answer.accept_length),
    }
}

fn target(answer: &Answer) -> String {
    let cell = answer.cell.as_ref().map_or_else(
        || "not a golden cell".to_owned(),
        |cell| format!("{} {}, draft length {}", cell.curve, cell.thinking, cell.draft_length),
    );
    let max = answer.max_accept_length;
    format!("{:.2}, at most {max} tokens a step ({cell})", answer.accept_length)
}

fn law(law: &AcceptanceLaw) -> String {
    let draws = match law.draws() {
        _ if law.variance() <= 0.0 => "the same in every step",
        Draws::Shared => "one draw a step for the whole batch",
        Draws::PerRequest => "one draw a request and step",
    };
    let fixed = match law {
        AcceptanceLaw::Pool(pool) if law.variance() > 0.0 => format!(
            ", from a fixed sequence of {}: a long run's mean is off by a constant, sd {:.4}",
            pool.period(),
            pool.offset_sd()
        ),
        _ => String::new(),
    };
    format!("{}, {draws}{fixed}", law.kind())
}

fn sample(plan: &Plan, simulation: &Simulation) -> String {
    let mut parts = vec![format!("{} steps", plan.steps)];
    if plan.batch > 1 {
        parts.push(format!("batch {}", plan.batch));
    }
    if plan.ranks > 1 {
        let share = if plan.ranks_share_draws { "drawing alike" } else { "drawing their own" };
        parts.push(format!("{} ranks {share}", plan.ranks));
    }
    if plan.replicates > 1 {
        parts.push(format!("{} replicates", plan.replicates));
    }
    format!("{} draws from seed {}: {}", simulation.sample.draws(), plan.seed, parts.join(", "))
}

fn histogram(out: &mut dyn Write, plan: &Plan, simulation: &Simulation) -> io::Result<()> {
    let (law, sample) = (&plan.law, &simulation.sample);
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"));
    writeln!(out, "  {:<11} {:>9} {:>9}", "", "exact", "sample")?;
    writeln!(out, "  {:<11} {:>9.4} {:>9}", "mean", law.mean(), number(sample.mean()))?;
    writeln!(out, "  {:<11} {:>9.4} {:>9}", "variance", law.variance(), number(sample.variance()))?;
    let draws = crate::law::float(sample.draws().max(1));
    for (length, probability) in law.pmf().iter() {
        let count = sample.count(length);
        if probability < LEAST && count == 0 {
            continue;
        }
        let share = crate::law::float(count) / draws;
        writeln!(out, "  {length:>6} {:<4} {probability:>9.4} {share:>9.4}  {}", "", bar(share))?;
    }
    Ok(())
}

/// Eighths of a block.
fn bar(share: f64) -> String {
    const PARTS: [&str; 8] =
        ["", "\u{258f}", "\u{258e}", "\u{258d}", "\u{258c}", "\u{258b}", "\u{258a}", "\u{2589}"];
    let eighths = crate::law::whole((share * BAR * 8.0).round());
    let whole = usize::try_from(eighths / 8).unwrap_or(0);
    let rest = usize::try_from(eighths % 8).ok().and_then(|part| PARTS.get(part)).copied().unwrap_or("");
    format!("{}{rest}", "\u{2588}".repeat(whole))
}

fn line(plan: &Plan, simulation: &Simulation) -> String {
    let line = &simulation.line;
    let steps = plan.interval;
    let batch = if plan.batch > 1 { format!(", batch {}", plan.batch) } else { String::new() };
    let (low, high) = plan.law.support().into_inner();
    if low == high {
        return format!("of {steps} steps{batch}: always prints {low}.00");
    }
    // With one draw a step only so many sums exist; with one a request they close up.
    let values = match plan.law.draws() {
        Draws::Shared => format!("one of {} values", line.iter().count()),
        Draws::PerRequest => "a value".to_owned(),
    };
    format!(
        "of {steps} steps{batch}: mean {:.3}, sd {:.3}, 95 % {:.3} to {:.3}; prints {values} from {low}.00 to {high}.00",
        line.mean(),
        line.sd(),
        line.mean() - 1.96 * line.sd(),
        line.mean() + 1.96 * line.sd()
    )
}

/// The mean of a whole run.
fn run(plan: &Plan, simulation: &Simulation) -> Option<(&'static str, String)> {
    let replicates = simulation.replicates?;
    Some((
        "a run",
        format!(
            "of {} steps: mean with sd {:.5} ({:.5} in {} replicates, from {:.4} to {:.4})",
            plan.steps,
            replicates.exact_sd,
            replicates.sd,
            replicates.count,
            replicates.lowest,
            replicates.highest
        ),
    ))
}

/// A printed value.
pub(super) fn value(hundredths: u32) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}
