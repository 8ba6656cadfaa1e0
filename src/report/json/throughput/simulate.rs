//! `throughput simulate --json`.

use serde::Serialize;

use crate::report::json::number::tidy;
use crate::throughput::SimulatedPoint;
use crate::throughput::sim::{Arrivals, Percentiles, Server};

/// A simulation.
#[derive(Debug, Serialize)]
pub struct ThroughputSimulation {
    law: &'static str,
    accept_length: f64,
    draft_length: u32,
    ranks: u32,
    seed: u64,
    replicates: u32,
    points: Vec<PointEntry>,
}

#[derive(Debug, Serialize)]
struct PointEntry {
    concurrency: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_rps: Option<f64>,
    basis: &'static str,
    /// Factors that the truth may lie at, for an extrapolated point.
    factor_low: Option<f64>,
    factor_high: Option<f64>,
    output_tps: f64,
    output_tps_se: Option<f64>,
    steady_tps: f64,
    requests: u64,
    e2e_mean_s: Option<f64>,
    e2e_p50_s: Option<f64>,
    e2e_p90_s: Option<f64>,
    e2e_p99_s: Option<f64>,
    ttft_mean_s: Option<f64>,
    ttft_p90_s: Option<f64>,
    tpot_mean_ms: Option<f64>,
    tpot_p50_ms: Option<f64>,
    tpot_p90_ms: Option<f64>,
    tpot_p99_ms: Option<f64>,
    gap_p50_ms: Option<f64>,
    gap_p90_ms: Option<f64>,
    gap_p99_ms: Option<f64>,
    mean_accept_length: Option<f64>,
    mean_running_req: f64,
    prefill_share: f64,
    retracted: u64,
}

impl ThroughputSimulation {
    /// The document.
    #[must_use]
    pub fn new(server: &Server, points: &[SimulatedPoint], seed: u64, replicates: u32) -> Self {
        Self {
            law: server.law.kind().name(),
            accept_length: tidy(server.law.mean()),
            draft_length: server.drafts,
            ranks: server.ranks,
            seed,
            replicates,
            points: points.iter().map(PointEntry::new).collect(),
        }
    }
}

impl PointEntry {
    fn new(simulated: &SimulatedPoint) -> Self {
        let point = &simulated.point;
        let of = |percentiles: Option<Percentiles>, figure: fn(Percentiles) -> f64, scale: f64| {
            percentiles.map(|found| tidy(figure(found) * scale))
        };
        let gap = |figure: fn([f64; 3]) -> f64| point.gaps_s.map(|gaps| tidy(figure(gaps) * 1000.0));
        Self {
            concurrency: match simulated.arrivals {
                Arrivals::Closed { concurrency } => Some(concurrency),
                Arrivals::Poisson { .. } | Arrivals::Trace => None,
            },
            rate_rps: match simulated.arrivals {
                Arrivals::Poisson { rate } => Some(tidy(rate)),
                Arrivals::Closed { .. } | Arrivals::Trace => None,
            },
            basis: simulated.ground.basis.name(),
            factor_low: simulated.ground.stated().map(|(low, _)| tidy(low)),
            factor_high: simulated.ground.stated().map(|(_, high)| tidy(high)),
            output_tps: tidy(point.output_tps.mean),
            output_tps_se: point.output_tps.se.map(tidy),
            steady_tps: tidy(point.steady_tps.mean),
            requests: point.requests,
            e2e_mean_s: of(point.e2e_s, |found| found.mean, 1.0),
            e2e_p50_s: of(point.e2e_s, |found| found.p50, 1.0),
            e2e_p90_s: of(point.e2e_s, |found| found.p90, 1.0),
            e2e_p99_s: of(point.e2e_s, |found| found.p99, 1.0),
            ttft_mean_s: of(point.ttft_s, |found| found.mean, 1.0),
            ttft_p90_s: of(point.ttft_s, |found| found.p90, 1.0),
            tpot_mean_ms: of(point.tpot_s, |found| found.mean, 1000.0),
            tpot_p50_ms: of(point.tpot_s, |found| found.p50, 1000.0),
            tpot_p90_ms: of(point.tpot_s, |found| found.p90, 1000.0),
            tpot_p99_ms: of(point.tpot_s, |found| found.p99, 1000.0),
            gap_p50_ms: gap(|[p50, _, _]| p50),
            gap_p90_ms: gap(|[_, p90, _]| p90),
            gap_p99_ms: gap(|[_, _, p99]| p99),
            mean_accept_length: point.accept_length.map(tidy),
            mean_running_req: tidy(point.mean_running),
            prefill_share: tidy(point.prefill_share),
            retracted: point.retracted,
        }
    }
}
