//! Answers for an accept length and a batch, each with the basis that it stands on.

use super::bootstrap::band;
use super::model::{Fitted, Law, Level, Missing, Model, Outcome};
use super::ratio::{break_even, throughput_ratio};
use super::step::{Bend, Load, PrefillLaw, StepLaw};

/// Accept lengths that differ by less than this share are one.
const SAME_LENGTH: f64 = 0.01;

/// Contexts that differ by less than this share are one.
const SAME_CONTEXT: f64 = 0.05;

/// Least error of an extrapolated number, as a share, for each doubling beyond what was covered.
const LEAST_BEYOND: f64 = 0.05;

/// What a number stands on, from the firmest to the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Basis {
    /// This batch, draft length, context and accept length are in the log.
    Measured,
    /// Only the accept length moved.
    Ratio,
    /// By the step law, inside what the logs cover.
    Interpolated,
    /// By the step law, outside.
    Extrapolated,
}

impl Basis {
    /// The word for it in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Ratio => "ratio",
            Self::Interpolated => "interpolated",
            Self::Extrapolated => "extrapolated",
        }
    }
}

/// A question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// Tokens a step and request.
    pub accept_length: f64,
    /// Draft tokens (k); 0: no speculation; none: those of logs that do not tell them.
    pub drafts: Option<u32>,
    /// Requests running on a rank.
    pub running: u32,
    /// Input and output tokens of a request, where they are not those of the log.
    pub lengths: Option<(f64, f64)>,
}

/// An answer. Figures are those of the whole server; batches those of one rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The question.
    pub question: Question,
    /// Output tokens a second.
    pub tps: f64,
    /// 5 % and 95 % points of a bootstrap over stretches of lines.
    pub band: (f64, f64),
    /// What it stands on.
    pub basis: Basis,
    /// For an extrapolated number: factors that the truth may lie at.
    pub factor: Option<(f64, f64)>,
    /// Seconds a step without prefill, where known.
    pub step_s: Option<f64>,
    /// Share of the time in prefill, where known.
    pub prefill_share: Option<f64>,
    /// Seconds a token of one request.
    pub tpot_s: f64,
    /// Seconds of a request, without time in a queue; none where output lengths are not known.
    pub e2e_s: Option<f64>,
    /// Against no speculation at the same batch, where the logs hold such a run, with its own basis.
    pub speedup: Option<(f64, Basis)>,
    /// The accept length at which speculation breaks even there.
    pub break_even: Option<f64>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PredictError {
    /// An accept length that a step cannot have.
    #[error(
        "accept length {found} is outside [1, {most}]: a step verifies {drafts} drafts and adds one token"
    )]
    AcceptLength {
        /// Length asked for.
        found: f64,
        /// Draft tokens.
        drafts: u32,
        /// Largest length.
        most: u32,
    },
    /// No requests.
    #[error("a batch has at least 1 running request")]
    NoRequests,
    /// The logs hold no run of this kind.
    #[error("the logs hold no run {what}; calibrate with one")]
    NoLaw {
        /// With or without speculation.
        what: &'static str,
    },
    /// A draft length that cannot be told from the logs.
    #[error(
        "draft length {drafts} is not in the logs (they hold {}), and a step's cost by draft length takes logs of two draft \
         lengths: calibrate with a run at another one",
        list(.known)
    )]
    DraftLength {
        /// Length asked for.
        drafts: u32,
        /// Lengths of the logs.
        known: Vec<u32>,
    },
    /// The coefficients are refused and the batch was not measured.
    #[error(
        "{running} running requests were not measured (measured: {}), and the step law is refused: {}",
        list(.measured),
        reasons(.missing)
    )]
    NotMeasured {
        /// Batch asked for.
        running: u32,
        /// Batches of the logs at this draft length.
        measured: Vec<u32>,
        /// Why the law is refused.
        missing: Vec<Missing>,
    },
    /// Another context, and no coefficients.
    #[error("requests of other lengths than the log's take a step law, and it is refused: {}", reasons(.missing))]
    OtherContext {
        /// Why the law is refused.
        missing: Vec<Missing>,
    },
    /// An accept length below 1, or no number.
    #[error("accept length {0} is below 1: a step emits one token at least")]
    BelowOne(f64),
    /// The share of prefill is not known, so the accept length cannot be moved.
    #[error(
        "the share of prefill at {running} running requests cannot be told: {}, and the step law is refused: {}",
        if .missing.contains(&Missing::PrefillLines) {
            "the log does not show prefills"
        } else {
            "too few of its lines are without a prefill"
        },
        reasons(.missing)
    )]
    NoPrefillShare {
        /// Batch asked for.
        running: u32,
        /// Why the law is refused.
        missing: Vec<Missing>,
    },
}

fn list(numbers: &[u32]) -> String {
    if numbers.is_empty() {
        return "none".to_owned();
    }
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

fn reasons(missing: &[Missing]) -> String {
    missing.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// What a batch holds and what prefill a token brings along.
#[derive(Clone, Copy, Debug)]
struct Situation {
    context: f64,
    longest: f64,
    /// Prefill batches and prompt tokens an output token.
    batches: f64,
    prompts: f64,
    /// Seconds of prefill an output token, where not by batches and prompts.
    seconds: f64,
}

/// Answers a question.
pub fn predict(model: &Model, question: &Question) -> Result<Prediction, PredictError> {
    let mut prediction = alone(model, question)?;
    if question.drafts != Some(0) && model.law(0).is_some() {
        let plain = Question { drafts: Some(0), accept_length: 1.0, ..*question };
        if let Ok(plain) = alone(model, &plain) {
            prediction.speedup = Some((prediction.tps / plain.tps, plain.basis.max(prediction.basis)));
            let per_token = f64::from(model.ranks.max(1)) / plain.tps;
            let prefill =
                prediction.prefill_share.map(|share| share * f64::from(model.ranks.max(1)) / prediction.tps);
            prediction.break_even = prediction
                .step_s
                .zip(prefill)
                .and_then(|(step, prefill)| break_even(per_token, step, prefill, question.running));
        }
    }
    Ok(prediction)
}

/// Without the comparison with no speculation.
fn alone(model: &Model, question: &Question) -> Result<Prediction, PredictError> {
    let Question { accept_length, drafts, running, lengths } = *question;
    let law = model.law(drafts).ok_or(PredictError::NoLaw {
        what: if drafts == Some(0) { "without speculation" } else { "with speculation" },
    })?;
    if let Some(drafts) = drafts {
        let most = drafts.saturating_add(1).max(law.verified(drafts));
        if !(1.0..=f64::from(most)).contains(&accept_length) {
            return Err(PredictError::AcceptLength { found: accept_length, drafts, most });
        }
    } else if !(accept_length.is_finite() && accept_length >= 1.0) {
        return Err(PredictError::BelowOne(accept_length));
    }
    if running == 0 {
        return Err(PredictError::NoRequests);
    }
    if let Some(drafts) = drafts.filter(|drafts| !law.draft_lengths.contains(drafts))
        && law.draft_lengths.len() < 2
    {
        return Err(PredictError::DraftLength { drafts, known: law.draft_lengths.clone() });
    }
    let ranks = f64::from(model.ranks.max(1));
    let level = model.levels.iter().find(|level| (level.drafts, level.running) == (drafts, running));
    let same_context = |level: &&Level| {
        lengths.is_none_or(|(input, output)| {
            level.context.is_some_and(|context| ((input + output / 2.0) / context - 1.0).abs() < SAME_CONTEXT)
        })
    };
    if let Some(level) = level.filter(same_context) {
        return from_level(model, law, question, level).map(|found| found.scaled(ranks));
    }
    match &law.outcome {
        Outcome::Fitted(fitted) => Ok(from_law(model, law, fitted, question).scaled(ranks)),
        Outcome::Refused { missing, .. } if lengths.is_some() && level.is_some() => {
            Err(PredictError::OtherContext { missing: missing.clone() })
        }
        Outcome::Refused { missing, .. } => Err(PredictError::NotMeasured {
            running,
            measured: model
                .levels
                .iter()
                .filter(|level| level.drafts == drafts)
                .map(|level| level.running)
                .collect(),
            missing: missing.clone(),
        }),
    }
}

impl Prediction {
    /// Of one rank, for so many that step together.
    fn scaled(mut self, ranks: f64) -> Self {
        self.tps *= ranks;
        self.band = (self.band.0 * ranks, self.band.1 * ranks);
        self
    }

    /// An answer of one rank; latencies follow from Little's law.
    fn new(model: &Model, question: &Question, tps: f64, band: (f64, f64), basis: Basis) -> Self {
        let running = f64::from(question.running);
        let output = question.lengths.map(|(_, output)| output).or(model.workload.output);
        Self {
            question: *question,
            tps,
            band,
            basis,
            factor: None,
            step_s: None,
            prefill_share: None,
            tpot_s: running / tps,
            e2e_s: output.map(|output| running * output / tps),
            speedup: None,
            break_even: None,
        }
    }
}

/// At a measured batch: as measured, or with the accept length moved.
fn from_level(
    model: &Model,
    law: &Law,
    question: &Question,
    level: &Level,
) -> Result<Prediction, PredictError> {
    let moved = question.accept_length / level.accept_length;
    if (moved - 1.0).abs() <= SAME_LENGTH {
        let mut found = Prediction::new(model, question, level.tps, level.tps_band, Basis::Measured);
        (found.step_s, found.prefill_share) = (level.step_s, level.prefill_share);
        return Ok(found);
    }
    let Some(share) = level.prefill_share else {
        let missing = match &law.outcome {
            Outcome::Refused { missing, .. } => missing.clone(),
            Outcome::Fitted(_) => Vec::new(),
        };
        return Err(PredictError::NoPrefillShare { running: question.running, missing });
    };
    let ratio = |share: f64| throughput_ratio(level.accept_length, question.accept_length, share);
    let tps = level.tps * ratio(share);
    // The error of phi comes on top of that of the level.
    let (least, most) = level.prefill_share_band.unwrap_or((share, share));
    let ends = [ratio(least), ratio(most), ratio(share)];
    let low = level.tps_band.0 * ends.into_iter().fold(f64::INFINITY, f64::min);
    let high = level.tps_band.1 * ends.into_iter().fold(0.0, f64::max);
    let mut found = Prediction::new(model, question, tps, (low, high), Basis::Ratio);
    found.step_s = level.step_s;
    found.prefill_share = Some(share * tps / level.tps);
    Ok(found)
}

/// By the step law.
fn from_law(model: &Model, law: &Law, fitted: &Fitted, question: &Question) -> Prediction {
    let situation = situation(model, fitted, question);
    let Question { accept_length, running, .. } = *question;
    // A law is fitted only where the draft length is known.
    let drafts = question.drafts.unwrap_or(0);
    let load = Load {
        running,
        drafts,
        verified: law.verified(drafts),
        kv_tokens: f64::from(running) * situation.context,
        longest: situation.longest.max(situation.context),
    };
    let rate = |step: &StepLaw, prefill: &PrefillLaw| {
        let step_s = step.step_s(&load);
        let prefill_s =
            prefill.p0_s * situation.batches + prefill.p1_s * situation.prompts + situation.seconds;
        (step_s, prefill_s, 1.0 / (step_s / (f64::from(running) * accept_length) + prefill_s))
    };
    let (step_s, prefill_s, tps) = rate(&fitted.step, &fitted.prefill);
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
        rate(&step, &PrefillLaw { p0_s: *p0_s, p1_s: *p1_s }).2
    });
    let band = band(resampled.collect()).unwrap_or((tps, tps));
    let beyond = beyond(law, question, situation.context);
    let basis = if beyond > 0.0 { Basis::Extrapolated } else { Basis::Interpolated };
    let mut found = Prediction::new(model, question, tps, band, basis);
    found.step_s = Some(step_s);
    found.prefill_share = Some(prefill_s * tps);
    if basis == Basis::Extrapolated {
        let error = fitted.quality.left_out_largest.unwrap_or(0.0).max(LEAST_BEYOND) * (1.0 + beyond);
        found.factor = Some((band.0 / tps / (1.0 + error), band.1 / tps * (1.0 + error)));
    }
    found
}

/// Doublings by which the question lies outside what the logs cover, all directions together; 0 inside.
fn beyond(law: &Law, question: &Question, context: f64) -> f64 {
    let outside = |value: f64, low: f64, high: f64| {
        let (low, high) = (low * (1.0 - 1e-9), high * (1.0 + 1e-9));
        if value > high {
            libm::log2(value / high)
        } else if value < low && value > 0.0 {
            libm::log2(low / value)
        } else {
            0.0
        }
    };
    let drafts = |drafts: Option<&u32>| drafts.map_or(0.0, |drafts| f64::from(*drafts) + 1.0);
    let (least, most) = law.ranges.running;
    outside(f64::from(question.running), f64::from(least), f64::from(most))
        + outside(context, law.ranges.context.0, law.ranges.context.1)
        + outside(
            f64::from(question.drafts.unwrap_or(0)) + 1.0,
            drafts(law.draft_lengths.first()),
            drafts(law.draft_lengths.last()),
        )
}

/// Contexts and prefill at a batch: of the lengths asked for, else between the measured batches.
fn situation(model: &Model, fitted: &Fitted, question: &Question) -> Situation {
    let levels: Vec<&Level> = {
        let of = |drafts: Option<u32>| -> Vec<&Level> {
            model.levels.iter().filter(|level| level.drafts == drafts).collect()
        };
        let own = of(question.drafts);
        if own.is_empty() {
            model
                .levels
                .iter()
                .filter(|level| (level.drafts == Some(0)) == (question.drafts == Some(0)))
                .collect()
        } else {
            own
        }
    };
    let at = |figure: &dyn Fn(&Level) -> f64| between(&levels, question.running, figure);
    let spread = at(&|level| level.context.map_or(1.0, |context| level.longest / context)).max(1.0);
    if let Some((input, output)) = question.lengths {
        let context = input + output / 2.0;
        let uncached = input * (1.0 - model.workload.cached);
        return Situation {
            context,
            longest: context * spread,
            batches: 1.0 / output,
            prompts: uncached / output,
            seconds: 0.0,
        };
    }
    let context = at(&|level| level.context.unwrap_or(0.0));
    Situation {
        context,
        longest: context * spread,
        batches: 0.0,
        prompts: 0.0,
        // What a token costs in prefill does not depend on the accept length.
        seconds: if fitted.prefill == PrefillLaw::default() {
            0.0
        } else {
            at(&|level| level.prefill_share.unwrap_or(0.0) / level.tps)
        },
    }
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

/// What no prediction here takes into account.
pub const NOT_MODELLED: [&str; 5] = [
    "expert routing of simulated tokens (fixed-token mode)",
    "adaptive draft length",
    "confidence scheduling",
    "overlap of scheduling and computing (the simulation models the step that a finished request stays on)",
    "retraction (the simulation models it on request)",
];
