//! `accsim throughput sweep`: which draft length wins where.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{anyhow, bail, ensure};
use clap::{Args, ValueEnum};

use super::calibrate::refusal;
use super::drawn::{draw, shown};
use super::duration::seconds;
use super::read::model;
use crate::cli::apart::apart;
use crate::cli::format::RESULT;
use crate::cli::number::whole;
use crate::cli::output::{is_svg, write_drawing, write_text, write_to};
use crate::cli::select::ThinkingFlag;
use crate::cli::{Exit, catalogue, global::Global};
use crate::golden::Thinking;
use crate::report::json::{self, SweepDocument};
use crate::report::{csv, html, plot, text};
use crate::throughput::sim::Replicates;
use crate::throughput::{Lengths, Model, Sweep, SweepError, sweep};

/// Name of the drawing.
const TITLE: &str = "Which draft length wins where";

/// Flags of `accsim throughput sweep`.
#[derive(Args, Clone, Debug)]
pub(crate) struct SweepArgs {
    /// A model of calibrate, from logs of at least two draft lengths
    #[arg(value_name = "MODEL.json")]
    model: PathBuf,

    /// Name of a golden curve: accept length by draft length
    #[arg(long, value_name = "CURVE")]
    curve: String,

    /// Thinking mode of the curve
    #[arg(long, value_name = "MODE", default_value = "on")]
    thinking: ThinkingFlag,

    /// Clients of a closed loop [default: the batches of the model]
    #[arg(long, value_name = "C,..", value_delimiter = ',', value_parser = whole::<u32>(1..=1_048_576))]
    concurrency: Vec<u32>,

    /// Input tokens of a request [default: the mean of the model's logs]
    #[arg(long, value_name = "A[-B]")]
    isl: Option<Lengths>,

    /// Output tokens of a request [default: the mean of the model's logs]
    #[arg(long, value_name = "A[-B]")]
    osl: Option<Lengths>,

    /// Seconds in which requests are sent
    #[arg(long, value_name = "S", default_value = "120", value_parser = seconds)]
    duration: f64,

    /// Runs of each point; all points see the same requests and draws
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole::<u32>(1..=100_000))]
    replicates: u32,

    /// What all draws follow from: the same seed, the same output
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u64>(..))]
    seed: u64,

    /// How to print the result
    #[arg(long, value_name = "FORMAT", default_value = "text", overrides_with = "json", help_heading = RESULT)]
    format: SweepFormat,

    /// The same as --format json
    #[arg(long, overrides_with = "format", help_heading = RESULT)]
    json: bool,

    /// Write the result to FILE in place of standard output; as text to a FILE.svg: a drawing
    #[arg(short, long, value_name = "FILE", help_heading = RESULT)]
    output: Option<PathBuf>,

    /// Draw the curves as SVG into FILE, too
    #[arg(long, value_name = "FILE", help_heading = RESULT)]
    plot: Option<PathBuf>,

    /// Write a page to look at to FILE, too
    #[arg(long, value_name = "FILE", help_heading = RESULT)]
    html: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SweepFormat {
    /// For people
    Text,
    /// One JSON document
    Json,
    /// One row a cell
    Csv,
}

pub(super) fn run(
    args: &SweepArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    apart([args.model.as_path()], [&args.output, &args.html, &args.plot].map(Option::as_deref))?;
    let model = model(&args.model)?;
    let known = |lengths: Option<Lengths>, mean: Option<f64>, flag: &str| {
        let mean = mean.map(|mean| Lengths::fixed(crate::law::whole32(mean.round())));
        lengths.or(mean).ok_or_else(|| anyhow!("the model does not say how long requests are; give {flag}"))
    };
    let plan = Sweep {
        curve: curve(args, global)?,
        concurrency: concurrency(args, &model),
        input: known(args.isl, model.workload.input, "--isl")?,
        output: known(args.osl, model.workload.output, "--osl")?,
        duration_s: args.duration,
        replicates: Replicates { count: args.replicates, seed: args.seed },
        with_plain: true,
    };
    ensure!(!plan.concurrency.is_empty(), "the model holds no batches; give --concurrency");
    let report = match global.on_threads(|| sweep(&model, &plan))? {
        Ok(report) => report,
        Err(error) => {
            let refused = match &error {
                SweepError::Serve(error) => refusal(error, err)?,
                _ => None,
            };
            return refused.ok_or_else(|| error.into());
        }
    };
    let figures = plot::sweep(&args.curve, &plan.curve, &report);
    if let Some(file) = &args.plot {
        write_drawing(Some(file), out, |out| plot::write_svg(TITLE, &figures, out))?;
    }
    if args.html.is_some() {
        let shown = shown(|out| text::throughput::sweep(out, &plan, &report))?;
        write_to(args.html.as_deref(), out, |out| {
            html::write_sweep(&args.curve, &plan.curve, &report, &shown, out)
        })?;
    }
    let format = if args.json { SweepFormat::Json } else { args.format };
    let output = args.output.as_deref();
    if format == SweepFormat::Text && is_svg(output) {
        write_drawing(output, out, |out| plot::write_svg(TITLE, &figures, out))?;
        return Ok(Exit::Ok);
    }
    write_text(output, out, |out| match format {
        SweepFormat::Text => {
            text::throughput::sweep(out, &plan, &report)?;
            draw(global, &figures, out)
        }
        SweepFormat::Json => json::write(out, &SweepDocument::new(&args.curve, &plan, &report)),
        SweepFormat::Csv => csv::throughput::sweep(out, &report),
    })?;
    Ok(Exit::Ok)
}

/// The cells of the golden curve.
fn curve(args: &SweepArgs, global: &Global) -> anyhow::Result<Vec<(u32, f64)>> {
    let catalogue = catalogue::open(global)?;
    let Some(entry) = catalogue.get(&args.curve) else {
        let nearest = catalogue.nearest(&args.curve);
        let hint = if nearest.is_empty() {
            String::new()
        } else {
            format!("; did you mean {}?", nearest.join(", "))
        };
        bail!("no curve {}{hint} (accsim curves list names them all)", args.curve);
    };
    let curve = entry.load().curve.as_ref().map_err(|issue| anyhow!("{issue}"))?;
    let thinking = Thinking::from(args.thinking);
    let cells: Vec<(u32, f64)> =
        curve.values(thinking).map(|(drafts, length)| (drafts, length.get())).collect();
    if cells.is_empty() {
        bail!("curve {} has no cells for {thinking}", args.curve);
    }
    Ok(cells)
}

fn concurrency(args: &SweepArgs, model: &Model) -> Vec<u32> {
    let mut concurrency = if args.concurrency.is_empty() {
        let batches = model.levels.iter().map(|level| level.running.saturating_mul(model.ranks.max(1)));
        batches.collect()
    } else {
        args.concurrency.clone()
    };
    concurrency.sort_unstable();
    concurrency.dedup();
    concurrency
}
