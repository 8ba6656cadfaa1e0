//! What a server is told to draw: method, target and largest length.

use std::fmt;

use crate::law::{AcceptanceLaw, Setting};

/// Lengths are kept as bytes.
const LONGEST: u32 = 255;

/// The methods of SGLang's simulation that draw (`SGLANG_SIMULATE_ACC_METHOD`). `rounded`, what DSPARK does in 0.5.16 and
/// 0.5.17, draws nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DrawMethod {
    /// The floor of the target or one more.
    MatchExpected,
    /// A normal number around the target, clamped and rounded.
    Multinomial,
}

impl DrawMethod {
    /// Both.
    pub const ALL: [Self; 2] = [Self::MatchExpected, Self::Multinomial];

    /// The name that the engine and our reports use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MatchExpected => "match-expected",
            Self::Multinomial => "multinomial",
        }
    }
}

impl fmt::Display for DrawMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A target as one server draws it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawLaw {
    method: DrawMethod,
    setting: Setting,
}

impl DrawLaw {
    /// The law; `None` where lengths above 255 could be drawn, which no server does.
    #[must_use]
    pub fn new(method: DrawMethod, setting: Setting) -> Option<Self> {
        let most = match method {
            DrawMethod::MatchExpected => setting.clamped() + 1.0,
            DrawMethod::Multinomial => f64::from(setting.max()),
        };
        (most <= f64::from(LONGEST)).then_some(Self { method, setting })
    }

    /// How it draws.
    #[must_use]
    pub fn method(&self) -> DrawMethod {
        self.method
    }

    /// The target, in tokens a step, as it was given.
    #[must_use]
    pub fn accept_length(&self) -> f64 {
        self.setting.accept_length()
    }

    /// Most tokens of a step (M).
    #[must_use]
    pub fn max(&self) -> u32 {
        self.setting.max()
    }

    /// The probabilities of its draws.
    #[must_use]
    pub fn acceptance(&self) -> AcceptanceLaw {
        match self.method {
            DrawMethod::MatchExpected => AcceptanceLaw::match_expected(self.setting),
            DrawMethod::Multinomial => AcceptanceLaw::multinomial(self.setting),
        }
    }

    /// The one length that every step shows, where there is no spread: an integer target, one at M or above.
    #[must_use]
    pub fn constant(&self) -> Option<u32> {
        let law = self.acceptance();
        let support = law.support();
        (law.variance() <= 0.0 || support.start() == support.end()).then_some(*support.start())
    }

    /// Whether both draw the same numbers whatever the seed: M decides only where the law depends on it.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.method == other.method
            && match self.method {
                DrawMethod::MatchExpected => same(self.setting.clamped(), other.setting.clamped()),
                DrawMethod::Multinomial => {
                    same(self.accept_length(), other.accept_length()) && self.max() == other.max()
                }
            }
    }
}

/// Whether two targets are the same number: they are written with a few decimals.
fn same(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-9
}

/// `match-expected 3.51`, and M where it matters.
impl fmt::Display for DrawLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.accept_length())?;
        match self.method {
            DrawMethod::Multinomial => write!(f, " (at most {})", self.max()),
            DrawMethod::MatchExpected => Ok(()),
        }
    }
}
