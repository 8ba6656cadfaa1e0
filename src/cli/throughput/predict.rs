//! `accsim throughput predict`: tokens a second at other accept lengths.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{bail, ensure};
use clap::Args;

use super::calibrate::exit_of;
use super::drawn::{draw, shown};
use super::read::{LogFlags, from_logs, is_model, model};
use crate::cli::format::FormatFlags;
use crate::cli::number::{finite, whole};
use crate::cli::output::{is_svg, write_text, write_to};
use crate::cli::{Exit, global::Global};
use crate::report::json::{self, PredictDocument};
use crate::report::{html, plot, text};
use crate::throughput::{Lengths, Model, PredictError, Prediction, Question, predict};

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
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write a page to look at to FILE, too
    #[arg(long, value_name = "FILE")]
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
    let (model, all_read) = match args.paths.as_slice() {
        [path] if is_model(path) => {
            ensure!(args.base.is_empty(), "--base goes with logs; calibrate a model on both logs");
            (model(path)?, true)
        }
        paths => {
            let logs: Vec<PathBuf> = paths.iter().chain(&args.base).cloned().collect();
            match from_logs(&logs, &args.about, global, err)? {
                (Ok(model), all_read) => (model, all_read),
                (Err(error), all_read) => {
                    writeln!(err, "error: {error}")?;
                    return Ok(if all_read { exit_of(&error) } else { Exit::Failed });
                }
            }
        }
    };
    let drafts = drafts(&model, args)?;
    let mut predictions = Vec::new();
    let mut refused = Vec::new();
    for running in batches(&model, args, drafts) {
        for accept_length in &args.accept_length {
            let lengths = args.isl.zip(args.osl).map(|(input, output)| (input.mean(), output.mean()));
            let question = Question { accept_length: *accept_length, drafts, running, lengths };
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
    write_text(args.output.as_deref(), out, |out| write(args, global, &model, drafts, &predictions, out))?;
    for error in &refused {
        let _ = writeln!(err, "refused: {error}");
    }
    Ok(match (all_read, refused.is_empty()) {
        (false, _) => Exit::Failed,
        (true, false) => Exit::Undecided,
        (true, true) => Exit::Ok,
    })
}

fn write(
    args: &PredictArgs,
    global: &Global,
    model: &Model,
    drafts: Option<u32>,
    predictions: &[Prediction],
    out: &mut dyn Write,
) -> std::io::Result<()> {
    if args.format.is_json() {
        json::write(out, &PredictDocument::new(model, drafts, predictions, args.gpus))
    } else if is_svg(args.output.as_deref()) {
        plot::write_svg("Throughput at another accept length", &plot::predictions(predictions), out)
    } else {
        text::throughput::predictions(out, model, drafts, predictions, args.gpus)?;
        draw(global, &plot::predictions(predictions), out)
    }
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

/// The batches that are asked about.
fn batches(model: &Model, args: &PredictArgs, drafts: Option<u32>) -> Vec<u32> {
    let mut batches: Vec<u32> = if !args.concurrency.is_empty() {
        let most = model.most_running.map_or(u32::MAX, |most| most.div_ceil(model.ranks.max(1)).max(1));
        args.concurrency.iter().map(|clients| clients.div_ceil(model.ranks.max(1)).min(most)).collect()
    } else if !args.running_req.is_empty() {
        args.running_req.clone()
    } else {
        let of = |drafts: Option<u32>| -> Vec<u32> {
            model.levels.iter().filter(|level| level.drafts == drafts).map(|level| level.running).collect()
        };
        let own = of(drafts);
        if own.is_empty() { model.levels.iter().map(|level| level.running).collect() } else { own }
    };
    batches.sort_unstable();
    batches.dedup();
    batches
}
