//! The laws under one name.

use std::ops::RangeInclusive;

use super::geometric::GeometricDecay;
use super::kind::LawKind;
use super::multinomial::Multinomial;
use super::number::{float, whole32};
use super::per_position::PerPosition;
use super::pmf::Pmf;
use super::pool::Pool;
use super::real_head::RealHead;
use super::setting::Setting;
use super::two_point::TwoPoint;

/// How many tokens one request emits in one verify step, the target model's own token included.
#[derive(Clone, Debug, PartialEq)]
pub enum AcceptanceLaw {
    /// Two neighbouring lengths, one draw a step for the whole batch: SGLang's `match-expected`.
    MatchExpected(TwoPoint),
    /// A rounded, clamped normal variable, one draw a step: SGLang's `multinomial`.
    Multinomial(Multinomial),
    /// The same with a limit one token too low: SGLang 0.4.5 to 0.4.7.
    ClampedShort(Multinomial),
    /// The target rounded once, half to even on the drafts: what DSPARK does in SGLang 0.5.16 and 0.5.17
    /// (sgl-project/sglang#33463).
    Rounded(u32),
    /// The same length in every step.
    Constant(u32),
    /// Two neighbouring lengths, one draw a request: vLLM.
    PerRequest(TwoPoint),
    /// The same from a fixed, repeating sequence: TensorRT-LLM and ATOM.
    Pool(Pool),
    /// Accepted drafts decay by one conditional rate, one draw a request: older vLLM and ATOM builds.
    Geometric(GeometricDecay),
    /// Accepted drafts by a rate a position, one draw a request: vLLM's `synthetic_acceptance_rates`.
    PerPosition(PerPosition),
    /// Drafts that are really judged, each request for itself.
    Real(RealHead),
}

/// What one draw decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// The length of every request of the batch: a step is one observation, whatever the batch size.
    Shared,
    /// The length of one request: a step is as many observations as it has requests.
    PerRequest,
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

    /// SGLang's only law in 0.4.5 to 0.4.7: `multinomial`, clamped to `[1, M - 1]`.
    #[must_use]
    pub fn clamped_short(setting: Setting) -> Self {
        Self::ClampedShort(Multinomial::clamped_short(setting))
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

    /// Which law it is.
    #[must_use]
    pub fn kind(&self) -> LawKind {
        match self {
            Self::MatchExpected(_) => LawKind::MatchExpected,
            Self::Multinomial(_) => LawKind::Multinomial,
            Self::ClampedShort(_) => LawKind::ClampedShort,
            Self::Rounded(_) => LawKind::Rounded,
            Self::Constant(_) => LawKind::Constant,
            Self::PerRequest(_) | Self::Pool(_) => LawKind::PerRequest,
            Self::Geometric(_) => LawKind::Geometric,
            Self::PerPosition(_) => LawKind::PerPosition,
            Self::Real(_) => LawKind::Real,
        }
    }

    /// Exact probability of every length of the support. Of a fixed pool: those that it means to have, as the means and
    /// variances below; [`Pool::offset`] says how far its mean is off.
    #[must_use]
    pub fn pmf(&self) -> Pmf {
        match self {
            Self::MatchExpected(law) | Self::PerRequest(law) => law.pmf(),
            Self::Pool(pool) => pool.law().pmf(),
            Self::Multinomial(law) | Self::ClampedShort(law) => law.pmf().clone(),
            Self::Rounded(length) | Self::Constant(length) => Pmf::certain(*length),
            Self::Geometric(law) => law.pmf(),
            Self::PerPosition(law) => law.pmf(),
            Self::Real(law) => law.pmf(),
        }
    }

    /// Mean of one draw, in tokens.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Self::MatchExpected(law) | Self::PerRequest(law) => law.mean(),
            Self::Pool(pool) => pool.law().mean(),
            Self::Multinomial(law) | Self::ClampedShort(law) => law.mean(),
            Self::Rounded(length) | Self::Constant(length) => f64::from(*length),
            Self::Geometric(law) => law.mean(),
            Self::PerPosition(law) => law.mean(),
            Self::Real(law) => law.mean(),
        }
    }

    /// Variance of one draw.
    #[must_use]
    pub fn variance(&self) -> f64 {
        match self {
            Self::MatchExpected(law) | Self::PerRequest(law) => law.variance(),
            Self::Pool(pool) => pool.law().variance(),
            Self::Multinomial(law) | Self::ClampedShort(law) => law.variance(),
            Self::Rounded(_) | Self::Constant(_) => 0.0,
            Self::Geometric(law) => law.variance(),
            Self::PerPosition(law) => law.variance(),
            Self::Real(law) => law.variance(),
        }
    }

    /// The lengths that can occur.
    #[must_use]
    pub fn support(&self) -> RangeInclusive<u32> {
        match self {
            Self::MatchExpected(law) | Self::PerRequest(law) => law.lo()..=law.hi(),
            Self::Rounded(length) | Self::Constant(length) => *length..=*length,
            _ => self.pmf().support(),
        }
    }

    /// What one draw decides.
    #[must_use]
    pub fn draws(&self) -> Draws {
        match self {
            Self::MatchExpected(_)
            | Self::Multinomial(_)
            | Self::ClampedShort(_)
            | Self::Rounded(_)
            | Self::Constant(_) => Draws::Shared,
            Self::PerRequest(_)
            | Self::Pool(_)
            | Self::Geometric(_)
            | Self::PerPosition(_)
            | Self::Real(_) => Draws::PerRequest,
        }
    }

    /// Draws that `steps` steps of a constant batch are made of.
    #[must_use]
    pub fn draws_of(&self, steps: u64, batch: u32) -> u64 {
        match self.draws() {
            Draws::Shared => steps,
            Draws::PerRequest => steps.saturating_mul(u64::from(batch)),
        }
    }

    /// Standard deviation of the mean of `steps` steps of a constant batch, in tokens.
    #[must_use]
    pub fn line_sd(&self, steps: u32, batch: u32) -> f64 {
        (self.variance() / float(self.draws_of(u64::from(steps), batch).max(1))).sqrt()
    }
}
