//! How often each length was drawn.

use std::collections::BTreeMap;

use rand::Rng;
use rand_distr::{Binomial, Distribution as _};

use super::acceptance::AcceptanceLaw;
use super::number::float;

/// Draws that one binomial variate stands for at most: beyond some 10^11 the rounding of its logarithms would show.
const CHUNK: u64 = 1 << 32;

/// Counts of drawn lengths.
///
/// ```
/// use accsim::law::{AcceptanceLaw, Histogram, Setting, Stream};
///
/// let law = AcceptanceLaw::match_expected(Setting::new(3.51, 6)?);
/// let mut histogram = Histogram::default();
/// histogram.draw(&law, 1_000_000_000, &mut Stream::new(1, 0, 0)); // a handful of variates
/// assert_eq!(histogram.draws(), 1_000_000_000);
/// assert!((histogram.mean().unwrap_or(0.0) - 3.51).abs() < 1e-4);
/// # Ok::<(), accsim::law::SettingError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: BTreeMap<u32, u64>,
}

impl Histogram {
    /// Adds `count` draws of `length`.
    pub fn add(&mut self, length: u32, count: u64) {
        if count > 0 {
            let slot = self.counts.entry(length).or_default();
            *slot = slot.saturating_add(count);
        }
    }

    /// Adds the counts of `draws` draws without making the draws: the first length gets a binomial share, the next a
    /// binomial share of what is left, and so on. That is the law of the counts of independent draws; the sequence is
    /// lost, the counts are not approximated.
    ///
    /// A fixed pool gives the counts of its first draws and takes nothing from `random`.
    pub fn draw(&mut self, law: &AcceptanceLaw, draws: u64, random: &mut impl Rng) {
        if let AcceptanceLaw::Pool(pool) = law {
            let larger = pool.larger_among(draws);
            self.add(pool.law().lo(), draws.saturating_sub(larger));
            self.add(pool.law().hi(), larger);
            return;
        }
        let pmf = law.pmf();
        let last = *pmf.support().end();
        let (mut left, mut above) = (draws, 1.0);
        for (length, probability) in pmf.iter() {
            // What was not drawn so far falls on this length with its share of the rest.
            let share = if length == last || above <= 0.0 { 1.0 } else { (probability / above).min(1.0) };
            let count = binomial(left, share, random);
            self.add(length, count);
            left = left.saturating_sub(count);
            above -= probability;
        }
    }

    /// Adds the counts of another one.
    pub fn merge(&mut self, other: &Self) {
        for (length, count) in &other.counts {
            self.add(*length, *count);
        }
    }

    /// Length and count, from the smallest length on; lengths that were not drawn are absent.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.counts.iter().map(|(length, count)| (*length, *count))
    }

    /// Draws of one length.
    #[must_use]
    pub fn count(&self, length: u32) -> u64 {
        self.counts.get(&length).copied().unwrap_or(0)
    }

    /// Draws of all lengths.
    #[must_use]
    pub fn draws(&self) -> u64 {
        self.counts.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Mean of the draws, in tokens; none without draws.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let first = *self.counts.keys().next()?;
        Some(f64::from(first) + self.above(|above| above) / float(self.draws()))
    }

    /// Variance of the draws about their mean, over draws - 1; none for fewer than two.
    #[must_use]
    pub fn variance(&self) -> Option<f64> {
        let draws = self.draws();
        let divisor = draws.checked_sub(1).filter(|divisor| *divisor > 0)?;
        let mean = self.above(|above| above) / float(draws);
        Some(self.above(|above| (above - mean) * (above - mean)) / float(divisor))
    }

    /// Sum of a function of the length above the smallest one.
    fn above(&self, value: impl Fn(f64) -> f64) -> f64 {
        let first = self.counts.keys().next().copied().unwrap_or(0);
        self.counts.iter().map(|(length, count)| float(*count) * value(f64::from(length - first))).sum()
    }
}

/// How many of `draws` draws hit, each with this probability.
pub(super) fn binomial(draws: u64, probability: f64, random: &mut impl Rng) -> u64 {
    let of = |draws: u64, random: &mut _| {
        // A share is a probability by construction; anything else would be no hit.
        Binomial::new(draws, probability).map_or(0, |law| law.sample(random)).min(draws)
    };
    if probability >= 1.0 {
        return draws;
    }
    let chunks: u64 = (0..draws / CHUNK).map(|_| of(CHUNK, random)).sum();
    chunks.saturating_add(of(draws % CHUNK, random))
}

#[cfg(test)]
mod tests {
    use super::Histogram;

    #[test]
    fn the_variance_is_that_of_a_sample() {
        let mut histogram = Histogram::default();
        histogram.add(5, 1);
        assert_eq!((histogram.mean(), histogram.variance()), (Some(5.0), None));
        histogram.add(1, 1);
        assert_eq!((histogram.mean(), histogram.variance()), (Some(3.0), Some(8.0)));
    }
}
