//! Axes: round steps, and where a value stands between two ends.

/// Ticks on one axis at most, ends included; on one between given ends.
const MOST_TICKS: u32 = 7;
const MOST_BETWEEN: u32 = 9;

/// A linear axis between two round values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    step: f64,
}

impl Scale {
    /// The axis that holds all `values`, and 0 where that is asked for. Values that are not finite are passed over.
    pub(super) fn over(values: impl Iterator<Item = f64>, with_zero: bool) -> Self {
        Self::with_ticks(values, with_zero, MOST_TICKS)
    }

    fn with_ticks(values: impl Iterator<Item = f64>, with_zero: bool, most: u32) -> Self {
        let start = if with_zero { (0.0, 0.0) } else { (f64::INFINITY, f64::NEG_INFINITY) };
        let finite = values.filter(|value| value.is_finite() && value.abs() < 1e15);
        let (low, high) = finite.fold(start, |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            return Self { low: 0.0, high: 1.0, step: 0.2 };
        }
        // One value alone has an axis too; small differences of large numbers have no finer one.
        let least = (low.abs().max(high.abs()) * 1e-6).max(1e-6);
        let (low, high) = if high - low < least {
            let pad = (high.abs() * 0.05).max(0.5);
            (if with_zero { low } else { low - pad }, high + pad)
        } else {
            (low, high)
        };
        let mut step = libm::pow(10.0, libm::floor(libm::log10(high - low)) - 1.0);
        for factor in [2.0, 2.5, 2.0].into_iter().cycle().take(12) {
            let steps = (high / step).ceil() - (low / step).floor();
            if steps < f64::from(most) {
                break;
            }
            step *= factor;
        }
        Self { low: (low / step).floor() * step, high: (high / step).ceil() * step, step }
    }

    /// The axis between two given ends.
    pub(super) fn between(low: f64, high: f64) -> Self {
        let round = Self::with_ticks([low, high].into_iter(), false, MOST_BETWEEN);
        if high > low { Self { low, high, step: round.step } } else { round }
    }

    /// The same with no step between whole numbers: an axis of things that are counted.
    pub(super) fn whole(self) -> Self {
        if self.step >= 1.0 { self } else { Self { step: 1.0, ..self } }
    }

    /// Where a value stands: 0 at the low end, 1 at the high one.
    pub(super) fn share(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Round values on the axis with their labels.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let first = (self.low / self.step - 1e-9).ceil();
        let values = (0..=2 * MOST_TICKS).map(|number| (first + f64::from(number)) * self.step);
        values
            .take_while(|value| *value <= self.high + self.step * 1e-6)
            .map(|value| (value, label(value, self.step)))
            .collect()
    }
}

/// A number on an axis of this step: no more decimals than the step has, thousands apart.
pub(super) fn label(value: f64, step: f64) -> String {
    let decimals = (0..=6_usize)
        .find(|decimals| {
            let scaled = step * libm::pow(10.0, f64::from(u32::try_from(*decimals).unwrap_or(6)));
            (scaled - scaled.round()).abs() < 1e-6 * scaled
        })
        .unwrap_or(6);
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text
        .split_once('.')
        .map_or((text.as_str(), String::new()), |(whole, rest)| (whole, format!(".{rest}")));
    let grouped = whole.parse().map_or_else(|_| whole.to_owned(), crate::report::audit::thousands);
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    format!("{}{grouped}{rest}", if value < 0.0 && !is_zero { "\u{2212}" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64], with_zero: bool) -> String {
        let ticks = Scale::over(values.iter().copied(), with_zero).ticks();
        ticks.into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn steps_are_round() {
        assert_eq!(labels(&[3.4, 3.75], false), "3.4 3.5 3.6 3.7 3.8");
        assert_eq!(labels(&[6012.3], true), "0 2,000 4,000 6,000 8,000");
        assert_eq!(labels(&[1.0, 32.0], true), "0 10 20 30 40");
        assert_eq!(labels(&[-0.2, 0.2], false), "\u{2212}0.2 \u{2212}0.1 0.0 0.1 0.2");
    }

    #[test]
    fn what_is_counted_has_no_halves() {
        let labels = |scale: Scale| {
            scale.whole().ticks().into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(labels(Scale::over([3.0].into_iter(), false)), "3");
        assert_eq!(labels(Scale::between(0.9, 5.1)), "1 2 3 4 5");
        assert_eq!(labels(Scale::over([1.0, 60.0].into_iter(), false)), "0 10 20 30 40 50 60");
    }

    #[test]
    fn every_range_has_an_axis() {
        for values in [
            &[][..],
            &[2.0],
            &[0.0],
            &[f64::NAN, f64::INFINITY],
            &[1e14, 1e14 + 1.0],
            &[-1e14, 1e14],
            &[1e300],
            &[1e-9, 2e-9],
        ] {
            for with_zero in [false, true] {
                let scale = Scale::over(values.iter().copied(), with_zero);
                let ticks = scale.ticks();
                assert!((2..=2 * 7).contains(&ticks.len()), "{values:?}: {scale:?} {ticks:?}");
                assert!(scale.high > scale.low, "{values:?}");
                assert!(
                    (0.0..=1.0).contains(&scale.share(values.first().copied().unwrap_or(0.5)))
                        || values[0].is_nan()
                );
            }
        }
    }
}
