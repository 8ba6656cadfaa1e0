//! Flags about the server's own draws.

use clap::{Args, ValueEnum};

use super::audit::Wanted;
use crate::audit::{ReplayMode, RivalCell};
use crate::replay::{DrawMethod, ReplayOptions, StatedTarget};

const HEADING: &str = "Replay: the server's own random draws";

/// Flags of `accsim audit` about replay.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = HEADING)]
pub(super) struct ReplayFlags {
    /// Recompute the draws from the server's seed and lay them against the lines
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    replay: ReplayFlag,

    /// The server's random seed, where the log does not name it
    #[arg(long, value_name = "SEED")]
    random_seed: Option<u64>,

    /// Search the seed of a log that does not name it, among all 2^30 that a server can have picked: some minutes on a
    /// few cores. The log must begin at the server's start, and a target must be named
    #[arg(long, conflicts_with = "random_seed")]
    recover_seed: bool,

    /// Method that the searched server draws by
    #[arg(long, value_name = "METHOD", default_value = "match-expected", requires = "recover_seed")]
    recover_method: RecoverMethod,
}

/// `--recover-method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RecoverMethod {
    /// Floor or ceiling of the target
    MatchExpected,
    /// A rounded, clamped normal variable
    Multinomial,
}

/// `--replay`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReplayFlag {
    /// A proof decides where there is one
    Auto,
    /// The statistics alone decide
    Off,
    /// No point is consistent without a proof
    Require,
}

impl ReplayFlags {
    /// The seed that was given.
    pub(super) fn seed(&self) -> Option<u64> {
        self.random_seed
    }

    /// The same flags with another seed, where there is one.
    pub(super) fn with_seed(self, seed: Option<u64>) -> Self {
        Self { random_seed: seed.or(self.random_seed), ..self }
    }

    /// The method of the server whose seed is searched; `None` where none is.
    pub(super) fn recovered(&self) -> Option<DrawMethod> {
        self.recover_seed.then_some(match self.recover_method {
            RecoverMethod::MatchExpected => DrawMethod::MatchExpected,
            RecoverMethod::Multinomial => DrawMethod::Multinomial,
        })
    }

    pub(super) fn mode(&self) -> ReplayMode {
        match self.replay {
            ReplayFlag::Auto | ReplayFlag::Off => ReplayMode::Auto,
            ReplayFlag::Require => ReplayMode::Require,
        }
    }

    /// What to look for; `None` without replay.
    pub(super) fn options(
        &self,
        wanted: &Wanted,
        decode_log_interval: Option<u32>,
        cells: &[RivalCell],
    ) -> Option<ReplayOptions> {
        if self.replay == ReplayFlag::Off {
            return None;
        }
        let stated = match wanted {
            Wanted::Nothing | Wanted::Evaluation => None,
            Wanted::Known(target) => Some(StatedTarget {
                accept_length: target.accept_length().get(),
                max_accept_length: Some(target.max_accept_length()),
            }),
            Wanted::Length(length) => Some(StatedTarget { accept_length: *length, max_accept_length: None }),
        };
        Some(ReplayOptions {
            stated,
            cells: cells.iter().map(|cell| cell.accept_length.get()).collect(),
            seed: self.random_seed,
            decode_log_interval,
            keep_clues: self.recover_seed,
            ..ReplayOptions::default()
        })
    }
}
