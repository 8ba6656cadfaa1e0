//! Options that every command takes, before or after its name.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Options of every command.
#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// Read the golden curves of DIR instead of the compiled-in ones
    #[arg(long, value_name = "DIR", env = "ACCSIM_GOLDEN_DIR", hide_env_values = true, global = true)]
    pub(crate) golden_dir: Option<PathBuf>,

    /// Colour on a terminal: auto, always or never (NO_COLOR counts as never under auto)
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: Color,

    /// Use N threads [default: one per core]
    #[arg(long, value_name = "N", global = true)]
    pub(crate) threads: Option<std::num::NonZeroUsize>,

    /// Say less: no notes and no progress on stderr
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Say more; twice for everything
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
