//! Evaluation runs: their drafts must really be judged, so any sign of a simulation is a fault.

use super::decision::{Reason, Verdict};
use super::mechanism::{Mechanism, Mechanisms};
use super::sample::Sample;

/// Lines that rule a simulation out, at least.
const MIN_LINES: u64 = 5;

/// The laws of a simulation.
const SIMULATED: [Mechanism; 4] =
    [Mechanism::MatchExpected, Mechanism::Constant, Mechanism::Multinomial, Mechanism::PerRequest];

/// What the lines of an evaluation run show; the mechanisms were weighed without a target.
pub(super) fn decide(sample: &Sample<'_>, mechanisms: &Mechanisms) -> (Verdict, Reason) {
    let is_enough = sample.lines() >= MIN_LINES;
    if let Some(length) = mechanisms.constant {
        // Drafts that are judged do not all give the same whole number, unless none is ever accepted.
        return match length {
            1 if is_enough => (Verdict::Consistent, Reason::NothingAccepted),
            1 => (Verdict::Insufficient, Reason::EvaluationUndecided),
            _ => (Verdict::Inconsistent, Reason::SimulatedEvaluation(Mechanism::Constant)),
        };
    }
    let is_rejected = |mechanism: &Mechanism| mechanisms.rejected.contains(mechanism);
    if let Some(best) = mechanisms.best.filter(|best| SIMULATED.contains(best))
        && is_rejected(&Mechanism::Real)
    {
        return (Verdict::Inconsistent, Reason::SimulatedEvaluation(best));
    }
    let weighed = mechanisms.log_likelihood.iter().map(|(mechanism, _)| mechanism);
    let is_real = weighed.filter(|mechanism| SIMULATED.contains(mechanism)).all(is_rejected);
    if is_real && is_enough && !is_rejected(&Mechanism::Real) {
        (Verdict::Consistent, Reason::RealAsExpected)
    } else {
        (Verdict::Insufficient, Reason::EvaluationUndecided)
    }
}
