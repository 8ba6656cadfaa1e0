//! A test that may be looked at after every line, and the rules of an audit that follows a growing log.
//!
//! The target is a simple hypothesis, so a likelihood ratio against it is an e-process: under the target it reaches 1000
//! with a chance of at most 1 in 1000, however often one looks (Ville 1939; Wald 1945). The alternative is a uniform
//! mixture. All weights that it does not exclude are a confidence sequence (Howard et al. 2021).

use crate::law::{ln_gamma, whole};

use super::decision::{Case, MIN_LINES, MIN_STEPS, Reason, SLACK, Shortfall, Verdict};
use super::estimate::{Estimate, MeanInterval};
use super::options::Confidence;

/// The e-value that decides.
const PROOF: f64 = 1000.0;

/// Halvings of an interval of length 1: more than a double holds.
const HALVINGS: u32 = 60;

/// Lines beyond which nobody waits.
const MOST_LINES: u64 = 1 << 40;

/// Draws between two neighbouring lengths: so many of so many gave the larger one. Neither need be whole.
#[derive(Clone, Copy, Debug, PartialEq)]
struct EProcess {
    hits: f64,
    trials: f64,
}

/// What a point says while its log grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sequence {
    /// The confidence sequence at the confidence that was asked for, in tokens per verify step: with this chance it holds
    /// the mean at every look.
    pub interval: MeanInterval,
    /// Natural logarithm of the e-value against the target: how many times better a uniform mixture explains the lines.
    /// Infinite where the target excludes them.
    pub ln_e: f64,
}

impl EProcess {
    /// The effective draws of an estimate above the length `lo`.
    fn new(estimate: &Estimate, lo: f64) -> Self {
        let trials = estimate.steps;
        Self { hits: (trials * (estimate.mean - lo)).clamp(0.0, trials), trials }
    }

    /// `ln (B(1 + S, 1 + N - S) / (w^S (1 - w)^(N - S)))`.
    fn ln_value(&self, weight: f64) -> f64 {
        let misses = self.trials - self.hits;
        let mixture = ln_gamma(1.0 + self.hits) + ln_gamma(1.0 + misses) - ln_gamma(2.0 + self.trials);
        // Nothing to explain costs nothing, whatever its chance.
        let power = |count: f64, chance: f64| if count > 0.0 { count * chance.ln() } else { 0.0 };
        mixture - power(self.hits, weight) - power(misses, 1.0 - weight)
    }

    /// The ends of all weights whose e-value is below `1 / level`.
    fn sequence(&self, level: f64) -> (f64, f64) {
        let bound = -level.ln();
        let best = if self.trials > 0.0 { self.hits / self.trials } else { 0.5 };
        // The e-value falls up to the best weight and rises behind it.
        let end = |mut outside: f64| {
            if self.ln_value(outside) < bound {
                return outside;
            }
            let mut inside = best;
            for _ in 0..HALVINGS {
                let middle = f64::midpoint(inside, outside);
                if self.ln_value(middle) < bound {
                    inside = middle;
                } else {
                    outside = middle;
                }
            }
            inside
        };
        (end(0.0), end(1.0))
    }
}

/// What draws of two neighbouring lengths say while their log grows: so many of so many gave the larger one, `lo + 1`.
pub(super) fn pooled_sequence(
    hits: f64,
    trials: f64,
    lo: f64,
    target: f64,
    confidence: Confidence,
) -> Sequence {
    let process = EProcess { hits, trials };
    let (low, high) = process.sequence(confidence.outside());
    let ln_e = process.ln_value((target - lo).clamp(0.0, 1.0));
    Sequence { interval: MeanInterval { low: lo + low, high: lo + high }, ln_e }
}

/// The rules of a look at one point.
pub(super) struct Look<'a> {
    case: &'a Case<'a>,
    process: EProcess,
    /// The length below: every draw is this one or the next.
    lo: f64,
    target: f64,
}

impl<'a> Look<'a> {
    pub(super) fn new(case: &'a Case<'a>) -> Self {
        let lo = f64::from(case.law.lo());
        Self {
            case,
            process: EProcess::new(case.estimate, lo),
            lo,
            target: case.target.accept_length().get(),
        }
    }

    pub(super) fn sequence(&self) -> Sequence {
        let interval = self.interval(self.case.options.confidence);
        // Above what a step can emit the target counts as it is, and not as the engine clamps it.
        Sequence { interval, ln_e: self.process.ln_value((self.target - self.lo).clamp(0.0, 1.0)) }
    }

    fn interval(&self, confidence: Confidence) -> MeanInterval {
        let (low, high) = self.process.sequence(confidence.outside());
        MeanInterval { low: self.lo + low, high: self.lo + high }
    }

    /// The verdict so far. What the other rules say of spread, lattice and laws holds for one look, so they are asked once:
    /// when the mean alone has decided.
    pub(super) fn decide(&self) -> (Verdict, Reason) {
        let case = self.case;
        // What needs no statistics: another server, or a line that the target's law cannot print.
        if case.is_other_server() || case.outside.is_some() {
            return case.decide();
        }
        let sequence = self.sequence();
        let is_off = (case.estimate.mean - self.target).abs() > SLACK;
        if sequence.ln_e >= PROOF.ln() && is_off {
            let reason = case.contradiction().filter(|reason| !matches!(reason, Reason::WrongMean(_)));
            let reason = reason.unwrap_or_else(|| Reason::WrongMean(self.interval(Confidence::proof())));
            return (Verdict::Inconsistent, reason);
        }
        if case.is_mixed {
            return (Verdict::Insufficient, Reason::MixedServers);
        }
        let margin = case.options.margin.tokens(self.target);
        let is_enough = case.estimate.lines >= MIN_LINES && case.estimate.steps >= MIN_STEPS;
        if is_enough && sequence.interval.is_within(self.target, margin) {
            match case.contradiction() {
                None => {
                    let interval = sequence.interval;
                    return (Verdict::Consistent, Reason::WithinMargin { interval, margin });
                }
                // Of the mean the e-value has to say it.
                Some(Reason::WrongMean(_)) => {}
                Some(reason) => return (Verdict::Inconsistent, reason),
            }
        }
        (Verdict::Insufficient, Reason::ShortRun(self.shortfall(sequence.interval, margin)))
    }

    fn shortfall(&self, interval: MeanInterval, margin: f64) -> Shortfall {
        let have = self.case.estimate.steps / f64::from(self.case.interval);
        let needed = self.lines_needed(margin).map(|lines| {
            let more = crate::law::float(lines) - have;
            whole(more.ceil()).max(MIN_LINES.saturating_sub(self.case.estimate.lines)).max(1)
        });
        Shortfall { interval: Some(interval), margin, more_lines: needed }
    }

    /// Lines after which the sequence lies inside the margin if the mean stays what it is; `None` where it never will.
    fn lines_needed(&self, margin: f64) -> Option<u64> {
        let mean = (self.case.estimate.mean - self.lo).clamp(0.0, 1.0);
        if (self.lo + mean - self.target).abs() >= margin {
            return None;
        }
        let is_enough = |lines: u64| {
            let trials = crate::law::float(lines) * f64::from(self.case.interval);
            let process = EProcess { hits: trials * mean, trials };
            let (low, high) = process.sequence(self.case.options.confidence.outside());
            let interval = MeanInterval { low: self.lo + low, high: self.lo + high };
            interval.is_within(self.target, margin)
        };
        let mut enough = 1;
        while !is_enough(enough) {
            enough = Some(enough * 2).filter(|lines| *lines <= MOST_LINES)?;
        }
        let mut few = enough / 2;
        while enough - few > 1 {
            let middle = u64::midpoint(few, enough);
            if is_enough(middle) {
                enough = middle;
            } else {
                few = middle;
            }
        }
        Some(enough)
    }
}

#[cfg(test)]
mod tests;
