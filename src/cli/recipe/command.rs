//! Flags of `accsim recipe`, and its subcommands.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::Exit;
use crate::cli::format::RESULT;
use crate::cli::global::Global;
use crate::cli::select::ThinkingFlag;
use crate::recipe::Date;

use super::{check, inject};

/// Recipes and launchers: check what they pin, write the golden value
#[derive(Debug, Subcommand)]
pub(crate) enum RecipeCommand {
    /// Check what recipes and launchers pin; exit code 1 if one is wrong
    ///
    /// Read are srt-slurm recipes, shell launchers and Slurm batch files, docker-compose files, Dockerfiles, .env files, and
    /// the JSON of vLLM's --speculative-config. A file of another kind is no fault, unless no file is of a known one: then
    /// nothing can be decided (exit code 3).
    Check(Box<CheckArgs>),
    /// Write the golden value into a recipe and leave every other byte alone
    ///
    /// Prints the new file, unless --in-place or -o says where it goes. Every server that drafts gets the value of the
    /// generation role's cell, in its engine's own unit; what would win over it is taken away. Nothing is written unless all
    /// variants can be.
    Inject(Box<InjectArgs>),
}

/// Flags of `recipe inject`.
#[derive(Args, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    clippy::doc_markdown,
    reason = "each flag is one, and the texts are help"
)]
pub(crate) struct InjectArgs {
    /// The recipe, with :SELECTOR for some of its variants
    pub(crate) recipe: String,

    /// The framework: sglang, vllm, trt, atom, tilert, and their dynamo- and -disagg forms
    #[arg(long, value_name = "FRAMEWORK")]
    pub(crate) framework: String,

    /// Model prefix: dsv41flash, glm5.2
    #[arg(long, value_name = "PREFIX")]
    pub(crate) model: Option<String>,

    /// Thinking mode [default: what the recipe declares, else on]
    #[arg(long, value_name = "MODE")]
    pub(crate) thinking: Option<ThinkingFlag>,

    /// Take every setting of simulated acceptance away, as an evaluation needs it
    #[arg(long)]
    pub(crate) eval_only: bool,

    /// Take EVAL_ONLY, IS_AGENTIC, SPEC_DECODING, MODEL_PREFIX and THINKING_MODE from the environment
    #[arg(long)]
    pub(crate) from_env: bool,

    /// A path that the caller takes away by itself (srtctl apply --unset); refused if it would remove what is injected
    #[arg(long, value_name = "PATH")]
    pub(crate) unset: Vec<String>,

    /// Replace the recipe
    #[arg(long, conflicts_with_all = ["output", "overrides"], help_heading = RESULT)]
    pub(crate) in_place: bool,

    /// Write the new recipe to FILE
    #[arg(short, long, value_name = "FILE", conflicts_with = "overrides", help_heading = RESULT)]
    pub(crate) output: Option<PathBuf>,

    /// Print arguments for srtctl apply instead, one word a line
    #[arg(long)]
    pub(crate) overrides: bool,
}

/// Flags of `recipe check`.
#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Files, directories, or - for stdin; FILE.yaml:SELECTOR for some variants [default: paths of accsim.toml]
    pub(crate) paths: Vec<String>,

    /// Model prefix: dsv41flash, glm5.2 [default: what the file says]
    #[arg(long, value_name = "PREFIX")]
    pub(crate) model: Option<String>,

    /// Thinking mode [default: what the file declares, else on]
    #[arg(long, value_name = "MODE")]
    pub(crate) thinking: Option<ThinkingFlag>,

    /// A master configuration whose entries pin recipes; may be given more than once
    #[arg(long, value_name = "FILE")]
    pub(crate) master: Vec<PathBuf>,

    /// Check only what a change touches: files that differ from where this revision and HEAD part
    #[arg(long, value_name = "REV")]
    pub(crate) base: Option<String>,

    /// The configuration [default: accsim.toml here or in a folder above]
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    pub(crate) config: Option<PathBuf>,

    /// Read no configuration
    #[arg(long)]
    pub(crate) no_config: bool,

    /// The day against which exceptions expire [default: today, UTC]
    #[arg(long, value_name = "DATE")]
    pub(crate) today: Option<Date>,

    /// Exit with 0, not 3, where no file is of a known kind
    #[arg(long)]
    pub(crate) skip_unknown: bool,

    /// Write the result to FILE
    #[arg(short, long, value_name = "FILE", help_heading = RESULT)]
    pub(crate) output: Option<PathBuf>,

    /// How to print the result
    #[arg(long, value_name = "FORMAT", default_value = "text", overrides_with = "json", help_heading = RESULT)]
    pub(crate) format: CheckFormat,

    /// The same as --format json
    #[arg(long, overrides_with = "format", help_heading = RESULT)]
    pub(crate) json: bool,
}

/// `--format` of `recipe check`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For people
    Text,
    /// One document
    Json,
    /// SARIF 2.1.0, as GitHub code scanning takes it
    Sarif,
    /// Test cases for a CI system
    Junit,
    /// Annotations of a GitHub Actions workflow
    Github,
}

pub(crate) fn run(
    command: &RecipeCommand,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    match command {
        RecipeCommand::Check(args) => check::run(args, global, out, err),
        RecipeCommand::Inject(args) => inject::run(args, global, out, err),
    }
}
