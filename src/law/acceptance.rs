//! The laws under one name.

use std::ops::RangeInclusive;

use super::multinomial::Multinomial;
use super::number::{float, whole32};
use super::setting::Setting;
use super::two_point::TwoPoint;

/// How many tokens one request emits in one verify step, the target model's own token included.
#[derive(Clone, Debug, PartialEq)]
pub enum AcceptanceLaw {
    /// Two neighbouring lengths, one draw a step for the whole batch: SGLang's `match-expected`.
    MatchExpected(TwoPoint),
    /// A rounded, clamped normal variable, one draw a step: SGLang's `multinomial`.
    Multinomial(Multinomial),
    /// The target rounded once, half to even on the drafts: what DSPARK does in SGLang 0.5.16 and 0.5.17
    /// (sgl-project/sglang#33463).
    Rounded(u32),
    /// The same length in every step.
    Constant(u32),
    /// Two neighbouring lengths, one draw a request: vLLM, ATOM and TensorRT-LLM.
    PerRequest(TwoPoint),
}

/// What one draw decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// The length of every request of the batch: a step is one observation, whatever the batch size.
    Shared,
    /// The length of one request: a step is as many observations as it has requests.
    PerRequest,
}

/// Exact probabilities of consecutive lengths.
#[derive(Clone, Debug, PartialEq)]
pub struct Pmf {
    first: u32,
    probabilities: Vec<f64>,
}

impl Pmf {
    /// Length and probability, from the smallest length on.
    pub fn iter(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        (self.first..).zip(self.probabilities.iter().copied())
    }

    /// Probability of one length.
    #[must_use]
    pub fn probability(&self, length: u32) -> f64 {
        length
            .checked_sub(self.first)
            .and_then(|index| self.probabilities.get(usize::try_from(index).ok()?))
            .copied()
            .unwrap_or(0.0)
    }
}

impl AcceptanceLaw {
    /// SGLang's `match-expected`: the setting clamped, then floor or floor + 1.
    #[must_use]
    pub fn match_expected(setting: Setting) -> Self {
        Self::MatchExpected(TwoPoint::new(setting))
    }

    /// SGLang's `multinomial`.
    #[must_use]
    pub fn multinomial(setting: Setting) -> Self {
        Self::Multinomial(Multinomial::new(setting))
    }

    /// `1 + round_half_even(min(max(T - 1, 0), M - 1))` in every step.
    ///
    /// ```
    /// use accsim::law::{AcceptanceLaw, Setting};
    ///
    /// assert_eq!(AcceptanceLaw::rounded(Setting::new(3.51, 6)?), AcceptanceLaw::Rounded(4));
    /// assert_eq!(AcceptanceLaw::rounded(Setting::new(3.5, 6)?), AcceptanceLaw::Rounded(3));
    /// # Ok::<(), accsim::law::SettingError>(())
    /// ```
    #[must_use]
    pub fn rounded(setting: Setting) -> Self {
        let drafts = (setting.clamped() - 1.0).round_ties_even();
        Self::Rounded(whole32(drafts).saturating_add(1))
    }

    /// The same two lengths as `match-expected`, drawn once a request.
    #[must_use]
    pub fn per_request(setting: Setting) -> Self {
        Self::PerRequest(TwoPoint::new(setting))
    }

    /// Exact probability of every length of the support.
    #[must_use]
    pub fn pmf(&self) -> Pmf {
        match self {
            Self::MatchExpected(law) | Self::PerRequest(law) if law.is_constant() => Pmf::certain(law.lo()),
            Self::MatchExpected(law) | Self::PerRequest(law) => {
                Pmf { first: law.lo(), probabilities: vec![1.0 - law.weight(), law.weight()] }
            }
            Self::Multinomial(law) => {
                let (first, probabilities) = law.probabilities();
                Pmf { first, probabilities: probabilities.to_vec() }
            }
            Self::Rounded(length) | Self::Constant(length) => Pmf::certain(*length),
        }
    }

    /// Mean of one draw, in tokens.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Self::MatchExpected(law) | Self::PerRequest(law) => law.mean(),
            Self::Multinomial(law) => law.mean(),
            Self::Rounded(length) | Self::Constant(length) => f64::from(*length),
        }
    }

    /// Variance of one draw.
    #[must_use]
    pub fn variance(&self) -> f64 {
        match self {
            Self::MatchExpected(law) | Self::PerRequest(law) => law.variance(),
            Self::Multinomial(law) => law.variance(),
            Self::Rounded(_) | Self::Constant(_) => 0.0,
        }
    }

    /// The lengths that can occur.
    #[must_use]
    pub fn support(&self) -> RangeInclusive<u32> {
        match self {
            Self::MatchExpected(law) | Self::PerRequest(law) => law.lo()..=law.hi(),
            Self::Multinomial(law) => {
                let (first, probabilities) = law.probabilities();
                let more = u32::try_from(probabilities.len().saturating_sub(1)).unwrap_or(u32::MAX);
                first..=first.saturating_add(more)
            }
            Self::Rounded(length) | Self::Constant(length) => *length..=*length,
        }
    }

    /// What one draw decides.
    #[must_use]
    pub fn draws(&self) -> Draws {
        match self {
            Self::PerRequest(_) => Draws::PerRequest,
            _ => Draws::Shared,
        }
    }

    /// Standard deviation of the mean of `steps` steps of a constant batch, in tokens.
    #[must_use]
    pub fn line_sd(&self, steps: u32, batch: u32) -> f64 {
        let draws = match self.draws() {
            Draws::Shared => u64::from(steps),
            Draws::PerRequest => u64::from(steps) * u64::from(batch),
        };
        (self.variance() / float(draws.max(1))).sqrt()
    }
}

impl Pmf {
    fn certain(length: u32) -> Self {
        Self { first: length, probabilities: vec![1.0] }
    }
}
