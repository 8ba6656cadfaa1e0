//! What a server will do with the settings it was given.

use std::fmt;

use crate::law::{AcceptanceLaw, RatesError};

use super::{Change, Drafter, First, General, Release, Warning, WarningCode};

/// What a server will do, and how that is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// What happens.
    pub outcome: Outcome,
    /// The accept length that the settings ask for, in tokens per verify step whatever the engine's own unit; none where
    /// they ask for none that can be read.
    pub asked: Option<f64>,
    /// Where this was read, measured or stated.
    pub source: &'static str,
    /// What is worth knowing besides.
    pub notes: Vec<PredictionNote>,
    /// Why there may be nothing in it: the version cannot be placed. The same doubts as those of [`settings`](super::settings).
    pub doubts: Vec<Warning>,
    /// What happens instead if the version is not what it seems: it lies beside a change that no release number tells.
    pub otherwise: Vec<Otherwise>,
    /// Whether the ranks of one server draw alike.
    pub ranks: RankDraws,
}

/// What happens when a server with these settings is started and used.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Accept lengths follow a law.
    Law(AcceptanceLaw),
    /// Drafts are really judged.
    RealAcceptance {
        /// Why.
        reason: RealReason,
    },
    /// The server does not start.
    RefusesToStart {
        /// Why.
        reason: Refusal,
    },
    /// The server starts and dies at its first verify step.
    CrashesAtFirstVerify {
        /// How.
        reason: Crash,
    },
    /// No source says.
    NotKnown {
        /// What is not known.
        reason: Unknown,
    },
}

impl Outcome {
    /// The law, where there is one.
    #[must_use]
    pub fn law(&self) -> Option<&AcceptanceLaw> {
        match self {
            Self::Law(law) => Some(law),
            _ => None,
        }
    }

    /// The name that JSON uses.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Law(_) => "law",
            Self::RealAcceptance { .. } => "real-acceptance",
            Self::RefusesToStart { .. } => "refuses-to-start",
            Self::CrashesAtFirstVerify { .. } => "crashes-at-first-verify",
            Self::NotKnown { .. } => "not-known",
        }
    }

    /// The warning that [`settings`](super::settings) has for a target with this outcome: it is ignored.
    #[must_use]
    pub fn code(&self) -> Option<WarningCode> {
        match self {
            Self::RealAcceptance { reason } => reason.code(),
            Self::RefusesToStart { reason: Refusal::NoAlgorithm { .. } } => {
                Some(WarningCode::SimulationIgnored)
            }
            _ => None,
        }
    }

    /// Why there is no law.
    #[must_use]
    pub fn reason(&self) -> Option<&dyn fmt::Display> {
        match self {
            Self::Law(_) => None,
            Self::RealAcceptance { reason } => Some(reason),
            Self::RefusesToStart { reason } => Some(reason),
            Self::CrashesAtFirstVerify { reason } => Some(reason),
            Self::NotKnown { reason } => Some(reason),
        }
    }
}

/// Why drafts are really judged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RealReason {
    /// Nothing was set.
    #[error("no accept length is set")]
    NotSet,
    /// The version has no such setting at all.
    #[error("this version has no simulated acceptance; it came with {since}")]
    NoSimulation {
        /// The first release with it.
        since: First,
    },
    /// Names of another generation were set.
    #[error("{set} is set, and this version reads {read} alone")]
    OtherNames {
        /// The name that was set.
        set: &'static str,
        /// The name that is read.
        read: &'static str,
    },
    /// The algorithm does not ask.
    #[error(
        "{drafter} accepts for real here, whatever is set; the first release that holds a target with it is {since}"
    )]
    Algorithm {
        /// The algorithm.
        drafter: Drafter,
        /// The first release that obeys in full.
        since: First,
    },
    /// Overlap scheduling does not ask.
    #[error(
        "with overlap scheduling this version accepts for real; the first release that does not is {since}"
    )]
    Overlap {
        /// The first release that obeys in full.
        since: First,
    },
    /// The value means "off".
    #[error("{name}={value} means off")]
    Off {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// TensorRT-LLM counts drafts, and none of them means "off".
    #[error("{name}={value} means off")]
    NoDrafts {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// The text is no number; there is a warning in the log.
    #[error("{name}='{value}' is no number: the engine warns and goes on without")]
    Unreadable {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// The text is no integer, and this reader takes no other; there is a warning in the log.
    #[error("{name}='{value}' is no integer: the engine warns and goes on without")]
    NoInteger {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// vLLM: drafts are rejected by another method.
    #[error("rejection_sample_method is {method}, not synthetic")]
    NotSynthetic {
        /// The method; `standard` where none is set.
        method: String,
    },
}

impl RealReason {
    fn code(&self) -> Option<WarningCode> {
        match self {
            Self::NoSimulation { .. } | Self::Algorithm { .. } | Self::Overlap { .. } => {
                Some(WarningCode::SimulationIgnored)
            }
            Self::NoDrafts { .. } => Some(WarningCode::CannotForceOne),
            Self::NoInteger { .. } => Some(WarningCode::FractionIgnored),
            Self::NotSet
            | Self::OtherNames { .. }
            | Self::Off { .. }
            | Self::Unreadable { .. }
            | Self::NotSynthetic { .. } => None,
        }
    }
}

/// Why a server does not start.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// There is no such algorithm yet.
    #[error("this version has no {drafter}; the first release that holds a target with it is {since}")]
    NoAlgorithm {
        /// The algorithm.
        drafter: Drafter,
        /// The first release that obeys in full.
        since: First,
    },
    /// DSPARK would verify less than the block.
    #[error(
        "SGLANG_SIMULATE_ACC_LEN>1.0 with DSpark requires a verify-all schedule, and SGLANG_RAGGED_VERIFY_MODE is \
         '{mode}'"
    )]
    NotVerifyAll {
        /// What was set.
        mode: String,
    },
    /// The token mode is checked when the worker is built.
    #[error("'{mode}' is no token mode")]
    TokenMode {
        /// What was set.
        mode: String,
    },
    /// A length or rate outside what the engine allows.
    #[error("{name} {} lies outside {} to {}", General(*.value), General(*.low), General(*.high))]
    OutOfRange {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The least that is allowed.
        low: f64,
        /// The most that is allowed.
        high: f64,
    },
    /// The text is no number.
    #[error("{name} '{value}' is no number")]
    Unreadable {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// Two settings that exclude each other.
    #[error("{first} and {second} exclude each other")]
    Both {
        /// One.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// vLLM: `synthetic` with nothing to simulate.
    #[error("rejection_sample_method is synthetic with neither {length} nor {rates}")]
    NothingToSimulate {
        /// The key of a length.
        length: &'static str,
        /// The key of a list of rates.
        rates: &'static str,
    },
    /// vLLM: a length or rates without `synthetic`.
    #[error("{name} is set, and rejection_sample_method is not synthetic")]
    WithoutSynthetic {
        /// The setting.
        name: &'static str,
    },
    /// vLLM: rates that are none.
    #[error("synthetic_acceptance_rates: {0}")]
    Rates(RatesError),
    /// vLLM: not as many rates as drafts.
    #[error("synthetic_acceptance_rates has {found} entries for {drafts} drafts")]
    RateCount {
        /// Entries.
        found: usize,
        /// Draft positions.
        drafts: u32,
    },
    /// vLLM: a value that is no list of numbers.
    #[error("synthetic_acceptance_rates '{0}' is no list of numbers")]
    NoRates(String),
    /// An argument that this build does not have.
    #[error("this build has no {name}")]
    NoArgument {
        /// The argument.
        name: &'static str,
    },
}

/// How a server dies at its first verify step.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Crash {
    /// No method of that name; letter case and blanks count.
    #[error("ValueError: Invalid simulate_acc_method: {0}")]
    Method(String),
    /// No token mode of that name.
    #[error("'{0}' is no token mode")]
    TokenMode(String),
    /// Real draft tokens where drafts form a tree, or come from n-grams.
    #[error("SGLANG_SIMULATE_ACC_LEN with real draft tokens currently requires speculative_eagle_topk=1.")]
    RealTokensNeedTopkOne,
    /// The text is no number.
    #[error("{name}='{value}' is no number, and this version reads it only when it is needed")]
    Unreadable {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
    },
}

/// What no source says.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unknown {
    /// A value outside what is described.
    #[error("what this engine does with {name}={value} is not known here")]
    Value {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// A build with another setting.
    #[error("that build reads {reads}; what it does with {name} is not known here")]
    OtherSetting {
        /// What was set.
        name: &'static str,
        /// What the build reads.
        reads: &'static str,
    },
    /// TileRT is told a length without a method.
    #[error("what this engine does without {name} is not known here")]
    Missing {
        /// The setting.
        name: &'static str,
    },
}

/// What is worth knowing about a prediction.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PredictionNote {
    /// The engine cuts the length in silence.
    #[error("{} is cut to {reach} without a word: {}", General(*.asked), if *.short { "one token less than a step can emit" } else { "the most tokens that a step emits" })]
    Clamped {
        /// The length that was asked for.
        asked: f64,
        /// The largest length that can be drawn.
        reach: u32,
        /// Whether a step could emit one more.
        short: bool,
    },
    /// A length below 1 acts as 1.
    #[error("{} acts as 1: a step emits at least the target model's own token", General(*.0))]
    BelowOne(f64),
    /// The engine rounds the target once for the whole run.
    #[error("{} is rounded once to whole tokens, and the method is ignored", General(*.asked))]
    Rounded {
        /// The length that was asked for.
        asked: f64,
    },
    /// The draw is biased by its clamp.
    #[error("multinomial is a rounded and clamped normal variable: its mean is not the target")]
    Biased,
    /// The version draws `multinomial` unless told otherwise, and was not.
    #[error("no method is set, and this version then draws multinomial")]
    DefaultMultinomial,
    /// The version cannot be told a method.
    #[error("this version draws multinomial whatever {name} says")]
    MethodIgnored {
        /// The variable.
        name: &'static str,
    },
    /// DSPARK forces a length above 1 only where every draft is verified.
    #[error("holds under a verify-all schedule; with another one DSPARK does not start")]
    NeedsVerifyAll,
    /// Acceptance is counted after a finished request was cut.
    #[error(
        "without overlap scheduling a line reads slightly low (3.51 by 0.0045 at 1000 output tokens): acceptance is \
         counted after a finished request was cut"
    )]
    ReadsLow,
    /// The engine draws from a fixed sequence.
    #[error(
        "draws come from a fixed sequence, the same on every rank and in every run: the mean of a long run is off by a \
         constant"
    )]
    FixedSequence,
    /// The law of a scalar rate is inferred.
    #[error(
        "the conditional rate is inferred from the mean rate; as a conditional rate of every draft, {} would give a mean \
         of {}", General(*.rate), General(*.as_conditional)
    )]
    ScalarRate {
        /// The rate that was set.
        rate: f64,
        /// The mean accept length if it were the conditional rate.
        as_conditional: f64,
    },
}

impl PredictionNote {
    /// Whether something goes wrong; the others are only worth knowing.
    #[must_use]
    pub fn is_warning(&self) -> bool {
        !matches!(self, Self::NeedsVerifyAll | Self::FixedSequence | Self::ReadsLow)
    }

    /// The code of the same warning in `accsim env`, or one of its own.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Clamped { .. } => "clamped-to-max",
            Self::BelowOne(_) => "below-one",
            Self::Rounded { .. } => "dspark-rounds-target",
            Self::Biased => "multinomial-bias",
            Self::DefaultMultinomial | Self::MethodIgnored { .. } => "method-default-multinomial",
            Self::NeedsVerifyAll => "needs-verify-all",
            Self::ReadsLow => "reads-low",
            Self::FixedSequence => "fixed-sequence",
            Self::ScalarRate { .. } => "scalar-rate",
        }
    }
}

/// An outcome that holds if the version is another than it seems.
#[derive(Clone, Debug, PartialEq)]
pub struct Otherwise {
    /// When it holds.
    pub when: When,
    /// What happens then.
    pub outcome: Outcome,
}

/// On which side of a change a version may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// It was built before a change that is known by its pull request alone.
    Before(Change),
    /// It is a pre-release that already has what the release changed.
    Has(Release),
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Before(change) => write!(f, "a build before {change}"),
            Self::Has(release) => write!(f, "if it already has what {release} changed"),
        }
    }
}

/// Whether the ranks of one server draw alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankDraws {
    /// One sequence for all: R ranks tell about as much as one.
    Alike,
    /// Each its own.
    Own,
    /// No source says.
    NotKnown,
}
