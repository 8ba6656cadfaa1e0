//! SGLang's `multinomial`, a misnomer: a rounded and clamped normal variable.

use super::number::{float, whole32};
use super::setting::Setting;
use super::special::ln_normal_between;

/// Standard deviations beyond which a normal probability is 0 in a double.
const REACH: f64 = 38.0;

/// Normal(target, 1), clamped to `[1, M]`, rounded half to even; drawn once a step. The open tails stand on 1 and M,
/// so its mean is not the target: 3.39 with M = 4 gives 3.240.
#[derive(Clone, Debug, PartialEq)]
pub struct Multinomial {
    first: u32,
    probabilities: Vec<f64>,
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
            ln_normal_between(low, high).exp()
        };
        Self { first, probabilities: (first..=last).map(probability).collect() }
    }

    /// The smallest length, and the probabilities from there on.
    #[must_use]
    pub fn probabilities(&self) -> (u32, &[f64]) {
        (self.first, &self.probabilities)
    }

    /// Mean, in tokens: biased by the clamp.
    #[must_use]
    pub fn mean(&self) -> f64 {
        f64::from(self.first) + self.moment(1)
    }

    /// Variance of one draw.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.moment(2) - self.moment(1).powi(2)
    }

    /// Moment of the length above the smallest one.
    fn moment(&self, order: i32) -> f64 {
        self.probabilities.iter().zip(0_u64..).map(|(p, above)| p * float(above).powi(order)).sum()
    }

    /// Probabilities of the sum of `steps` draws, from `steps * first` on.
    pub(super) fn sums(&self, steps: u32) -> Vec<f64> {
        let mut sums = vec![1.0];
        for _ in 0..steps {
            let mut next = vec![0.0; sums.len() + self.probabilities.len() - 1];
            for (offset, p) in self.probabilities.iter().enumerate() {
                for (slot, sum) in next.iter_mut().skip(offset).zip(&sums) {
                    *slot += p * sum;
                }
            }
            sums = next;
        }
        sums
    }
}
