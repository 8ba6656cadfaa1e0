//! What a replay found.

use super::law::DrawLaw;
use super::tally::{SideBySide, Slip};

/// What may be concluded from a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReplayStatus {
    /// The lines are what a server with this seed and this target prints.
    Proved,
    /// They are what it prints with another target or method.
    OtherTarget,
    /// The draws are known and the lines are not theirs.
    Contradicted,
    /// The draws cannot be recomputed, or decide nothing.
    Unavailable,
}

impl ReplayStatus {
    /// The name that programs read.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::OtherTarget => "other-target",
            Self::Contradicted => "contradicted",
            Self::Unavailable => "unavailable",
        }
    }
}

/// Why there is no proof.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplayReason {
    /// No line shows an accept length.
    NoLines,
    /// No `server_args` line names the seed.
    NoSeed,
    /// Every line reads the same whole number: it would under any seed.
    ConstantLog,
    /// The target draws nothing.
    ConstantLaw,
    /// The lines cannot bring the chance of an accident below 10^-9.
    TooFewLines {
        /// Decimal logarithm of the chance that they leave.
        log10_chance: f64,
    },
    /// Several laws explain the lines about as well.
    NotAlone(Vec<DrawLaw>),
    /// Lines go on at other draws too often.
    TooManySlips,
    /// No law that the server could have had draws these lines, and the statistics do not speak for the target either.
    NoLawFits,
    /// No target is known, and no law that the server could have had draws these lines.
    NoTarget,
    /// Only some lines are such a server's; the others could not be laid against draws at all.
    Partial {
        /// Lines that were laid against draws.
        checked: u64,
        /// All lines with an accept length.
        lines: u64,
    },
    /// Lines are missing so often that those between cannot be placed.
    Unplaced,
    /// Finding places for the lines takes too long.
    TooEntangled,
    /// The seed was given by hand, and no law draws these lines from it.
    GivenSeed,
    /// Windows of so many steps are not replayed.
    IntervalTooLong,
    /// Of later lines only sums are known: each draw depends on all draws before it.
    Summed,
    /// Sums of other engines' lines, of counters or of requests are judged: they do not show draws in their order.
    OtherEvidence,
}

impl Replay {
    /// Whether at least some of the lines are a simulating server's own draws.
    #[must_use]
    pub(crate) fn is_simulated(&self) -> bool {
        matches!(self.status, ReplayStatus::Proved | ReplayStatus::OtherTarget)
            || matches!(self.reason, Some(ReplayReason::Partial { .. }))
    }
}

/// What a replay found about one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// What may be concluded.
    pub status: ReplayStatus,
    /// The seed of the log's first server, or the one given by hand.
    pub seed: Option<u64>,
    /// The seeds of all its servers, each once.
    pub seeds: Vec<u64>,
    /// The law that was found, or that comes nearest where it is contradicted.
    pub law: Option<DrawLaw>,
    /// Whether anybody says how many tokens a step can emit.
    pub max_known: bool,
    /// Lines laid against draws, over all ranks.
    pub lines_checked: u64,
    /// Those that print what the draws give for a constant batch.
    pub lines_exact: u64,
    /// Those that differ as a changing batch can make them.
    pub lines_bounded: u64,
    /// Lines whose batch did not change.
    pub steady_lines: u64,
    /// Those of them that are exact.
    pub steady_exact: u64,
    /// The first line that the draws cannot print.
    pub first_mismatch: Option<SideBySide>,
    /// Draws that the lines stand for, over all ranks.
    pub draws: u64,
    /// Where lines go on at other draws; a flush whose next window begins later is among them.
    pub slips: Vec<Slip>,
    /// Decimal logarithm of the chance that an unrelated sequence fits as well, everything that was tried charged.
    pub log10_chance: Option<f64>,
    /// Why there is no proof.
    pub reason: Option<ReplayReason>,
    /// The first lines beside their draws.
    pub first_lines: Vec<SideBySide>,
}
