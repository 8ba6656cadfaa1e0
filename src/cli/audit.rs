//! `accsim audit`: server logs against a target.

mod beside;
mod follow;
mod partial;
mod row;
mod settings;

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::{Args, ValueEnum};

use super::fleet::FleetFlags;
use super::format::{ReportFlags, ReportFormat};
use super::global::Color;
use super::limits::LimitFlags;
use super::number::{decimal, whole};
use super::output::{is_svg, plain, write_to};
use super::progress::ProgressLine;
use super::recover::recover;
use super::replay::ReplayFlags;
use super::select::CellFlags;
use super::skipped::{SHOWN, SkippedReport};
use super::{Exit, Global, catalogue, fleet};
use crate::audit::{
    Confidence, Margin, Moment, Observed, Options, PointBuilder, PointReport, RivalCell, Scope, Verdict,
    injected_length, judge,
};
use crate::engine::Engine;
use crate::evidence::{
    Batch, Input, Limits, LogFile, Place, PointBy, ReadError, Reader, Record, RecordSink, group, point_name,
};
use crate::golden::{Query, Target};
use crate::replay::{ReplayOptions, SEEDS};
use crate::report::json::{self, AuditDocument};
use crate::report::text::audit::{Detail, write_audit};
use crate::report::{AuditRun, csv, github, html, junit, markdown, parquet, plot};
use settings::SettingFiles;

pub(super) use beside::Folders;
pub(super) use partial::{PartFiles, catalogue_mark, judge_parts, part_scope, parts};
pub(super) use row::{RowResult, RowTarget, audit_row};

const GOLDEN: &str = "Target: a golden cell";
const EXPLICIT: &str = "Target: a number";
const INJECTED: &str =
    "Target: what the run was told [default: as the log echoes it, or a file beside the log says]";
const JUDGEMENT: &str = "How to judge";
const SCOPE: &str = "Which lines count";
const FOLLOW: &str = "Logs that grow";

/// Plots of one SVG file.
const MOST_FIGURES: usize = 64;

/// Stretches of lines of each rank in one.
const DRAWN_STRETCHES: usize = 512;

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
    #[arg(value_parser = whole::<u32>(1..))]
    draft_length: Option<u32>,

    #[command(flatten)]
    cell: CellFlags,

    /// Tokens per verify step that the run should show, the target model's own included
    #[arg(long, value_name = "AL", help_heading = EXPLICIT, allow_hyphen_values = true, value_parser = decimal)]
    accept_length: Option<f64>,

    /// Most tokens that one verify step can emit: draft length + 1 [default: as the server's arguments in the log say]
    #[arg(long, value_name = "M", help_heading = EXPLICIT, requires = "accept_length", value_parser = whole::<u32>(..))]
    max_accept_length: Option<u32>,

    /// What the run was told: an environment, an env file, a `set -x` trace or a server-info document
    #[arg(long, value_name = "FILE", help_heading = INJECTED)]
    env: Option<PathBuf>,

    /// What the run was told: its recipe
    #[arg(long, value_name = "FILE", help_heading = INJECTED, conflicts_with = "env")]
    recipe: Option<PathBuf>,

    /// Engine that wrote the logs
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    engine: LogEngine,

    /// How far the mean may lie from the target: a share of it (2%), or tokens (0.05)
    #[arg(long, value_name = "MARGIN", default_value = "2%", help_heading = JUDGEMENT, allow_hyphen_values = true)]
    margin: Margin,

    /// Confidence of the interval that decides
    #[arg(long, value_name = "SHARE", default_value = "0.95", help_heading = JUDGEMENT, allow_hyphen_values = true)]
    confidence: Confidence,

    /// Verify steps per decode line [default: as the log says, else as its values say, else 40]
    #[arg(long, value_name = "N", help_heading = JUDGEMENT, value_parser = whole::<u32>(1..))]
    decode_log_interval: Option<u32>,

    /// The run is an evaluation: any sign of simulated acceptance is wrong
    #[arg(long, help_heading = JUDGEMENT)]
    #[arg(conflicts_with_all = ["model", "method", "draft_length", "accept_length", "max_accept_length", "margin"])]
    expect_real: bool,

    /// Count decode lines from this time on: 2026-10-12T01:02:03, or coarser, or a time of day
    #[arg(long, value_name = "T", help_heading = SCOPE)]
    since: Option<Moment>,

    /// Count decode lines up to this time, it included
    #[arg(long, value_name = "T", help_heading = SCOPE)]
    until: Option<Moment>,

    /// Pass over the first N decode lines of each rank of a point (warm-up)
    #[arg(long, value_name = "N", help_heading = SCOPE, default_value_t = 0, hide_default_value = true)]
    #[arg(value_parser = whole::<u64>(..))]
    skip_lines: u64,

    /// What makes a point, one run of one server
    #[arg(long, value_name = "WHAT", default_value = "path", help_heading = SCOPE)]
    point_by: PointByFlag,

    /// Read on while the logs grow, and end as soon as every point is decided
    ///
    /// Looks four times a second, by a test that may be looked at after every line. Goes on when a file is rotated (renamed, or
    /// cut to nothing), waits for files that are not there yet, and reads standard input to its end. Ctrl-C ends it without
    /// a report.
    #[arg(long, help_heading = FOLLOW, conflicts_with_all = ["expect_real", "recover_seed"])]
    follow: bool,

    /// With --follow: end when no log has had a new decode line for so many seconds; what is undecided then is
    /// insufficient [default: never]
    #[arg(long, value_name = "SECONDS", help_heading = FOLLOW, requires = "follow", value_parser = seconds)]
    #[arg(allow_hyphen_values = true)]
    idle_exit: Option<Duration>,

    #[command(flatten)]
    pub(super) fleet: FleetFlags,

    #[command(flatten)]
    replay: ReplayFlags,

    #[command(flatten)]
    limits: LimitFlags,

    #[command(flatten)]
    pub(super) format: ReportFlags,

    /// Write the result to FILE in place of standard output; as text to a FILE.svg: draw the points
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Write a page to look at to FILE, too: plots, a table that sorts, the sign-off text
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// `--engine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogEngine {
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
    fn engine(self) -> Option<Engine> {
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
enum PointByFlag {
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

/// What the flags say about the target.
pub(super) enum Wanted {
    /// There is none to be had.
    Evaluation,
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
    args.check()?;
    if let Some(manifest) = &args.fleet.manifest {
        return fleet::run(args, manifest, global, out, err);
    }
    if args.fleet.partial {
        return partial::write_parts(args, global, out, err);
    }
    fleet::check_binary(args.format.format(), args.output.is_some())?;
    let (wanted, mut notes) = wanted(args, global)?;
    let mut told = SettingFiles::named(args.env.as_deref(), args.recipe.as_deref(), &Folders::default())?;
    let options = args.options(RivalCell::all(&catalogue::open(global)?).collect());
    let replay = Replaying::new(args, &wanted, &options);
    let inputs: Vec<Input> = args.paths.iter().map(|path| Input::from(path.as_path())).collect();
    let is_quiet = global.quiet || args.format.is_json();
    let mut judged = if args.follow {
        ensure!(
            args.point_by != PointByFlag::Segment,
            "--follow judges what a log shows as a whole; audit segments when the log is complete"
        );
        follow::follow(
            args,
            draws(args, global),
            &inputs,
            &replay,
            &wanted,
            &mut told,
            &options,
            err,
            is_quiet,
        )?
    } else {
        once(args, &inputs, replay, &wanted, &mut told, &options, global, err, is_quiet)?
    };
    notes.append(&mut judged.notes);
    let Judged { points, files, failures, .. } = judged;
    // A JSON document holds them itself.
    for note in notes.iter().filter(|_| !global.quiet && !args.format.is_json()) {
        let _ = writeln!(err, "{note}");
    }
    let verdict = points.iter().map(|point| point.verdict).reduce(Verdict::worst);
    let verdict = verdict.unwrap_or(Verdict::Insufficient);
    let logs = files.iter().map(|file| file.name.as_str());
    let files: Vec<&str> = logs.chain(told.names().iter().map(String::as_str)).collect();
    let report = AuditRun { points: &points, verdict, files: &files, errors: &failures, notes: &notes };
    if args.html.is_some() {
        write_to(args.html.as_deref(), out, |out| html::write_audit(&report, out))?;
    }
    write_to(args.output.as_deref(), out, |out| write_report(args, global, &report, out))?;
    let exit = if failures.is_empty() { Exit::Ok } else { Exit::Failed };
    Ok(points.iter().map(|point| exit_of(point.verdict)).fold(exit, Exit::worst))
}

/// What came of the logs.
struct Judged {
    points: Vec<PointReport>,
    /// The logs, in the order of their numbers.
    files: Vec<LogFile>,
    /// What could not be read; on stderr already.
    failures: Vec<String>,
    notes: Vec<String>,
}

/// Reads all logs as they are and judges them.
#[expect(clippy::too_many_arguments, reason = "all that the flags came to")]
fn once(
    args: &AuditArgs,
    inputs: &[Input],
    mut replay: Replaying,
    wanted: &Wanted,
    told: &mut SettingFiles,
    options: &Options,
    global: &Global,
    err: &mut dyn Write,
    is_quiet: bool,
) -> anyhow::Result<Judged> {
    if let Some(method) = args.replay.recovered() {
        ensure!(
            matches!(wanted, Wanted::Known(_) | Wanted::Length(_)),
            "--recover-seed needs a target: the draws follow from it"
        );
        ensure!(
            args.paths.iter().all(|path| path != Path::new("-")),
            "--recover-seed reads its logs twice; standard input can be read once"
        );
        let (points, _, _) = read(args, global, inputs, &replay, is_quiet);
        replay.seeds = recover(&points, wanted, method, global, err, is_quiet);
    }
    let (seen, reader, errors) = read(args, global, inputs, &replay, is_quiet);
    // What could not be read is named whatever the flags: a verdict over half a log must not look like one over the
    // whole.
    for error in &errors {
        let _ = writeln!(err, "error: {error}");
    }
    let mut notes: Vec<String> =
        reader.passed_over().iter().map(|passed| format!("note: {passed}")).collect();
    let mut points = Vec::new();
    if global.verbose {
        let mut skipped = SkippedReport::default();
        for seen in &seen {
            show_skipped(seen, &reader, &mut skipped);
        }
        skipped.write(err);
    }
    told.after(reader.files());
    for mut seen in seen {
        let max = told.tell(&mut seen, reader.files());
        notes.extend(args.replay.about_seed(&seen));
        let names = |place: Place| file_name(reader.files(), told.names(), place.file);
        let target = wanted.target(&seen, max, names, &mut notes)?;
        points.push(judge(&seen, target.as_ref(), options));
    }
    let failures = errors.iter().map(ToString::to_string).collect();
    Ok(Judged { points, files: reader.files().to_vec(), failures, notes })
}

/// Reads `--idle-exit`.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0);
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| "expected a number of seconds above 0".to_owned())
}

/// The name of a log, or of a file with settings.
fn file_name<'a>(logs: &'a [LogFile], others: &'a [String], number: u32) -> &'a str {
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    let other = || others.get(number.checked_sub(logs.len())?).map(String::as_str);
    logs.get(number).map(|log| log.name.as_str()).or_else(other).unwrap_or_default()
}

/// Reads all logs.
fn read(
    args: &AuditArgs,
    global: &Global,
    inputs: &[Input],
    replay: &Replaying,
    is_quiet: bool,
) -> (Vec<Observed>, Reader, Vec<ReadError>) {
    let mut reader = Reader::new(Limits::from(&args.limits)).with_threads(global.thread_count());
    let by = PointBy::from(args.point_by);
    let keep = if global.verbose { SHOWN } else { 0 };
    let draws = draws(args, global);
    let name =
        |log: &str, input: &str| args.fleet.point.clone().unwrap_or_else(|| point_name(log, input, by));
    let point = |name: &String| {
        let point = replay.builder(name.clone()).with_scope(scope(args)).keeping_skipped(keep);
        Point(if draws { point.keeping_series() } else { point })
    };
    let progress = ProgressLine::show(reader.progress(), is_quiet);
    let (seen, errors) = reader.read_groups(inputs, name, point);
    drop(progress);
    let mut seen: HashMap<String, Vec<Observed>> =
        seen.into_iter().map(|(name, Point(point))| (name, point.finish_segments())).collect();
    let points = match &args.fleet.point {
        Some(name) => seen.remove(name).unwrap_or_default(),
        None => by_log(seen, by, replay.engine, inputs, &reader, &errors),
    };
    (points, reader, errors)
}

/// Whether anything is drawn.
fn draws(args: &AuditArgs, global: &Global) -> bool {
    let text = args.format.format() == ReportFormat::Text;
    args.html.is_some()
        || args.format.format() == ReportFormat::Html
        || text && (global.verbose || is_svg(args.output.as_deref()))
}

/// Which lines count.
fn scope(args: &AuditArgs) -> Scope {
    Scope {
        since: args.since.clone(),
        until: args.until.clone(),
        skip_lines: args.skip_lines,
        by_segment: args.point_by == PointByFlag::Segment,
    }
}

/// How points are replayed.
#[derive(Clone, Debug)]
struct Replaying {
    /// `None` where they are not.
    options: Option<ReplayOptions>,
    /// Seeds that were searched, by the points' names.
    seeds: HashMap<String, u64>,
    /// The engine whose records count.
    engine: Option<Engine>,
}

impl Replaying {
    /// As the flags say, whether a point is audited alone, in a manifest or from its parts.
    fn new(args: &AuditArgs, wanted: &Wanted, options: &Options) -> Self {
        Self {
            options: args.replay.options(wanted, args.decode_log_interval, &options.cells),
            seeds: HashMap::new(),
            engine: args.engine.engine(),
        }
    }

    fn builder(&self, name: String) -> PointBuilder {
        let builder = |name: String| PointBuilder::new(name).with_engine(self.engine);
        let Some(options) = &self.options else { return builder(name) };
        let mut options = options.clone();
        if let Some(seed) = self.seeds.get(&name) {
            options.seed = Some(*seed);
            options.seed_charge = crate::law::float(SEEDS).log10();
        }
        builder(name).with_replay(options)
    }
}

/// A point, built while its logs are read.
struct Point(PointBuilder);

impl RecordSink for Point {
    fn begin(&mut self, _file: u32, log: &str, _input: &str) {
        self.0.ignore_settings(settings::is_script(log));
    }

    fn record(&mut self, place: Place, record: &Record<'_>) {
        self.0.add(place, record);
    }

    fn batch(&mut self, batch: &Batch<'_>) {
        self.0.add_batch(batch);
    }
}

/// The points in the order of their first log. A log without records is a point only where its input has no other, and one
/// that failed before its first record is none.
fn by_log(
    mut seen: HashMap<String, Vec<Observed>>,
    by: PointBy,
    engine: Option<Engine>,
    inputs: &[Input],
    reader: &Reader,
    errors: &[ReadError],
) -> Vec<Observed> {
    let mut points = Vec::new();
    for point in group(reader.files(), by) {
        let mut files =
            point.files.iter().filter_map(|file| reader.files().get(usize::try_from(*file).ok()?));
        let failed = files.any(|file| errors.iter().any(|error| error.name == file.name));
        let mut found = seen.remove(&point.name).unwrap_or_default();
        if found.is_empty() {
            found.push(PointBuilder::new(point.name.as_str()).with_engine(engine).finish());
        }
        points.extend(found.into_iter().filter(|point| point.has_records() || !failed));
    }
    // An input in which there was nothing to read is a point too: silence must not pass for consent.
    for input in inputs.iter().map(Input::name) {
        let has_logs = reader.files().iter().any(|file| *file.input == *input);
        let failed = errors.iter().any(|error| Path::new(&error.name).starts_with(&input));
        if !has_logs && !failed {
            points.push(PointBuilder::new(input).with_engine(engine).finish());
        }
    }
    points
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

impl AuditArgs {
    /// Whether a text keeps its colours. Standard output strips them where it is no terminal; a file is none.
    pub(super) fn keeps_colours(&self, global: &Global) -> bool {
        self.output.is_none() || global.color == Color::Always
    }
}

pub(super) fn write_report(
    args: &AuditArgs,
    global: &Global,
    report: &AuditRun<'_>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    match args.format.format() {
        ReportFormat::Text if is_svg(args.output.as_deref()) => {
            let drawn = (1..).zip(report.points).flat_map(|(number, point)| {
                plot::point(point, &format!("p{number}"), DRAWN_STRETCHES).into_iter().map(|figure| {
                    plot::Figure { title: format!("{}: {}", point.name, figure.title), ..figure }
                })
            });
            let figures: Vec<plot::Figure> = drawn.take(MOST_FIGURES).collect();
            plot::write_svg("Accept length audit", &figures, out)
        }
        ReportFormat::Text => {
            let detail = if global.verbose { Detail::Full } else { Detail::Overview };
            if args.keeps_colours(global) {
                return write_audit(report, detail, out);
            }
            out.write_all(&plain(|out| write_audit(report, detail, out))?)
        }
        ReportFormat::Json => json::write(out, &AuditDocument::new(report)),
        ReportFormat::Html => html::write_audit(report, out),
        ReportFormat::Markdown => markdown::write_audit(report, out),
        ReportFormat::Csv => csv::write_audit(report, out),
        ReportFormat::Parquet => parquet::write_fleet(&report.fleet_rows()?, out),
        ReportFormat::Junit => junit::write_audit(report, out),
        ReportFormat::Github => github::write_audit(report, out),
    }
}

/// The target, and what there is to know about it.
fn wanted(args: &AuditArgs, global: &Global) -> anyhow::Result<(Wanted, Vec<String>)> {
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
        let warnings = found.warnings.iter().map(|warning| format!("{}: {warning}", warning.severity()));
        let warnings = warnings.collect();
        return Ok((Wanted::Known(Box::new(found.target)), warnings));
    }
    ensure!(
        cell.draft_model.is_none() && cell.draft_sample_method.is_none(),
        "--draft-model and --draft-sample-method pick a golden cell; name it by --model, --method and --draft-length"
    );
    let wanted = match (args.accept_length, args.max_accept_length) {
        (Some(length), Some(max)) => Wanted::Known(Box::new(Target::explicit(length, max)?)),
        (Some(length), None) => {
            // Refuse a bad number before any log is read.
            Target::explicit(length, 1)?;
            Wanted::Length(length)
        }
        (None, _) if args.expect_real => Wanted::Evaluation,
        (None, _) => Wanted::Nothing,
    };
    Ok((wanted, Vec::new()))
}

impl Wanted {
    /// The target of a point; `max` is the most that a step can emit, where a file about the run says it.
    fn target<'a>(
        &self,
        seen: &Observed,
        max: Option<u32>,
        name: impl Fn(Place) -> &'a str,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Option<Target>> {
        Ok(match self {
            Self::Evaluation => None,
            Self::Nothing => match injected_length(seen.injected(), seen.draft_length()) {
                Some((length, setting)) => {
                    let place = format!("{}:{}", name(setting.place), setting.place.line);
                    let Some(max) = seen.max_accept_length().or(max) else {
                        notes.push(format!(
                            "warning: {}: told {length} ({place}), but neither that nor the log says how many tokens a \
                             verify step can emit; give --accept-length and --max-accept-length (draft length + 1)",
                            seen.name()
                        ));
                        return Ok(None);
                    };
                    Some(Target::injected(length, max, setting.source, place)?)
                }
                None => None,
            },
            Self::Known(target) => Some((**target).clone()),
            // Nothing there to compare: the verdict says what is missing.
            Self::Length(_) if seen.is_silent() => None,
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

pub(super) fn exit_of(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Consistent => Exit::Ok,
        Verdict::Inconsistent => Exit::Wrong,
        Verdict::Insufficient | Verdict::Unauditable => Exit::Undecided,
    }
}
