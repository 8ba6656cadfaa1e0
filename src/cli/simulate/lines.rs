//! The flags about log lines.

use clap::Args;

/// Most lines of a rank.
const MOST_LINES: u64 = 1_000_000_000;

/// `--lines` and `--decode-log-interval`.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "The log")]
pub(super) struct LineFlags {
    /// Verify steps between two lines
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) decode_log_interval: u32,

    /// Lines of one rank that are written (--emit-log) or checked (--env, --recipe)
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = lines)]
    pub(super) lines: u64,
}

fn lines(text: &str) -> Result<u64, String> {
    let lines = text.parse().ok().filter(|lines| (1..=MOST_LINES).contains(lines));
    lines.ok_or_else(|| format!("expected a whole number from 1 to {MOST_LINES}"))
}
