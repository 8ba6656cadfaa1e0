//! Which law the sums come from.

use crate::engine::Engine;
use crate::evidence::Pool;
use crate::golden::Target;
use crate::law::{AcceptanceLaw, Setting, float};

use super::super::mechanism::{Mechanism, Mechanisms, Other};
use super::super::options::{Confidence, Options, RivalCell};
use super::estimate::Estimate;
use super::evidence::{PooledEvidence, PooledSource};
use super::mark::Mark;
use super::tolerance::slack;

/// Natural logarithm of the odds at which one value is believed over another.
const DECISIVE: f64 = 6.907_755_278_982_137;

/// How far a share of a position may be off its rate, in standard errors.
const POSITION_ERRORS: f64 = 4.5;

/// What is weighed.
pub(super) struct Weighed<'a> {
    pub(super) engine: Engine,
    pub(super) pool: &'a Pool,
    pub(super) mark: Mark,
    pub(super) estimate: &'a Estimate,
    /// Rates that the run was given.
    pub(super) rates: Option<&'a [f64]>,
    /// The run was given vLLM's older single rate, whose law is not known.
    pub(super) has_older_rate: bool,
    /// The run is known to have been told a length: judged drafts of one steady rate look like ATOM's older law.
    pub(super) is_told: bool,
    /// Drafts a step that were not made: see [`missing_drafts`].
    pub(super) missing: f64,
    pub(super) options: &'a Options,
}

/// Windows that tell how steps scatter, at least, and the tail beyond which they scatter too much for two lengths.
const LEAST_WINDOWS: u64 = 10;
const WIDE_TAIL: f64 = 0.001;

/// Drafts a step that have to be missing for a mean to be no cell's value any more: lengths have two decimals.
pub(super) const MISSING: f64 = 0.01;

/// Drafts that an average step lacks, where the draft length varied at run time: a forced length accepts no draft that was
/// not made, so what was set lies between the mean and this much above it.
pub(super) fn missing_drafts(evidence: &PooledEvidence, pool: &Pool) -> f64 {
    // ATOM counts K a step whatever was verified, and the last steps of requests may be short.
    let tells = matches!(evidence.engine, Engine::Vllm | Engine::Trtllm)
        && matches!(evidence.source, PooledSource::Log | PooledSource::Counters | PooledSource::Export);
    if !tells || pool.drafted < pool.steps_low.max(1) {
        return 0.0;
    }
    let shown = pool.draft_lengths.map_or(0, |(_, most)| most);
    let most = shown.max(u32::try_from(pool.positions.len()).unwrap_or(u32::MAX));
    (f64::from(most) - float(pool.drafted) / pool.steps()).max(0.0)
}

impl Weighed<'_> {
    /// The law that a target, or its absence, leaves.
    pub(super) fn mechanisms(&self, target: Option<&Target>) -> Mechanisms {
        let mut found = Mechanisms {
            best: None,
            rejected: Vec::new(),
            log_likelihood: Vec::new(),
            other: None,
            constant: match self.mark {
                Mark::Constant(length) => Some(length),
                _ => None,
            },
            change: None,
            cells_alike: Vec::new(),
            unknown_target: None,
            dispersion: self.estimate.scatter,
            is_target_beaten: false,
        };
        let length = target.map(|target| target.accept_length().get());
        match self.mark {
            Mark::Constant(shown) => constant(shown, target, &mut found),
            Mark::TwoPoint { lo, is_exact } => {
                found.rejected.extend([Mechanism::Constant, Mechanism::Real]);
                if is_exact || length.is_none_or(|length| !self.is_cut_short(lo, length)) {
                    self.two_point(lo, length, &mut found);
                } else {
                    found.is_target_beaten = true;
                }
            }
            Mark::Falling | Mark::Broken => self.falling(length, &mut found),
            Mark::Unknown => self.windows(length, &mut found),
        }
        self.likelihoods(length, &mut found);
        found
    }

    /// Whether the mean misses the target only since some steps were cut short: those that were not show it.
    fn is_cut_short(&self, lo: u32, length: f64) -> bool {
        let proof = self.estimate.interval(Confidence::proof());
        if proof.is_none_or(|proof| !proof.is_outside(length, slack(self.engine))) {
            return false;
        }
        self.pool.mean_uncut(lo).is_some_and(|(mean, steps)| {
            let weight = (mean - f64::from(lo)).clamp(0.0, 1.0);
            let share = steps / self.pool.steps().max(1.0);
            let error = (weight * (1.0 - weight) / (self.estimate.steps * share).max(1.0)).sqrt();
            (mean - length).abs() <= POSITION_ERRORS * error + slack(self.engine)
        })
    }

    /// Windows without positions that scatter as two neighbouring lengths do, one token beside the target.
    fn windows(&self, length: Option<f64>, found: &mut Mechanisms) {
        let (Some(length), Some(proof)) = (length, self.estimate.interval(Confidence::proof())) else {
            return;
        };
        let fits = |value: f64| !proof.is_outside(value, slack(self.engine));
        let value = [length - 1.0, length + 1.0].into_iter().find(|value| *value >= 1.0 && fits(*value));
        let spread = &self.pool.spread;
        let weight = self.estimate.mean.fract();
        let variance = weight * (1.0 - weight);
        let is_told =
            spread.windows == self.pool.windows && spread.windows >= LEAST_WINDOWS && variance > 1e-6;
        let Some(value) = value.filter(|_| is_told && !fits(length)) else { return };
        let d = spread.squares_about(self.estimate.mean - 1.0) / variance;
        // Judged drafts scatter more.
        if crate::law::chi_square_upper(d, float(spread.windows - 1)) >= WIDE_TAIL {
            found.rejected.push(Mechanism::MatchExpected);
            found.is_target_beaten = true;
            found.best = Some(Mechanism::OtherCell);
            found.other = Some(Other::OneOff(value));
        }
    }

    fn two_point(&self, lo: u32, length: Option<f64>, found: &mut Mechanisms) {
        let mean = self.estimate.mean;
        let slack = slack(self.engine);
        let proof = self.estimate.interval(Confidence::proof());
        let fits = |value: f64| proof.is_some_and(|proof| !proof.is_outside(value, slack));
        let mut cells: Vec<(&RivalCell, f64)> = self
            .options
            .cells
            .iter()
            .filter(|cell| length.is_none_or(|length| (cell.accept_length.get() - length).abs() >= 0.005))
            .filter(|cell| fits(cell.accept_length.get()))
            .map(|cell| (cell, self.ln_two_point(lo, cell.accept_length.get())))
            .collect();
        cells.sort_by(|left, right| right.1.total_cmp(&left.1));
        let Some(length) = length else {
            found.best = Some(Mechanism::MatchExpected);
            found.cells_alike = cells.into_iter().map(|(cell, _)| cell.clone()).collect();
            return;
        };
        let own = self.ln_two_point(lo, length);
        if fits(length) {
            found.best = Some(Mechanism::MatchExpected);
            let alike = cells.into_iter().filter(|(_, ln)| (ln - own).abs() < DECISIVE);
            found.cells_alike = alike.map(|(cell, _)| cell.clone()).collect();
            return;
        }
        found.rejected.push(Mechanism::MatchExpected);
        found.is_target_beaten = true;
        if self.missing >= MISSING {
            // No length is the mean's where steps had fewer drafts than others.
            return;
        }
        let one_off = [length - 1.0, length + 1.0].into_iter().find(|value| *value >= 1.0 && fits(*value));
        if let Some(value) = one_off {
            found.best = Some(Mechanism::OtherCell);
            found.other = Some(Other::OneOff(value));
        } else if let Some((cell, ln)) = cells.first().filter(|(_, ln)| ln - own > DECISIVE) {
            found.best = Some(Mechanism::OtherCell);
            found.other = Some(Other::Cell((*cell).clone()));
            let alike = cells.iter().skip(1).filter(|(_, other)| ln - other < DECISIVE);
            found.cells_alike = alike.map(|(cell, _)| (*cell).clone()).collect();
        } else {
            found.unknown_target = Some(mean);
        }
    }

    /// Rates of a list look as judged drafts do: they are believed where the list is known, and else a target has not been
    /// simulated, whatever the mean. Other engines know no list.
    fn falling(&self, length: Option<f64>, found: &mut Mechanisms) {
        found.rejected.push(Mechanism::Constant);
        if length.is_some() {
            found.rejected.push(Mechanism::MatchExpected);
        }
        let by_rates = self.rates.map(|rates| self.has_rates(rates));
        found.best = match (by_rates, self.engine) {
            (Some(true), _) => Some(Mechanism::PerPosition),
            // Zeros behind the last draft that was ever accepted are those of a forced length, and shorter drafts take the
            // ones before it.
            _ if self.mark == Mark::Broken && self.missing >= MISSING => {
                found.is_target_beaten = length.is_some();
                return;
            }
            (None, Engine::Atom) if self.is_told && self.is_geometric() => Some(Mechanism::Geometric),
            // Nobody asks for a forced length here, and a list of rates would look so too.
            (None, Engine::Vllm) if length.is_none() || self.has_older_rate => None,
            (Some(false) | None, _) => Some(Mechanism::Real),
        };
        found.is_target_beaten = found.best == Some(Mechanism::Real);
    }

    /// Whether every position was reached as often as its rate says.
    fn has_rates(&self, rates: &[f64]) -> bool {
        let positions = &self.pool.positions;
        positions.len() == rates.len()
            && positions.iter().zip(rates).all(|(position, rate)| {
                let error = (rate * (1.0 - rate) / self.estimate.steps.max(1.0)).sqrt();
                (position.share() - rate).abs() <= POSITION_ERRORS * error + self.pool.resolution + 0.003
            })
    }

    /// Whether drafts are accepted at one conditional rate in every position.
    fn is_geometric(&self) -> bool {
        let shares: Vec<f64> = std::iter::once(1.0)
            .chain(self.pool.positions.iter().map(crate::evidence::Position::share))
            .collect();
        let steps = self.estimate.steps.max(1.0);
        let (reached, accepted) = shares
            .iter()
            .zip(shares.iter().skip(1))
            .fold((0.0, 0.0), |(reached, accepted), (before, after)| (reached + before, accepted + after));
        if shares.len() < 3 || reached <= 0.0 {
            return false;
        }
        let rate: f64 = accepted / reached;
        shares.iter().zip(shares.iter().skip(1)).filter(|(before, _)| **before * steps >= 30.0).all(
            |(before, after)| {
                let error = (rate * (1.0 - rate) / (before * steps)).sqrt();
                (after / before - rate).abs() <= POSITION_ERRORS * error + self.pool.resolution / before
            },
        )
    }

    /// Log-likelihood of the sums when every step is `lo` or `lo + 1` with this mean.
    fn ln_two_point(&self, lo: u32, length: f64) -> f64 {
        let weight = length - f64::from(lo);
        if !(0.0..=1.0).contains(&weight) {
            return f64::NEG_INFINITY;
        }
        let hits = self.estimate.steps * (self.estimate.mean - f64::from(lo)).clamp(0.0, 1.0);
        let power = |count: f64, chance: f64| if count > 1e-9 { count * chance.ln() } else { 0.0 };
        power(hits, weight) + power(self.estimate.steps - hits, 1.0 - weight)
    }

    /// What programs read: the windows under the target's law and under one of free variance, as normal sums.
    fn likelihoods(&self, length: Option<f64>, found: &mut Mechanisms) {
        let windows = self.pool.spread.windows;
        if windows == 0 {
            return;
        }
        let ln = |mean: f64, variance: f64| {
            let count = float(windows);
            let squares = self.pool.spread.squares_about(mean - 1.0);
            -0.5 * (count * (std::f64::consts::TAU * variance).ln()
                + self.pool.spread.ln_steps
                + squares / variance)
        };
        let impossible = |mechanism: Mechanism| found.rejected.contains(&mechanism);
        let own = length.map(|length| {
            let weight = length - length.floor();
            let variance = weight * (1.0 - weight);
            if impossible(Mechanism::MatchExpected) || variance <= 0.0 {
                if found.best == Some(Mechanism::MatchExpected) { 0.0 } else { f64::NEG_INFINITY }
            } else {
                ln(length, variance)
            }
        });
        let free = self.pool.spread.squares_about(self.estimate.mean - 1.0) / float(windows);
        let real = if impossible(Mechanism::Real) {
            f64::NEG_INFINITY
        } else {
            ln(self.estimate.mean, free.max(1e-6))
        };
        found.log_likelihood.extend(own.map(|own| (Mechanism::MatchExpected, own)));
        found.log_likelihood.push((Mechanism::Real, real));
    }
}

/// The same length in every step.
fn constant(shown: u32, target: Option<&Target>, found: &mut Mechanisms) {
    let Some(target) = target else {
        found.best = (shown > 1).then_some(Mechanism::Constant);
        return;
    };
    let length = target.accept_length().get();
    let rounded = Setting::new(length, target.max_accept_length())
        .ok()
        .map(AcceptanceLaw::rounded)
        .is_some_and(|law| matches!(law, AcceptanceLaw::Rounded(value) if value == shown));
    let is_cut = (f64::from(shown) - length.floor()).abs() < 1e-9;
    found.best = Some(if (length - f64::from(shown)).abs() < 1e-9 {
        Mechanism::MatchExpected
    } else if shown == 1 {
        // Nothing was accepted.
        Mechanism::Real
    } else if (rounded || is_cut) && !target.is_above_max() {
        Mechanism::Rounded
    } else {
        Mechanism::Constant
    });
    if found.best != Some(Mechanism::MatchExpected) {
        found.rejected.push(Mechanism::MatchExpected);
        found.is_target_beaten = true;
    }
    if shown > 1 {
        found.rejected.push(Mechanism::Real);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Window;
    use crate::golden::{AcceptLength, Thinking};

    fn is_geometric(reached: &[f64]) -> bool {
        let mut pool = Pool::default();
        let accepted = crate::law::whole((2000.0 * reached.iter().sum::<f64>()).round());
        pool.add(&Window {
            reached: reached.to_vec(),
            resolution: 0.0005,
            ..Window::counted(accepted, 2000)
        });
        let estimate = Estimate::new(&pool, Mark::Unknown, None).unwrap();
        let weighed = Weighed {
            engine: Engine::Atom,
            pool: &pool,
            mark: Mark::Unknown,
            estimate: &estimate,
            rates: None,
            has_older_rate: false,
            is_told: false,
            missing: 0.0,
            options: &Options::default(),
        };
        weighed.is_geometric()
    }

    #[test]
    fn one_rate_in_every_position_is_geometric_within_what_its_steps_scatter() {
        assert!(is_geometric(&[0.6, 0.36, 0.216]));
        // 0.53 of the 720 steps that came so far, where 0.587 is the rate of all: three errors.
        assert!(is_geometric(&[0.6, 0.36, 0.1908]));
        // 0.5 of 800, where it is 0.6: more than five.
        assert!(!is_geometric(&[0.6, 0.4, 0.2]));
        // One position has one rate, whatever the law.
        assert!(!is_geometric(&[0.6]) && is_geometric(&[0.6, 0.36]));
    }

    /// 100,000 steps at 3.51 are not told from 3.51, and are from 3.52, though the slack of honest engines lets that fit.
    #[test]
    fn cells_are_alike_that_explain_the_steps_about_as_well() {
        let cell = |curve: &str, length: f64| RivalCell {
            curve: curve.to_owned(),
            thinking: Thinking::On,
            draft_length: 5,
            accept_length: AcceptLength::new(length).unwrap(),
        };
        let cells = vec![cell("far", 3.52), cell("own", 3.51), cell("same", 3.51)];
        let options = Options { cells, ..Options::default() };
        let mut pool = Pool::default();
        pool.add(&Window::counted(251_000, 100_000));
        let mark = Mark::TwoPoint { lo: 3, is_exact: true };
        let weighed = Weighed {
            engine: Engine::Vllm,
            pool: &pool,
            mark,
            estimate: &Estimate::new(&pool, mark, None).unwrap(),
            rates: None,
            has_older_rate: false,
            is_told: false,
            missing: 0.0,
            options: &options,
        };
        let found = weighed.mechanisms(Some(&Target::explicit(3.61, 6).unwrap()));
        assert_eq!(
            (found.other, found.cells_alike),
            (Some(Other::Cell(cell("own", 3.51))), vec![cell("same", 3.51)])
        );
        let own = weighed.mechanisms(Some(&Target::explicit(3.51, 6).unwrap()));
        assert_eq!((own.best, own.cells_alike), (Some(Mechanism::MatchExpected), vec![]));
    }
}
