//! SGLang's `multinomial`, a misnomer: a rounded and clamped normal variable.

use std::f64::consts::SQRT_2;

use super::number::whole32;
use super::pmf::Pmf;
use super::setting::Setting;

/// Standard deviations beyond which a normal probability is 0 in a double.
const REACH: f64 = 38.0;

/// Normal(target, 1), clamped to `[1, M]`, rounded half to even; drawn once a step. The open tails stand on 1 and M,
/// so its mean is not the target: 3.39 with M = 4 gives 3.240.
///
/// ```
/// use accsim::law::{Multinomial, Setting};
///
/// let law = Multinomial::new(Setting::new(3.39, 4)?);
/// assert_eq!(format!("{:.3}", law.mean()), "3.240");
/// # Ok::<(), accsim::law::SettingError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Multinomial {
    pmf: Pmf,
}

impl Multinomial {
    /// The law around the length as it was given, which is not clamped itself.
    #[must_use]
    pub fn new(setting: Setting) -> Self {
        let (target, max) = (setting.accept_length(), f64::from(setting.max()));
        // Lengths further away than REACH have no probability, however large M is.
        let first = (target - REACH).clamp(1.0, max).floor();
        let last = (target + REACH).clamp(1.0, max).ceil();
        let (first, last) = (whole32(first), whole32(last));
        let probability = |length: u32| {
            let center = f64::from(length) - target;
            let low = if length == 1 { f64::NEG_INFINITY } else { center - 0.5 };
            let high = if length == setting.max() { f64::INFINITY } else { center + 0.5 };
            normal_between(low, high)
        };
        Self { pmf: Pmf::new(first, (first..=last).map(probability).collect()) }
    }

    /// The law with a limit one token below what a step can emit: SGLang 0.4.5 to 0.4.7 clamp to `[1, num_steps]`.
    #[must_use]
    pub fn clamped_short(setting: Setting) -> Self {
        Self::new(setting.with_max(setting.max().saturating_sub(1)))
    }

    /// Exact probability of every length.
    #[must_use]
    pub fn pmf(&self) -> &Pmf {
        &self.pmf
    }

    /// The smallest length, and the probabilities from there on.
    #[must_use]
    pub fn probabilities(&self) -> (u32, &[f64]) {
        (self.pmf.first(), self.pmf.probabilities())
    }

    /// Mean, in tokens: biased by the clamp.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.pmf.mean()
    }

    /// Variance of one draw.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.pmf.variance()
    }
}

/// Probability that a standard normal variable lies between `low` and `high`. The error function is that of `libm`, in
/// plain arithmetic: probabilities, and so draws, have the same bits on every machine.
fn normal_between(low: f64, high: f64) -> f64 {
    let upper = |z: f64| 0.5 * libm::erfc(z / SQRT_2);
    // In the upper tail small probabilities keep their digits.
    let (low, high) = if low + high < 0.0 { (-high, -low) } else { (low, high) };
    if low <= 0.0 { 1.0 - upper(-low) - upper(high) } else { upper(low) - upper(high) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_the_lengths_from_the_smallest_on() {
        let law = Multinomial::new(Setting::new(3.51, 6).unwrap());
        let (first, probabilities) = law.probabilities();
        assert_eq!((first, probabilities.len()), (1, 6));
        for (length, probability) in (first..).zip(probabilities) {
            assert_eq!(law.pmf().probability(length).to_bits(), probability.to_bits(), "{length}");
        }
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
