//! The two-point law: a length is `lo` or `lo + 1`.

use std::ops::RangeInclusive;

use super::number::{float, whole, whole32};
use super::pmf::Pmf;
use super::printed::printed;
use super::setting::Setting;
use super::special::ln_gamma;

/// Draws in a window above which the sum over all counts that print alike gives way to a density.
const MAX_EXACT_DRAWS: u64 = 100_000;

/// Counts that may print as an end of the interval; more are summed for no batch that a server runs.
const MAX_END_TERMS: u64 = 1000;

/// A term of a sum that lies so many nats below the largest is left out: a thousand such terms are no bit of a double.
const NEGLIGIBLE_NATS: f64 = 100.0;

/// `lo` with probability `1 - weight`, `lo + 1` with probability `weight`.
///
/// SGLang's `match-expected` draws from it once a step (sgl-project/sglang, `spec_utils`: the target is clamped to
/// `[1, M]`, `lo` is its floor); vLLM, ATOM and TensorRT-LLM draw once a request.
///
/// ```
/// use accsim::law::{Setting, TwoPoint};
///
/// let law = TwoPoint::new(Setting::new(3.51, 6)?);
/// assert_eq!((law.lo(), law.hi(), format!("{:.2}", law.weight())), (3, 4, "0.51".to_owned()));
/// // An integer length is drawn always.
/// assert!(TwoPoint::new(Setting::new(4.0, 6)?).is_constant());
/// # Ok::<(), accsim::law::SettingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoPoint {
    lo: u32,
    weight: f64,
}

impl TwoPoint {
    /// The law with the clamped length as its mean. An integer length, or one at M and above, is constant.
    #[must_use]
    pub fn new(setting: Setting) -> Self {
        let length = setting.clamped();
        Self { lo: whole32(length), weight: length - length.floor() }
    }

    /// The smaller length.
    #[must_use]
    pub fn lo(&self) -> u32 {
        self.lo
    }

    /// The larger length; the same as the smaller where the law is constant.
    #[must_use]
    pub fn hi(&self) -> u32 {
        if self.is_constant() { self.lo } else { self.lo.saturating_add(1) }
    }

    /// Probability of the larger length.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Whether only one length has a probability.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.weight <= 0.0
    }

    /// Mean, in tokens.
    #[must_use]
    pub fn mean(&self) -> f64 {
        f64::from(self.lo) + self.weight
    }

    /// Variance of one draw.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.weight * (1.0 - self.weight)
    }

    /// Exact probability of either length.
    #[must_use]
    pub fn pmf(&self) -> Pmf {
        if self.is_constant() {
            Pmf::certain(self.lo)
        } else {
            Pmf::new(self.lo, vec![1.0 - self.weight, self.weight])
        }
    }

    /// Probability of each count of larger lengths among `draws` draws, from 0 on: the binomial law.
    ///
    /// Neighbours follow from each other by a ratio, from the most likely count outwards; nothing but the four basic
    /// operations is used, so the bits are the same on every machine.
    #[must_use]
    pub fn count_probabilities(&self, draws: u32) -> Vec<f64> {
        if self.is_constant() {
            return std::iter::once(1.0).chain((0..draws).map(|_| 0.0)).collect();
        }
        let odds = self.weight / (1.0 - self.weight);
        let mode = whole32((f64::from(draws) + 1.0) * self.weight).min(draws);
        let below = (1..=mode).rev().scan(1.0, |p, count| {
            *p *= f64::from(count) / (f64::from(draws - count) + 1.0) / odds;
            Some(*p)
        });
        let mut relative: Vec<f64> = below.collect();
        relative.reverse();
        relative.push(1.0);
        relative.extend((mode..draws).scan(1.0, |p, count| {
            *p *= f64::from(draws - count) / (f64::from(count) + 1.0) * odds;
            Some(*p)
        }));
        let total: f64 = relative.iter().sum();
        relative.into_iter().map(|p| p / total).collect()
    }

    /// Log-probability that `draws` draws of equal weight average to a value that prints as `hundredths`: the sum of
    /// Binomial(`draws`, weight) over all counts that print so.
    #[must_use]
    pub fn ln_average(&self, draws: u64, hundredths: u32) -> f64 {
        let Some(above) = self.above_lo(hundredths) else { return f64::NEG_INFINITY };
        if self.is_constant() {
            return if above > 0.0 { f64::NEG_INFINITY } else { 0.0 };
        }
        if draws == 0 || draws > MAX_EXACT_DRAWS {
            return self.ln_unequal_average(float(draws), float(draws), hundredths);
        }
        // Printing moves a value by at most 0.005; a little more, and each candidate is printed to be sure.
        let first = whole(((above - 0.0051) * float(draws)).ceil());
        let last = whole((above + 0.0051) * float(draws)).min(draws);
        let base = u64::from(self.lo) * draws;
        let prints = |count: &u64| printed(base + count, draws) == Some(hundredths);
        let (Some(first), Some(last)) = ((first..=last).find(prints), (first..=last).rev().find(prints))
        else {
            return f64::NEG_INFINITY;
        };
        let binomial = LnBinomial::new(self.weight, float(draws));
        let peak = whole((float(draws) + 1.0) * self.weight);
        ln_sum(around(first..=last, peak, |count| binomial.at(float(count))).into_iter())
    }

    /// Log-probability of a printed value when `draws` draws weighed unequally and stand for `effective` equal ones
    /// (Kish 1965); neither need be a whole number.
    ///
    /// The two ends print whenever all draws agree, so they keep their probability. Between them the binomial law of
    /// the effective draws is continued to fractions and scaled to what the ends leave. In its middle that is the
    /// normal law of the same variance; unlike it, it keeps the skew of a weight near 0 or 1.
    #[must_use]
    pub fn ln_unequal_average(&self, draws: f64, effective: f64, hundredths: u32) -> f64 {
        self.ln_unequal_scaled(draws, effective, hundredths, self.ln_between_scale(draws, effective))
    }

    /// [`Self::ln_unequal_average`] with the scale known.
    pub(super) fn ln_unequal_scaled(
        &self,
        draws: f64,
        effective: f64,
        hundredths: u32,
        ln_scale: f64,
    ) -> f64 {
        let Some(above) = self.above_lo(hundredths) else { return f64::NEG_INFINITY };
        if self.is_constant() {
            return if above > 0.0 { f64::NEG_INFINITY } else { 0.0 };
        }
        if above <= 0.0 || above >= 1.0 {
            self.ln_end(draws, above)
        } else {
            LnBinomial::new(self.weight, effective).density(above) + ln_scale
        }
    }

    /// What the density of `effective` draws is multiplied with between the ends.
    pub(super) fn ln_between_scale(&self, draws: f64, effective: f64) -> f64 {
        if self.is_constant() {
            return 0.0;
        }
        let ends = self.ln_end(draws, 0.0).exp() + self.ln_end(draws, 1.0).exp();
        let binomial = LnBinomial::new(self.weight, effective);
        let term = |hundredth: u64| binomial.density(float(hundredth) / 100.0);
        let below = whole(100.0 * self.weight).clamp(1, 98);
        let peak = if term(below) < term(below + 1) { below + 1 } else { below };
        let between = ln_sum(around(1..=99, peak, term).into_iter());
        (1.0 - ends).max(f64::MIN_POSITIVE).ln() - between
    }

    /// Log-probability of `lo` (`above` 0) or `lo + 1` (`above` 1) as printed.
    fn ln_end(&self, draws: f64, above: f64) -> f64 {
        // Half a hundredth belongs to the end; among many draws that is more than the one case where all agree.
        let others = whole(0.005 * draws).min(MAX_END_TERMS);
        let binomial = LnBinomial::new(self.weight, draws);
        let (weight, is_upper) = if above > 0.0 { (1.0 - self.weight, true) } else { (self.weight, false) };
        // The most likely number of draws that differ from the end's.
        let peak = whole((draws + 1.0) * weight);
        let term = |other: u64| binomial.at(if is_upper { draws - float(other) } else { float(other) });
        ln_sum(around(0..=others, peak, term).into_iter())
    }

    /// Printed value minus `lo`, in tokens, when it lies in `[0, 1]`.
    fn above_lo(&self, hundredths: u32) -> Option<f64> {
        let above = hundredths.checked_sub(self.lo.checked_mul(100)?)?;
        (above <= 100).then(|| f64::from(above) / 100.0)
    }
}

/// The binomial law of one number of draws, in logarithms, continued to fractions by the gamma function.
struct LnBinomial {
    draws: f64,
    ln_all: f64,
    ln_weight: f64,
    ln_rest: f64,
}

impl LnBinomial {
    fn new(weight: f64, draws: f64) -> Self {
        Self { draws, ln_all: ln_gamma(draws + 1.0), ln_weight: weight.ln(), ln_rest: (-weight).ln_1p() }
    }

    /// Log-probability of `count` larger lengths.
    fn at(&self, count: f64) -> f64 {
        let rest = self.draws - count;
        self.ln_all - ln_gamma(count + 1.0) - ln_gamma(rest + 1.0)
            + count * self.ln_weight
            + rest * self.ln_rest
    }

    /// Log-probability of one hundredth between the ends, before it is scaled.
    fn density(&self, above: f64) -> f64 {
        self.at(above * self.draws) + (0.01 * self.draws).ln()
    }
}

/// The terms of a law with one peak, in order, without those that are no bit of their sum.
fn around(range: RangeInclusive<u64>, peak: u64, term: impl Fn(u64) -> f64) -> Vec<f64> {
    let (first, last) = range.into_inner();
    let peak = peak.clamp(first, last.max(first));
    let floor = term(peak) - NEGLIGIBLE_NATS;
    let counts = |value: &f64| *value > floor;
    let mut terms: Vec<f64> = (first..peak).rev().map(&term).take_while(counts).collect();
    terms.reverse();
    terms.extend((peak..=last).map(&term).take_while(counts));
    terms
}

/// Logarithm of a sum of exponentials; minus infinity for no terms.
pub(super) fn ln_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (largest, sum) = terms.filter(|term| *term > f64::NEG_INFINITY).fold(
        (f64::NEG_INFINITY, 0.0),
        |(largest, sum): (f64, f64), term| {
            if term <= largest {
                (largest, sum + (term - largest).exp())
            } else {
                (term, sum * (largest - term).exp() + 1.0)
            }
        },
    );
    if sum > 0.0 { largest + sum.ln() } else { f64::NEG_INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(weight: f64) -> TwoPoint {
        TwoPoint::new(Setting::new(3.0 + weight, 6).unwrap())
    }

    /// Leaving out what is no bit of the sum changes no bit of it.
    #[test]
    fn an_end_is_the_sum_of_all_its_terms() {
        for weight in [0.001, 0.004, 0.01, 0.3, 0.5, 0.51, 0.9, 0.996, 0.999] {
            let law = law(weight);
            for draws in [1.0, 40.0, 199.0, 200.5, 640.0, 10_000.0, 123_456.0, 1e6, 1.7e11] {
                let binomial = LnBinomial::new(law.weight(), draws);
                let others = whole(0.005 * draws).min(MAX_END_TERMS);
                let low = ln_sum((0..=others).map(|other| binomial.at(float(other))));
                let high = ln_sum((0..=others).map(|other| binomial.at(draws - float(other))));
                assert_eq!(law.ln_end(draws, 0.0).to_bits(), low.to_bits(), "{weight} {draws}");
                assert_eq!(law.ln_end(draws, 1.0).to_bits(), high.to_bits(), "{weight} {draws}");
            }
        }
    }

    /// What an end costs does not grow with the batch.
    #[test]
    fn an_end_far_from_the_mean_takes_few_terms() {
        for draws in [640_u64, 10_000, 200_000, 20_000_000] {
            let others = (draws / 200).min(MAX_END_TERMS);
            let binomial = LnBinomial::new(0.51, float(draws));
            let terms = around(0..=others, draws / 2, |other| binomial.at(float(other)));
            assert!(terms.len() < 32, "{draws}: {}", terms.len());
        }
    }

    /// So is what lies between the ends, and what any printed value is made of.
    #[test]
    fn sums_are_those_of_all_their_terms() {
        for weight in [0.001, 0.01, 0.3, 0.495, 0.5, 0.51, 0.9, 0.999] {
            let law = law(weight);
            for draws in [1_u64, 2, 39, 40, 640, 1001, 9999, 100_000] {
                let binomial = LnBinomial::new(law.weight(), float(draws));
                let terms = (1..100).map(|hundredth| binomial.density(f64::from(hundredth) / 100.0));
                let ends = law.ln_end(float(draws), 0.0).exp() + law.ln_end(float(draws), 1.0).exp();
                let scale = (1.0 - ends).max(f64::MIN_POSITIVE).ln() - ln_sum(terms);
                let found = law.ln_between_scale(float(draws), float(draws));
                assert_eq!(found.to_bits(), scale.to_bits(), "{weight} {draws}");
                for hundredths in [300, 301, 330, 349, 350, 351, 352, 390, 399, 400] {
                    let counts = (0..=draws).filter(|count| {
                        let near = float(*count) / float(draws) - f64::from(hundredths - 300) / 100.0;
                        near.abs() < 0.006 && printed(3 * draws + count, draws) == Some(hundredths)
                    });
                    let all = ln_sum(counts.map(|count| binomial.at(float(count))));
                    let found = law.ln_average(draws, hundredths);
                    assert_eq!(found.to_bits(), all.to_bits(), "{weight} {draws} {hundredths}");
                }
            }
        }
    }
}
