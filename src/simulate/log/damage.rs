//! What happens to a log on its way to a file: cuts, writers that share it, copies, colours, and wrappers.

mod parse;
mod spoil;
mod wrap;

use std::fmt;

use super::error::PlanError;

pub(super) use spoil::{Record, Records, Spoiler};
pub(super) use wrap::physical_line;

/// A share of the lines, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Rate(f64);

impl Rate {
    /// No line.
    pub const NEVER: Self = Self(0.0);

    /// Checks a share; `None` unless it lies between 0 and 1.
    #[must_use]
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then_some(Self(share))
    }

    /// The share.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Damage and wrappers, read from a text such as `truncated=0.01,glued=1%,crlf,docker`.
///
/// The first four exclude each other on a line and strike decode lines only.
///
/// ```
/// use accsim::simulate::log::{Damage, Wrapper};
///
/// let damage: Damage = "truncated=0.01,glued=1%,docker".parse()?;
/// assert_eq!(damage.truncated, damage.glued);
/// assert_eq!(damage.wrapper, Wrapper::Docker);
/// assert!("shredded=0.5".parse::<Damage>().is_err());
/// # Ok::<(), accsim::simulate::log::DamageError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Damage {
    /// Cut somewhere before their last field.
    pub truncated: Rate,
    /// Another writer's line stands in the middle: the rest follows on a line of its own, or behind that line.
    pub interleaved: Rate,
    /// Written twice.
    pub duplicated: Rate,
    /// No line break before the next record.
    pub glued: Rate,
    /// Terminal colours; any line, where no other damage is.
    pub coloured: Rate,
    /// Lines end in CR and LF.
    pub crlf: bool,
    /// What the whole file is wrapped in.
    pub wrapper: Wrapper,
}

/// What the whole file is wrapped in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Wrapper {
    /// Nothing.
    #[default]
    None,
    /// Lines of Docker's `json-file` driver.
    Docker,
    /// Lines of the container runtime: `time stderr F text`.
    Cri {
        /// Share of the lines that it wrote in two parts.
        split: Rate,
    },
    /// `srun --label`: the task in front of every line.
    Srun,
}

/// A text that says nothing about damage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DamageError {
    /// No such damage.
    #[error(
        "unknown damage '{0}'; known are truncated, interleaved, duplicated, glued and ansi with a rate, crlf, \
         docker, cri (with a rate: split lines) and srun"
    )]
    Name(String),
    /// No share of lines.
    #[error("damage '{name}': expected a rate from 0 to 1, or in percent, found '{found}'")]
    Rate {
        /// The damage.
        name: &'static str,
        /// What was given.
        found: String,
    },
    /// A rate where none belongs.
    #[error("damage '{0}' has no rate: it holds for all lines")]
    NoRate(&'static str),
    /// Two of them at once.
    #[error("docker, cri and srun wrap a whole file: give one of them")]
    TwoWrappers,
}

impl Damage {
    /// Whether lines are written as the server writes them.
    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The exclusive rates cannot be more than all lines.
    pub(super) fn check(&self) -> Result<(), PlanError> {
        let sum = self.truncated.0 + self.interleaved.0 + self.duplicated.0 + self.glued.0;
        // Rates in tenths add up to a little more than 1 now and then.
        if sum > 1.0 + 1e-9 { Err(PlanError::Damage(sum.to_string())) } else { Ok(()) }
    }

    /// Where lines are not SGLang's, nothing is known of how a reader takes their damage.
    pub(super) fn check_wrappers(&self) -> Result<(), PlanError> {
        let wrappers = Self { crlf: self.crlf, wrapper: self.wrapper, ..Self::default() };
        if *self == wrappers { Ok(()) } else { Err(PlanError::DamageOfLines) }
    }
}
