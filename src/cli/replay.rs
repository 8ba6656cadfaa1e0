//! Flags about the server's own draws.

use clap::{Args, ValueEnum};

use super::audit::Wanted;
use super::number::whole;
use crate::audit::{Observed, ReplayMode, RivalCell};
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
    #[arg(long, value_name = "SEED", value_parser = whole::<u64>(..))]
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
    /// Refuses what does not go together.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let is_off = self.replay == ReplayFlag::Off;
        anyhow::ensure!(
            !(is_off && self.random_seed.is_some()),
            "--random-seed is for replay, and --replay off leaves that out; drop one of them"
        );
        anyhow::ensure!(
            !(is_off && self.recover_seed),
            "--recover-seed is for replay, and --replay off leaves that out; drop one of them"
        );
        Ok(())
    }

    /// What there is to say about a seed that was given for a point whose logs name their own.
    pub(super) fn about_seed(&self, seen: &Observed) -> Option<String> {
        let given = self.random_seed?;
        let named = seen.replay()?.named_seeds();
        let other = named.iter().find(|seed| **seed != given);
        match (other, named.first()) {
            (Some(other), _) => Some(format!(
                "warning: {}: --random-seed {given} is not used: the log names its own seed, {other}; give a seed only for \
                 logs without one",
                seen.name()
            )),
            (None, Some(_)) => Some(format!(
                "note: {}: the log names the seed {given} itself; --random-seed is not needed",
                seen.name()
            )),
            (None, None) => None,
        }
    }

    /// What these leave open as `base` has it: the mode unless they name one, the seed unless they do.
    pub(super) fn inherit(&self, base: &Self, has_mode: bool) -> Self {
        let replay = if has_mode { self.replay } else { base.replay };
        Self { replay, random_seed: self.random_seed.or(base.random_seed), ..base.clone() }
    }

    /// The flags as columns of a manifest.
    pub(super) fn columns(&self) -> impl Iterator<Item = (&'static str, String)> {
        let mode = match self.replay {
            ReplayFlag::Auto => None,
            ReplayFlag::Off => Some(("replay", "off".to_owned())),
            ReplayFlag::Require => Some(("replay", "require".to_owned())),
        };
        mode.into_iter().chain(self.random_seed.map(|seed| ("random_seed", seed.to_string())))
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
