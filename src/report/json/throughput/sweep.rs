//! `throughput sweep --json`.

use serde::Serialize;

use crate::report::json::number::tidy;
use crate::throughput::{Best, Cell, Sweep, SweepReport};

/// A sweep.
#[derive(Debug, Serialize)]
pub struct SweepDocument<'a> {
    curve: &'a str,
    isl: String,
    osl: String,
    duration_s: f64,
    replicates: u32,
    seed: u64,
    cells: Vec<CellEntry>,
    best: Vec<BestEntry>,
}

#[derive(Debug, Serialize)]
struct CellEntry {
    concurrency: u32,
    draft_length: u32,
    accept_length: f64,
    basis: &'static str,
    /// Factors that the truth may lie at, for an extrapolated cell.
    factor_low: Option<f64>,
    factor_high: Option<f64>,
    steady_tps: f64,
    steady_tps_se: Option<f64>,
    output_tps: f64,
    e2e_mean_s: Option<f64>,
    e2e_p90_s: Option<f64>,
    tpot_mean_ms: Option<f64>,
}

#[derive(Debug, Serialize)]
struct BestEntry {
    concurrency: u32,
    draft_length: u32,
    next_draft_length: Option<u32>,
    margin: f64,
    margin_se: Option<f64>,
    tie: bool,
    basis: &'static str,
}

impl<'a> SweepDocument<'a> {
    /// The document.
    #[must_use]
    pub fn new(curve: &'a str, plan: &Sweep, report: &SweepReport) -> Self {
        Self {
            curve,
            isl: plan.input.to_string(),
            osl: plan.output.to_string(),
            duration_s: tidy(plan.duration_s),
            replicates: plan.replicates.count,
            seed: plan.replicates.seed,
            cells: report.cells.iter().map(CellEntry::new).collect(),
            best: report.best.iter().map(|best| BestEntry::new(best, report)).collect(),
        }
    }
}

impl CellEntry {
    fn new(cell: &Cell) -> Self {
        let point = &cell.point;
        Self {
            concurrency: cell.concurrency,
            draft_length: cell.drafts,
            accept_length: tidy(cell.accept_length),
            basis: cell.ground.basis.name(),
            factor_low: cell.ground.stated().map(|(low, _)| tidy(low)),
            factor_high: cell.ground.stated().map(|(_, high)| tidy(high)),
            steady_tps: tidy(point.steady_tps.mean),
            steady_tps_se: point.steady_tps.se.map(tidy),
            output_tps: tidy(point.output_tps.mean),
            e2e_mean_s: point.e2e_s.map(|found| tidy(found.mean)),
            e2e_p90_s: point.e2e_s.map(|found| tidy(found.p90)),
            tpot_mean_ms: point.tpot_s.map(|found| tidy(found.mean * 1000.0)),
        }
    }
}

impl BestEntry {
    fn new(best: &Best, report: &SweepReport) -> Self {
        Self {
            concurrency: best.concurrency,
            draft_length: best.drafts,
            next_draft_length: best.next,
            margin: tidy(best.margin.mean),
            margin_se: best.margin.se.map(tidy),
            tie: best.is_tie,
            basis: report.basis(best).name(),
        }
    }
}
