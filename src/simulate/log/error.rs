//! Why a log cannot be planned.

use std::ops::RangeInclusive;

use super::sglang::{NEWEST, OLDEST};
use crate::engine::EngineVersion;

/// Why a log cannot be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// No lines of this release are known.
    #[error("SGLang {0}: the lines of {OLDEST} to {NEWEST} are known")]
    Version(EngineVersion),
    /// The release does not print such a field.
    #[error("SGLang {version} prints no {what}; {since} is the first that does")]
    NotPrinted {
        /// What was asked for.
        what: &'static str,
        /// The release.
        version: EngineVersion,
        /// The first that has it.
        since: &'static str,
    },
    /// A number outside its range.
    #[error("{what} must lie between {low} and {high}, found {found}")]
    Range {
        /// The number.
        what: &'static str,
        /// Smallest value.
        low: u64,
        /// Largest value.
        high: u64,
        /// What was given.
        found: u64,
    },
    /// A range that ends before it begins.
    #[error("{what}: {low} is above {high}")]
    Empty {
        /// The range.
        what: &'static str,
        /// Its lower end.
        low: u32,
        /// Its upper end.
        high: u32,
    },
    /// A group that does not divide evenly.
    #[error("{parts} {of} ranks do not divide {whole} tensor-parallel ranks evenly")]
    Division {
        /// The group.
        of: &'static str,
        /// Its size.
        parts: u32,
        /// Tensor-parallel ranks.
        whole: u32,
    },
    /// Rates of exclusive damage add up to more than one.
    #[error(
        "truncated, interleaved, duplicated and glued lines are more than all lines: their rates add up to {0}"
    )]
    Damage(String),
    /// Damage to lines of an engine other than SGLang.
    #[error(
        "only SGLang's lines can be cut, mixed, repeated, glued or coloured; wrappers and crlf suit every engine"
    )]
    DamageOfLines,
    /// No server, so no line.
    #[error("a log needs at least one run of a server")]
    NoRun,
}

impl PlanError {
    /// Checks a number against its range.
    pub(super) fn range(what: &'static str, found: u32, low: u32, high: u32) -> Result<(), Self> {
        if (low..=high).contains(&found) {
            Ok(())
        } else {
            Err(Self::Range { what, low: low.into(), high: high.into(), found: found.into() })
        }
    }

    /// Checks both ends of a range.
    pub(super) fn ordered(what: &'static str, range_of: &RangeInclusive<u32>, most: u32) -> Result<(), Self> {
        let (low, high) = (*range_of.start(), *range_of.end());
        Self::range(what, low, 1, most)?;
        Self::range(what, high, 1, most)?;
        if low > high { Err(Self::Empty { what, low, high }) } else { Ok(()) }
    }
}
