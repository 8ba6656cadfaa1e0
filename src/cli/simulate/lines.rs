//! The flags about log lines.

use clap::Args;

use crate::cli::number::whole;

/// Most lines of a rank.
const MOST_LINES: u64 = 1_000_000_000;

/// `--lines` and `--decode-log-interval`.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "The log")]
pub(super) struct LineFlags {
    /// Verify steps between two lines
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = whole::<u32>(1..=1_000_000))]
    pub(super) decode_log_interval: u32,

    /// Lines of one rank that are written (--emit-log) or checked (--env, --recipe)
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = whole::<u64>(1..=MOST_LINES))]
    pub(super) lines: u64,
}
