//! Probabilities of consecutive lengths.

use std::ops::RangeInclusive;

use super::number::float;

/// Exact probabilities of consecutive lengths.
#[derive(Clone, Debug, PartialEq)]
pub struct Pmf {
    first: u32,
    probabilities: Vec<f64>,
}

impl Pmf {
    /// Probabilities from the length `first` on. They sum to 1; the laws see to that.
    pub(super) fn new(first: u32, probabilities: Vec<f64>) -> Self {
        Self { first, probabilities }
    }

    /// One length, always.
    pub(super) fn certain(length: u32) -> Self {
        Self { first: length, probabilities: vec![1.0] }
    }

    /// The smallest length.
    #[must_use]
    pub fn first(&self) -> u32 {
        self.first
    }

    /// The probabilities of the smallest length and of those after it.
    #[must_use]
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// Length and probability, from the smallest length on.
    pub fn iter(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        (self.first..).zip(self.probabilities.iter().copied())
    }

    /// Probability of one length.
    #[must_use]
    pub fn probability(&self, length: u32) -> f64 {
        length
            .checked_sub(self.first)
            .and_then(|index| self.probabilities.get(usize::try_from(index).ok()?))
            .copied()
            .unwrap_or(0.0)
    }

    /// The smallest and the largest length of the table.
    #[must_use]
    pub fn support(&self) -> RangeInclusive<u32> {
        let more = u32::try_from(self.probabilities.len().saturating_sub(1)).unwrap_or(u32::MAX);
        self.first..=self.first.saturating_add(more)
    }

    /// Mean, in tokens.
    #[must_use]
    pub fn mean(&self) -> f64 {
        f64::from(self.first) + self.above(|above| above)
    }

    /// Variance.
    #[must_use]
    pub fn variance(&self) -> f64 {
        let mean = self.above(|above| above);
        self.above(|above| (above - mean) * (above - mean))
    }

    /// Expectation of a function of the length above the smallest one.
    fn above(&self, value: impl Fn(f64) -> f64) -> f64 {
        self.probabilities.iter().zip(0_u64..).map(|(p, above)| p * value(float(above))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::Pmf;

    #[test]
    fn moments_and_bounds() {
        // AUDIT_STATISTICS, rates 0.9, 0.5, 0.2.
        let pmf = Pmf::new(1, vec![0.1, 0.4, 0.3, 0.2]);
        assert!((pmf.mean() - 2.6).abs() < 1e-15);
        assert!((pmf.variance() - 0.84).abs() < 1e-15);
        assert_eq!(pmf.support(), 1..=4);
        assert!((pmf.probability(4) - 0.2).abs() < 1e-15);
        assert!(pmf.probability(0).abs() + pmf.probability(5).abs() < f64::MIN_POSITIVE);
        assert_eq!(Pmf::certain(3).support(), 3..=3);
    }
}
