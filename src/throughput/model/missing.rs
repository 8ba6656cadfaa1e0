//! What a log lacks, in words that say what run would help.

use serde::{Deserialize, Serialize};

/// What is missing to tell the coefficients apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Missing {
    /// Nothing tells the draft length, so tokens verified a step are not known.
    DraftLength,
    /// The log does not show how many KV tokens are held.
    KvTokens,
    /// Fewer than three batches.
    Levels {
        /// Batches that there are.
        found: Vec<u32>,
    },
    /// Contexts grow in step with the batch.
    Contexts {
        /// Largest context a request over the smallest.
        spread: f64,
    },
    /// Prefill shares the server, and the log has no prefill lines.
    PrefillLines,
    /// The design is too close to singular.
    Condition {
        /// Condition number.
        found: f64,
        /// Largest allowed.
        most: f64,
    },
    /// The law does not describe the windows.
    Residuals {
        /// Median relative residual.
        found: f64,
        /// Largest allowed.
        most: f64,
    },
    /// Too few windows.
    Windows {
        /// Windows that count.
        found: u64,
        /// Fewest that do.
        least: u64,
    },
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::DraftLength => {
                f.write_str("nothing tells how many tokens are drafted a step: name them with --draft-length")
            }
            Self::KvTokens => f.write_str(
                "the log does not say how many KV tokens are held: vLLM prints a share of its cache, so name the cache's size with \
                 --kv-cache-tokens (`GPU KV cache size` at the server's start)",
            ),
            Self::Levels { found } => write!(
                f,
                "only {} different numbers of running requests ({found:?}): run two more concurrency levels",
                found.len()
            ),
            Self::Contexts { spread } => write!(
                f,
                "contexts grow in step with the batch (a request holds the same tokens to within {:.0} %): run a second input \
                 length",
                (spread - 1.0) * 100.0
            ),
            Self::PrefillLines => write!(
                f,
                "prefill shares the server, but the log has no prefill lines: keep the server's info lines, or name a decode \
                 server with --role decode"
            ),
            Self::Condition { found, most } => write!(
                f,
                "the coefficients cannot be told apart (condition number {found:.1}, at most {most:.0}): run a second input \
                 length, and concurrency levels further apart"
            ),
            Self::Residuals { found, most } => write!(
                f,
                "the law misses the median line by {:.1} % (at most {:.0} %): look for what changed during the run, and run \
                 it again without it",
                found * 100.0,
                most * 100.0
            ),
            Self::Windows { found, least } => {
                write!(f, "only {found} steady decode lines (at least {least}): run longer")
            }
        }
    }
}
