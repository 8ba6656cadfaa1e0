//! The flags of `accsim audit`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::audit::{Confidence, Margin, Moment};
use crate::cli::fleet::FleetFlags;
use crate::cli::format::{RESULT, ReportFlags};
use crate::cli::limits::LimitFlags;
use crate::cli::number::{decimal, whole};
use crate::cli::replay::ReplayFlags;
use crate::cli::select::CellFlags;
use crate::engine::Engine;
use crate::evidence::PointBy;

const GOLDEN: &str = "Target: a golden cell";
const EXPLICIT: &str = "Target: a number";
const INJECTED: &str =
    "Target: what the run was told [default: as the log echoes it, or a file beside the log says]";
const JUDGEMENT: &str = "How to judge";
const SCOPE: &str = "Which lines count";
const FOLLOW: &str = "Logs that grow";

const USAGE: &str = "\
accsim audit [OPTIONS] <PATH>... --model <PREFIX> --method <METHOD> --draft-length <K>
       accsim audit [OPTIONS] <PATH>... --accept-length <AL> [--max-accept-length <M>]
       accsim audit [OPTIONS] <PATH>... --env <FILE> | --recipe <FILE>
       accsim audit [OPTIONS] <PATH>... --expect-real
       accsim audit [OPTIONS] <PATH>... --follow [--idle-exit <SECONDS>]
       accsim audit [OPTIONS] --manifest <FILE> [--journal <FILE>] [--shard <I/N>]
       accsim audit [OPTIONS] <PATH>... --partial [-o <PART>]";

/// Flags of `accsim audit`.
#[derive(Args, Clone, Debug)]
#[command(override_usage = USAGE)]
pub(crate) struct AuditArgs {
    /// Server logs: files, directories, or - for standard input; each path is one run of one server
    #[arg(required_unless_present = "manifest", value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,

    /// Model prefix of a golden curve
    #[arg(long, value_name = "PREFIX", help_heading = GOLDEN, requires = "method")]
    #[arg(conflicts_with_all = ["accept_length", "max_accept_length"])]
    pub(super) model: Option<String>,

    /// Drafting method: mtp, eagle3, dspark, or an alias
    #[arg(long, value_name = "METHOD", help_heading = GOLDEN, requires = "draft_length")]
    pub(super) method: Option<String>,

    /// Draft length: tokens drafted per verify step
    #[arg(long, value_name = "K", help_heading = GOLDEN, requires = "model")]
    #[arg(value_parser = whole::<u32>(1..))]
    pub(super) draft_length: Option<u32>,

    #[command(flatten, next_help_heading = GOLDEN)]
    pub(super) cell: CellFlags,

    /// Tokens per verify step that the run should show, the target model's own included
    #[arg(long, value_name = "AL", help_heading = EXPLICIT, allow_hyphen_values = true, value_parser = decimal)]
    pub(super) accept_length: Option<f64>,

    /// Most tokens that one verify step can emit: draft length + 1 [default: as the server's arguments in the log say]
    #[arg(long, value_name = "M", help_heading = EXPLICIT, requires = "accept_length", value_parser = whole::<u32>(..))]
    pub(super) max_accept_length: Option<u32>,

    /// What the run was told: an environment, an env file, a `set -x` trace or a server-info document
    #[arg(long, value_name = "FILE", help_heading = INJECTED)]
    pub(super) env: Option<PathBuf>,

    /// What the run was told: its recipe
    #[arg(long, value_name = "FILE", help_heading = INJECTED, conflicts_with = "env")]
    pub(super) recipe: Option<PathBuf>,

    /// Engine that wrote the logs
    #[arg(long, value_name = "ENGINE", default_value = "auto", help_heading = SCOPE)]
    pub(super) engine: LogEngine,

    /// How far the mean may lie from the target: a share of it (2%), or tokens (0.05)
    #[arg(long, value_name = "MARGIN", default_value = "2%", help_heading = JUDGEMENT, allow_hyphen_values = true)]
    pub(super) margin: Margin,

    /// Confidence of the interval that decides
    #[arg(long, value_name = "SHARE", default_value = "0.95", help_heading = JUDGEMENT, allow_hyphen_values = true)]
    pub(super) confidence: Confidence,

    /// Verify steps per decode line [default: as the log says, else as its values say, else 40]
    #[arg(long, value_name = "N", help_heading = JUDGEMENT, value_parser = whole::<u32>(1..))]
    pub(super) decode_log_interval: Option<u32>,

    /// The run is an evaluation: any sign of simulated acceptance is wrong
    #[arg(long, help_heading = JUDGEMENT)]
    #[arg(conflicts_with_all = ["model", "method", "draft_length", "accept_length", "max_accept_length", "margin"])]
    pub(super) expect_real: bool,

    /// Count decode lines from this time on: 2026-10-12T01:02:03, or coarser, or a time of day
    #[arg(long, value_name = "T", help_heading = SCOPE)]
    pub(super) since: Option<Moment>,

    /// Count decode lines up to this time, it included
    #[arg(long, value_name = "T", help_heading = SCOPE)]
    pub(super) until: Option<Moment>,

    /// Pass over the first N decode lines of each rank of a point (warm-up)
    #[arg(long, value_name = "N", help_heading = SCOPE, default_value_t = 0, hide_default_value = true)]
    #[arg(value_parser = whole::<u64>(..))]
    pub(super) skip_lines: u64,

    /// What makes a point, one run of one server
    #[arg(long, value_name = "WHAT", default_value = "path", help_heading = SCOPE)]
    pub(super) point_by: PointByFlag,

    /// Read on while the logs grow, and end as soon as every point is decided
    ///
    /// Looks four times a second, with a test that may be looked at that often. Goes on when a file is rotated (renamed, or
    /// cut to nothing), waits for files that are not there yet, and reads standard input to its end. Ctrl-C ends it without
    /// a report.
    #[arg(long, help_heading = FOLLOW, conflicts_with_all = ["expect_real", "recover_seed"])]
    pub(super) follow: bool,

    /// With --follow: end when no log has had a new decode line for so many seconds; what is undecided then is
    /// insufficient [default: never]
    #[arg(long, value_name = "SECONDS", help_heading = FOLLOW, requires = "follow", value_parser = seconds)]
    #[arg(allow_hyphen_values = true)]
    pub(super) idle_exit: Option<Duration>,

    #[command(flatten)]
    pub(in crate::cli) fleet: FleetFlags,

    #[command(flatten)]
    pub(super) replay: ReplayFlags,

    #[command(flatten)]
    pub(super) limits: LimitFlags,

    #[command(flatten)]
    pub(in crate::cli) format: ReportFlags,

    /// Write the result to FILE in place of standard output; as text to a FILE.svg: draw the points
    #[arg(short, long, value_name = "FILE", help_heading = RESULT)]
    pub(in crate::cli) output: Option<PathBuf>,

    /// Write a page to look at to FILE, too: plots, a table that sorts, the sign-off text
    #[arg(long, value_name = "FILE", help_heading = RESULT, conflicts_with_all = ["manifest", "partial"])]
    pub(super) html: Option<PathBuf>,
}

/// `--engine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LogEngine {
    /// Whatever the lines look like
    Auto,
    /// SGLang
    Sglang,
    /// vLLM
    Vllm,
    /// TensorRT-LLM: its log never shows acceptance
    Trtllm,
    /// ATOM
    Atom,
    /// TileRT: no evidence of it is known
    Tilert,
}

impl LogEngine {
    pub(super) fn engine(self) -> Option<Engine> {
        match self {
            Self::Auto => None,
            Self::Sglang => Some(Engine::Sglang),
            Self::Vllm => Some(Engine::Vllm),
            Self::Trtllm => Some(Engine::Trtllm),
            Self::Atom => Some(Engine::Atom),
            Self::Tilert => Some(Engine::Tilert),
        }
    }
}

/// `--point-by`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PointByFlag {
    /// Each path, but one point a worker where files have srt-slurm's names
    Path,
    /// Each folder that holds logs
    Dir,
    /// Each worker where files have srt-slurm's names, each other file for itself
    Worker,
    /// As worker, and every restart, cache flush or clock that jumps back begins another point
    Segment,
}

impl From<PointByFlag> for PointBy {
    fn from(flag: PointByFlag) -> Self {
        match flag {
            PointByFlag::Path => Self::Path,
            PointByFlag::Dir => Self::Directory,
            PointByFlag::Worker | PointByFlag::Segment => Self::Worker,
        }
    }
}

/// Reads `--idle-exit`.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0);
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| "expected a number of seconds above 0".to_owned())
}
