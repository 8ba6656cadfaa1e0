//! The flags of `accsim audit` for many runs at once.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::ensure;
use clap::Args;

const HEADING: &str = "Many runs";

/// Flags of `accsim audit` about manifests.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct FleetFlags {
    /// Audit the runs that FILE lists, one a row: CSV with a heading, or JSON lines; - for standard input
    ///
    /// Columns: path (relative to FILE), the flags of an audit by their names with underscores, and labels as `label_NAME`, in JSON
    /// lines as an object under labels. What a row leaves out is as on the command line. A row that fails does not stop the
    /// others.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["paths", "follow", "recover_seed"])]
    pub(crate) manifest: Option<PathBuf>,

    /// Keep each row's result in FILE as soon as it is there, and take from it what an earlier, interrupted audit has done
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,

    /// Write what the logs add to their points in place of verdicts: small parts, which accsim merge puts together
    #[arg(long, conflicts_with_all = ["follow", "recover_seed"])]
    pub(crate) partial: bool,

    /// With --partial: all logs are of the point with this name
    #[arg(long, value_name = "NAME", requires = "partial", conflicts_with = "manifest")]
    pub(crate) point: Option<String>,

    /// Of the manifest's rows audit only every N-th, from the I-th on (1/16 to 16/16)
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,

    /// Audit no row, and say of each why: for whoever spreads rows over machines and lost one at them
    #[arg(long, value_name = "WHY", requires = "manifest", requires = "partial", hide = true)]
    pub(crate) failure: Option<String>,
}

impl FleetFlags {
    /// Refuses flags about rows where no manifest lists any.
    pub(in crate::cli) fn check(&self) -> anyhow::Result<()> {
        let flags = [("--journal", self.journal.is_some()), ("--shard", self.shard.is_some())];
        for (flag, is_given) in flags {
            ensure!(
                !is_given || self.manifest.is_some(),
                "{flag} is about the rows of a manifest: name one by --manifest FILE"
            );
        }
        Ok(())
    }
}

/// Every n-th row, from the i-th on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    index: u64,
    of: NonZeroU64,
}

impl Shard {
    /// Whether the row with this number, from 1, is of the shard.
    pub(super) fn holds(self, row: u64) -> bool {
        row.saturating_sub(1) % self.of == self.index - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts =
            text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((index, of)) if (1..=NonZeroU64::get(of)).contains(&index) => Ok(Self { index, of }),
            _ => Err("expected I/N with I from 1 to N, as 3/16".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_of_one_shard() {
        let shards: Vec<Shard> = (1..=3).map(|index| format!("{index}/3").parse().unwrap()).collect();
        for row in 1..100 {
            assert_eq!(shards.iter().filter(|shard| shard.holds(row)).count(), 1);
        }
        for text in ["", "1", "0/3", "4/3", "1/0", "a/b", "-1/3", "1/3/5"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
