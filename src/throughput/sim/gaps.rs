//! A histogram of times in bins of a quarter of a percent: percentiles without keeping every gap between tokens.

use crate::law::float;

/// Binary digits of a time that a bin keeps.
const DIGITS: u32 = 8;

/// Bits of a double that a bin drops.
const DROPPED: u32 = 52 - DIGITS;

/// Exponents from 2^-24 s (60 ns) to 2^16 s; what lies outside counts at the end.
const LOWEST: u64 = (1023 - 24) << DIGITS;
const BINS: u64 = 40 << DIGITS;

/// Times by bin, each with its count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gaps {
    counts: Vec<u64>,
    total: u64,
}

impl Default for Gaps {
    fn default() -> Self {
        Self { counts: vec![0; usize::try_from(BINS).unwrap_or(0)], total: 0 }
    }
}

impl Gaps {
    /// Adds a time in seconds, `count` times.
    #[inline]
    pub fn add(&mut self, seconds: f64, count: u64) {
        let bin = (seconds.max(0.0).to_bits() >> DROPPED).saturating_sub(LOWEST).min(BINS - 1);
        if let Some(slot) = usize::try_from(bin).ok().and_then(|bin| self.counts.get_mut(bin)) {
            *slot += count;
            self.total += count;
        }
    }

    /// Adds all of another.
    pub fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, more)| *sum += more);
        self.total += other.total;
    }

    /// The time that a share of all does not exceed, to half a bin; `None` without times.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = (share * float(self.total)).ceil().max(1.0);
        let mut seen = 0_u64;
        let bin = self.counts.iter().position(|count| {
            seen += count;
            float(seen) >= wanted
        });
        let bin = u64::try_from(bin.filter(|_| self.total > 0)?).ok()?;
        let low = f64::from_bits((bin + LOWEST) << DROPPED);
        let high = f64::from_bits((bin + 1 + LOWEST) << DROPPED);
        Some(f64::midpoint(low, high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_bin() {
        let mut gaps = Gaps::default();
        assert_eq!(gaps.quantile(0.5), None);
        (1..=1000).for_each(|ms| gaps.add(f64::from(ms) / 1000.0, 2));
        for (share, expected) in [(0.5, 0.5), (0.9, 0.9), (0.99, 0.99), (1.0, 1.0)] {
            let found = gaps.quantile(share).unwrap();
            assert!((found / expected - 1.0).abs() < 0.004, "{share}: {found}");
        }
        gaps.add(0.0, 1);
        gaps.add(1e30, 1);
        gaps.add(f64::NAN, 1);
        assert!(gaps.quantile(1.0).unwrap() > 60_000.0);
    }

    #[test]
    fn merging_is_adding() {
        let (mut left, mut right, mut both) = (Gaps::default(), Gaps::default(), Gaps::default());
        (0..100).for_each(|at| {
            let gap = f64::from(at) * 1e-3;
            both.add(gap, 1);
            if at % 3 == 0 { left.add(gap, 1) } else { right.add(gap, 1) }
        });
        left.merge(&right);
        assert_eq!(left, both);
    }
}
