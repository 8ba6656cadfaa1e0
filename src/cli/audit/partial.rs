//! `--partial`: points as far as one machine sees them, and the verdict once all parts have come together.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::Path;

use anyhow::bail;

use super::settings::{self, SettingFiles};
use super::{AuditArgs, Folders, PointByFlag, Replaying, RowTarget, Wanted, audit_row, scope};
use crate::audit::{
    InjectedSetting, LogPart, LogRecorder, PartError, PointBuilder, PointReport, RivalCell, Scope, judge,
};
use crate::cli::fleet::{self, PartPoint, PartWriter, PointLog, ToldSetting, spelled};
use crate::cli::output::write_to;
use crate::cli::progress::ProgressLine;
use crate::cli::{Exit, Global, catalogue};
use crate::evidence::{Input, Limits, Place, PointBy, ReadError, Reader, Record, RecordSink, group};
use crate::golden::SettingSource;

/// Records the logs of one name one after the other: there is more than one where a path is given twice.
struct Parts {
    scope: Scope,
    current: Option<(u32, LogRecorder)>,
    done: Vec<(u32, LogPart)>,
}

impl RecordSink for Parts {
    fn begin(&mut self, file: u32, log: &str, _input: &str) {
        let recorder = LogRecorder::new(&spelled(log), self.scope.clone(), settings::is_script(log));
        self.current = Some((file, recorder));
    }

    fn record(&mut self, place: Place, record: &Record<'_>) {
        if let Some((_, recorder)) = &mut self.current {
            recorder.add(place, record);
        }
    }

    fn end(&mut self) {
        if let Some((file, recorder)) = self.current.take() {
            self.done.push((file, recorder.finish()));
        }
    }
}

/// Writes the parts of the paths' points.
pub(super) fn write_parts(
    args: &AuditArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    args.format.check_partial()?;
    // A flag that is wrong is refused before anything is read.
    super::wanted(args, global)?;
    let points = parts(args, global, &Folders::default(), global.quiet)?;
    let mut failures: Vec<&String> = points.iter().flat_map(|point| &point.failures).collect();
    failures.sort();
    failures.dedup();
    for failure in &failures {
        writeln!(err, "error: {failure}")?;
    }
    for note in points.iter().filter_map(PartPoint::unfit_note).filter(|_| !global.quiet) {
        writeln!(err, "{note}")?;
    }
    write_to(args.output.as_deref(), out, |out| {
        let mut writer = PartWriter::new(out)?;
        points.iter().try_for_each(|point| writer.point(point))?;
        writer.finish()
    })?;
    Ok(if failures.is_empty() { Exit::Ok } else { Exit::Failed })
}

/// The parts of the points that some paths lead to.
pub(in crate::cli) fn parts(
    args: &AuditArgs,
    global: &Global,
    folders: &Folders,
    is_quiet: bool,
) -> anyhow::Result<Vec<PartPoint>> {
    args.check()?;
    args.check_partial(|_| false)?;
    let mut told = SettingFiles::named(args.env.as_deref(), args.recipe.as_deref(), folders)?;
    let inputs: Vec<Input> = args.paths.iter().map(|path| Input::from(path.as_path())).collect();
    let mut reader = Reader::new(Limits::from(&args.limits)).with_threads(global.thread_count());
    let new = |_: &String| Parts { scope: scope(args), current: None, done: Vec::new() };
    let progress = ProgressLine::show(reader.progress(), is_quiet);
    let (parts, errors) = reader.read_groups(&inputs, |log, _| log.to_owned(), new);
    drop(progress);
    let mut done: HashMap<u32, LogPart> = parts.into_iter().flat_map(|(_, parts)| parts.done).collect();
    told.after(reader.files());
    let mut points = Vec::new();
    for (place, (name, files)) in (0..).zip(names_and_files(args, &inputs, &reader)) {
        let point = PartPoint { name, place, flags: args.flags(), ..PartPoint::default() };
        points.push(part(point, args, &files, &mut done, &reader, &errors, &mut told)?);
    }
    judge_what_is_lost(args, global, folders, &mut points)?;
    points.into_iter().map(|point| Ok(point.bounded(&scope(args))?)).collect()
}

impl AuditArgs {
    /// Refuses what parts cannot keep, by the column of a row where it is from one.
    pub(in crate::cli) fn check_partial(&self, is_column: impl Fn(&str) -> bool) -> anyhow::Result<()> {
        let name =
            |column: &str, flag: &str| if is_column(column) { column.to_owned() } else { flag.to_owned() };
        let refused = if self.skip_lines > 0 {
            name("skip_lines", "--skip-lines")
        } else if self.point_by == PointByFlag::Segment {
            format!("{} segment", name("point_by", "--point-by"))
        } else {
            return Ok(());
        };
        bail!("{refused} counts from a point's first line, and a part does not know whether it holds it")
    }
}

/// Parts that do not hold every record come with the verdict of one pass: it stands as long as no other log joins.
fn judge_what_is_lost(
    args: &AuditArgs,
    global: &Global,
    folders: &Folders,
    points: &mut [PartPoint],
) -> anyhow::Result<()> {
    let is_read_once = args.paths.iter().any(|path| path == Path::new("-"));
    if is_read_once || points.iter().all(PartPoint::is_kept_whole) {
        return Ok(());
    }
    let target = args.row_target(global)?;
    let cells: Vec<RivalCell> = RivalCell::all(&catalogue::open(global)?).collect();
    let result = audit_row(args, global, &target, &cells, folders)?;
    for judged in result.points {
        let name = judged.cells.get("point").and_then(|name| name.as_str());
        let point = points.iter_mut().find(|point| Some(point.name.as_str()) == name);
        if let Some(point) = point.filter(|point| !point.is_kept_whole()) {
            point.judged(&judged, &result.notes, &cells)?;
        }
    }
    Ok(())
}

/// Which lines of a point count.
pub(in crate::cli) fn part_scope(args: &AuditArgs) -> Scope {
    scope(args)
}

/// Stands for the rules and golden cells that a verdict rests on.
pub(in crate::cli) fn catalogue_mark(cells: &[RivalCell]) -> String {
    format!("{} {}", env!("CARGO_PKG_VERSION"), fleet::hash(format!("{cells:?}").as_bytes()))
}

/// The points by name, each with its logs.
fn names_and_files(args: &AuditArgs, inputs: &[Input], reader: &Reader) -> Vec<(String, Vec<u32>)> {
    let files = reader.files();
    if let Some(name) = &args.fleet.point {
        let with_records = (0..).zip(files).filter(|(_, file)| file.has_records);
        return vec![(name.clone(), with_records.map(|(index, _)| index).collect())];
    }
    let by = PointBy::from(args.point_by);
    let mut points: Vec<(String, Vec<u32>)> =
        group(files, by).into_iter().map(|point| (spelled(&point.name), point.files)).collect();
    // What there was nothing to read in is a point too, as in an audit.
    for input in inputs.iter().map(Input::name) {
        let has_logs = files.iter().any(|file| *file.input == *input);
        if !has_logs {
            points.push((spelled(&input), Vec::new()));
        }
    }
    points
}

fn part(
    mut point: PartPoint,
    args: &AuditArgs,
    files: &[u32],
    done: &mut HashMap<u32, LogPart>,
    reader: &Reader,
    errors: &[ReadError],
    told: &mut SettingFiles,
) -> anyhow::Result<PartPoint> {
    let logs = reader.files();
    let mut archives: BTreeMap<&str, u64> = BTreeMap::new();
    let mut builder =
        PointBuilder::new(point.name.as_str()).with_engine(args.engine.engine()).with_scope(scope(args));
    for file in files {
        let Some(log) = usize::try_from(*file).ok().and_then(|file| logs.get(file)) else { continue };
        if !log.has_records {
            continue;
        }
        let number = log.name.split_once("!/").map_or(0, |(archive, _)| {
            let count = archives.entry(archive).or_insert(0);
            *count += 1;
            *count
        });
        let Some(part) = done.remove(file) else { continue };
        match builder.add_part(*file, &part) {
            // What was told is in the verdict of one pass.
            Ok(()) | Err(PartError::Closed(_)) => {}
            Err(error) => return Err(error.into()),
        }
        point.logs.push(PointLog { number, part });
    }
    let mut seen = builder.finish();
    let own = seen.injected().len();
    point.told_max = told.tell(&mut seen, logs);
    let first = u32::try_from(logs.len()).unwrap_or(u32::MAX);
    for (number, setting) in (0..).zip(seen.injected().iter().skip(own)) {
        let file = setting.place.file.checked_sub(first).and_then(|file| usize::try_from(file).ok());
        point.told.push(ToldSetting {
            file: file.and_then(|file| told.names().get(file)).map(|name| spelled(name)).unwrap_or_default(),
            number,
            name: setting.name.clone(),
            value: setting.value.clone(),
            line: setting.place.line,
            source: setting.source.name().to_owned(),
            is_beside: setting.is_beside,
        });
    }
    // A file that failed may have been of any point that has logs: each says so.
    let is_own = |error: &&ReadError| {
        !point.logs.is_empty()
            || Path::new(&spelled(&error.name)).starts_with(&point.name)
            || files.iter().any(|file| {
                let log = usize::try_from(*file).ok().and_then(|file| logs.get(file));
                log.is_some_and(|log| log.name == error.name)
            })
    };
    point.failures = errors.iter().filter(is_own).map(ToString::to_string).collect();
    point.in_order();
    Ok(point)
}

/// Names that places of merged points refer to: all logs, then the files about the runs.
#[derive(Debug, Default)]
pub(in crate::cli) struct PartFiles {
    logs: u32,
    names: Vec<String>,
}

impl PartFiles {
    /// The logs of these points.
    pub(in crate::cli) fn of<'a>(points: impl IntoIterator<Item = &'a PartPoint>) -> Self {
        let names: Vec<String> = points
            .into_iter()
            .flat_map(|point| point.logs.iter().map(|log| log.part.name().to_owned()))
            .collect();
        Self { logs: u32::try_from(names.len()).unwrap_or(u32::MAX), names }
    }

    pub(in crate::cli) fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    fn number(&mut self, name: &str) -> u32 {
        let logs = usize::try_from(self.logs).unwrap_or(usize::MAX);
        let known = self.names.iter().skip(logs).position(|known| known == name);
        let index = known.map_or(self.names.len(), |index| logs + index);
        if index == self.names.len() {
            self.names.push(name.to_owned());
        }
        u32::try_from(index).unwrap_or(u32::MAX)
    }
}

/// Judges a point that is together, the first log of which has this number.
pub(in crate::cli) fn judge_parts(
    args: &AuditArgs,
    (wanted, notes): &RowTarget,
    cells: &[RivalCell],
    point: &PartPoint,
    first: u32,
    files: &mut PartFiles,
    said: &mut Vec<String>,
) -> anyhow::Result<PointReport> {
    said.extend(notes.iter().cloned());
    let options = args.options(cells.to_vec());
    let replay = Replaying::new(args, wanted, &options);
    let mut builder = replay.builder(point.name.clone()).with_scope(scope(args));
    for (file, log) in (first..).zip(&point.logs) {
        builder.add_part(file, &log.part)?;
    }
    let mut seen = builder.finish();
    let mut told = Vec::new();
    // What lay beside one log may be another log of the point: what that says is known from its own part.
    let is_log = |file: &str| {
        !settings::is_document(Path::new(file)) && point.logs.iter().any(|log| log.part.name() == file)
    };
    let is_told = |setting: &&ToldSetting| !(setting.is_beside && is_log(&setting.file));
    let told_max =
        point.told_max.filter(|_| point.told.is_empty() || point.told.iter().any(|one| is_told(&one)));
    for setting in point.told.iter().filter(is_told) {
        told.push(InjectedSetting {
            name: setting.name.clone(),
            value: setting.value.clone(),
            place: Place { file: files.number(&setting.file), line: setting.line },
            source: match setting.source.as_str() {
                "recipe" => SettingSource::Recipe,
                "log" => SettingSource::Log,
                _ => SettingSource::Env,
            },
            is_beside: setting.is_beside,
        });
    }
    seen.add_settings(told);
    let names = |place: Place| {
        let index = usize::try_from(place.file).unwrap_or(usize::MAX);
        files.names.get(index).map_or("", String::as_str)
    };
    let target = Wanted::target(wanted, &seen, told_max, names, said)?;
    Ok(judge(&seen, target.as_ref(), &options))
}
