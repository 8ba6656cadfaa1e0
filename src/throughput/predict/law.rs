//! Answers by the step law.

use crate::law::{AcceptanceLaw, Setting};
use crate::throughput::basis::{Basis, Ground};
use crate::throughput::bootstrap::band;
use crate::throughput::closed_form::{Demand, Means};
use crate::throughput::lengths::{Lengths, context_of};
use crate::throughput::model::{Fitted, Law, Level, Model};
use crate::throughput::serve::server;
use crate::throughput::sim::{Traffic, simulate};
use crate::throughput::step::{Bend, Load, PrefillLaw, StepLaw};

use super::answer::{Prediction, Question, Spot};

/// Rounds of requests that are simulated, those of them that the steady figure leaves out, and what a simulation may cost.
const ROUNDS: f64 = 80.0;
const WARMUP: f64 = 15.0;
const MOST_REQUESTS: f64 = 400_000.0;
const MOST_STEPS: f64 = 4e6;

/// What all draws follow from: the same model, the same answer.
const SEED: u64 = 0x0070_7265_6469_6374;

/// Output tokens a second of the server, seconds a step, and share of the time in prefill.
#[derive(Clone, Copy, Debug)]
struct Rates {
    tps: f64,
    step_s: f64,
    share: f64,
}

/// By the step law.
pub(super) fn from_law(
    model: &Model,
    law: &Law,
    fitted: &Fitted,
    question: &Question,
    spot: &Spot,
) -> Prediction {
    let known = question.lengths.or_else(|| {
        let fixed = |tokens: f64| Lengths::fixed(crate::law::whole32(tokens.round()));
        model.workload.input.map(fixed).zip(model.workload.output.map(fixed))
    });
    // Ranks with fewer requests than the fullest, or none.
    let uneven = spot.in_flight != spot.running.saturating_mul(model.ranks.max(1));
    // A law is fitted only where the draft length is known.
    let drafts = question.drafts.unwrap_or(0);
    let (center, band, context, is_other) = if let Some((input, output)) =
        known.filter(|_| question.lengths.is_some() || uneven)
    {
        let demand = demand(model, law, fitted, question, spot, (input, output));
        let means = demand.means();
        let scale = f64::from(spot.in_flight) / f64::from(spot.running);
        let rates = |step: &StepLaw, prefill: &PrefillLaw| of_means(&means, scale, step, prefill);
        let (closed, band) = with_band(fitted, rates);
        let exact = model.ranks <= 1 && demand.is_exact();
        let simulated = (!exact).then(|| simulated(model, question, spot, &demand, closed)).flatten();
        let center = simulated.unwrap_or(closed);
        let factor = center.tps / closed.tps;
        let context = context_of(input, output);
        let is_other = question.lengths.is_some() && !model.covers(law, input.mean(), output.mean(), context);
        (center, (band.0 * factor, band.1 * factor), context, is_other)
    } else {
        let (center, band, context) = at_levels(model, law, fitted, question, spot);
        (center, band, context, false)
    };
    let ground = Ground::of(law, spot.running, context, drafts, u32::from(is_other));
    let mut found = Prediction::new(model, question, spot, center.tps, band, ground.basis);
    let (low, high) = ground.factor;
    found.range = (band.0 * low, band.1 * high);
    if ground.basis == Basis::Extrapolated {
        found.factor = Some((found.range.0 / found.tps, found.range.1 / found.tps));
    }
    found.step_s = Some(center.step_s);
    found.prefill_share = Some(center.share);
    found
}

/// The law of the draws behind a mean: two lengths, one draw a step.
fn draws(accept_length: f64, drafts: u32) -> AcceptanceLaw {
    Setting::new(accept_length, drafts.saturating_add(1))
        .map_or(AcceptanceLaw::Constant(1), AcceptanceLaw::match_expected)
}

/// One rank of the closed loop that is asked about.
fn demand<'a>(
    model: &Model,
    law: &Law,
    fitted: &'a Fitted,
    question: &Question,
    spot: &Spot,
    (input, output): (Lengths, Lengths),
) -> Demand<'a> {
    let drafts = question.drafts.unwrap_or(0);
    Demand {
        step: &fitted.step,
        prefill: fitted.prefill,
        running: spot.running,
        drafts,
        verified: law.verified(drafts),
        accept_length: question.accept_length,
        variance: draws(question.accept_length, drafts).variance(),
        input,
        cached: model.workload.cached.clamp(0.0, 1.0),
        output,
        batch_tokens: model.batch_tokens.unwrap_or(8192),
        shares_draws: true,
        overlap: model.overlap.unwrap_or(false),
    }
}

fn of_means(means: &Means, scale: f64, step: &StepLaw, prefill: &PrefillLaw) -> Rates {
    let steady = means.steady(step, prefill);
    Rates { tps: steady.output_tps * scale, step_s: steady.step_s, share: steady.prefill_share }
}

/// The server, event by event; none where that would take too long or the model gives no server.
fn simulated(
    model: &Model,
    question: &Question,
    spot: &Spot,
    demand: &Demand<'_>,
    closed: Rates,
) -> Option<Rates> {
    let drafts = question.drafts.unwrap_or(0);
    let server = server(model, drafts, draws(question.accept_length, drafts)).ok()?;
    let clients = f64::from(spot.in_flight);
    let latency_s = clients * demand.output.mean() / closed.tps;
    let most =
        (MOST_REQUESTS / clients).min(MOST_STEPS / f64::from(server.ranks) * closed.step_s / latency_s);
    let rounds = ROUNDS.min(most);
    if rounds < WARMUP * 2.0 {
        return None;
    }
    let mut traffic = Traffic::closed(spot.in_flight, demand.input, demand.output, latency_s * rounds);
    traffic.warmup_s = latency_s * WARMUP;
    let outcome = simulate(&server, &traffic, SEED, 0).ok()?;
    let steps = crate::law::float(outcome.steps.max(1));
    Some(Rates {
        tps: outcome.steady_tps(),
        step_s: outcome.decode_s / steps,
        share: outcome.prefill_share(),
    })
    .filter(|rates| rates.tps > 0.0)
}

/// The figures under the fit, and the 5 % and 95 % points of tokens a second under its resamples.
fn with_band(fitted: &Fitted, rates: impl Fn(&StepLaw, &PrefillLaw) -> Rates) -> (Rates, (f64, f64)) {
    let center = rates(&fitted.step, &fitted.prefill);
    let resampled = fitted.resamples.rows.iter().map(|[a_s, b_s, c_s, d_s, p0_s, p1_s, slope]| {
        let bend = match fitted.step.bend {
            Bend::None => Bend::None,
            Bend::Hinge { from_tokens, .. } => Bend::Hinge { from_tokens, slope_s: *slope },
            Bend::Experts { experts, active, .. } => Bend::Experts { experts, active, per_expert_s: *slope },
        };
        let step = StepLaw {
            a_s: *a_s,
            b_s: *b_s,
            c_s: *c_s,
            d_s: *d_s,
            bend,
            lanes: fitted.step.lanes,
            graph_batches: fitted.step.graph_batches.clone(),
        };
        rates(&step, &PrefillLaw { p0_s: *p0_s, p1_s: *p1_s }).tps
    });
    let band = band(resampled.collect()).unwrap_or((center.tps, center.tps));
    (center, band)
}

/// Contexts and prefill as between the measured batches, where the requests are those of the logs.
fn at_levels(
    model: &Model,
    law: &Law,
    fitted: &Fitted,
    question: &Question,
    spot: &Spot,
) -> (Rates, (f64, f64), f64) {
    let drafts = question.drafts.unwrap_or(0);
    let levels = levels(model, question);
    let at = |figure: &dyn Fn(&Level) -> f64| between(&levels, spot.running, figure);
    let context = at(&|level| level.context.unwrap_or(0.0));
    let spread = at(&|level| level.context.map_or(1.0, |context| level.longest / context)).max(1.0);
    // What a token costs in prefill does not depend on the accept length.
    let prefill_s = if fitted.prefill == PrefillLaw::default() {
        0.0
    } else {
        at(&|level| level.prefill_share.unwrap_or(0.0) / level.tps)
    };
    let running = f64::from(spot.running);
    let load = Load {
        running: spot.running,
        drafts,
        verified: law.verified(drafts),
        kv_tokens: running * context,
        longest: (context * spread).max(context),
    };
    let ranks = f64::from(spot.in_flight) / running;
    let rates = |step: &StepLaw, _: &PrefillLaw| {
        let step_s = step.step_s(&load);
        let tps = 1.0 / (step_s / (running * question.accept_length) + prefill_s);
        Rates { tps: tps * ranks, step_s, share: prefill_s * tps }
    };
    let (center, band) = with_band(fitted, rates);
    (center, band, context)
}

/// The levels that a question lies between: those of its draft length, else all of its kind.
fn levels<'a>(model: &'a Model, question: &Question) -> Vec<&'a Level> {
    let full = || model.levels.iter().filter(|level| level.busy.is_none());
    let own: Vec<&Level> = full().filter(|level| level.drafts == question.drafts).collect();
    if !own.is_empty() {
        return own;
    }
    full().filter(|level| (level.drafts == Some(0)) == (question.drafts == Some(0))).collect()
}

/// A figure of levels at a batch: linear between the two next to it, level beyond the last ones.
fn between(levels: &[&Level], running: u32, figure: &dyn Fn(&Level) -> f64) -> f64 {
    let below = levels.iter().filter(|level| level.running <= running).max_by_key(|level| level.running);
    let above = levels.iter().filter(|level| level.running >= running).min_by_key(|level| level.running);
    match (below, above) {
        (Some(below), Some(above)) if below.running < above.running => {
            let span = f64::from(above.running) - f64::from(below.running);
            let share = (f64::from(running) - f64::from(below.running)) / span;
            figure(below) + (figure(above) - figure(below)) * share
        }
        (Some(only), _) | (None, Some(only)) => figure(only),
        (None, None) => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::throughput::read_model;

    #[test]
    fn a_figure_between_two_levels_lies_on_the_line_and_beyond_them_stays() {
        let model = read_model(&std::fs::read("tests/data/throughput/h200_k3_k5.json").unwrap()).unwrap();
        let level = |running| Level { running, ..model.levels[0].clone() };
        let (low, high) = (level(10), level(40));
        let figure = |level: &Level| 2.0 * f64::from(level.running) + 1.0;
        for (running, expected) in [(5, 21.0), (10, 21.0), (13, 27.0), (37, 75.0), (40, 81.0), (50, 81.0)] {
            let found = between(&[&high, &low], running, &figure);
            assert!((found - expected).abs() < 1e-9, "{running}: {found}");
        }
    }

    /// A server of three drafts with so many requests of these lengths, and the closed form's answer.
    fn asked(model: &Model, clients: u32, (input, output): (&str, &str)) -> (Question, Rates, Option<Rates>) {
        let lengths: (Lengths, Lengths) = (input.parse().unwrap(), output.parse().unwrap());
        let question = Question { lengths: Some(lengths), ..Question::clients(3.0, Some(3), clients) };
        let (law, spot) = (model.law(Some(3)).unwrap(), Spot::new(model, question.asked));
        let fitted = law.fitted().unwrap();
        let demand = demand(model, law, fitted, &question, &spot, lengths);
        let closed = of_means(&demand.means(), 1.0, &fitted.step, &fitted.prefill);
        (question, closed, simulated(model, &question, &spot, &demand, closed))
    }

    /// Between outputs of one length and outputs that scatter only a simulation tells. The model's file has no resamples: the band
    /// has no width, and lies where the simulation's figure does.
    #[test]
    fn the_band_goes_where_the_simulation_goes() {
        let model = read_model(&std::fs::read("tests/data/throughput/h200_k3_k5.json").unwrap()).unwrap();
        let (question, closed, simulated) = asked(&model, 12, ("512", "500-520"));
        let tps = simulated.unwrap().tps;
        assert!((tps / closed.tps - 1.0).abs() > 1e-3, "{tps} {}", closed.tps);
        let found = crate::throughput::predict(&model, &question).unwrap();
        for figure in [found.tps, found.band.0, found.band.1] {
            assert!((figure / tps - 1.0).abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn what_would_take_too_long_is_not_simulated() {
        let model = read_model(&std::fs::read("tests/data/throughput/h200_k3_k5.json").unwrap()).unwrap();
        assert!(asked(&model, 1, ("512", "40000-42000")).2.is_some());
        assert!(asked(&model, 1, ("512", "500000-520000")).2.is_none());
    }

    /// At a measured batch the contexts are those of its requests, and steps and prefill take all of the time.
    #[test]
    fn a_measured_batch_reads_its_own_contexts_and_prefills_as_it_did() {
        let model = read_model(&std::fs::read("tests/data/throughput/h200_k3_k5.json").unwrap()).unwrap();
        let law = model.law(Some(3)).unwrap();
        let fitted = law.fitted().unwrap();
        let level = model.levels.iter().find(|level| (level.drafts, level.running) == (Some(3), 32)).unwrap();
        let question = Question::clients(level.accept_length, Some(3), 32);
        let spot = Spot::new(&model, question.asked);
        let (found, _, context) = at_levels(&model, law, fitted, &question, &spot);
        assert!((context - level.context.unwrap()).abs() < 1e-9, "{context}");
        let expected_s = fitted.step.fixed_s(32, 3, 4) + fitted.step.kv_s(32.0 * context, level.longest);
        assert!((found.step_s / expected_s - 1.0).abs() < 1e-9, "{found:?} {expected_s}");
        let decoding = found.tps * found.step_s / (32.0 * level.accept_length);
        assert!((decoding + found.share - 1.0).abs() < 1e-9, "{found:?} {decoding}");
        assert!((found.share / level.prefill_share.unwrap() - 1.0).abs() < 0.05, "{found:?}");
    }
}
