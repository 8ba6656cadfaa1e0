//! `throughput predict --json`.

use serde::Serialize;

use crate::report::json::number::tidy;
use crate::throughput::{Asked, Basis, BreakEven, Law, Level, Model, Outcome, Prediction};

/// What was measured, and what follows.
#[derive(Debug, Serialize)]
pub struct PredictDocument {
    baseline: Baseline,
    predictions: Vec<Entry>,
}

#[derive(Debug, Serialize)]
struct Baseline {
    draft_length: Option<u32>,
    ranks: u32,
    /// `fitted`, or why the step law is refused.
    step_law: &'static str,
    missing: Vec<String>,
    /// Errors in tokens a second at a batch left out of the fit.
    left_out_median: Option<f64>,
    left_out_largest: Option<f64>,
    levels: Vec<LevelEntry>,
}

#[derive(Debug, Serialize)]
struct LevelEntry {
    running_req: u32,
    /// Ranks that had requests.
    busy_ranks: u32,
    accept_length: f64,
    gen_throughput_tps: f64,
    low: f64,
    high: f64,
    step_ms: Option<f64>,
    prefill_share: Option<f64>,
    context_tokens: Option<f64>,
    lines: u64,
}

#[derive(Debug, Serialize)]
struct Entry {
    accept_length: f64,
    draft_length: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    concurrency: Option<u32>,
    running_req: u32,
    queued_req: u32,
    gen_throughput_tps: f64,
    /// With the error of the model, where the step law is involved.
    low: f64,
    high: f64,
    /// The band of the lines alone.
    lines_low: f64,
    lines_high: f64,
    /// What `low` and `high` hold.
    band: &'static str,
    basis: &'static str,
    factor_low: Option<f64>,
    factor_high: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gen_throughput_tps_per_gpu: Option<f64>,
    tpot_ms: Option<f64>,
    output_tokens: Option<f64>,
    e2e_s: Option<f64>,
    queue_s: Option<f64>,
    step_ms: Option<f64>,
    prefill_share: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speedup: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speedup_basis: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    break_even_accept_length: Option<f64>,
    /// Whether a step can have that length; false also where no length is enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    break_even_reachable: Option<bool>,
}

impl PredictDocument {
    /// The document.
    #[must_use]
    pub fn new(model: &Model, drafts: Option<u32>, predictions: &[Prediction], gpus: Option<u32>) -> Self {
        let law = model.law(drafts);
        let missing = match law.map(|law| &law.outcome) {
            Some(Outcome::Refused { missing, .. }) => missing.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        };
        let quality = law.and_then(Law::fitted).map(|fitted| fitted.quality);
        let levels = model.levels.iter().filter(|level| level.drafts == drafts);
        Self {
            baseline: Baseline {
                draft_length: drafts,
                ranks: model.ranks,
                step_law: if quality.is_some() { "fitted" } else { "refused" },
                missing,
                left_out_median: quality.and_then(|quality| quality.left_out_median).map(tidy),
                left_out_largest: quality.and_then(|quality| quality.left_out_largest).map(tidy),
                levels: levels.map(|level| LevelEntry::new(level, model.ranks.max(1))).collect(),
            },
            predictions: predictions.iter().map(|found| Entry::new(found, gpus)).collect(),
        }
    }
}

impl LevelEntry {
    fn new(level: &Level, ranks: u32) -> Self {
        let busy = level.busy.unwrap_or(ranks);
        let ranks = f64::from(busy);
        Self {
            running_req: level.running,
            busy_ranks: busy,
            accept_length: tidy(level.accept_length),
            gen_throughput_tps: tidy(level.tps * ranks),
            low: tidy(level.tps_band.0 * ranks),
            high: tidy(level.tps_band.1 * ranks),
            step_ms: level.step_s.map(|step| tidy(step * 1000.0)),
            prefill_share: level.prefill_share.map(tidy),
            context_tokens: level.context.map(tidy),
            lines: level.windows,
        }
    }
}

impl Entry {
    fn new(found: &Prediction, gpus: Option<u32>) -> Self {
        Self {
            accept_length: tidy(found.question.accept_length),
            draft_length: found.question.drafts,
            concurrency: match found.question.asked {
                Asked::Clients(clients) => Some(clients),
                Asked::Running(_) => None,
            },
            running_req: found.running,
            queued_req: found.waiting,
            gen_throughput_tps: tidy(found.tps),
            low: tidy(found.range.0),
            high: tidy(found.range.1),
            lines_low: tidy(found.band.0),
            lines_high: tidy(found.band.1),
            band: match found.basis {
                Basis::Measured | Basis::Ratio => "lines",
                Basis::Interpolated | Basis::Extrapolated => "lines and model error",
            },
            basis: found.basis.name(),
            factor_low: found.factor.map(|(low, _)| tidy(low)),
            factor_high: found.factor.map(|(_, high)| tidy(high)),
            gen_throughput_tps_per_gpu: gpus.map(|gpus| tidy(found.tps / f64::from(gpus))),
            tpot_ms: found.tpot_s.map(|seconds| tidy(seconds * 1000.0)),
            output_tokens: found.output.map(tidy),
            e2e_s: found.e2e_s.map(tidy),
            queue_s: found.queue_s.map(tidy),
            step_ms: found.step_s.map(|step| tidy(step * 1000.0)),
            prefill_share: found.prefill_share.map(tidy),
            speedup: found.speedup.map(|(factor, _)| tidy(factor)),
            speedup_basis: found.speedup.map(|(_, basis)| basis.name()),
            break_even_accept_length: found.break_even.and_then(BreakEven::length).map(tidy),
            break_even_reachable: found.break_even.map(BreakEven::is_reachable),
        }
    }
}
