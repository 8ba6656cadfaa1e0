//! What `%.2f` prints, and which values a window of whole draws can print.

use super::number::float;

/// Steps above which every two-decimal value of an interval has a sum that prints as it: no lattice is left.
const LATTICE_LIMIT: u32 = 100;

/// The hundredths that `"%.2f" % (numerator / denominator)` shows: one division of integers, then the exact value of
/// that double rounded, ties to even, as C and Python do it.
///
/// `None` when `denominator` is 0 or the result has more than 32 bits.
///
/// ```
/// use accsim::law::printed;
///
/// // 177/40 = 4.425, whose double lies just below the tie.
/// assert_eq!(printed(177, 40), Some(442));
/// assert_eq!(printed(47, 40), Some(118));
/// ```
#[must_use]
pub fn printed(numerator: u64, denominator: u64) -> Option<u32> {
    if denominator == 0 {
        return None;
    }
    let bits = (float(numerator) / float(denominator)).to_bits();
    // A double is mantissa * 2^(exponent - 1075); a quotient of counts is never subnormal unless it is 0.
    let exponent = bits >> 52;
    if exponent == 0 {
        return Some(0);
    }
    let mantissa = u128::from((bits & ((1 << 52) - 1)) | (1 << 52));
    let hundredfold = mantissa * 100;
    let rounded = if exponent >= 1075 {
        hundredfold.checked_shl(u32::try_from(exponent - 1075).ok()?).filter(|_| exponent < 1075 + 60)?
    } else {
        let shift = u32::try_from(1075 - exponent).ok()?;
        if shift > 100 {
            return Some(0);
        }
        let floor = hundredfold >> shift;
        let rest = hundredfold - (floor << shift);
        let half = 1_u128 << (shift - 1);
        let up = rest > half || (rest == half && floor % 2 == 1);
        floor + u128::from(up)
    };
    u32::try_from(rounded).ok()
}

/// The values that a line can print when each of its I steps gave `lo` or `lo + 1` tokens to every request of the
/// batch: `(lo * I + K) / I` for K = 0 to I.
///
/// ```
/// use accsim::law::Lattice;
///
/// let lattice = Lattice::new(3, 40);
/// assert!(lattice.contains(352));
/// assert!(!lattice.contains(351));
/// assert_eq!(lattice.draws(352), 21.0);
/// ```
#[derive(Clone, Debug)]
pub struct Lattice {
    lo: u32,
    interval: u32,
    /// Printed hundredths, ascending; the index is K. Empty where every value is on the lattice.
    values: Vec<u32>,
}

impl Lattice {
    /// The lattice over `[lo, lo + 1]` for windows of `interval` steps.
    #[must_use]
    pub fn new(lo: u32, interval: u32) -> Self {
        let base = u64::from(lo) * u64::from(interval);
        let values = if (1..=LATTICE_LIMIT).contains(&interval) {
            (0..=u64::from(interval)).filter_map(|k| printed(base + k, u64::from(interval))).collect()
        } else {
            Vec::new()
        };
        Self { lo, interval, values }
    }

    /// Whether a line can print `hundredths`.
    #[must_use]
    pub fn contains(&self, hundredths: u32) -> bool {
        if self.values.is_empty() {
            let floor = self.lo.saturating_mul(100);
            (floor..=floor.saturating_add(100)).contains(&hundredths)
        } else {
            self.values.binary_search(&hundredths).is_ok()
        }
    }

    /// K, the draws of `lo + 1` that a printed value stands for. Off the lattice, and where several sums print
    /// alike, it is `(x - lo) * I` and need not be whole.
    #[must_use]
    pub fn draws(&self, hundredths: u32) -> f64 {
        match self.values.binary_search(&hundredths) {
            Ok(k) if u32::try_from(self.values.len()) == Ok(self.interval + 1) => {
                float(u64::try_from(k).unwrap_or(0))
            }
            _ => (f64::from(hundredths) - 100.0 * f64::from(self.lo)) * f64::from(self.interval) / 100.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_forty_one_values_of_lo_three() {
        let expected = "3.00 3.02 3.05 3.08 3.10 3.12 3.15 3.17 3.20 3.23 3.25 3.27 3.30 3.33 3.35 3.38 3.40 3.42 \
            3.45 3.48 3.50 3.52 3.55 3.58 3.60 3.62 3.65 3.67 3.70 3.73 3.75 3.77 3.80 3.83 3.85 3.88 3.90 3.92 \
            3.95 3.98 4.00";
        let found: Vec<String> = (0..=40)
            .map(|k| {
                let hundredths = printed(120 + k, 40).unwrap();
                format!("{}.{:02}", hundredths / 100, hundredths % 100)
            })
            .collect();
        assert_eq!(found.join(" "), expected);
        assert_eq!((printed(47, 40), printed(167, 40), printed(177, 40)), (Some(118), Some(417), Some(442)));
    }

    #[test]
    fn draws_invert_the_lattice() {
        for interval in [1, 10, 20, 30, 40, 50, 100] {
            let lattice = Lattice::new(2, interval);
            for k in 0..=interval {
                let hundredths = printed(u64::from(2 * interval + k), u64::from(interval)).unwrap();
                assert!(lattice.contains(hundredths));
                assert!((lattice.draws(hundredths) - f64::from(k)).abs() < 1e-9);
            }
        }
        assert!(Lattice::new(2, 1000).contains(217));
        assert!(!Lattice::new(2, 1000).contains(301));
        assert!((Lattice::new(2, 1000).draws(217) - 170.0).abs() < 1e-9);
    }

    #[test]
    fn extremes_do_not_overflow() {
        assert_eq!(printed(1, 0), None);
        assert_eq!(printed(0, 7), Some(0));
        assert_eq!(printed(u64::MAX, 1), None);
        assert_eq!(printed(1, u64::MAX), Some(0));
        assert_eq!(printed(42_949_672, 1), Some(4_294_967_200));
        let _ = Lattice::new(u32::MAX, u32::MAX).draws(5);
    }

    proptest! {
        /// Rust's own formatting rounds the exact value too.
        #[test]
        fn agrees_with_exact_decimal_formatting(numerator in 0_u64..1_000_000, denominator in 1_u64..100_000) {
            let text = format!("{:.2}", float(numerator) / float(denominator)).replace('.', "");
            prop_assert_eq!(printed(numerator, denominator), text.parse().ok());
        }
    }
}
