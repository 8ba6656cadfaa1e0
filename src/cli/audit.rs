//! `accsim audit`: server logs against a target.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use clap::{Args, ValueEnum};

use super::format::FormatFlags;
use super::limits::LimitFlags;
use super::output::write_to;
use super::progress::ProgressLine;
use super::select::CellFlags;
use super::skipped::{SHOWN, SkippedReport};
use super::{Exit, Global, catalogue};
use crate::audit::{
    Confidence, Margin, Observed, Options, PointBuilder, PointReport, RivalCell, Verdict, judge,
};
use crate::evidence::{
    Batch, Input, Limits, Place, PointBy, ReadError, Reader, Record, RecordSink, group, point_name,
};
use crate::golden::{Query, Target, Thinking};
use crate::report::json::{self, AuditDocument};
use crate::report::text;

const GOLDEN: &str = "Target: a golden cell";
const EXPLICIT: &str = "Target: a number";
const JUDGEMENT: &str = "How to judge";

const USAGE: &str = "\
accsim audit [OPTIONS] <PATH>... --model <PREFIX> --method <METHOD> --draft-length <K>
       accsim audit [OPTIONS] <PATH>... --accept-length <AL> [--max-accept-length <M>]";

/// Flags of `accsim audit`.
#[derive(Args, Clone, Debug)]
#[command(override_usage = USAGE)]
pub(crate) struct AuditArgs {
    /// Server logs: files, directories, or - for standard input; each path is one run of one server
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Model prefix of a golden curve
    #[arg(long, value_name = "PREFIX", help_heading = GOLDEN, requires = "method")]
    #[arg(conflicts_with_all = ["accept_length", "max_accept_length"])]
    model: Option<String>,

    /// Drafting method: mtp, eagle3, dspark, or an alias
    #[arg(long, value_name = "METHOD", help_heading = GOLDEN, requires = "draft_length")]
    method: Option<String>,

    /// Draft length: tokens drafted per verify step
    #[arg(long, value_name = "K", help_heading = GOLDEN, requires = "model")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    draft_length: Option<u32>,

    #[command(flatten)]
    cell: CellFlags,

    /// Tokens per verify step that the run should show, the target model's own included
    #[arg(long, value_name = "AL", help_heading = EXPLICIT, allow_negative_numbers = true)]
    accept_length: Option<f64>,

    /// Most tokens that one verify step can emit: draft length + 1 [default: as the server's arguments in the log say]
    #[arg(long, value_name = "M", help_heading = EXPLICIT, requires = "accept_length")]
    max_accept_length: Option<u32>,

    /// Engine that wrote the logs
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    engine: LogEngine,

    /// How far the mean may lie from the target: a share of it (2%), or tokens (0.05)
    #[arg(long, value_name = "MARGIN", default_value = "2%", help_heading = JUDGEMENT)]
    margin: Margin,

    /// Confidence of the interval that decides
    #[arg(long, value_name = "SHARE", default_value = "0.95", help_heading = JUDGEMENT)]
    confidence: Confidence,

    /// Verify steps per decode line [default: as the log says, else as its values say, else 40]
    #[arg(long, value_name = "N", help_heading = JUDGEMENT, value_parser = clap::value_parser!(u32).range(1..))]
    decode_log_interval: Option<u32>,

    /// What makes a point, one run of one server
    #[arg(long, value_name = "WHAT", default_value = "path", help_heading = JUDGEMENT)]
    point_by: PointByFlag,

    #[command(flatten)]
    limits: LimitFlags,

    #[command(flatten)]
    format: FormatFlags,

    /// Write the result to FILE in place of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// `--engine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogEngine {
    /// Whatever the lines look like
    Auto,
    /// SGLang
    Sglang,
}

/// `--point-by`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PointByFlag {
    /// Each path, but one point a worker where files have srt-slurm's names
    Path,
    /// Each folder that holds logs
    Dir,
    /// Each worker where files have srt-slurm's names, each other file for itself
    Worker,
}

impl From<PointByFlag> for PointBy {
    fn from(flag: PointByFlag) -> Self {
        match flag {
            PointByFlag::Path => Self::Path,
            PointByFlag::Dir => Self::Directory,
            PointByFlag::Worker => Self::Worker,
        }
    }
}

/// What the flags say about the target.
enum Wanted {
    Nothing,
    Known(Box<Target>),
    /// The largest accept length is the server's to say.
    Length(f64),
}

pub(crate) fn run(
    args: &AuditArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let wanted = wanted(args, global, err)?;
    let options = Options {
        margin: args.margin,
        confidence: args.confidence,
        decode_log_interval: args.decode_log_interval,
        cells: rival_cells(global)?,
    };
    // One engine is read so far: `auto` and its name mean the same.
    let (LogEngine::Auto | LogEngine::Sglang) = args.engine;

    let inputs: Vec<Input> = args.paths.iter().map(|path| Input::from(path.as_path())).collect();
    let by = PointBy::from(args.point_by);
    let mut reader = Reader::new(Limits::from(&args.limits)).with_threads(global.thread_count());
    let keep = if global.verbose { SHOWN } else { 0 };
    let mut seen = Points { by, names: HashMap::new(), builders: Vec::new(), current: None, keep };
    let progress = ProgressLine::show(reader.progress(), global.quiet || args.format.is_json());
    let errors = reader.read_into(&inputs, &mut seen);
    drop(progress);
    // What could not be read is named whatever the flags: a verdict over half a log must not look like one over the
    // whole.
    for error in &errors {
        let _ = writeln!(err, "error: {error}");
    }
    for passed in reader.passed_over().iter().filter(|_| !global.quiet && !args.format.is_json()) {
        let _ = writeln!(err, "note: {passed}");
    }
    let mut points = Vec::new();
    let mut skipped = SkippedReport::default();
    let all_seen = seen.finish(&inputs, &reader, &errors);
    if global.verbose {
        for seen in &all_seen {
            show_skipped(seen, &reader, &mut skipped);
        }
        skipped.write(err);
    }
    for seen in all_seen {
        let target = wanted.target(&seen)?;
        points.push(judge(&seen, target.as_ref(), &options));
    }
    let verdict = points.iter().map(|point| point.verdict).reduce(Verdict::worst);
    let verdict = verdict.unwrap_or(Verdict::Insufficient);
    let files: Vec<&str> = reader.files().iter().map(|file| file.name.as_str()).collect();
    write_to(args.output.as_deref(), out, |out| write(args, &points, verdict, &files, out))?;
    let exit = if errors.is_empty() { Exit::Ok } else { Exit::Failed };
    Ok(points.iter().map(|point| exit_of(point.verdict)).fold(exit, Exit::worst))
}

/// The points of all logs, built while these are read.
struct Points {
    by: PointBy,
    names: HashMap<String, usize>,
    builders: Vec<PointBuilder>,
    /// The point of the log at hand.
    current: Option<usize>,
    /// Skipped lines that each point keeps.
    keep: usize,
}

impl RecordSink for Points {
    fn begin(&mut self, _file: u32, name: &str, input: &str) {
        let name = point_name(name, input, self.by);
        let next = self.builders.len();
        let index = *self.names.entry(name.clone()).or_insert(next);
        if index == next {
            self.builders.push(PointBuilder::new(name).keeping_skipped(self.keep));
        }
        self.current = Some(index);
    }

    fn record(&mut self, place: Place, record: &Record<'_>) {
        if let Some(point) = self.current.and_then(|index| self.builders.get_mut(index)) {
            point.add(place, record);
        }
    }

    fn batch(&mut self, batch: &Batch<'_>) {
        if let Some(point) = self.current.and_then(|index| self.builders.get_mut(index)) {
            point.add_batch(batch);
        }
    }
}

impl Points {
    /// The points in the order of their first log. A log without records is a point only where its input has no other,
    /// and one that failed before its first record is none.
    fn finish(self, inputs: &[Input], reader: &Reader, errors: &[ReadError]) -> Vec<Observed> {
        let Self { by, names, builders, .. } = self;
        let mut seen: Vec<Option<Observed>> =
            builders.into_iter().map(|point| Some(point.finish())).collect();
        let mut take = |name: &str| names.get(name).and_then(|index| seen.get_mut(*index)?.take());
        let mut points = Vec::new();
        for point in group(reader.files(), by) {
            let mut files =
                point.files.iter().filter_map(|file| reader.files().get(usize::try_from(*file).ok()?));
            let failed = files.any(|file| errors.iter().any(|error| error.name == file.name));
            let found = take(&point.name).unwrap_or_else(|| PointBuilder::new(point.name.as_str()).finish());
            if found.has_records() || !failed {
                points.push(found);
            }
        }
        // An input in which there was nothing to read is a point too: silence must not pass for consent.
        for input in inputs.iter().map(Input::name) {
            let has_logs = reader.files().iter().any(|file| *file.input == *input);
            let failed = errors.iter().any(|error| Path::new(&error.name).starts_with(&input));
            if !has_logs && !failed {
                points.push(PointBuilder::new(input).finish());
            }
        }
        points
    }
}

/// Adds the lines of a point that count for nothing.
fn show_skipped(seen: &Observed, reader: &Reader, report: &mut SkippedReport) {
    for line in seen.skipped_lines() {
        let file = usize::try_from(line.place.file).ok().and_then(|file| reader.files().get(file));
        let file = file.map_or("", |file| file.name.as_str());
        report.add(file, line.place.line, line.kind.name(), &line.text);
    }
    let kept = u64::try_from(seen.skipped_lines().len()).unwrap_or(u64::MAX);
    report.add_more(seen.skipped_total().saturating_sub(kept));
}

fn write(
    args: &AuditArgs,
    points: &[PointReport],
    verdict: Verdict,
    files: &[&str],
    out: &mut dyn Write,
) -> std::io::Result<()> {
    if args.format.is_json() {
        json::write(out, &AuditDocument::new(points, verdict, files))
    } else {
        text::audit::write_audit(points, verdict, files, out)
    }
}

fn wanted(args: &AuditArgs, global: &Global, err: &mut dyn Write) -> anyhow::Result<Wanted> {
    let cell = &args.cell;
    if let (Some(prefix), Some(method), Some(draft_length)) = (&args.model, &args.method, args.draft_length) {
        let query = Query {
            prefix,
            method,
            draft_length,
            thinking: cell.thinking.into(),
            draft_model: cell.draft_model.as_deref(),
            draft_sample_method: cell.draft_sample_method.as_deref(),
        };
        let found = catalogue::find(global, &query)?;
        if !args.format.is_json() {
            catalogue::warn(global, &found, err)?;
        }
        return Ok(Wanted::Known(Box::new(found.target)));
    }
    ensure!(
        cell.draft_model.is_none() && cell.draft_sample_method.is_none(),
        "--draft-model and --draft-sample-method pick a golden cell; name it by --model, --method and --draft-length"
    );
    Ok(match (args.accept_length, args.max_accept_length) {
        (Some(length), Some(max)) => Wanted::Known(Box::new(Target::explicit(length, max)?)),
        (Some(length), None) => {
            // Refuse a bad number before any log is read.
            Target::explicit(length, 1)?;
            Wanted::Length(length)
        }
        (None, _) => Wanted::Nothing,
    })
}

impl Wanted {
    fn target(&self, seen: &Observed) -> anyhow::Result<Option<Target>> {
        Ok(match self {
            Self::Nothing => None,
            Self::Known(target) => Some((**target).clone()),
            Self::Length(length) => {
                let max = seen.max_accept_length().with_context(|| {
                    format!(
                        "{}: the log does not say how many tokens a verify step can emit; add --max-accept-length \
                         (draft length + 1)",
                        seen.name()
                    )
                })?;
                Some(Target::explicit(*length, max)?)
            }
        })
    }
}

/// Every golden cell: what the server may have been given in place of the target.
fn rival_cells(global: &Global) -> anyhow::Result<Vec<RivalCell>> {
    let catalogue = catalogue::open(global)?;
    let curves = catalogue.entries().filter_map(|entry| entry.load().curve.as_ref().ok());
    let cells = curves.flat_map(|curve| {
        [Thinking::On, Thinking::Off, Thinking::Unstated].into_iter().flat_map(move |thinking| {
            curve.values(thinking).map(move |(draft_length, accept_length)| RivalCell {
                curve: curve.name.clone(),
                thinking,
                draft_length,
                accept_length,
            })
        })
    });
    Ok(cells.collect())
}

fn exit_of(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Consistent => Exit::Ok,
        Verdict::Inconsistent => Exit::Wrong,
        Verdict::Insufficient | Verdict::Unauditable => Exit::Undecided,
    }
}
