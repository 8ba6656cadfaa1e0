//! `accsim audit`: server logs against a target.

mod beside;
mod flags;
mod follow;
mod partial;
mod points;
mod row;
mod settings;
mod wanted;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::ensure;

use super::apart::{apart, apart_from_logs};
use super::fleet;
use super::format::ReportFormat;
use super::global::Color;
use super::output::{is_svg, plain, write_drawing, write_to};
use super::recover::recover;
use super::skipped::SkippedReport;
use super::{Exit, Global, catalogue};
use crate::audit::{Observed, Options, PointReport, RivalCell, Verdict, judge};
use crate::evidence::{Input, LogFile, Place, Reader};
use crate::report::json::{self, AuditDocument};
use crate::report::text::audit::{Detail, write_audit};
use crate::report::{AuditRun, csv, github, html, junit, markdown, parquet, plot};
use flags::{LogEngine, PointByFlag};
use points::{Replaying, read, scope};
use settings::SettingFiles;
use wanted::wanted;

pub(crate) use flags::AuditArgs;
pub(super) use wanted::Wanted;

pub(super) use beside::Folders;
pub(super) use partial::{PartFiles, catalogue_mark, judge_parts, part_scope, parts};
pub(super) use row::{RowResult, RowTarget, audit_row};

/// Plots of one SVG file.
const MOST_FIGURES: usize = 64;

/// Stretches of lines of each rank in one.
const DRAWN_STRETCHES: usize = 512;

pub(crate) fn run(
    args: &AuditArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    args.check()?;
    args.fleet.check()?;
    if let Some(manifest) = &args.fleet.manifest {
        return fleet::run(args, manifest, global, out, err);
    }
    let results = [args.output.as_deref(), args.html.as_deref()];
    let golden = global.golden_files();
    apart(golden.iter().map(PathBuf::as_path), results)?;
    apart_from_logs(&args.inputs(), results)?;
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
    write_result(args, global, &report, out)?;
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
            "--recover-seed needs a target, which the draws follow from: add --accept-length, or --model, --method and \
             --draft-length"
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

/// The name of a log, or of a file with settings.
fn file_name<'a>(logs: &'a [LogFile], others: &'a [String], number: u32) -> &'a str {
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    let other = || others.get(number.checked_sub(logs.len())?).map(String::as_str);
    logs.get(number).map(|log| log.name.as_str()).or_else(other).unwrap_or_default()
}

/// Whether anything is drawn.
fn draws(args: &AuditArgs, global: &Global) -> bool {
    args.html.is_some()
        || args.format.format() == ReportFormat::Html
        || args.draws_file()
        || args.format.format() == ReportFormat::Text && global.verbose
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
    /// Whether the result is a drawing.
    fn draws_file(&self) -> bool {
        self.format.format() == ReportFormat::Text && is_svg(self.output.as_deref())
    }

    /// Whether a text keeps its colours. Standard output strips them where it is no terminal; a file is none.
    pub(super) fn keeps_colours(&self, global: &Global) -> bool {
        self.output.is_none() || global.color == Color::Always
    }
}

/// The report, where it goes; text that goes to a `FILE.svg` is drawn.
fn write_result(
    args: &AuditArgs,
    global: &Global,
    report: &AuditRun<'_>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let file = args.output.as_deref();
    if !args.draws_file() {
        return write_to(file, out, |out| write_report(args, global, report, out));
    }
    let drawn = (1..).zip(report.points).flat_map(|(number, point)| {
        plot::point(point, &format!("p{number}"), DRAWN_STRETCHES)
            .into_iter()
            .map(|figure| plot::Figure { title: format!("{}: {}", point.name, figure.title), ..figure })
    });
    let figures: Vec<plot::Figure> = drawn.take(MOST_FIGURES).collect();
    write_drawing(file, out, |out| plot::write_svg("Accept length audit", &figures, out))
}

pub(super) fn write_report(
    args: &AuditArgs,
    global: &Global,
    report: &AuditRun<'_>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    match args.format.format() {
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

pub(super) fn exit_of(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Consistent => Exit::Ok,
        Verdict::Inconsistent => Exit::Wrong,
        Verdict::Insufficient | Verdict::Unauditable => Exit::Undecided,
    }
}
