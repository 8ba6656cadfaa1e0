//! The flags that pick one golden cell, shared by every command that takes a target.

use clap::{Args, ValueEnum};

use crate::golden::Thinking;

/// What a prefix and a method leave open.
#[derive(Args, Clone, Debug)]
pub(crate) struct CellFlags {
    /// Thinking mode of the cell
    #[arg(long, value_name = "MODE", default_value = "on")]
    pub(crate) thinking: ThinkingFlag,

    /// Draft model, where the curve depends on it (minimaxm3: a name with "gqa" has its own curve)
    #[arg(long, value_name = "NAME")]
    pub(crate) draft_model: Option<String>,

    /// How the draft samples, where the curve depends on it (kimik3 dspark): probabilistic or greedy
    #[arg(long, value_name = "METHOD")]
    pub(crate) draft_sample_method: Option<String>,
}

/// `--thinking on|off`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThinkingFlag {
    /// The model thinks.
    On,
    /// The model does not think.
    Off,
}

impl From<ThinkingFlag> for Thinking {
    fn from(flag: ThinkingFlag) -> Self {
        match flag {
            ThinkingFlag::On => Self::On,
            ThinkingFlag::Off => Self::Off,
        }
    }
}
