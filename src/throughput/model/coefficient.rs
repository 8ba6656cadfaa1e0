//! Coefficients, and which of them a log does not tell.

use serde::{Deserialize, Serialize};

/// A coefficient is told by the logs when it is known to this share of itself.
pub const IDENTIFIED: f64 = 0.02;

/// A coefficient of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coefficient {
    /// a: any step.
    Step,
    /// b: a verified token.
    Token,
    /// c: a KV token.
    Context,
    /// d: a draft pass.
    Draft,
    /// p0: a prefill batch.
    PrefillBatch,
    /// p1: a prompt token.
    PromptToken,
    /// The slope of the bend.
    Bend,
}

impl Coefficient {
    /// Every one, in the order of the resamples' columns.
    pub const ALL: [Self; 7] = [
        Self::Step,
        Self::Token,
        Self::Context,
        Self::Draft,
        Self::PrefillBatch,
        Self::PromptToken,
        Self::Bend,
    ];

    /// What would tell it.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Step => "run low concurrency longer",
            Self::Token | Self::Bend => "run higher concurrency, and longer",
            Self::Context => "run a second, longer input length, and longer",
            Self::Draft => "run draft lengths further apart",
            Self::PrefillBatch => "run inputs of very different lengths, short ones among them",
            Self::PromptToken => "run longer inputs, and longer",
        }
    }
}

/// A coefficient that the logs do not tell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loose {
    /// Which one.
    pub coefficient: Coefficient,
    /// Where it may lie, in seconds.
    pub low_s: f64,
    /// The other end.
    pub high_s: f64,
}
