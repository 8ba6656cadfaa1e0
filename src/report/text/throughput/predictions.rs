//! `throughput predict` for people.

use std::io::{self, Write};

use crate::report::text::style::{BOLD, RESET};
use crate::report::text::table::{Align, Table};
use crate::throughput::{Asked, Basis, BreakEven, Law, Model, Prediction};

use super::{length, optional};

/// The columns that not every table has.
#[allow(clippy::struct_excessive_bools, reason = "one for each column")]
struct Columns {
    clients: bool,
    range: bool,
    queue: bool,
    gpus: Option<u32>,
    base: bool,
    factor: bool,
}

/// Predictions, each with its basis.
pub fn predictions(
    out: &mut dyn Write,
    model: &Model,
    drafts: Option<u32>,
    predictions: &[Prediction],
    gpus: Option<u32>,
) -> io::Result<()> {
    let any = |has: fn(&Prediction) -> bool| predictions.iter().any(has);
    let columns = Columns {
        clients: any(|found| matches!(found.question.asked, Asked::Clients(_))),
        range: any(|found| !same(found.range, found.band)),
        queue: any(|found| found.waiting > 0),
        gpus,
        base: any(|found| found.speedup.is_some()),
        factor: any(|found| found.factor.is_some()),
    };
    let mut table = Table::new(columns.names());
    for found in predictions {
        table.row(columns.cells(found));
    }
    let what = if drafts == Some(0) {
        "no speculation".to_owned()
    } else {
        format!("draft length {}", length(drafts))
    };
    let ranks = if model.ranks > 1 {
        format!(", {} ranks, batches are those of one", model.ranks)
    } else {
        String::new()
    };
    writeln!(out, "{BOLD}{what}{ranks}{RESET}")?;
    table.write(out)?;
    let outputs =
        predictions.iter().filter(|found| found.question.lengths.is_none()).filter_map(|found| found.output);
    let (least, most) =
        outputs.fold((f64::INFINITY, 0.0_f64), |(least, most), output| (least.min(output), most.max(output)));
    if least <= most {
        let range = if most - least < 0.5 { format!("{most:.0}") } else { format!("{least:.0}-{most:.0}") };
        writeln!(
            out,
            "TPOT and E2E are of requests with {range} output tokens, the mean of the logs (--osl asks for others)"
        )?;
    }
    let quality = model.law(drafts).and_then(Law::fitted).map(|fitted| fitted.quality);
    let left_out = quality.and_then(|quality| quality.left_out_median.zip(quality.left_out_largest));
    if let Some((median, largest)) = left_out {
        writeln!(
            out,
            "error of the step law at a batch left out: median {:.1} %, largest {:.1} % (not in the 5-95 %)",
            median * 100.0,
            largest * 100.0
        )?;
    }
    Ok(())
}

impl Columns {
    fn names(&self) -> Vec<(&'static str, Align)> {
        let all = [
            ("accept len", Align::Right, true),
            ("concurrency", Align::Right, self.clients),
            ("running", Align::Right, true),
            ("tokens/s", Align::Right, true),
            ("5-95 %", Align::Right, true),
            ("with model error", Align::Right, self.range),
            ("basis", Align::Left, true),
            ("TPOT ms", Align::Right, true),
            ("E2E s", Align::Right, true),
            ("queued s", Align::Right, self.queue),
            ("tokens/s/GPU", Align::Right, self.gpus.is_some()),
            ("speedup", Align::Right, self.base),
            ("breaks even at", Align::Right, self.base),
            ("truth may be", Align::Right, self.factor),
        ];
        all.into_iter().filter(|(.., on)| *on).map(|(name, align, _)| (name, align)).collect()
    }

    fn cells(&self, found: &Prediction) -> Vec<String> {
        let none = || "-".to_owned();
        let between = |(low, high): (f64, f64)| format!("{low:.1}-{high:.1}");
        let clients = match found.question.asked {
            Asked::Clients(clients) => clients.to_string(),
            Asked::Running(_) => none(),
        };
        let range = if same(found.range, found.band) { none() } else { between(found.range) };
        let speedup = found.speedup.map_or_else(none, |(factor, basis)| {
            let label = if basis == Basis::Extrapolated { " extrapolated" } else { "" };
            format!("{factor:.2}x{label}")
        });
        let gpus = self.gpus.map_or_else(none, |gpus| format!("{:.1}", found.tps / f64::from(gpus)));
        let factor = found.factor.map_or_else(none, |(low, high)| format!("{low:.2}-{high:.2} x"));
        let all = [
            (format!("{:.2}", found.question.accept_length), true),
            (clients, self.clients),
            (found.running.to_string(), true),
            (format!("{:.1}", found.tps), true),
            (between(found.band), true),
            (range, self.range),
            (found.basis.name().to_owned(), true),
            (optional(found.tpot_s.map(|seconds| seconds * 1e3), 3), true),
            (optional(found.e2e_s, 3), true),
            (optional(found.queue_s, 3), self.queue),
            (gpus, self.gpus.is_some()),
            (speedup, self.base),
            (even(found), self.base),
            (factor, self.factor),
        ];
        all.into_iter().filter(|(_, on)| *on).map(|(cell, _)| cell).collect()
    }
}

fn same(left: (f64, f64), right: (f64, f64)) -> bool {
    left.0.total_cmp(&right.0).is_eq() && left.1.total_cmp(&right.1).is_eq()
}

/// Where speculation breaks even, with the label of an extrapolated number.
fn even(found: &Prediction) -> String {
    let label = match found.speedup {
        Some((_, Basis::Extrapolated)) => " extrapolated",
        _ => "",
    };
    match found.break_even {
        Some(BreakEven::At(length)) => format!("{length:.2}{label}"),
        Some(BreakEven::OutOfReach(length)) => format!("{length:.2}{label}, unreachable"),
        Some(BreakEven::Never) => "never".to_owned(),
        None => "-".to_owned(),
    }
}
