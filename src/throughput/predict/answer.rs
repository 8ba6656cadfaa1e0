//! Answers for an accept length and a batch, each with the basis that it stands on.

use crate::throughput::basis::Basis;
use crate::throughput::lengths::{Lengths, context_of};
use crate::throughput::model::{Law, Level, Model, Outcome};
use crate::throughput::ratio::{BreakEven, break_even, throughput_ratio};

use super::error::PredictError;
use super::law::from_law;

/// Accept lengths that differ by less than this share are one.
const SAME_LENGTH: f64 = 0.01;

/// Contexts that differ by less than this share are one.
const SAME_CONTEXT: f64 = 0.05;

/// How many requests a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asked {
    /// So many running on every rank.
    Running(u32),
    /// So many in flight over all ranks: those beyond the server's limit wait, and fewer than ranks leave ranks idle.
    Clients(u32),
}

/// A question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// Tokens a step and request.
    pub accept_length: f64,
    /// Draft tokens (k); 0: no speculation; none: those of logs that do not tell them.
    pub drafts: Option<u32>,
    /// How many requests.
    pub asked: Asked,
    /// Input and output tokens of a request, where they are not those of the log.
    pub lengths: Option<(Lengths, Lengths)>,
}

impl Question {
    /// At so many running requests on every rank, with requests like those of the logs.
    #[must_use]
    pub fn running(accept_length: f64, drafts: Option<u32>, running: u32) -> Self {
        Self { accept_length, drafts, asked: Asked::Running(running), lengths: None }
    }

    /// At so many requests in flight over all ranks, with requests like those of the logs.
    #[must_use]
    pub fn clients(accept_length: f64, drafts: Option<u32>, clients: u32) -> Self {
        Self { accept_length, drafts, asked: Asked::Clients(clients), lengths: None }
    }
}

/// Where requests are: on the ranks, and before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// On the fullest rank.
    pub(super) running: u32,
    /// Ranks with requests.
    busy: u32,
    /// On all ranks.
    pub(super) in_flight: u32,
    /// In the queue.
    waiting: u32,
}

impl Spot {
    pub(super) fn new(model: &Model, asked: Asked) -> Self {
        let ranks = model.ranks.max(1);
        match asked {
            Asked::Running(running) => {
                Self { running, busy: ranks, in_flight: running.saturating_mul(ranks), waiting: 0 }
            }
            Asked::Clients(clients) => {
                let in_flight = model.most_running_of_all().map_or(clients, |most| clients.min(most));
                Self {
                    running: in_flight.div_ceil(ranks),
                    busy: in_flight.min(ranks),
                    in_flight,
                    waiting: clients - in_flight,
                }
            }
        }
    }

    /// How many full ranks the requests make.
    fn ranks(&self) -> f64 {
        f64::from(self.in_flight) / f64::from(self.running.max(1))
    }
}

/// An answer. Figures are those of the whole server; batches those of one rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The question.
    pub question: Question,
    /// Requests running on the fullest rank.
    pub running: u32,
    /// Requests that wait, as the server runs no more.
    pub waiting: u32,
    /// Output tokens a second.
    pub tps: f64,
    /// 5 % and 95 % points of a bootstrap over stretches of lines.
    pub band: (f64, f64),
    /// The band with the error of the model: for `interpolated` the largest at a batch that the fit did not see, for
    /// `extrapolated` more of it. The band itself where no law is involved.
    pub range: (f64, f64),
    /// What it stands on.
    pub basis: Basis,
    /// For an extrapolated number: factors that the truth may lie at.
    pub factor: Option<(f64, f64)>,
    /// Seconds a step without prefill, where known.
    pub step_s: Option<f64>,
    /// Share of the time in prefill, where known.
    pub prefill_share: Option<f64>,
    /// Seconds a token behind the first: (latency - time to the first token) / (output tokens - 1), the time to the first token
    /// being the queue and the request's share of prefill. None for outputs of one token, and where output lengths or the share
    /// of prefill are not known.
    pub tpot_s: Option<f64>,
    /// Output tokens of a request, mean: those asked for, else those of the logs, where they tell.
    pub output: Option<f64>,
    /// Seconds of a request of so many output tokens, time in the queue included; none where output lengths are not known.
    pub e2e_s: Option<f64>,
    /// Seconds of it in the queue.
    pub queue_s: Option<f64>,
    /// Against no speculation at the same batch, where the logs hold such a run, with its own basis.
    pub speedup: Option<(f64, Basis)>,
    /// The accept length at which speculation breaks even there, on the basis of the speedup.
    pub break_even: Option<BreakEven>,
}

impl Prediction {
    /// Seconds a token behind the first, from the latency and the share of prefill.
    fn further_s(&self) -> Option<f64> {
        let (e2e_s, queue_s, share) = (self.e2e_s?, self.queue_s?, self.prefill_share?);
        let output = self.output?;
        let first_s = queue_s + share * output / self.tps;
        (output > 1.0 + 1e-9).then(|| (e2e_s - first_s).max(0.0) / (output - 1.0))
    }
}

/// Answers a question.
///
/// ```
/// use accsim::throughput::{Basis, Question, predict, read_model};
///
/// let model = read_model(&std::fs::read("tests/data/throughput/h200_k3_k5.json")?)?;
/// let measured = predict(&model, &Question::running(3.51, Some(5), 16))?;
/// let other = predict(&model, &Question::running(2.43, Some(5), 16))?;
/// assert_eq!((measured.basis, other.basis), (Basis::Measured, Basis::Ratio));
/// assert!(other.tps < measured.tps && other.range.0 < other.tps && other.tps < other.range.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn predict(model: &Model, question: &Question) -> Result<Prediction, PredictError> {
    let mut prediction = alone(model, question)?;
    prediction.tpot_s = prediction.further_s();
    if question.drafts != Some(0) && model.law(0).is_some() {
        let plain = Question { drafts: Some(0), accept_length: 1.0, ..*question };
        if let Ok(plain) = alone(model, &plain) {
            prediction.speedup = Some((prediction.tps / plain.tps, plain.basis.max(prediction.basis)));
            let in_flight = Spot::new(model, question.asked).in_flight;
            let most = model.law(question.drafts).zip(question.drafts).map(|(law, drafts)| law.most(drafts));
            prediction.break_even = prediction.step_s.zip(prediction.prefill_share).map(|(step_s, share)| {
                break_even(1.0 / plain.tps, step_s, share / prediction.tps, in_flight, most)
            });
        }
    }
    Ok(prediction)
}

/// Without the comparison with no speculation.
fn alone(model: &Model, question: &Question) -> Result<Prediction, PredictError> {
    let Question { accept_length, drafts, asked, lengths } = *question;
    let law = model.law(drafts).ok_or(PredictError::NoLaw {
        what: if drafts == Some(0) { "without speculation" } else { "with speculation" },
    })?;
    if let Some(drafts) = drafts {
        let most = law.most(drafts);
        if !(1.0..=f64::from(most)).contains(&accept_length) {
            return Err(PredictError::AcceptLength { found: accept_length, drafts, most });
        }
    } else if !(accept_length.is_finite() && accept_length >= 1.0) {
        return Err(PredictError::BelowOne(accept_length));
    }
    let spot = Spot::new(model, asked);
    if spot.running == 0 {
        return Err(PredictError::NoRequests);
    }
    if let Some(drafts) = drafts.filter(|drafts| !law.draft_lengths.contains(drafts))
        && law.draft_lengths.len() < 2
    {
        return Err(PredictError::DraftLength { drafts, known: law.draft_lengths.clone() });
    }
    let level = model.level(drafts, spot.running, spot.busy);
    let same_context = |level: &&Level| {
        lengths.is_none_or(|(input, output)| {
            let asked = context_of(input, output);
            level.context.is_some_and(|context| (asked / context - 1.0).abs() < SAME_CONTEXT)
                && model.covers(law, input.mean(), output.mean(), asked)
        })
    };
    if let Some(level) = level.filter(same_context) {
        return from_level(model, law, question, &spot, level);
    }
    match &law.outcome {
        Outcome::Fitted(fitted) => Ok(from_law(model, law, fitted, question, &spot)),
        Outcome::Refused { missing, .. } if lengths.is_some() && level.is_some() => {
            Err(PredictError::OtherContext { missing: missing.clone() })
        }
        Outcome::Refused { missing, .. } => Err(PredictError::NotMeasured {
            running: spot.running,
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
    /// An answer of the whole server; latencies follow from Little's law.
    pub(super) fn new(
        model: &Model,
        question: &Question,
        spot: &Spot,
        tps: f64,
        band: (f64, f64),
        basis: Basis,
    ) -> Self {
        let output = question.lengths.map(|(_, output)| output.mean()).or(model.workload.output);
        let mut found = Self {
            question: *question,
            running: spot.running,
            waiting: spot.waiting,
            tps,
            band,
            range: band,
            basis,
            factor: None,
            step_s: None,
            prefill_share: None,
            tpot_s: None,
            output: None,
            e2e_s: None,
            queue_s: None,
            speedup: None,
            break_even: None,
        };
        found.last(spot, output);
        found
    }

    /// How long requests of so many output tokens last.
    fn last(&mut self, spot: &Spot, output: Option<f64>) {
        let waiting = f64::from(spot.waiting);
        self.output = output;
        self.e2e_s = output.map(|output| (f64::from(spot.in_flight) + waiting) * output / self.tps);
        self.queue_s = output.map(|output| waiting * output / self.tps);
    }
}

/// At a measured batch: as measured, or with the accept length moved.
fn from_level(
    model: &Model,
    law: &Law,
    question: &Question,
    spot: &Spot,
    level: &Level,
) -> Result<Prediction, PredictError> {
    let ranks = spot.ranks();
    let answer = |tps: f64, (low, high): (f64, f64), basis| {
        let mut found =
            Prediction::new(model, question, spot, tps * ranks, (low * ranks, high * ranks), basis);
        // Requests of the level's own runs, whatever else the model was calibrated on.
        if question.lengths.is_none() && level.output.is_some() {
            found.last(spot, level.output);
        }
        found.step_s = level.step_s;
        found
    };
    let moved = question.accept_length / level.accept_length;
    if (moved - 1.0).abs() <= SAME_LENGTH {
        let mut found = answer(level.tps, level.tps_band, Basis::Measured);
        found.prefill_share = level.prefill_share;
        return Ok(found);
    }
    let Some(share) = level.prefill_share else {
        let missing = match &law.outcome {
            Outcome::Refused { missing, .. } => missing.clone(),
            Outcome::Fitted(_) => Vec::new(),
        };
        return Err(PredictError::NoPrefillShare { running: spot.running, missing });
    };
    let ratio = |share: f64| throughput_ratio(level.accept_length, question.accept_length, share);
    let tps = level.tps * ratio(share);
    // The error of phi comes on top of that of the level.
    let (least, most) = level.prefill_share_band.unwrap_or((share, share));
    let ends = [ratio(least), ratio(most), ratio(share)];
    let low = level.tps_band.0 * ends.into_iter().fold(f64::INFINITY, f64::min);
    let high = level.tps_band.1 * ends.into_iter().fold(0.0, f64::max);
    let mut found = answer(tps, (low, high), Basis::Ratio);
    found.prefill_share = Some(share * tps / level.tps);
    Ok(found)
}

/// What no prediction here takes into account.
pub const NOT_MODELLED: [&str; 5] = [
    "expert routing of simulated tokens (fixed-token mode)",
    "adaptive draft length",
    "confidence scheduling",
    "overlap of scheduling and computing (the simulation models the step that a finished request stays on)",
    "retraction (the simulation models it on request)",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::throughput::read_model;

    #[test]
    fn where_the_law_is_refused_the_batches_of_that_draft_length_are_named() {
        let mut model = read_model(&std::fs::read("tests/data/throughput/h200_k3_k5.json").unwrap()).unwrap();
        for law in &mut model.laws {
            law.outcome = Outcome::Refused { missing: Vec::new(), slope_s_per_request: None };
        }
        model.levels.retain(|level| level.drafts != Some(3) || level.running != 16);
        let measured = |drafts| match alone(&model, &Question::running(2.5, Some(drafts), 7)) {
            Err(PredictError::NotMeasured { running: 7, measured, .. }) => measured,
            found => panic!("{found:?}"),
        };
        assert_eq!((measured(3), measured(5)), (vec![1, 4, 32], vec![1, 4, 16, 32]));
    }
}
