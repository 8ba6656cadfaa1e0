//! Mean and scatter of what lines print: two decimals are coarse where few steps draw the rarer length.

use super::number::{float, whole};
use super::printed::printed;

/// Steps above which two decimals are coarser than the lattice, and what they add is even.
const MOST_STEPS: u32 = 4096;

/// Share of the likeliest sum's probability below which sums are left out.
const NEGLIGIBLE: f64 = 1e-18;

/// Halvings of the share of the larger length: none of what follows from it needs more digits.
const BISECTIONS: u32 = 36;

/// Moments of the printed value of one line of a constant batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PrintedMoments {
    pub(crate) mean: f64,
    pub(crate) variance: f64,
    /// Kurtosis beyond that of a normal law.
    pub(crate) excess: f64,
}

impl PrintedMoments {
    /// Those of lines of `steps` draws of `lo` or `lo + 1` that print this mean; `None` for lines too long to have a lattice,
    /// and where they have no scatter.
    pub(crate) fn with_mean(lo: u32, steps: u32, mean: f64) -> Option<Self> {
        if !(1..=MOST_STEPS).contains(&steps) {
            return None;
        }
        let mean = mean - f64::from(lo);
        if !(mean > 0.0 && mean < 1.0) {
            return None;
        }
        // Rounding moves the mean: 1/40 prints as .02, 3/40 as .08. It grows with the share of the larger length.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..BISECTIONS {
            let middle = f64::midpoint(low, high);
            let found =
                Self::of(lo, steps, middle).map_or(middle.round(), |found| found.mean - f64::from(lo));
            if found < mean { low = middle } else { high = middle }
        }
        Self::of(lo, steps, f64::midpoint(low, high))
    }

    /// Those of lines whose steps draw the larger length with this probability.
    fn of(lo: u32, steps: u32, weight: f64) -> Option<Self> {
        if !(weight > 0.0 && weight < 1.0) {
            return None;
        }
        let (count, odds) = (f64::from(steps), weight / (1.0 - weight));
        let base = u64::from(lo) * u64::from(steps);
        let value =
            |sum: u64| Some(f64::from(printed(base + sum, u64::from(steps))?) / 100.0 - f64::from(lo));
        // Outwards from the likeliest sum, whose probability stands for all others.
        let mode = whole((count + 1.0) * weight).min(u64::from(steps));
        let mut values = vec![(1.0, value(mode)?)];
        let mut share = 1.0;
        for sum in mode + 1..=u64::from(steps) {
            share *= odds * (count - float(sum) + 1.0) / float(sum);
            if share < NEGLIGIBLE {
                break;
            }
            values.push((share, value(sum)?));
        }
        share = 1.0;
        for sum in (0..mode).rev() {
            share *= (float(sum) + 1.0) / (odds * (count - float(sum)));
            if share < NEGLIGIBLE {
                break;
            }
            values.push((share, value(sum)?));
        }
        let total: f64 = values.iter().map(|(share, _)| share).sum();
        let mean = values.iter().map(|(share, value)| share * value).sum::<f64>() / total;
        let moment = |power: i32| {
            values.iter().map(|(share, value)| share * (value - mean).powi(power)).sum::<f64>() / total
        };
        let variance = moment(2);
        (variance > 0.0).then(|| Self {
            mean: f64::from(lo) + mean,
            variance,
            excess: moment(4) / variance.powi(2) - 3.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1/40 prints as .02 and 3/40 as .08: lines near a whole number scatter wider than their sums.
    #[test]
    fn rounding_widens_lines_near_a_whole_number() {
        let of = |weight: f64| PrintedMoments::of(3, 40, weight).unwrap();
        let ratio = |weight: f64| of(weight).variance / (weight * (1.0 - weight) / 40.0);
        assert!((1.08..1.15).contains(&ratio(0.03)), "{}", ratio(0.03));
        assert!((0.99..1.03).contains(&ratio(0.5)), "{}", ratio(0.5));
        assert!((of(0.03).mean - 3.0286).abs() < 2e-4, "{:?}", of(0.03));
        // Of 4096 steps nothing but the even variance of rounding is left.
        let long = PrintedMoments::of(3, 4096, 0.5).unwrap();
        assert!((long.variance / (0.25 / 4096.0 + 1e-4 / 12.0) - 1.0).abs() < 0.02, "{long:?}");
        assert!(
            PrintedMoments::with_mean(3, 5000, 3.5).is_none()
                && PrintedMoments::with_mean(3, 40, 3.0).is_none()
        );
    }

    #[test]
    fn the_share_is_found_that_prints_a_mean() {
        for weight in [0.001, 0.01, 0.03, 0.29, 0.5, 0.96, 0.999] {
            for steps in [1, 8, 40, 100, 999] {
                let expected = PrintedMoments::of(3, steps, weight).unwrap();
                let found = PrintedMoments::with_mean(3, steps, expected.mean).unwrap();
                assert!((found.mean - expected.mean).abs() < 1e-8, "{weight} {steps}: {found:?}");
                assert!(
                    (found.variance / expected.variance - 1.0).abs() < 1e-4,
                    "{weight} {steps}: {found:?}"
                );
            }
        }
    }
}
