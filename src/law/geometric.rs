//! Acceptance that decays by one factor from draft to draft.

use super::per_position::PerPosition;
use super::pmf::Pmf;

/// Bisection steps: enough to reach the last bit of a double in `[0, 1]`.
const BISECTIONS: u32 = 80;

/// Longest draft; none is known to be longer.
const MOST_DRAFTS: u32 = 1024;

/// Each draft is accepted with the same conditional rate r when all before it were: draft i has the unconditional rate
/// r^i.
///
/// ATOM builds that know the rate alone (ROCm/ATOM#1850) and vLLM's scalar `synthetic_acceptance_rate`
/// (vllm-project/vllm#38045) were told a mean rate; that r solves `r + r^2 + .. + r^K = K * rate` is inferred from it.
///
/// ```
/// use accsim::law::GeometricDecay;
///
/// // Mean 2.6 with 3 drafts: the same mean as the two-point law, six times its variance.
/// let law = GeometricDecay::with_mean_rate(1.6 / 3.0, 3)?;
/// assert!((law.ratio() - 0.7171).abs() < 5e-5);
/// assert!((law.mean() - 2.6).abs() < 1e-12);
/// assert!((law.variance() - 1.543).abs() < 5e-4);
/// # Ok::<(), accsim::law::DecayError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GeometricDecay {
    ratio: f64,
    positions: PerPosition,
}

/// Why two numbers are no decay.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum DecayError {
    /// No probability.
    #[error("an acceptance rate is a probability from 0 to 1, found {0}")]
    NoProbability(f64),
    /// No draft, or more than any has.
    #[error("expected 1 to {MOST_DRAFTS} drafts a step, found {0}")]
    Drafts(u32),
}

impl GeometricDecay {
    /// The decay whose rates have this mean over the `drafts` positions.
    pub fn with_mean_rate(rate: f64, drafts: u32) -> Result<Self, DecayError> {
        check(rate, drafts)?;
        let wanted = rate * f64::from(drafts);
        let (mut low, mut high) = (0.0, 1.0);
        if rate >= 1.0 {
            low = 1.0;
        }
        for _ in 0..BISECTIONS {
            let middle = f64::midpoint(low, high);
            if powers(middle, drafts).sum::<f64>() < wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        Self::with_ratio(f64::midpoint(low, high), drafts)
    }

    /// The decay by a known conditional rate.
    pub fn with_ratio(ratio: f64, drafts: u32) -> Result<Self, DecayError> {
        check(ratio, drafts)?;
        let positions =
            PerPosition::new(powers(ratio, drafts).collect()).map_err(|_| DecayError::Drafts(drafts))?;
        Ok(Self { ratio, positions })
    }

    /// The conditional rate of every draft.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.ratio
    }

    /// The same with unconditional rates.
    #[must_use]
    pub fn positions(&self) -> &PerPosition {
        &self.positions
    }

    /// Exact probability of every length.
    #[must_use]
    pub fn pmf(&self) -> Pmf {
        self.positions.pmf()
    }

    /// Mean, in tokens.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.positions.mean()
    }

    /// Variance of one draw.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.positions.variance()
    }
}

fn check(rate: f64, drafts: u32) -> Result<(), DecayError> {
    if !(0.0..=1.0).contains(&rate) {
        Err(DecayError::NoProbability(rate))
    } else if !(1..=MOST_DRAFTS).contains(&drafts) {
        Err(DecayError::Drafts(drafts))
    } else {
        Ok(())
    }
}

/// `r, r^2, ..`, one a draft. By multiplication: the same bits on every machine.
fn powers(ratio: f64, drafts: u32) -> impl Iterator<Item = f64> {
    (0..drafts).scan(1.0, move |power, _| {
        *power *= ratio;
        Some(*power)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case 56: p + p^2 + p^3 = 1.6.
    #[test]
    fn constant_p_of_case_56() {
        let law = GeometricDecay::with_mean_rate(1.6 / 3.0, 3).unwrap();
        assert!((law.ratio() - 0.7171).abs() < 5e-5, "{}", law.ratio());
        assert!((law.variance() - 1.543).abs() < 5e-4, "{}", law.variance());
    }

    /// `AUDIT_STATISTICS` section 6: real, geometric, K = 5, AL 3.51 has variance 3.80.
    #[test]
    fn geometric_at_three_point_five_one() {
        let law = GeometricDecay::with_mean_rate(2.51 / 5.0, 5).unwrap();
        assert!((law.mean() - 3.51).abs() < 1e-12);
        assert!((law.variance() - 3.80).abs() < 5e-3, "{}", law.variance());
    }

    /// Case 42: 0.6 as the mean rate gives 2.8, as the conditional rate 2.176.
    #[test]
    fn two_readings_of_one_scalar() {
        assert!((GeometricDecay::with_mean_rate(0.6, 3).unwrap().mean() - 2.8).abs() < 1e-12);
        assert!((GeometricDecay::with_ratio(0.6, 3).unwrap().mean() - 2.176).abs() < 1e-12);
    }

    #[test]
    fn the_ends_and_beyond() {
        let all = GeometricDecay::with_mean_rate(1.0, 4).unwrap();
        assert_eq!(all.pmf().support(), 5..=5);
        let none = GeometricDecay::with_mean_rate(0.0, 4).unwrap();
        assert!((none.mean() - 1.0).abs() < 1e-12);
        assert_eq!(GeometricDecay::with_mean_rate(1.1, 4), Err(DecayError::NoProbability(1.1)));
        assert_eq!(GeometricDecay::with_ratio(0.5, 0), Err(DecayError::Drafts(0)));
        assert_eq!(GeometricDecay::with_ratio(0.5, 5000), Err(DecayError::Drafts(5000)));
    }
}
