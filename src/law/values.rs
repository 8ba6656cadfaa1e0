//! Every value that a line of a steady batch can print, with its probability.

use super::acceptance::AcceptanceLaw;
use super::line::ln_normal_line;
use super::number::{float, whole};
use super::printed::printed;
use super::sums::Sums;
use super::two_point::TwoPoint;

/// Standard deviations that the normal law is tabulated over.
const NORMAL_REACH: f64 = 9.0;

/// The law of the accept length that a line of I verify steps of a constant batch prints: A / C with two decimals, as
/// the engine's `%.2f` prints them.
///
/// ```
/// use accsim::law::{AcceptanceLaw, LineValues, Setting};
///
/// let law = AcceptanceLaw::match_expected(Setting::new(3.51, 6)?);
/// let line = LineValues::new(&law, 40, 16);
/// assert!((line.sd() - 0.0790).abs() < 5e-5);
/// assert!((line.probability(352) - 0.1233).abs() < 1e-4);
/// assert!(line.probability(351) == 0.0); // no sum of 40 whole draws prints it
/// # Ok::<(), accsim::law::SettingError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LineValues {
    /// Ascending; none of probability 0.
    values: Vec<(u32, f64)>,
    mean: f64,
    sd: f64,
}

impl LineValues {
    /// The values under `law`, for windows of `interval` steps and batches of `batch` requests.
    #[must_use]
    pub fn new(law: &AcceptanceLaw, interval: u32, batch: u32) -> Self {
        let (interval, batch) = (interval.max(1), batch.max(1));
        let draws = law.draws_of(u64::from(interval), batch);
        let values = match law {
            AcceptanceLaw::MatchExpected(law) | AcceptanceLaw::PerRequest(law) => two_point(law, draws),
            AcceptanceLaw::Pool(pool) => two_point(pool.law(), draws),
            AcceptanceLaw::Rounded(length) | AcceptanceLaw::Constant(length) => {
                length.checked_mul(100).map(|value| (value, 1.0)).into_iter().collect()
            }
            law => summed(law, draws),
        };
        Self { values, mean: law.mean(), sd: law.line_sd(interval, batch) }
    }

    /// Printed hundredths and their probability, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.values.iter().copied()
    }

    /// Probability that a line prints `hundredths`.
    #[must_use]
    pub fn probability(&self, hundredths: u32) -> f64 {
        let place = self.values.binary_search_by_key(&hundredths, |(value, _)| *value).ok();
        place.and_then(|place| self.values.get(place)).map_or(0.0, |(_, p)| *p)
    }

    /// Mean of a line before it is printed, in tokens.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Standard deviation of a line before it is printed, in tokens.
    #[must_use]
    pub fn sd(&self) -> f64 {
        self.sd
    }

    /// The smallest and the largest value that can be printed.
    #[must_use]
    pub fn support(&self) -> Option<(u32, u32)> {
        Some((self.values.first()?.0, self.values.last()?.0))
    }

    /// A range that holds all of `lines` independent lines with at least this confidence: either end is missed with at
    /// most half of what is left.
    #[must_use]
    pub fn range(&self, lines: u64, confidence: f64) -> Option<(u32, u32)> {
        let tail = (1.0 - confidence) / 2.0 / float(lines.max(1));
        Some((end_of(self.values.iter(), tail)?, end_of(self.values.iter().rev(), tail)?))
    }

    /// What one line says against a rival law when this one is true: the Kullback-Leibler divergence in nats.
    /// Infinite where this law prints what the rival cannot.
    #[must_use]
    pub fn divergence(&self, rival: &Self) -> f64 {
        self.values
            .iter()
            .map(|(value, p)| p * (p.ln() - rival.probability(*value).ln()))
            .sum::<f64>()
            .max(0.0)
    }

    /// Lines after which the odds against the rival are expected to reach `odds`, when this law is true; none where the
    /// two print alike.
    #[must_use]
    pub fn lines_until(&self, odds: f64, rival: &Self) -> Option<u64> {
        let a_line = self.divergence(rival);
        (a_line > 1e-9).then(|| whole((odds.ln() / a_line).ceil()).max(1))
    }
}

/// The first value at which more than `tail` has been passed.
fn end_of<'a>(mut values: impl Iterator<Item = &'a (u32, f64)>, tail: f64) -> Option<u32> {
    let mut sum = 0.0;
    values
        .find(|(_, p)| {
            sum += p;
            sum > tail
        })
        .map(|(value, _)| *value)
}

fn two_point(law: &TwoPoint, draws: u64) -> Vec<(u32, f64)> {
    let first = law.lo().saturating_mul(100);
    let last = law.hi().saturating_mul(100);
    (first..=last)
        .map(|value| (value, law.ln_average(draws, value).exp()))
        .filter(|(_, p)| *p > 0.0)
        .collect()
}

/// More than two lengths.
fn summed(law: &AcceptanceLaw, draws: u64) -> Vec<(u32, f64)> {
    let pmf = law.pmf();
    let sums = u32::try_from(draws).ok().and_then(|draws| Sums::bearable(&pmf, draws));
    let Some(sums) = sums else {
        return normal(law.mean(), law.variance() / float(draws));
    };
    let first = u64::from(pmf.first()).saturating_mul(draws).saturating_add(sums.first);
    let mut values: Vec<(u32, f64)> = Vec::new();
    for (sum, p) in (first..).zip(&sums.probabilities).filter(|(_, p)| **p > 0.0) {
        let Some(value) = printed(sum, draws) else { continue };
        match values.last_mut().filter(|(last, _)| *last == value) {
            Some((_, mass)) => *mass += p,
            None => values.push((value, *p)),
        }
    }
    values
}

fn normal(mean: f64, variance: f64) -> Vec<(u32, f64)> {
    let reach = NORMAL_REACH * variance.sqrt() + 0.01;
    let first = u32::try_from(whole((mean - reach) * 100.0)).unwrap_or(u32::MAX);
    let last = u32::try_from(whole((mean + reach) * 100.0)).unwrap_or(u32::MAX);
    (first..=last)
        .map(|value| (value, ln_normal_line(mean, variance, value).exp()))
        .filter(|(_, p)| *p > 0.0)
        .collect()
}
