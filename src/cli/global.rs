//! Options that every command takes, before or after its name.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread::available_parallelism;

use anstream::ColorChoice;
use clap::{Args, ValueEnum};

use super::number::whole;
use rayon::ThreadPoolBuilder;

/// Variable that stands for `--golden-dir`.
pub(crate) const GOLDEN_DIR: &str = "ACCSIM_GOLDEN_DIR";

/// Options of every command.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Options for every command")]
pub(crate) struct Global {
    /// Read the golden curves of DIR instead of the compiled-in ones
    #[arg(long, value_name = "DIR", env = GOLDEN_DIR, hide_env_values = true, global = true)]
    pub(crate) golden_dir: Option<PathBuf>,

    /// Colour on a terminal: auto, always or never (NO_COLOR counts as never under auto)
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_possible_values = true, global = true)]
    pub(crate) color: Color,

    /// Threads to work on [default: one a core]; the result is the same on any number
    #[arg(long, value_name = "N", global = true, value_parser = whole::<u16>(1..=1024))]
    pub(crate) threads: Option<u16>,

    /// Say less: no notes and no progress on stderr, no plots below the numbers of throughput
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Say more: an audit shows each of several points in full, with plots; throughput draws all its plots in place of one;
    /// audit and records show on stderr the first 100 lines that they skip, each with its place and why
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

impl Global {
    /// How many threads to work on.
    pub(crate) fn thread_count(&self) -> NonZeroUsize {
        match self.threads {
            Some(threads) => NonZeroUsize::new(usize::from(threads)).unwrap_or(NonZeroUsize::MIN),
            None => available_parallelism().unwrap_or(NonZeroUsize::MIN),
        }
    }

    /// Runs on the threads asked for.
    pub(crate) fn on_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> anyhow::Result<T> {
        match self.threads {
            None => Ok(work()),
            Some(threads) => {
                Ok(ThreadPoolBuilder::new().num_threads(usize::from(threads)).build()?.install(work))
            }
        }
    }
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// The choice in a command line that could not be parsed as a whole: what is said about it has a colour too.
    pub(crate) fn named_in(args: &[OsString]) -> Self {
        let words = args.iter().map(|word| word.to_string_lossy()).take_while(|word| word != "--");
        let mut choice = Self::Auto;
        let mut is_value = false;
        for word in words {
            let value = if is_value { Some(&*word) } else { word.strip_prefix("--color=") };
            if let Some(named) = value.and_then(|value| Self::from_str(value, false).ok()) {
                choice = named;
            }
            is_value = word == "--color";
        }
        choice
    }
}

impl From<Color> for ColorChoice {
    fn from(color: Color) -> Self {
        match color {
            Color::Auto => Self::Auto,
            Color::Always => Self::Always,
            Color::Never => Self::Never,
        }
    }
}
