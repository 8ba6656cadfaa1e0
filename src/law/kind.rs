//! The laws by name.

use std::fmt;

/// A family of laws, without its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LawKind {
    /// Two neighbouring lengths, one draw a step.
    MatchExpected,
    /// A rounded, clamped normal variable, one draw a step.
    Multinomial,
    /// The same, clamped one token too low.
    ClampedShort,
    /// The target rounded once.
    Rounded,
    /// One length in every step.
    Constant,
    /// Two neighbouring lengths, one draw a request.
    PerRequest,
    /// Accepted drafts by one conditional rate.
    Geometric,
    /// Accepted drafts by an unconditional rate a position.
    PerPosition,
    /// Drafts that are really judged.
    Real,
}

impl LawKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::MatchExpected,
        Self::Multinomial,
        Self::ClampedShort,
        Self::Rounded,
        Self::Constant,
        Self::PerRequest,
        Self::Geometric,
        Self::PerPosition,
        Self::Real,
    ];

    /// The name that flags and JSON use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MatchExpected => "match-expected",
            Self::Multinomial => "multinomial",
            Self::ClampedShort => "clamped-short",
            Self::Rounded => "rounded",
            Self::Constant => "constant",
            Self::PerRequest => "per-request",
            Self::Geometric => "geometric",
            Self::PerPosition => "per-position",
            Self::Real => "real",
        }
    }
}

impl fmt::Display for LawKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
