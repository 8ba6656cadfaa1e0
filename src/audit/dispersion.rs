//! Do the lines scatter as the law has it, and do they stand where one draw a step can put them?

mod exact;

use crate::law::{
    AcceptanceLaw, Draws, Lattice, TwoPoint, beta_reg, chi_square_lower, chi_square_upper, float,
};

use super::sample::Sample;

/// Probability in either tail below which the scatter is not that of the law.
const TAIL: f64 = 0.00025;

/// Below this many lines, or this variance of K, the exact law of D is used in place of chi-square.
const CHI_SQUARE_LINES: u64 = 10;
const CHI_SQUARE_VARIANCE: f64 = 5.0;

/// Share of steady lines that may miss the lattice: a request may finish inside a window.
pub(super) const TOLERATED_MISSES: f64 = 0.1;

/// Probability below which the misses are more than tolerated.
const MISSES_TAIL: f64 = 0.0005;

/// Variance that rounding to two decimals adds to a printed value.
const ROUNDING_VARIANCE: f64 = 0.01 * 0.01 / 12.0;

/// How the steady lines scatter about a law: `D = sum (K - I w)^2 / (I w (1 - w))`, which is near the number of
/// lines when the law is the true one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dispersion {
    /// D.
    pub d: f64,
    /// Steady lines it is summed over.
    pub lines: u64,
    /// Probability of a D at most this large under the law.
    pub lower_tail: f64,
    /// Probability of a D at least this large under the law.
    pub upper_tail: f64,
}

impl Dispersion {
    /// The lines scatter too widely or too narrowly for the law.
    #[must_use]
    pub fn rejects(&self) -> bool {
        self.is_too_wide() || self.lower_tail < TAIL
    }

    pub(super) fn is_too_wide(&self) -> bool {
        self.upper_tail < TAIL
    }

    /// Dispersion of the steady lines about a law; `None` where the law has no spread or there are no such lines.
    /// `free` says that the law's mean was estimated from the same lines.
    pub(super) fn about(law: &AcceptanceLaw, interval: u32, sample: &Sample<'_>, free: bool) -> Option<Self> {
        match law {
            AcceptanceLaw::MatchExpected(law) => Self::two_point(law, interval, sample, free),
            _ => Self::printed(law, interval, sample, free),
        }
    }

    fn two_point(law: &TwoPoint, interval: u32, sample: &Sample<'_>, free: bool) -> Option<Self> {
        if law.is_constant() {
            return None;
        }
        let (steps, weight) = (f64::from(interval), law.weight());
        let variance = steps * law.variance();
        let lattice = Lattice::new(law.lo(), interval);
        let lines = sample.steady_lines();
        let d = sample
            .steady
            .iter()
            .map(|(cell, count)| {
                float(*count) * (lattice.draws(cell.hundredths) - steps * weight).powi(2) / variance
            })
            .sum();
        let freedom = lines.checked_sub(u64::from(free)).filter(|freedom| *freedom > 0)?;
        let (lower_tail, upper_tail) = if lines < CHI_SQUARE_LINES || variance < CHI_SQUARE_VARIANCE {
            exact::tails(law, interval, freedom, d)
        } else {
            (chi_square_lower(d, float(freedom)), chi_square_upper(d, float(freedom)))
        };
        Some(Self { d, lines, lower_tail, upper_tail })
    }

    /// The same from the printed values: their variance is the law's over the draws of a window, and rounding's.
    fn printed(law: &AcceptanceLaw, interval: u32, sample: &Sample<'_>, free: bool) -> Option<Self> {
        let (mean, variance) = (law.mean(), law.variance());
        let lines = sample.steady_lines();
        let freedom = lines.checked_sub(u64::from(free)).filter(|freedom| *freedom > 0)?;
        if variance <= 0.0 {
            return None;
        }
        let d = sample
            .steady
            .iter()
            .map(|(cell, count)| {
                let draws = match law.draws() {
                    Draws::Shared => f64::from(interval),
                    Draws::PerRequest => f64::from(interval) * f64::from(cell.batch),
                };
                let deviation = f64::from(cell.hundredths) / 100.0 - mean;
                float(*count) * deviation.powi(2) / (variance / draws + ROUNDING_VARIANCE)
            })
            .sum();
        let freedom = float(freedom);
        let (lower_tail, upper_tail) = (chi_square_lower(d, freedom), chi_square_upper(d, freedom));
        Some(Self { d, lines, lower_tail, upper_tail })
    }
}

/// Steady lines on and off the lattice of one draw a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatticeCheck {
    /// Steady lines.
    pub lines: u64,
    /// Those that no sum of whole draws prints.
    pub misses: u64,
}

impl LatticeCheck {
    pub(super) fn new(lo: u32, interval: u32, sample: &Sample<'_>) -> Self {
        let lattice = Lattice::new(lo, interval);
        let count = |is_counted: &dyn Fn(u32) -> bool| -> u64 {
            sample.steady.iter().filter(|(cell, _)| is_counted(cell.hundredths)).map(|(_, count)| count).sum()
        };
        Self { lines: sample.steady_lines(), misses: count(&|value| !lattice.contains(value)) }
    }

    /// More lines miss than finishing requests explain. One miss among few lines is chance: the excess over one in
    /// ten must itself be beyond chance (1 in 2000).
    #[must_use]
    pub fn rejects(&self) -> bool {
        let (lines, misses) = (float(self.lines), float(self.misses));
        misses > TOLERATED_MISSES * lines
            && beta_reg(misses, lines - misses + 1.0, TOLERATED_MISSES) < MISSES_TAIL
    }
}

/// The lag-1 autocorrelation of the steady lines, where it is beyond chance: 3.3 / sqrt(pairs).
pub(super) fn serial_correlation(sample: &Sample<'_>) -> Option<f64> {
    const BOUND: f64 = 3.3;
    let pairs = float(sample.lag.pairs());
    sample.lag.correlation().filter(|correlation| correlation.abs() > BOUND / pairs.sqrt())
}
