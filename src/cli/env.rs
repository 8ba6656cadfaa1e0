//! `accsim env`: what an engine must be told to hold a target.

use std::io::Write;

use anyhow::{bail, ensure};
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, ValueEnum};

use super::format::RESULT;
use super::number::{decimal, whole};
use super::select::CellFlags;
use super::{Exit, Global, catalogue};
use crate::engine::{self, Drafter, Engine, EngineVersion, Models, Server, Settings};
use crate::golden::{LookupWarning, Query, Target};
use crate::report::json::{self, EnvDocument};
use crate::report::settings::{SettingsFormat, write_unset};

const USAGE: &str = "\
accsim env [OPTIONS] --engine <ENGINE> <PREFIX> <METHOD> <K>
       accsim env [OPTIONS] --engine <ENGINE> --accept-length <AL> --max-accept-length <M>";

const EXPLICIT: &str = "Instead of a golden cell";
const SERVER: &str = "What the server runs";

/// Flags of `accsim env`.
#[derive(Args, Clone, Debug)]
#[command(override_usage = USAGE)]
pub(crate) struct EnvArgs {
    /// Model prefix of a golden curve
    #[arg(requires = "method", conflicts_with_all = ["accept_length", "max_accept_length", "algorithm"])]
    prefix: Option<String>,

    /// Drafting method: mtp, eagle3, dspark, or an alias
    #[arg(requires = "draft_length")]
    method: Option<String>,

    /// Draft length: tokens drafted per verify step
    #[arg(value_name = "K", value_parser = whole::<u32>(1..))]
    draft_length: Option<u32>,

    #[command(flatten)]
    cell: CellFlags,

    /// Tokens per verify step, the target model's own included
    #[arg(long, value_name = "AL", help_heading = EXPLICIT, allow_hyphen_values = true, requires = "max_accept_length")]
    #[arg(value_parser = decimal)]
    accept_length: Option<f64>,

    /// Most tokens that one verify step can emit: draft length + 1
    #[arg(long, value_name = "M", help_heading = EXPLICIT, requires = "accept_length", value_parser = whole::<u32>(..))]
    max_accept_length: Option<u32>,

    /// Drafting algorithm: eagle, eagle3, nextn, mtp, standalone, ngram, dspark, dflash
    #[arg(long, value_name = "NAME", help_heading = EXPLICIT)]
    algorithm: Option<Drafter>,

    /// Engine to set up
    #[arg(long, value_name = "ENGINE", help_heading = SERVER, value_parser = engine_parser())]
    engine: Engine,

    /// Engine version (0.5.10.post1) [default: the newest known]
    #[arg(long, value_name = "VERSION", help_heading = SERVER)]
    engine_version: Option<EngineVersion>,

    /// SGLang: drafts an EAGLE server keeps per step (speculative-eagle-topk)
    #[arg(long, value_name = "N", help_heading = SERVER, value_parser = whole::<u32>(1..))]
    eagle_topk: Option<u32>,

    /// SGLang: whether speculation runs with overlap scheduling [default: the version's own]
    #[arg(long, value_name = "WHEN", help_heading = SERVER)]
    overlap: Option<Switch>,

    /// TensorRT-LLM: the draft is a model of its own
    #[arg(long, help_heading = SERVER)]
    two_model: bool,

    /// Format of the settings [default: export; args for vllm and atom]
    #[arg(long, value_name = "FORMAT", help_heading = RESULT)]
    format: Option<Format>,

    /// The same as --format json
    #[arg(long, help_heading = RESULT)]
    json: bool,
}

/// `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// export NAME=value, for a shell
    Export,
    /// NAME=value, for an env file
    Dotenv,
    /// -e NAME=value, for docker run
    Docker,
    /// Keys and values, for a recipe
    Yaml,
    /// Arguments of the server's command line
    Args,
    /// One JSON document, warnings included
    Json,
    /// What an evaluation run must clear; needs no target
    Unset,
}

/// `on` or `off`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

fn engine_parser() -> impl clap::builder::TypedValueParser<Value = Engine> {
    PossibleValuesParser::new(Engine::ALL.map(Engine::name)).try_map(|name| name.parse::<Engine>())
}

pub(crate) fn run(
    args: &EnvArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let format = match args.format {
        None if args.json => Some(Format::Json),
        format => format,
    };
    check_engine_flags(args)?;
    if format == Some(Format::Unset) {
        write_unset(&engine::unset(args.engine, args.engine_version.as_ref()), out)?;
        return Ok(Exit::Ok);
    }
    let text_format = match format {
        None => Some(SettingsFormat::default_for(args.engine)),
        Some(format) => format.text(),
    };
    if let Some(format) = text_format {
        format.check(args.engine)?;
    }
    let (target, about_cell) = target(args, global)?;
    let settings = engine::settings(&server(args, &target), &target)?;
    match text_format {
        Some(format) => {
            format.write(&settings.settings, out)?;
            if !global.quiet {
                // On a terminal the result stands first, what there is to say about it last.
                out.flush()?;
                comment(&settings, &about_cell, format, err);
            }
        }
        None => json::write(out, &EnvDocument::new(&settings, &about_cell))?,
    }
    Ok(Exit::Ok)
}

/// A flag about one engine must not be passed over in silence by another.
fn check_engine_flags(args: &EnvArgs) -> anyhow::Result<()> {
    let flags = [
        ("--eagle-topk", args.eagle_topk.is_some(), Engine::Sglang),
        ("--overlap", args.overlap.is_some(), Engine::Sglang),
        ("--two-model", args.two_model, Engine::Trtllm),
    ];
    for (flag, given, owner) in flags {
        ensure!(!given || args.engine == owner, "{flag} is about {owner}, not {}", args.engine);
    }
    Ok(())
}

/// The target, with what its user should know of a golden one.
fn target(args: &EnvArgs, global: &Global) -> anyhow::Result<(Target, Vec<LookupWarning>)> {
    if let (Some(accept_length), Some(max)) = (args.accept_length, args.max_accept_length) {
        ensure!(
            args.cell.draft_model.is_none() && args.cell.draft_sample_method.is_none(),
            "--draft-model and --draft-sample-method pick a golden cell; --accept-length names none"
        );
        return Ok((Target::explicit(accept_length, max)?, Vec::new()));
    }
    let (Some(prefix), Some(method), Some(draft_length)) = (&args.prefix, &args.method, args.draft_length)
    else {
        bail!("no target: give PREFIX METHOD K, or --accept-length with --max-accept-length");
    };
    let query = Query {
        prefix,
        method,
        draft_length,
        thinking: args.cell.thinking.into(),
        draft_model: args.cell.draft_model.as_deref(),
        draft_sample_method: (args.cell.draft_sample_method.as_deref())
            .or_else(|| args.engine.default_draft_sample_method()),
    };
    let found = catalogue::find(global, &query)?;
    Ok((found.target, found.warnings))
}

fn server(args: &EnvArgs, target: &Target) -> Server {
    // A curve's method is the server's algorithm; a name that is none of ours leaves it open.
    let of_curve = || target.cell().and_then(|cell| cell.method.parse().ok());
    Server {
        engine: args.engine,
        version: args.engine_version.clone(),
        drafter: args.algorithm.or_else(of_curve),
        eagle_topk: args.eagle_topk,
        overlap: args.overlap.map(|switch| switch == Switch::On),
        models: args.two_model.then_some(Models::Two),
    }
}

/// Notes and warnings of the text formats. A stderr that is closed has no reader to miss them.
fn comment(settings: &Settings, about_cell: &[LookupWarning], format: SettingsFormat, err: &mut dyn Write) {
    for warning in about_cell {
        let _ = writeln!(err, "{}: {warning}", warning.severity());
    }
    if settings.target.cell().is_none() {
        let _ = writeln!(err, "note: an explicit target, not a golden one");
    }
    if settings.server.engine == Engine::Vllm && format == SettingsFormat::Args {
        let _ = writeln!(
            err,
            "note: add these keys to the JSON of the server's own --speculative-config; the option is given once"
        );
    }
    for warning in &settings.warnings {
        let _ = writeln!(err, "warning[{}]: {}", warning.code.name(), warning.message);
    }
}

impl Format {
    /// The text format; none for JSON, and for `unset`, which is no format of settings.
    fn text(self) -> Option<SettingsFormat> {
        match self {
            Self::Export => Some(SettingsFormat::Export),
            Self::Dotenv => Some(SettingsFormat::Dotenv),
            Self::Docker => Some(SettingsFormat::Docker),
            Self::Yaml => Some(SettingsFormat::Yaml),
            Self::Args => Some(SettingsFormat::Args),
            Self::Json | Self::Unset => None,
        }
    }
}
