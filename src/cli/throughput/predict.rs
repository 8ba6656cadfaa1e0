//! `accsim throughput predict`: tokens a second at other accept lengths.

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{bail, ensure};
use clap::Args;

use super::calibrate::{exit_of, tell};
use super::drawn::{draw, shown};
use super::read::{LogFlags, from_logs, is_model, model};
use crate::cli::apart::apart;
use crate::cli::format::{FormatFlags, RESULT};
use crate::cli::number::{finite, whole};
use crate::cli::output::{is_svg, write_drawing, write_text, write_to};
use crate::cli::{Exit, global::Global};
use crate::report::json::{self, PredictDocument};
use crate::report::{html, plot, text};
use crate::throughput::{Asked, Lengths, Level, Model, PredictError, Question, predict};

/// Flags of `accsim throughput predict`.
#[derive(Args, Clone, Debug)]
pub(crate) struct PredictArgs {
    /// A model of calibrate, or server logs
    #[arg(required = true, value_name = "MODEL|LOG")]
    paths: Vec<PathBuf>,

    /// Tokens per verify step, the target model's own included; several with commas
    #[arg(long, value_name = "AL,..", required = true, value_delimiter = ',', value_parser = finite, allow_negative_numbers = true)]
    accept_length: Vec<f64>,

    /// Requests running on a rank [default: those of the logs]
    #[arg(long, value_name = "N,..", value_delimiter = ',', value_parser = whole::<u32>(1..=1_048_576))]
    running_req: Vec<u32>,

    /// Requests that clients keep in flight, over all ranks; what exceeds the server's limit waits
    #[arg(long, value_name = "C,..", value_delimiter = ',', conflicts_with = "running_req")]
    #[arg(value_parser = whole::<u32>(1..=1_048_576))]
    concurrency: Vec<u32>,

    /// Logs of runs without speculation, for the speedup over it
    #[arg(long, value_name = "LOG")]
    base: Vec<PathBuf>,

    /// Input tokens of a request, where they are not those of the log
    #[arg(long, value_name = "A[-B]", requires = "osl")]
    isl: Option<Lengths>,

    /// Output tokens of a request, where they are not those of the log
    #[arg(long, value_name = "A[-B]", requires = "isl")]
    osl: Option<Lengths>,

    /// GPUs of the server, for figures per GPU
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1_000_000))]
    gpus: Option<u32>,

    /// Write the result to FILE in place of standard output; as text to a FILE.svg: a drawing
    #[arg(short, long, value_name = "FILE", help_heading = RESULT)]
    output: Option<PathBuf>,

    /// Write a page to look at to FILE, too
    #[arg(long, value_name = "FILE", help_heading = RESULT)]
    html: Option<PathBuf>,

    #[command(flatten)]
    about: LogFlags,

    #[command(flatten)]
    format: FormatFlags,
}

pub(super) fn run(
    args: &PredictArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let inputs = args.paths.iter().chain(&args.base).map(PathBuf::as_path);
    apart(inputs, [&args.output, &args.html].map(Option::as_deref))?;
    let (model, all_read) = match args.paths.as_slice() {
        [path] if is_model(path) => {
            args.about.none_with_model()?;
            ensure!(args.base.is_empty(), "--base goes with logs; calibrate a model on both logs");
            (model(path)?, true)
        }
        paths => {
            let logs: Vec<PathBuf> = paths.iter().chain(&args.base).cloned().collect();
            match from_logs(&logs, &args.about, global, err)? {
                (Ok(model), all_read) => {
                    check_base(&model, &args.base)?;
                    (model, all_read)
                }
                (Err(error), all_read) => {
                    tell(&error, &logs, all_read, err)?;
                    return Ok(if all_read { exit_of(&error) } else { Exit::Failed });
                }
            }
        }
    };
    let drafts = drafts(&model, args)?;
    let mut predictions = Vec::new();
    let mut refused = Vec::new();
    for asked in batches(&model, args, drafts) {
        for accept_length in &args.accept_length {
            let lengths = args.isl.zip(args.osl);
            let question = Question { accept_length: *accept_length, drafts, asked, lengths };
            match predict(&model, &question) {
                Ok(found) => predictions.push(found),
                Err(
                    error @ (PredictError::NotMeasured { .. }
                    | PredictError::NoPrefillShare { .. }
                    | PredictError::OtherContext { .. }),
                ) => {
                    refused.push(error);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
    if args.html.is_some() {
        let shown = shown(|out| text::throughput::predictions(out, &model, drafts, &predictions, args.gpus))?;
        write_to(args.html.as_deref(), out, |out| html::write_predictions(&predictions, &shown, out))?;
    }
    let figures = plot::predictions(&predictions);
    let output = args.output.as_deref();
    if is_svg(output) && !args.format.is_json() {
        write_drawing(output, out, |out| {
            plot::write_svg("Throughput at another accept length", &figures, out)
        })?;
    } else {
        write_text(output, out, |out| {
            if args.format.is_json() {
                return json::write(out, &PredictDocument::new(&model, drafts, &predictions, args.gpus));
            }
            text::throughput::predictions(out, &model, drafts, &predictions, args.gpus)?;
            draw(global, &figures, out)
        })?;
    }
    for error in &refused {
        let _ = writeln!(err, "refused: {error}");
    }
    Ok(match (all_read, refused.is_empty()) {
        (false, _) => Exit::Failed,
        (true, false) => Exit::Undecided,
        (true, true) => Exit::Ok,
    })
}

/// The draft length that is asked about: the flag's, the logs' only one, or none at accept length 1 throughout.
fn drafts(model: &Model, args: &PredictArgs) -> anyhow::Result<Option<u32>> {
    let known = model.draft_lengths();
    match (args.about.draft_length, known.as_slice()) {
        (Some(drafts), _) => Ok(Some(drafts)),
        (None, [only]) => Ok(Some(*only)),
        (None, []) => Ok(if model.is_draft_length_unknown() { None } else { Some(0) }),
        (None, _) => bail!("the logs hold draft lengths {known:?}; pick one with --draft-length"),
    }
}

/// A base log is one without speculation.
fn check_base(model: &Model, base: &[PathBuf]) -> anyhow::Result<()> {
    for path in base {
        let name = path.display().to_string();
        let mut sources = model.sources.iter().filter(|source| source.name == name).peekable();
        ensure!(sources.peek().is_some(), "--base {name} holds no decode lines");
        if let Some(source) = sources.find(|source| source.drafts != Some(0)) {
            let drafts = source.drafts.map_or_else(String::new, |drafts| format!(" (draft length {drafts})"));
            bail!("--base {name} speculates{drafts}; give a log of a run without speculation");
        }
    }
    Ok(())
}

/// The batches that are asked about: one row for each concurrency, else those of the flag, else those of the logs.
fn batches(model: &Model, args: &PredictArgs, drafts: Option<u32>) -> Vec<Asked> {
    if !args.concurrency.is_empty() {
        let mut seen = HashSet::new();
        return args
            .concurrency
            .iter()
            .filter(|clients| seen.insert(**clients))
            .map(|c| Asked::Clients(*c))
            .collect();
    }
    let mut asked: Vec<(u32, Asked)> = if args.running_req.is_empty() {
        let of = |level: &Level| match level.busy {
            Some(busy) => (0, Asked::Clients(busy)),
            None => (level.running, Asked::Running(level.running)),
        };
        let own: Vec<&Level> = model.levels.iter().filter(|level| level.drafts == drafts).collect();
        let levels = if own.is_empty() { model.levels.iter().collect() } else { own };
        // Of fewer ranks than there are only one request each can be asked for.
        levels.into_iter().filter(|level| level.busy.is_none() || level.running == 1).map(of).collect()
    } else {
        args.running_req.iter().map(|running| (*running, Asked::Running(*running))).collect()
    };
    asked.sort_by_key(|(running, _)| *running);
    let mut seen = HashSet::new();
    asked.into_iter().map(|(_, asked)| asked).filter(|asked| seen.insert(*asked)).collect()
}
