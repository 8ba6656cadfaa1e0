//! What a run was supposed to show.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AcceptLength, AcceptLengthError};

/// Thinking mode of a golden cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Thinking {
    /// `thinking_on`
    #[serde(rename = "thinking_on")]
    On,
    /// `thinking_off`
    #[serde(rename = "thinking_off")]
    Off,
    /// The file is of an older form that names no mode.
    #[serde(rename = "unstated")]
    Unstated,
}

impl Thinking {
    /// The key that curve files use.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::On => "thinking_on",
            Self::Off => "thinking_off",
            Self::Unstated => "unstated",
        }
    }
}

impl fmt::Display for Thinking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

/// One cell of one golden curve, as a lookup found it.
#[derive(Clone, Debug, PartialEq)]
pub struct GoldenCell {
    /// Curve name: the file name without its extension.
    pub curve: String,
    /// The file's one model key.
    pub model: String,
    /// Drafting method in lower case: `mtp`, `eagle3`, `dspark`.
    pub method: String,
    /// Mode the value was taken from.
    pub thinking: Thinking,
    /// Tokens drafted per verify step.
    pub draft_length: u32,
    /// Where the value was measured: a run, a repository, or the file itself.
    pub source: String,
}

/// Who set the target.
#[derive(Clone, Debug, PartialEq)]
pub enum TargetOrigin {
    /// A golden curve.
    Golden(GoldenCell),
    /// A number that the user gave: labelled as not golden wherever it is shown.
    Explicit,
    /// The settings that the server was given, as they stand in a file.
    Injected {
        /// What kind of file.
        source: SettingSource,
        /// File and line.
        place: String,
    },
}

/// Where settings of a simulation were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SettingSource {
    /// The server's own log: an echo of the launcher.
    Log,
    /// An environment dump, a shell's trace, or a server-info document.
    Env,
    /// A recipe.
    Recipe,
}

impl SettingSource {
    /// The name that programs read.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Env => "env",
            Self::Recipe => "recipe",
        }
    }
}

/// An accept length to force or to audit, with the most tokens one verify step can emit.
///
/// The length may lie above the maximum: some engines clamp, some refuse, and that is theirs to say.
///
/// ```
/// use accsim::golden::Target;
///
/// let target = Target::explicit(3.51, 6)?;
/// assert_eq!(target.accept_length().get(), 3.51);
/// assert_eq!(target.max_accept_length(), 6);
/// assert!(!target.is_above_max());
/// # Ok::<(), accsim::golden::TargetError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    accept_length: AcceptLength,
    max_accept_length: u32,
    origin: TargetOrigin,
}

/// Why a target cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum TargetError {
    /// The length itself is invalid.
    #[error(transparent)]
    AcceptLength(#[from] AcceptLengthError),
    /// No verify step can emit fewer than one token.
    #[error("the largest accept length is at least 1, found 0")]
    MaxIsZero,
}

impl Target {
    /// A target that the user gave in numbers; both in tokens per verify step.
    pub fn explicit(accept_length: f64, max_accept_length: u32) -> Result<Self, TargetError> {
        Self::build(AcceptLength::new(accept_length)?, max_accept_length, TargetOrigin::Explicit)
    }

    /// The target that the server was given.
    pub fn injected(
        accept_length: f64,
        max_accept_length: u32,
        source: SettingSource,
        place: String,
    ) -> Result<Self, TargetError> {
        let origin = TargetOrigin::Injected { source, place };
        Self::build(AcceptLength::new(accept_length)?, max_accept_length, origin)
    }

    /// The target of a golden cell: a step of draft length K emits at most K + 1 tokens.
    pub fn golden(accept_length: AcceptLength, cell: GoldenCell) -> Result<Self, TargetError> {
        let max = cell.draft_length.saturating_add(1);
        Self::build(accept_length, max, TargetOrigin::Golden(cell))
    }

    fn build(accept_length: AcceptLength, max: u32, origin: TargetOrigin) -> Result<Self, TargetError> {
        if max == 0 {
            return Err(TargetError::MaxIsZero);
        }
        Ok(Self { accept_length, max_accept_length: max, origin })
    }

    /// Tokens per verify step that the run should show.
    #[must_use]
    pub fn accept_length(&self) -> AcceptLength {
        self.accept_length
    }

    /// Most tokens one verify step can emit (M).
    #[must_use]
    pub fn max_accept_length(&self) -> u32 {
        self.max_accept_length
    }

    /// Who set it.
    #[must_use]
    pub fn origin(&self) -> &TargetOrigin {
        &self.origin
    }

    /// The golden cell, where the target is one.
    #[must_use]
    pub fn cell(&self) -> Option<&GoldenCell> {
        match &self.origin {
            TargetOrigin::Golden(cell) => Some(cell),
            TargetOrigin::Explicit | TargetOrigin::Injected { .. } => None,
        }
    }

    /// Whether the length exceeds what one step can emit.
    #[must_use]
    pub fn is_above_max(&self) -> bool {
        self.accept_length.get() > f64::from(self.max_accept_length)
    }
}
