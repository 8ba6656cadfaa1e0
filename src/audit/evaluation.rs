//! Evaluation runs: their drafts must really be judged, so any sign of a simulation is a fault.

use super::contest::DECISIVE;
use super::decision::{Reason, Verdict};
use super::mechanism::{Mechanism, Mechanisms};
use super::options::RivalCell;
use super::sample::Sample;
use super::stretches::{Stated, Stretches};
use crate::law::{float, whole32};

/// Lines that rule a simulation out, at least.
const MIN_LINES: u64 = 5;

/// The laws of a simulation.
const SIMULATED: [Mechanism; 4] =
    [Mechanism::MatchExpected, Mechanism::Constant, Mechanism::Multinomial, Mechanism::PerRequest];

/// What the lines of an evaluation run of `interval` steps a line show; the mechanisms were weighed without a target.
/// `max` is the most that a step can emit, if that is known; `cells` are what may have been simulated.
pub(super) fn decide(
    sample: &Sample<'_>,
    mechanisms: &Mechanisms,
    interval: u32,
    max: Option<u32>,
    cells: &[RivalCell],
) -> (Verdict, Reason) {
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
    // Judged drafts before or after simulated ones.
    if let Some(stretch) = simulated_stretch(sample, interval, max, cells) {
        return (Verdict::Inconsistent, Reason::SimulatedEvaluation(stretch));
    }
    let weighed = mechanisms.log_likelihood.iter().map(|(mechanism, _)| mechanism);
    let is_real = weighed.filter(|mechanism| SIMULATED.contains(mechanism)).all(is_rejected);
    if is_real && is_enough && !is_rejected(&Mechanism::Real) {
        (Verdict::Consistent, Reason::RealAsExpected)
    } else {
        (Verdict::Insufficient, Reason::EvaluationUndecided)
    }
}

/// The law of a part of the lines that was simulated, where two laws one after the other explain the lines a thousand times
/// better than any single one.
fn simulated_stretch(
    sample: &Sample<'_>,
    interval: u32,
    max: Option<u32>,
    cells: &[RivalCell],
) -> Option<Mechanism> {
    let (low, high) = sample.range()?;
    let max = max.unwrap_or(0).max(high.div_ceil(100)).max(2);
    let mut values: Vec<f64> = cells.iter().map(|cell| cell.accept_length.get()).collect();
    values.retain(|value| (low / 100..=high / 100).contains(&whole32(value.floor())));
    let constants = low.div_ceil(100).max(2)..=high / 100;
    let mut laws = Stated::simulations(constants, values, Mechanism::MatchExpected, max);
    let charge = float(u64::try_from(laws.len()).unwrap_or(u64::MAX)).max(1.0).ln();
    for stated in &mut laws {
        stated.charge = charge;
    }
    let mixture = Stretches::new(sample, interval, max).best(&laws)?;
    let is_believed = mixture.ln - mixture.charge - mixture.single > DECISIVE.ln();
    let parts = [mixture.change.before.mechanism, mixture.change.after.mechanism];
    parts.into_iter().find(|part| is_believed && SIMULATED.contains(part))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::audit::{Options, PointBuilder, judge};
    use crate::evidence::Scanner;

    /// Lines of 40 steps, as real acceptance scatters them: off the lattice of forty draws.
    const REAL: [u32; 24] = [
        331, 347, 339, 356, 324, 344, 361, 337, 351, 329, 343, 366, 318, 341, 354, 336, 349, 333, 359, 326,
        346, 338, 353, 341,
    ];

    /// Lines of forty draws of 3 and 4, at 3.5.
    const SIMULATED_LINES: [u32; 8] = [350, 345, 355, 350, 340, 360, 350, 345];

    fn verdict(lines: &[u32]) -> Verdict {
        let mut log =
            "[2026-10-12 00:00:00] server_args=ServerArgs(model_path='m', speculative_algorithm='EAGLE', \
                       speculative_num_steps=3, speculative_eagle_topk=1, speculative_num_draft_tokens=4, \
                       decode_log_interval=40)\n"
                .to_owned();
        for (second, length) in lines.iter().enumerate() {
            writeln!(
                log,
                "[2026-10-12 00:01:{second:02} TP0] Decode batch, #running-req: 4, #token: 793, token usage: 0.05, accept len: \
                 {}.{:02}, accept rate: 0.50, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0",
                length / 100,
                length % 100
            )
            .unwrap();
        }
        let mut point = PointBuilder::new("p");
        Scanner::new(0).lines(log.as_bytes(), &mut |place, record| point.add(place, record));
        let cells = vec![RivalCell {
            curve: "c".to_owned(),
            thinking: crate::golden::Thinking::Unstated,
            draft_length: 3,
            accept_length: crate::golden::AcceptLength::new(3.5).unwrap(),
        }];
        judge(&point.finish(), None, &Options { expect_real: true, cells, ..Options::default() }).verdict
    }

    /// Constant lengths that no line comes near are not weighed: each law more to choose from takes more lines.
    #[test]
    fn eight_simulated_lines_behind_real_ones_are_found() {
        let of = |simulated: usize| verdict(&[&REAL[..], &SIMULATED_LINES[..simulated]].concat());
        assert_eq!((of(0), of(7), of(8)), (Verdict::Consistent, Verdict::Consistent, Verdict::Inconsistent));
    }
}
