//! The ways in which a server comes to its accept lengths, and what the lines say about them.

use std::fmt;

use super::dispersion::Dispersion;
use super::options::RivalCell;
use super::stretches::Change;

/// A way in which a server comes to its accept lengths. The printed names are a contract with other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mechanism {
    /// Two neighbouring lengths around the target, one draw a step.
    MatchExpected,
    /// A rounded, clamped normal variable, one draw a step.
    Multinomial,
    /// The target rounded once.
    Rounded,
    /// Two neighbouring lengths, one draw a request.
    PerRequest,
    /// One length in every step, not the rounded target.
    Constant,
    /// The drafts were really judged.
    Real,
    /// Two neighbouring lengths around another value than the target.
    OtherCell,
    /// One law first, another one later.
    Mixed,
    /// A rate for each position, drawn once a request: vLLM's `synthetic_acceptance_rates`.
    PerPosition,
    /// One conditional rate for every position: ATOM before ROCm/ATOM#1948.
    Geometric,
}

impl Mechanism {
    /// The name that programs read.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MatchExpected => "match-expected",
            Self::Multinomial => "multinomial",
            Self::Rounded => "rounded",
            Self::PerRequest => "per-request",
            Self::Constant => "constant",
            Self::Real => "real",
            Self::OtherCell => "other-cell",
            Self::Mixed => "mixed",
            Self::PerPosition => "per-position",
            Self::Geometric => "geometric",
        }
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the likelihoods say.
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanisms {
    /// The law that wrote the lines; `None` when two are as likely, or none fits.
    pub best: Option<Mechanism>,
    /// Laws with an impossible line, or 1000 times less likely than the most likely one.
    pub rejected: Vec<Mechanism>,
    /// Natural log-likelihood by law, before charges for free parameters; minus infinity for an impossible line.
    pub log_likelihood: Vec<(Mechanism, f64)>,
    /// What the winning `other-cell` stands for.
    pub other: Option<Other>,
    /// The one length that every step shows, if it is one.
    pub constant: Option<u32>,
    /// Where the law changes, when it does so within the log (`mixed`).
    pub change: Option<Change>,
    /// Golden cells that the lines fit as well as they fit the target, or the other cell that was identified.
    pub cells_alike: Vec<RivalCell>,
    /// Mean of a two-point law at no known value, where it explains the lines as well as the best of the others.
    pub unknown_target: Option<f64>,
    /// Scatter of the steady lines about the law at the target; about the law at the mean where no target is known.
    pub dispersion: Option<Dispersion>,
    /// The target's own law is rejected in favour of one that fits.
    pub is_target_beaten: bool,
}

/// A value that was simulated in place of the target.
#[derive(Clone, Debug, PartialEq)]
pub enum Other {
    /// A golden cell.
    Cell(RivalCell),
    /// The target plus or minus one.
    OneOff(f64),
}
