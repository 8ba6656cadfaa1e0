//! Probabilities of the sum of several draws.

use super::number::float;
use super::pmf::Pmf;

/// Longest table that is kept whole; above, ends too rare for anything are cut off.
const WHOLE: usize = 4096;

/// What an end must weigh to be kept in a long table: a billionth of what a double adds to 1.
const LEAST: f64 = 1e-25;

/// Longest table that is computed: the square of its length is the work.
const LONGEST: f64 = 32_768.0;

/// Standard deviations between the ends that are kept.
const REACH: f64 = 22.0;

/// Sums `first + 0`, `first + 1`, .. with their probabilities.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sums {
    pub(super) first: u64,
    pub(super) probabilities: Vec<f64>,
}

impl Sums {
    /// [`Self::new`] where the table has a bearable length; none where it would be too long, and its steps so small against
    /// its spread that the normal law of the same moments stands for it.
    pub(super) fn bearable(pmf: &Pmf, draws: u32) -> Option<Self> {
        let draws_here = f64::from(draws);
        let outcomes = pmf.probabilities().len().saturating_sub(1);
        let all = draws_here * float(u64::try_from(outcomes).unwrap_or(u64::MAX));
        let kept = REACH * (draws_here * pmf.variance()).sqrt();
        (all.min(kept) <= LONGEST).then(|| Self::new(pmf.probabilities(), draws))
    }

    /// The sum of `draws` draws from outcomes 0, 1, .. with these probabilities, by repeated squaring.
    ///
    /// Every term is a sum of products of probabilities, so nothing cancels and every entry keeps its digits.
    pub(super) fn new(probabilities: &[f64], draws: u32) -> Self {
        let mut all = Self { first: 0, probabilities: vec![1.0] };
        let mut power = Self { first: 0, probabilities: probabilities.to_vec() };
        let mut rest = draws;
        while rest > 0 {
            if rest % 2 == 1 {
                all = all.plus(&power);
            }
            rest /= 2;
            if rest > 0 {
                power = power.plus(&power);
            }
        }
        all
    }

    /// The sum of two independent ones.
    fn plus(&self, other: &Self) -> Self {
        let (short, long) = if self.probabilities.len() < other.probabilities.len() {
            (&self.probabilities, &other.probabilities)
        } else {
            (&other.probabilities, &self.probabilities)
        };
        let mut probabilities = vec![0.0; (short.len() + long.len()).saturating_sub(1)];
        for (offset, p) in short.iter().enumerate() {
            for (slot, q) in probabilities.iter_mut().skip(offset).zip(long) {
                *slot += p * q;
            }
        }
        let mut first = self.first.saturating_add(other.first);
        if probabilities.len() > WHOLE {
            let low = probabilities.iter().take_while(|p| **p < LEAST).count();
            let high = probabilities.iter().rev().take_while(|p| **p < LEAST).count();
            probabilities.truncate(probabilities.len().saturating_sub(high));
            probabilities.drain(..low.min(probabilities.len()));
            first = first.saturating_add(u64::try_from(low).unwrap_or(0));
        }
        Self { first, probabilities }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_dice_and_a_hundred_coins() {
        let dice = Sums::new(&[1.0 / 6.0; 6], 2);
        assert_eq!((dice.first, dice.probabilities.len()), (0, 11));
        assert!((dice.probabilities[5] - 6.0 / 36.0).abs() < 1e-15);
        assert_eq!(Sums::new(&[0.5, 0.5], 0).probabilities, [1.0]);
        let coins = Sums::new(&[0.5, 0.5], 100);
        assert!((coins.probabilities[0].ln() + 100.0 * 2_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn tables_that_nobody_waits_for_are_refused() {
        let wide = Pmf::new(1, vec![1.0 / 1025.0; 1025]);
        assert!(Sums::bearable(&wide, 4).is_some());
        assert!(Sums::bearable(&wide, 4096).is_none());
        let narrow = Pmf::new(1, vec![0.1, 0.4, 0.3, 0.2]);
        assert!(Sums::bearable(&narrow, 65_536).is_some());
        assert!(Sums::bearable(&narrow, u32::MAX).is_none());
    }

    #[test]
    fn a_long_sum_keeps_mass_and_moments() {
        let sums = Sums::new(&[0.1, 0.4, 0.3, 0.2], 20_000);
        let total: f64 = sums.probabilities.iter().sum();
        assert!((total - 1.0).abs() < 1e-11, "{total}");
        assert!(sums.first > 0 && sums.probabilities.len() < 10_000);
        let mean: f64 = sums.probabilities.iter().zip(sums.first..).map(|(p, sum)| p * float(sum)).sum();
        assert!((mean - 20_000.0 * 1.6).abs() < 1e-6, "{mean}");
    }
}
