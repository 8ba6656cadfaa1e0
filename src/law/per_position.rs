//! Drafts accepted one position after the other.

use super::number::{float, whole32};
use super::pmf::Pmf;
use super::setting::Setting;

/// Longest list of rates; drafts of more tokens than this are not known to exist.
const MOST: usize = 1024;

/// Accepted drafts by unconditional rates: entry i is the probability that the first i + 1 drafts are all accepted. The
/// accept length is 1 + the accepted drafts, so its mean is 1 + the sum of the rates.
///
/// vLLM draws so, once a request, from `synthetic_acceptance_rates` (vllm-project/vllm#40662).
///
/// ```
/// use accsim::law::PerPosition;
///
/// let law = PerPosition::new(vec![0.9, 0.5, 0.2])?;
/// assert!((law.mean() - 2.6).abs() < 1e-12);
/// assert!((law.variance() - 0.84).abs() < 1e-12);
/// assert!((law.conditional()[1] - 0.5 / 0.9).abs() < 1e-12);
/// assert!(PerPosition::new(vec![0.5, 0.9]).is_err()); // rates cannot rise
/// # Ok::<(), accsim::law::RatesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PerPosition {
    rates: Vec<f64>,
}

/// Why a list of numbers is no list of rates. Positions count from 1.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RatesError {
    /// Nothing is drafted.
    #[error("expected one acceptance rate a draft position, found none")]
    Empty,
    /// More positions than any draft has.
    #[error("expected at most {MOST} acceptance rates, found {0}")]
    TooMany(usize),
    /// No probability.
    #[error("the acceptance rate of position {position} is {rate}; expected a probability from 0 to 1")]
    NoProbability {
        /// Draft position.
        position: usize,
        /// What was found.
        rate: f64,
    },
    /// The first i + 1 drafts cannot be accepted more often than the first i.
    #[error(
        "the acceptance rate of position {position} is {rate}, above {before} before it; unconditional rates are \
         non-increasing"
    )]
    Increasing {
        /// Draft position.
        position: usize,
        /// Its rate.
        rate: f64,
        /// The rate before it.
        before: f64,
    },
}

impl PerPosition {
    /// Checks that the rates are probabilities and do not rise.
    pub fn new(rates: Vec<f64>) -> Result<Self, RatesError> {
        check(&rates)?;
        let pairs = rates.iter().zip(rates.iter().skip(1));
        for (position, (before, rate)) in (2..).zip(pairs) {
            if rate > before {
                return Err(RatesError::Increasing { position, rate: *rate, before: *before });
            }
        }
        Ok(Self { rates })
    }

    /// Rates from conditional ones: entry i is the probability that draft i + 1 is accepted when all before it were.
    pub(super) fn from_conditional(conditional: &[f64]) -> Result<Self, RatesError> {
        check(conditional)?;
        let product = |all: &mut f64, rate: &f64| {
            *all *= rate;
            Some(*all)
        };
        Ok(Self { rates: conditional.iter().scan(1.0, product).collect() })
    }

    /// The rates that an accept length stands for: 1 for every whole draft, then the fraction, then 0. That is what
    /// vLLM makes of `synthetic_acceptance_length`, and what its configuration echoes.
    pub fn of_length(setting: Setting) -> Result<Self, RatesError> {
        let drafts = setting.clamped() - 1.0;
        let rate = |position: u32| (drafts - f64::from(position)).clamp(0.0, 1.0);
        let positions = setting.max().saturating_sub(1);
        if usize::try_from(positions).map_or(true, |positions| positions > MOST) {
            return Err(RatesError::TooMany(usize::try_from(positions).unwrap_or(usize::MAX)));
        }
        Self::new((0..positions).map(rate).collect())
    }

    /// The unconditional rates.
    #[must_use]
    pub fn rates(&self) -> &[f64] {
        &self.rates
    }

    /// The conditional rates: each over the one before it, and 0 behind a rate of 0.
    #[must_use]
    pub fn conditional(&self) -> Vec<f64> {
        let before = std::iter::once(&1.0).chain(&self.rates);
        before
            .zip(&self.rates)
            .map(|(before, rate)| if *before > 0.0 { rate / before } else { 0.0 })
            .collect()
    }

    /// Most tokens that one draw can give: the drafts and the target model's own.
    #[must_use]
    pub fn max(&self) -> u32 {
        u32::try_from(self.rates.len()).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// Exact probability of every length from 1 to the largest that has one.
    #[must_use]
    pub fn pmf(&self) -> Pmf {
        let before = std::iter::once(&1.0).chain(&self.rates);
        let after = self.rates.iter().chain(std::iter::once(&0.0));
        let mut probabilities: Vec<f64> = before.zip(after).map(|(before, after)| before - after).collect();
        while probabilities.len() > 1 && probabilities.last().is_some_and(|last| *last <= 0.0) {
            probabilities.pop();
        }
        let impossible = probabilities.iter().take_while(|p| **p <= 0.0).count();
        probabilities.drain(..impossible);
        Pmf::new(1 + whole32(float(u64::try_from(impossible).unwrap_or(0))), probabilities)
    }

    /// Mean, in tokens.
    #[must_use]
    pub fn mean(&self) -> f64 {
        1.0 + self.rates.iter().sum::<f64>()
    }

    /// Variance of one draw.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.pmf().variance()
    }
}

fn check(rates: &[f64]) -> Result<(), RatesError> {
    if rates.is_empty() {
        return Err(RatesError::Empty);
    }
    if rates.len() > MOST {
        return Err(RatesError::TooMany(rates.len()));
    }
    match (1..).zip(rates).find(|(_, rate)| !(0.0..=1.0).contains(*rate)) {
        Some((position, rate)) => Err(RatesError::NoProbability { position, rate: *rate }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ENGINES section 9, items 1 and 2.
    #[test]
    fn worked_values() {
        let law = PerPosition::new(vec![0.9, 0.5, 0.2]).unwrap();
        for (length, p) in [(1, 0.1), (2, 0.4), (3, 0.3), (4, 0.2)] {
            assert!((law.pmf().probability(length) - p).abs() < 1e-15);
        }
        let conditional = law.conditional();
        for (found, expected) in conditional.iter().zip([0.9, 0.5556, 0.4]) {
            assert!((found - expected).abs() < 5e-5);
        }
        let law = PerPosition::of_length(Setting::new(3.51, 6).unwrap()).unwrap();
        for (found, expected) in law.rates().iter().zip([1.0, 1.0, 0.51, 0.0, 0.0]) {
            assert!((found - expected).abs() < 1e-12);
        }
        for (found, expected) in law.conditional().iter().zip([1.0, 1.0, 0.51, 0.0, 0.0]) {
            assert!((found - expected).abs() < 1e-12);
        }
        assert_eq!(law.pmf().support(), 3..=4);
        assert!((law.mean() - 3.51).abs() < 1e-12 && (law.variance() - 0.2499).abs() < 1e-12);
    }

    #[test]
    fn faults_are_named() {
        assert_eq!(PerPosition::new(Vec::new()), Err(RatesError::Empty));
        assert_eq!(
            PerPosition::new(vec![0.5, 0.9, 0.1]),
            Err(RatesError::Increasing { position: 2, rate: 0.9, before: 0.5 })
        );
        let error = PerPosition::new(vec![0.5, -0.1]).unwrap_err();
        assert_eq!(error, RatesError::NoProbability { position: 2, rate: -0.1 });
        assert!(PerPosition::new(vec![f64::NAN]).is_err());
        assert_eq!(PerPosition::new(vec![0.0; 1025]), Err(RatesError::TooMany(1025)));
        assert!(PerPosition::of_length(Setting::new(2.0, u32::MAX).unwrap()).is_err());
    }

    #[test]
    fn the_ends() {
        let all = PerPosition::new(vec![1.0, 1.0]).unwrap();
        assert_eq!((all.pmf().support(), all.max()), (3..=3, 3));
        let none = PerPosition::new(vec![0.0, 0.0]).unwrap();
        assert_eq!(none.pmf().support(), 1..=1);
        assert!(none.conditional().iter().all(|rate| rate.abs() < f64::MIN_POSITIVE));
    }
}
