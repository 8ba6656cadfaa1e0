//! Throughput to look at: plots, tables that sort, and the text of the terminal.

use std::io::{self, Write};

use askama::Template;

use super::page::Page;
use super::table::{Cell, Table};
use crate::report::excerpt::printable;
use crate::report::plot::{self, Drawing, Figure, Part};
use crate::report::text::throughput::clients;
use crate::throughput::sim::Arrivals;
use crate::throughput::{Basis, Ground, Prediction, SimulatedPoint, Standing, SweepReport};

/// Plots above tables.
#[derive(Template)]
#[template(path = "figures_page.html")]
pub(super) struct FiguresPage<'a> {
    page: Page,
    lead: String,
    notes: Vec<String>,
    drawings: Vec<Drawing<'a>>,
    linked: bool,
    tables: Vec<Table>,
    text: String,
}

impl<'a> FiguresPage<'a> {
    pub(super) fn new(
        page: Page,
        lead: impl Into<String>,
        figures: &'a [Figure],
        tables: Vec<Table>,
        text: &str,
    ) -> Self {
        let drawings = figures.iter().filter(|figure| !figure.is_empty()).map(Drawing::new).collect();
        Self {
            page,
            lead: lead.into(),
            notes: Vec::new(),
            drawings,
            linked: true,
            tables,
            text: text.trim_end().to_owned(),
        }
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_into(out)?;
        writeln!(out)
    }
}

/// Writes what `throughput predict` found; `text` is what the terminal shows.
pub fn write_predictions(predictions: &[Prediction], text: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(
        "Predictions; a click on a name sorts",
        &[
            "#accept length",
            "#running a rank",
            "#tokens/s",
            "#low",
            "#high",
            "#ms a token",
            "#s a request",
            "#speedup",
            "basis",
        ],
    );
    for found in predictions {
        table.rows.push(vec![
            Cell::number(Some(found.question.accept_length), 2),
            Cell::count(u64::from(found.running)),
            Cell::number(Some(found.tps), 1),
            Cell::number(Some(found.range.0), 1),
            Cell::number(Some(found.range.1), 1),
            Cell::number(found.tpot_s.map(|seconds| seconds * 1e3), 2),
            Cell::number(found.e2e_s, 2),
            match found.speedup {
                Some((speedup, Basis::Extrapolated)) => {
                    Cell::shown(format!("{speedup:.2} extrapolated"), speedup)
                }
                speedup => Cell::number(speedup.map(|(speedup, _)| speedup), 2),
            },
            Cell::text(match found.factor {
                Some((low, high)) => format!("{} ({low:.2}-{high:.2} x)", found.basis.name()),
                None => found.basis.name().to_owned(),
            }),
        ]);
    }
    let figures = plot::predictions(predictions);
    let lead = "What the server would do at other accept lengths; each number says what it stands on.";
    FiguresPage::new(Page::new("Throughput at another accept length"), lead, &figures, vec![table], text)
        .write(out)
}

/// A basis, with the factors of an extrapolated number.
fn standing(ground: Ground) -> String {
    let name = ground.basis.name();
    ground.stated().map_or_else(|| name.to_owned(), |(low, high)| format!("{name} ({low:.2}-{high:.2} x)"))
}

/// Writes what `throughput simulate` came to.
pub fn write_simulation(points: &[SimulatedPoint], text: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(
        "Simulated points; a click on a name sorts",
        &[
            "#offered",
            "#tokens/s",
            "#steady tokens/s",
            "#requests",
            "#mean s",
            "#median s",
            "#p90 s",
            "#first token s",
            "#mean accept len",
            "basis",
        ],
    );
    for SimulatedPoint { arrivals, point, ground } in points {
        let (name, value) = match arrivals {
            Arrivals::Closed { concurrency } => (clients(*concurrency), f64::from(*concurrency)),
            Arrivals::Poisson { rate } => (format!("{rate} requests/s"), *rate),
            Arrivals::Trace => ("trace".to_owned(), 0.0),
        };
        table.rows.push(vec![
            Cell::shown(name, value),
            Cell::number(Some(point.output_tps.mean), 1),
            Cell::number(Some(point.steady_tps.mean), 1),
            Cell::count(point.requests),
            Cell::number(point.e2e_s.map(|e2e| e2e.mean), 3),
            Cell::number(point.e2e_s.map(|e2e| e2e.p50), 3),
            Cell::number(point.e2e_s.map(|e2e| e2e.p90), 3),
            Cell::number(point.ttft_s.map(|ttft| ttft.p50), 3),
            Cell::number(point.accept_length, 3),
            Cell::text(standing(*ground)),
        ]);
    }
    let figures = plot::simulation(points);
    let lead = "A server, event by event: what its clients would see.";
    FiguresPage::new(Page::new("Simulated throughput"), lead, &figures, vec![table], text).write(out)
}

/// Writes which draft length wins where.
pub fn write_sweep(
    curve: &str,
    cells: &[(u32, f64)],
    report: &SweepReport,
    text: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut table = Table::new(
        "Every cell; a click on a name sorts",
        &["#clients", "#draft length", "#accept length", "#steady tokens/s", "#median s", "fastest", "basis"],
    );
    for cell in &report.cells {
        let best = report.best.iter().find(|best| best.concurrency == cell.concurrency);
        let is_best = best.is_some_and(|best| best.drafts == cell.drafts);
        let verdict = match best {
            Some(best) if is_best && best.is_tie => "tie",
            Some(_) if is_best => "yes",
            _ => "",
        };
        table.rows.push(vec![
            Cell::count(u64::from(cell.concurrency)),
            Cell::count(u64::from(cell.drafts)),
            Cell::number(Some(cell.accept_length), 2),
            Cell::number(Some(cell.point.steady_tps.mean), 1),
            Cell::number(cell.point.e2e_s.map(|e2e| e2e.p50), 3),
            Cell::text(verdict),
            Cell::text(standing(cell.ground)),
        ]);
    }
    let figures = plot::sweep(curve, cells, report);
    let lead = format!(
        "Draft lengths of {} against each other, under the same requests and draws.",
        printable(curve)
    );
    FiguresPage::new(Page::new("Which draft length wins where"), lead, &figures, vec![table], text).write(out)
}

/// Writes points with their frontier.
pub fn write_pareto(
    points: &[(f64, f64)],
    standing: &[Standing],
    names: (&str, &str),
    text: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (x, y) = (printable(names.0), printable(names.1));
    let mut table =
        Table::new(format!("x is {x}, y is {y}; rows count from 0"), &["#row", "#x", "#y", "standing"]);
    for (row, (point, standing)) in (0..).zip(points.iter().zip(standing)) {
        let standing = match standing {
            Standing::Frontier => "frontier".to_owned(),
            Standing::Dominated { by } => format!("dominated by {by}"),
            Standing::Invalid => "invalid".to_owned(),
        };
        table.rows.push(vec![
            Cell::count(row),
            Cell::number(Some(point.0), 3),
            Cell::number(Some(point.1), 3),
            Cell::text(standing),
        ]);
    }
    let figures = plot::pareto(points, standing, (&x, &y));
    let lead = format!("Points that no other point beats: smaller {x}, larger {y}.");
    FiguresPage::new(Page::new("Pareto frontier"), lead, &figures, vec![table], text).write(out)
}
