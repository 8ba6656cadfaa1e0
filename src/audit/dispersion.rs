//! Do the lines scatter as the law has it, and do they stand where one draw a step can put them?

mod exact;

use std::collections::BTreeMap;

use crate::law::{
    AcceptanceLaw, Draws, Lattice, LineLaw, TwoPoint, Window, beta_reg, chi_square_lower, chi_square_upper,
    float, whole32,
};

use super::sample::Sample;

/// Probability in either tail below which the scatter is not that of the law.
pub(super) const TAIL: f64 = 0.00025;

/// Below this many lines, or this variance of K, the exact law of D is used in place of chi-square.
const CHI_SQUARE_LINES: u64 = 10;
const CHI_SQUARE_VARIANCE: f64 = 5.0;

/// Degrees of freedom below which chi-square says nothing about D where nearly every line prints the same value.
const MIN_FREEDOM: f64 = 8.0;

/// Share of steady lines that may miss the lattice: a request may finish inside a window.
pub(super) const TOLERATED_MISSES: f64 = 0.1;

/// Probability below which the misses are more than tolerated.
const MISSES_TAIL: f64 = 0.0005;

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

    /// Dispersion of the steady lines about a law; `None` where the law has no spread, prints it too coarsely, or there are no such lines.
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
        // A steady line off the lattice had a batch that changed unseen: no whole K, and no share of D.
        let (mut d, mut lines) = (0.0, 0);
        for (cell, count) in sample.on_lattice(interval) {
            d += float(*count) * (lattice.draws(cell.hundredths) - steps * weight).powi(2) / variance;
            lines += count;
        }
        let freedom = lines.checked_sub(u64::from(free)).filter(|freedom| *freedom > 0)?;
        let (lower_tail, upper_tail) = if lines < CHI_SQUARE_LINES || variance < CHI_SQUARE_VARIANCE {
            exact::tails(law, interval, freedom, d)
        } else {
            (chi_square_lower(d, float(freedom)), chi_square_upper(d, float(freedom)))
        };
        Some(Self { d, lines, lower_tail, upper_tail })
    }

    /// The same from the printed values, for any other law: each line's squared deviation over what it is on average.
    /// The sum of the latter's variances says how many degrees of freedom a chi-square law of that spread has
    /// (Satterthwaite 1946): rounding to two decimals makes a narrow law coarse.
    fn printed(law: &AcceptanceLaw, interval: u32, sample: &Sample<'_>, free: bool) -> Option<Self> {
        let line = LineLaw::new(law, interval);
        let mut by_batch: BTreeMap<u32, Moments> = BTreeMap::new();
        let (mut d, mut excess, mut lines) = (0.0, 0.0, 0);
        for (cell, count) in &sample.steady {
            // Draws shared by the batch do not depend on its size.
            let batch = if law.draws() == Draws::Shared { 1 } else { cell.batch };
            let moments = by_batch.entry(batch).or_insert_with(|| Moments::of(law, interval, batch, &line));
            if moments.second > 0.0 {
                let deviation = f64::from(cell.hundredths) / 100.0 - law.mean();
                d += float(*count) * deviation.powi(2) / moments.second;
                excess += float(*count) * (moments.fourth / moments.second.powi(2) - 1.0);
                lines += count;
            }
        }
        let counted = float(lines.checked_sub(u64::from(free)).filter(|lines| *lines > 0)?);
        // Mean and variance of D fix scale and freedom.
        let freedom = 2.0 * counted * float(lines) / excess.max(f64::MIN_POSITIVE);
        // Of a normal law each line gives one.
        if freedom < MIN_FREEDOM && freedom < counted / 4.0 {
            return None;
        }
        let scaled = d * freedom / counted;
        let (lower_tail, upper_tail) = (chi_square_lower(scaled, freedom), chi_square_upper(scaled, freedom));
        Some(Self { d, lines, lower_tail, upper_tail })
    }
}

/// Moments of a printed value about the law's mean.
#[derive(Clone, Copy)]
struct Moments {
    second: f64,
    fourth: f64,
}

impl Moments {
    fn of(law: &AcceptanceLaw, interval: u32, batch: u32, line: &LineLaw) -> Self {
        let center = whole32((law.mean() * 100.0).round());
        // Eight standard deviations, in hundredths.
        let reach = whole32(800.0 * law.line_sd(interval, batch)).saturating_add(2);
        let (mut total, mut second, mut fourth) = (0.0, 0.0, 0.0);
        for hundredths in center.saturating_sub(reach)..=center.saturating_add(reach) {
            let probability = line.ln_probability(hundredths, Window::Steady { batch }).exp();
            let square = (f64::from(hundredths) / 100.0 - law.mean()).powi(2);
            total += probability;
            second += probability * square;
            fourth += probability * square * square;
        }
        if total > 0.0 {
            Self { second: second / total, fourth: fourth / total }
        } else {
            Self { second: 0.0, fourth: 0.0 }
        }
    }
}

/// Steady lines on and off the lattice of one draw a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatticeCheck {
    /// Steady lines.
    pub lines: u64,
    /// Those that no sum of whole draws prints.
    pub misses: u64,
    /// Batches change and no prefill line tells when: any line may stand for two batches.
    pub is_blind: bool,
}

impl LatticeCheck {
    /// Lines outside the target's support count too: a lattice has no ends.
    pub(super) fn new(interval: u32, sample: &Sample<'_>) -> Self {
        Self { lines: sample.steady_lines(), misses: sample.off_lattice(interval), is_blind: sample.is_blind }
    }

    /// More lines miss than finishing requests explain. One miss among few lines is chance: the excess over one in
    /// ten must itself be beyond chance (1 in 2000).
    #[must_use]
    pub fn rejects(&self) -> bool {
        let (lines, misses) = (float(self.lines), float(self.misses));
        !self.is_blind
            && misses > TOLERATED_MISSES * lines
            && beta_reg(misses, lines - misses + 1.0, TOLERATED_MISSES) < MISSES_TAIL
    }
}

/// The lag-1 autocorrelation of the steady lines, where it is beyond chance: 3.3 / sqrt(pairs).
pub(super) fn serial_correlation(sample: &Sample<'_>) -> Option<f64> {
    const BOUND: f64 = 3.3;
    let pairs = float(sample.lag.pairs());
    sample.lag.correlation().filter(|correlation| correlation.abs() > BOUND / pairs.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misses_beyond_chance_reject_where_the_batches_are_known() {
        let rejects = |misses, is_blind| LatticeCheck { lines: 100, misses, is_blind }.rejects();
        assert!(rejects(40, false) && !rejects(40, true));
        assert!(!rejects(10, false) && !rejects(14, false));
    }
}
