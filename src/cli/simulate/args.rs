//! Flags of `accsim simulate`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{ArgAction, Args, ValueEnum};

use super::emit::EmitFlags;
use super::lines::LineFlags;
use crate::cli::format::{FormatFlags, RESULT};
use crate::cli::found::FoundFile;
use crate::cli::number::{decimal, whole};
use crate::cli::select::CellFlags;
use crate::engine::{Drafter, Engine, EngineVersion, Models, Server};

const USAGE: &str = "\
accsim simulate [OPTIONS] <PREFIX> <METHOD> <K>
       accsim simulate [OPTIONS] --accept-length <AL> --max-accept-length <M>
       accsim simulate [OPTIONS] --env <FILE> [<PREFIX> <METHOD> <K>]
       accsim simulate [OPTIONS] --recipe <FILE> [<PREFIX> <METHOD> <K>]";

const EXPLICIT: &str = "Instead of a golden cell";
const MAXIMUM: &str = "How many tokens a step can emit [default: draft length + 1]";
const LAW: &str = "The law";
const SERVER: &str = "What the server runs";
const LOAD: &str = "What is drawn";
const FOUND: &str = "Settings that a run was given";

/// Flags of `accsim simulate`.
#[derive(Args, Clone, Debug)]
#[command(override_usage = USAGE)]
pub(crate) struct SimulateArgs {
    /// Model prefix of a golden curve
    #[arg(requires = "drafting", conflicts_with_all = ["accept_length", "rates", "conditional_rates"])]
    pub(super) prefix: Option<String>,

    /// Drafting method: mtp, eagle3, dspark, or an alias
    #[arg(value_name = "METHOD", requires = "draft_length")]
    pub(super) drafting: Option<String>,

    /// Draft length: tokens drafted per verify step
    #[arg(value_name = "K", value_parser = whole::<u32>(1..))]
    pub(super) draft_length: Option<u32>,

    #[command(flatten)]
    pub(super) cell: CellFlags,

    /// Tokens per verify step, the target model's own included
    #[arg(long, value_name = "AL", help_heading = EXPLICIT, allow_hyphen_values = true, value_parser = decimal)]
    pub(super) accept_length: Option<f64>,

    /// Unconditional acceptance rate of each draft position: the share of steps that accept it and all before it
    #[arg(long, value_name = "P1,P2,..", help_heading = EXPLICIT, value_delimiter = ',', value_parser = decimal, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["accept_length", "conditional_rates"])]
    pub(super) rates: Vec<f64>,

    /// Acceptance rate of each draft position when all before it were accepted: a real head
    #[arg(long, value_name = "C1,C2,..", help_heading = EXPLICIT, value_delimiter = ',', value_parser = decimal, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["accept_length", "engine"])]
    pub(super) conditional_rates: Vec<f64>,

    /// Drafting algorithm: eagle, eagle3, nextn, mtp, standalone, ngram, dspark, dflash
    #[arg(long, value_name = "NAME", help_heading = EXPLICIT)]
    pub(super) algorithm: Option<Drafter>,

    /// Most tokens that one verify step can emit
    #[arg(long, value_name = "M", help_heading = MAXIMUM, conflicts_with_all = ["num_steps", "block_size"])]
    #[arg(value_parser = whole::<u32>(1..=1_000_000))]
    pub(super) max_accept_length: Option<u32>,

    /// EAGLE, MTP: draft steps; a verify step emits at most one token more
    #[arg(long, value_name = "N", help_heading = MAXIMUM, conflicts_with = "block_size")]
    #[arg(value_parser = whole::<u32>(1..=1_000_000))]
    pub(super) num_steps: Option<u32>,

    /// DSPARK: block size; a verify step emits at most one token more (with --algorithm dflash: as many)
    #[arg(long, value_name = "G", help_heading = MAXIMUM)]
    #[arg(value_parser = whole::<u32>(1..=1_000_000))]
    pub(super) block_size: Option<u32>,

    /// How a length is drawn [default: the engine's own, else match-expected]
    #[arg(long, value_name = "METHOD", help_heading = LAW)]
    pub(super) method: Option<LawFlag>,

    /// Engine whose behaviour counts
    #[arg(long, value_name = "ENGINE", help_heading = SERVER, value_parser = engine_parser())]
    pub(super) engine: Option<Engine>,

    /// Engine version (0.5.10.post1) [default: the newest known]
    #[arg(long, value_name = "VERSION", help_heading = SERVER)]
    pub(super) engine_version: Option<EngineVersion>,

    /// SGLang: drafts an EAGLE server keeps per step (speculative-eagle-topk)
    #[arg(long, value_name = "N", help_heading = SERVER)]
    pub(super) eagle_topk: Option<u32>,

    /// SGLang: whether speculation runs with overlap scheduling [default: the version's own]
    #[arg(long, value_name = "WHEN", help_heading = SERVER)]
    pub(super) overlap: Option<Switch>,

    /// TensorRT-LLM: the draft is a model of its own
    #[arg(long, help_heading = SERVER)]
    pub(super) two_model: bool,

    /// Verify steps of each rank
    #[arg(long, value_name = "N", help_heading = LOAD, default_value_t = 100_000, value_parser = whole::<u64>(1..))]
    pub(super) steps: u64,

    /// Requests in the batch
    #[arg(long, value_name = "N", help_heading = LOAD, default_value_t = 1)]
    #[arg(value_parser = whole::<u32>(1..=1_000_000))]
    pub(super) batch: u32,

    /// Ranks that log
    #[arg(long, value_name = "N", help_heading = LOAD, default_value_t = 1)]
    #[arg(value_parser = whole::<u32>(1..=65_536))]
    pub(super) ranks: u32,

    /// Whether the ranks draw one sequence [default: as the engine; else true where a batch shares its draw]
    #[arg(long, value_name = "BOOL", help_heading = LOAD, action = ArgAction::Set)]
    pub(super) ranks_share_draws: Option<bool>,

    /// What all draws follow from: the same seed, the same output
    #[arg(long, value_name = "N", help_heading = LOAD, default_value_t = 0, value_parser = whole::<u64>(..))]
    pub(super) seed: u64,

    /// SGLang: the server's own random seed, whose draws are recomputed; in a log, one for each start of a server
    #[arg(long, value_name = "N[,N..]", help_heading = LOAD, value_delimiter = ',', value_parser = whole::<u64>(..))]
    #[arg(conflicts_with_all = ["env", "recipe", "rates", "conditional_rates"])]
    pub(super) random_seed: Vec<u64>,

    /// Runs, each with draws of its own
    #[arg(long, value_name = "N", help_heading = LOAD, default_value_t = 1)]
    #[arg(value_parser = whole::<u32>(1..=1_000_000))]
    pub(super) replicates: u32,

    #[command(flatten)]
    pub(super) line: LineFlags,

    /// An env file, a shell's exports or set -x trace, or the document of accsim env --json; - for stdin
    #[arg(long, value_name = "FILE", help_heading = FOUND, conflicts_with_all = ["recipe", "rates", "conditional_rates", "method"])]
    env: Option<PathBuf>,

    /// A recipe of srt-slurm
    #[arg(long, value_name = "FILE", help_heading = FOUND, conflicts_with_all = ["rates", "conditional_rates", "method"])]
    recipe: Option<PathBuf>,

    #[command(flatten)]
    pub(super) format: FormatFlags,

    /// Write the result to FILE in place of standard output; as text to a FILE.svg: a drawing
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["env", "recipe"], help_heading = RESULT)]
    pub(super) output: Option<PathBuf>,

    #[command(flatten)]
    pub(super) emit: EmitFlags,
}

/// `--method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LawFlag {
    /// Floor or ceiling of the length, one draw a step (SGLang)
    MatchExpected,
    /// A rounded, clamped normal variable, one draw a step (SGLang)
    Multinomial,
    /// The same, clamped one token too low (SGLang 0.4.5 to 0.4.7)
    ClampedShort,
    /// The length rounded once (DSPARK of SGLang 0.5.16 and 0.5.17)
    Rounded,
    /// Floor or ceiling of the length, one draw a request (vLLM, TensorRT-LLM, ATOM)
    PerRequest,
    /// The same whole length in every step
    Constant,
    /// One acceptance rate a draft position (vLLM): needs --rates
    PerPosition,
    /// One conditional rate for all draft positions (older vLLM and ATOM)
    Geometric,
    /// A real head: needs --conditional-rates
    Real,
}

/// `on` or `off`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Switch {
    On,
    Off,
}

fn engine_parser() -> impl clap::builder::TypedValueParser<Value = Engine> {
    PossibleValuesParser::new(Engine::ALL.map(Engine::name)).try_map(|name| name.parse::<Engine>())
}

impl SimulateArgs {
    /// The file of settings, where one is named.
    pub(super) fn found(&self) -> anyhow::Result<Option<FoundFile>> {
        let found = match (&self.env, &self.recipe) {
            (Some(file), _) => Some(FoundFile::Env(file.clone())),
            (None, Some(file)) => Some(FoundFile::Recipe(file.clone())),
            (None, None) => None,
        };
        let is_about_server = self.engine_version.is_some()
            || self.eagle_topk.is_some()
            || self.overlap.is_some()
            || self.two_model;
        anyhow::ensure!(
            found.is_some() || self.engine.is_some() || !is_about_server,
            "--engine-version, --eagle-topk, --overlap and --two-model are about an engine; name it with --engine"
        );
        Ok(found)
    }

    /// What the flags say of a server of this engine, over what is known of it.
    pub(super) fn describe(&self, server: Server) -> anyhow::Result<Server> {
        let flags = [
            ("--eagle-topk", self.eagle_topk.is_some(), Engine::Sglang),
            ("--overlap", self.overlap.is_some(), Engine::Sglang),
            ("--two-model", self.two_model, Engine::Trtllm),
        ];
        for (flag, given, owner) in flags {
            anyhow::ensure!(
                !given || server.engine == owner,
                "{flag} is about {owner}, not {}",
                server.engine
            );
        }
        Ok(Server {
            version: self.engine_version.clone().or(server.version),
            // A file names the server's own algorithm; a cell names the method of its curve.
            drafter: self.algorithm.or(server.drafter).or_else(|| self.drafter()),
            eagle_topk: self.eagle_topk.or(server.eagle_topk),
            overlap: self.overlap.map(|switch| switch == Switch::On).or(server.overlap),
            models: self.two_model.then_some(Models::Two).or(server.models),
            ..server
        })
    }

    /// The algorithm that the flags name: a block belongs to DSPARK, steps to EAGLE.
    fn drafter(&self) -> Option<Drafter> {
        let of_cell = || self.drafting.as_ref().and_then(|method| method.parse().ok());
        let of_number = || match (self.block_size, self.num_steps) {
            (Some(_), _) => Some(Drafter::DSpark),
            (None, Some(_)) => Some(Drafter::Eagle),
            (None, None) => None,
        };
        self.algorithm.or_else(of_cell).or_else(of_number)
    }

    /// The most tokens that a step emits, as far as the flags say.
    pub(super) fn max(&self) -> Option<u32> {
        let of_block = |size: u32| match self.drafter() {
            Some(Drafter::DFlash) => size,
            _ => size.saturating_add(1),
        };
        let of_steps = self.num_steps.map(|steps| steps.saturating_add(1));
        self.max_accept_length.or(of_steps).or_else(|| self.block_size.map(of_block))
    }
}
