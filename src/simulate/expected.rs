//! What the lines of a log should show under a law.

use crate::law::{AcceptanceLaw, LineValues, float};

/// Two-sided 95 % of a normal variable, in standard deviations.
const Z95: f64 = 1.96;

/// Confidence of every range here.
const CONFIDENCE: f64 = 0.95;

/// The part of a run that a log shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Lines of one rank.
    pub lines: u64,
    /// Verify steps of a line.
    pub interval: u32,
    /// Requests in the batch, the same throughout.
    pub batch: u32,
}

/// What the lines of a log should show, in tokens per verify step. Exact for a batch that does not change.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// Lines that this is about.
    pub load: Load,
    /// Mean of the law.
    pub mean: f64,
    /// Standard deviation of one line.
    pub line_sd: f64,
    /// The mean of all lines lies above this with 97.5 %.
    pub mean_low: f64,
    /// The mean of all lines lies below this with 97.5 %.
    pub mean_high: f64,
    /// In hundredths: all lines lie in this range with 95 %.
    pub lines_within: (u32, u32),
    /// In hundredths: no line can lie outside this range.
    pub possible: (u32, u32),
    /// Every value with its probability.
    pub values: LineValues,
}

impl Expected {
    /// What `law` makes of a load. `None` for a length that no engine prints, beyond 40 million tokens.
    #[must_use]
    pub fn new(law: &AcceptanceLaw, load: Load) -> Option<Self> {
        let values = LineValues::new(law, load.interval, load.batch);
        let possible = (law.support().start().checked_mul(100)?, law.support().end().checked_mul(100)?);
        // A fixed sequence stops scattering after its period: what is left never averages out.
        let fixed = if let AcceptanceLaw::Pool(pool) = law { pool.offset_sd() } else { 0.0 };
        let reach = Z95 * (values.sd() / float(load.lines.max(1)).sqrt()).max(fixed);
        let (low, high) = (f64::from(possible.0) / 100.0, f64::from(possible.1) / 100.0);
        Some(Self {
            load,
            mean: values.mean(),
            line_sd: values.sd(),
            mean_low: (values.mean() - reach).max(low),
            mean_high: (values.mean() + reach).min(high),
            lines_within: values.range(load.lines, CONFIDENCE)?,
            possible,
            values,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Setting;

    fn expected(law: &AcceptanceLaw, lines: u64) -> Expected {
        Expected::new(law, Load { lines, interval: 40, batch: 1 }).unwrap()
    }

    #[test]
    fn sixty_lines_of_three_point_five_one() {
        let law = AcceptanceLaw::match_expected(Setting::new(3.51, 6).unwrap());
        let found = expected(&law, 60);
        // "A mean within 0.02 at 95 % takes about 2,400 steps (60 lines)."
        assert!((found.mean_high - found.mean - 0.02).abs() < 2e-4, "{found:?}");
        assert_eq!(found.possible, (300, 400));
        let (low, high) = found.lines_within;
        assert!(low > 310 && low < 336 && high > 366 && high < 392, "{found:?}");
    }

    #[test]
    fn a_constant_has_one_value() {
        let found = expected(&AcceptanceLaw::Rounded(4), 52);
        assert_eq!((found.lines_within, found.possible), ((400, 400), (400, 400)));
        assert!((found.mean_low - 4.0).abs() < 1e-12 && found.line_sd.abs() < 1e-12);
    }
}
