//! What a check reports.

use std::fmt;
use std::sync::Arc;

use crate::engine::Engine;
use crate::golden::{Severity, Thinking};
use crate::yaml::Position;

use super::Role;

/// The kinds of [`Finding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingCode {
    /// The pin is not the golden value.
    AlMismatch,
    /// A server that drafts has no pin.
    AlMissing,
    /// A pin in an evaluation recipe.
    AlOnEval,
    /// A pin on a server that drafts nothing.
    AlOnNonspeculativeRole,
    /// The pin lies outside of 1 to draft length + 1.
    AlAboveMax,
    /// SGLang: the pin has no law beside it.
    MethodMissing,
    /// The law is another one.
    MethodNotMatchExpected,
    /// SGLang: the pin has no token mode beside it.
    TokenModeMissing,
    /// TensorRT-LLM: the accept length itself, where the variable counts drafts.
    TrtllmOffByOne,
    /// The pin is the other thinking mode's value.
    ThinkingModeConflict,
    /// No curve, or none of its cells.
    NoGoldenCurve,
    /// Another role's pin than the generation role's.
    RolesDisagree,
    /// The global environment takes the role's pin away.
    GlobalEnvOverridesRole,
    /// Something that is no number, or that only the run resolves.
    UnparsableValue,
}

impl FindingCode {
    /// Every code.
    pub const ALL: [Self; 14] = [
        Self::AlMismatch,
        Self::AlMissing,
        Self::AlOnEval,
        Self::AlOnNonspeculativeRole,
        Self::AlAboveMax,
        Self::MethodMissing,
        Self::MethodNotMatchExpected,
        Self::TokenModeMissing,
        Self::TrtllmOffByOne,
        Self::ThinkingModeConflict,
        Self::NoGoldenCurve,
        Self::RolesDisagree,
        Self::GlobalEnvOverridesRole,
        Self::UnparsableValue,
    ];

    /// The name that JSON, allow-lists and messages use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AlMismatch => "al-mismatch",
            Self::AlMissing => "al-missing",
            Self::AlOnEval => "al-on-eval",
            Self::AlOnNonspeculativeRole => "al-on-nonspeculative-role",
            Self::AlAboveMax => "al-above-max",
            Self::MethodMissing => "method-missing",
            Self::MethodNotMatchExpected => "method-not-match-expected",
            Self::TokenModeMissing => "token-mode-missing",
            Self::TrtllmOffByOne => "trtllm-off-by-one",
            Self::ThinkingModeConflict => "thinking-mode-conflict",
            Self::NoGoldenCurve => "no-golden-curve",
            Self::RolesDisagree => "roles-disagree",
            Self::GlobalEnvOverridesRole => "global-env-overrides-role",
            Self::UnparsableValue => "unparsable-value",
        }
    }

    /// What it means, in one sentence.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::AlMismatch => "The pinned accept length is not the golden value.",
            Self::AlMissing => "A speculative server of an agentic benchmark has no pinned accept length.",
            Self::AlOnEval => "An evaluation run simulates acceptance.",
            Self::AlOnNonspeculativeRole => "A server that drafts nothing has a pinned accept length.",
            Self::AlAboveMax => "The pinned accept length lies outside of 1 to draft length + 1.",
            Self::MethodMissing => "The simulation method is not set beside the accept length.",
            Self::MethodNotMatchExpected => "The simulation method is not match-expected.",
            Self::TokenModeMissing => "The token mode is not set beside the accept length.",
            Self::TrtllmOffByOne => {
                "The TensorRT-LLM variable holds the accept length; it counts accepted drafts, which is one less."
            }
            Self::ThinkingModeConflict => "The pinned accept length is that of the other thinking mode.",
            Self::NoGoldenCurve => "There is no golden value to compare with.",
            Self::RolesDisagree => "A role has another accept length than the generation role.",
            Self::GlobalEnvOverridesRole => {
                "The global environment is applied last and replaces the role's accept length."
            }
            Self::UnparsableValue => "A value is no number, or only the run resolves it.",
        }
    }
}

impl fmt::Display for FindingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for FindingCode {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|code| code.name() == name).ok_or_else(|| name.to_owned())
    }
}

/// One fault of one role.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The file that it is about.
    pub file: Arc<str>,
    /// Where.
    pub at: Position,
    /// The variant of the recipe; none where it has none.
    pub variant: Option<String>,
    /// The role.
    pub role: Role,
    /// Its engine.
    pub engine: Option<Engine>,
    /// Tokens that this role drafts per verify step.
    pub draft_length: Option<u32>,
    /// The golden curve.
    pub curve: Option<String>,
    /// The thinking mode that was compared.
    pub thinking: Thinking,
    /// The pinned accept length, in tokens a verify step for every engine.
    pub pinned: Option<f64>,
    /// The golden accept length of the generation role's cell.
    pub expected: Option<f64>,
    /// What kind of fault.
    pub code: FindingCode,
    /// How much it weighs.
    pub severity: Severity,
    /// The fault in words.
    pub message: String,
    /// Where each part of it stands.
    pub evidence: Vec<Evidence>,
}

/// Where a part of a finding stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// Which part: `pin`, `method`, `draft-length`, `engine`, `model`, `thinking`, `global`.
    pub part: &'static str,
    /// The file, where it is not the finding's.
    pub file: Option<Arc<str>>,
    /// Where.
    pub at: Position,
    /// The value there.
    pub value: String,
}

/// Something worth knowing that is no finding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Note {
    /// The file.
    pub file: Arc<str>,
    /// Where.
    pub at: Position,
    /// What.
    pub message: String,
}
