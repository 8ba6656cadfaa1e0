//! `accsim merge`: parts of points put together and judged.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use anyhow::Context as _;
use clap::Args;

use super::document::{self, PartWriter};
use super::part::{PartPoint, PointKey};
use super::row::Row;
use super::run::{check_binary, check_format, report};
use crate::audit::{PartError, PointReport, RivalCell, Verdict};
use crate::cli::apart::apart;
use crate::cli::audit::{
    AuditArgs, PartFiles, RowTarget, catalogue_mark, exit_of, judge_parts, part_scope, write_report,
};
use crate::cli::format::{RESULT, ReportFlags};
use crate::cli::output::write_to;
use crate::cli::{Exit, Global, catalogue};
use crate::report::AuditRun;
use crate::report::fleet::{FleetPoint, FleetRow, FleetRows};

/// Flags of `accsim merge`.
#[derive(Args, Clone, Debug)]
pub(crate) struct MergeArgs {
    /// Parts written by audit --partial, or by merge --partial; - for standard input
    #[arg(required = true, value_name = "PART")]
    parts: Vec<PathBuf>,

    /// Write one part in place of verdicts: to merge in several steps
    #[arg(long)]
    partial: bool,

    #[command(flatten)]
    format: ReportFlags,

    /// Write the result to FILE in place of standard output
    #[arg(short, long, value_name = "FILE", help_heading = RESULT)]
    output: Option<PathBuf>,
}

pub(in crate::cli) fn run(
    args: &MergeArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    check_binary(args.format.format(), args.output.is_some())?;
    apart(args.parts.iter().map(PathBuf::as_path), [args.output.as_deref()])?;
    if args.partial {
        args.format.check_partial()?;
    }
    let (mut points, refused) = join(&args.parts, err)?;
    let apart = differing_flags(&points);
    for note in apart.iter().filter(|_| !global.quiet && (args.partial || !args.format.is_json())) {
        writeln!(err, "{note}")?;
    }
    if args.partial {
        let judge = Judge::new(global)?;
        let mut is_lost = false;
        for point in &points {
            // One that nobody can judge any more is no result, though another merge may bring its verdict back.
            if let Some(log) = point.closed_log().filter(|_| judge.verdict(point).is_none()) {
                is_lost = true;
                writeln!(err, "error: {}: {}", point.name, PartError::Closed(log.to_owned()))?;
            }
        }
        write_to(args.output.as_deref(), out, |out| {
            let mut writer = PartWriter::new(out)?;
            points.iter().try_for_each(|point| writer.point(point))?;
            writer.finish()
        })?;
        // What failed in a row goes on with it, and counts where it is judged.
        return Ok(if refused.is_empty() && !is_lost { Exit::Ok } else { Exit::Failed });
    }
    let judge = Judge::new(global)?;
    let flags = AuditArgs::bare(args.format, args.output.clone())?;
    points.sort_by_cached_key(|point| (point.row, point.run.clone(), point.place, point.name.clone()));
    // The verdict of a pass elsewhere is there as the tables of many runs print it.
    if points.iter().any(|point| point.row.is_some() || judge.verdict(point).is_some()) {
        check_format(args.format.format(), args.output.is_some())?;
        let rows = MergedRows { notes: apart, ..MergedRows::of(&points, &judge, refused) };
        return report(&rows, &flags, global, out, err);
    }
    whole_report(&points, &judge, (refused, apart), &flags, args, out, err)
}

/// The report of an audit over points that are of no manifest.
fn whole_report(
    points: &[PartPoint],
    judge: &Judge<'_>,
    (mut refused, apart): (Vec<String>, Vec<String>),
    flags: &AuditArgs,
    args: &MergeArgs,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let mut files = PartFiles::of(points);
    let (mut reports, mut failures, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let mut first = 0;
    for point in points {
        failures.extend(point.failures.iter().cloned());
        if is_lost(point) {
            continue;
        }
        match judge.report(point, first, &mut files, &mut notes) {
            Ok(report) => reports.push(report),
            Err(error) => failures.push(format!("{}: {error:#}", point.name)),
        }
        first += u32::try_from(point.logs.len()).unwrap_or(u32::MAX);
    }
    failures.sort();
    failures.dedup();
    notes.dedup();
    for failure in &failures {
        writeln!(err, "error: {failure}")?;
    }
    for note in notes.iter().filter(|_| !judge.global.quiet && !args.format.is_json()) {
        writeln!(err, "{note}")?;
    }
    // Those are said.
    let notes: Vec<String> = apart.into_iter().chain(notes).collect();
    failures.append(&mut refused);
    let verdict = reports.iter().map(|point| point.verdict).reduce(Verdict::worst);
    let names = files.names();
    let run = AuditRun {
        points: &reports,
        verdict: verdict.unwrap_or(Verdict::Insufficient),
        files: &names,
        errors: &failures,
        notes: &notes,
    };
    write_to(args.output.as_deref(), out, |out| write_report(flags, judge.global, &run, out))?;
    let exit = match (failures.is_empty(), reports.is_empty()) {
        (false, _) => Exit::Failed,
        // Silence must not pass for consent.
        (true, true) => Exit::Undecided,
        (true, false) => Exit::Ok,
    };
    Ok(reports.iter().map(|point| exit_of(point.verdict)).fold(exit, Exit::worst))
}

/// Whether nothing of a point could be read.
fn is_lost(point: &PartPoint) -> bool {
    point.logs.is_empty() && !point.failures.is_empty()
}

/// Reads parts and puts them together, each point as small as a document holds it: a verdict is the same whether it is
/// made here, or of a part that is written here. What cannot be read is named and left out.
fn join(paths: &[PathBuf], err: &mut dyn Write) -> anyhow::Result<(Vec<PartPoint>, Vec<String>)> {
    let (mut points, mut refused) = (BTreeMap::<PointKey, PartPoint>::new(), Vec::new());
    for path in paths {
        match bytes(path).and_then(|bytes| document::read(&bytes)) {
            Ok(read) => {
                for mut point in read {
                    point.in_order();
                    match points.entry(point.key()) {
                        std::collections::btree_map::Entry::Vacant(free) => {
                            free.insert(point);
                        }
                        std::collections::btree_map::Entry::Occupied(mut known) => {
                            known.get_mut().join(point);
                        }
                    }
                }
            }
            Err(error) => {
                let refusal = format!("{}: {error:#}", path.display());
                writeln!(err, "error: {refusal}")?;
                refused.push(refusal);
            }
        }
    }
    let mut bounded = Vec::with_capacity(points.len());
    for point in points.into_values() {
        let name = point.name.clone();
        match small(point) {
            Ok(point) => bounded.push(point),
            Err(error) => {
                let refusal = format!("{name}: {error:#}");
                writeln!(err, "error: {refusal}")?;
                refused.push(refusal);
            }
        }
    }
    Ok((bounded, refused))
}

/// Points of one name that stay apart, as their parts were made with different flags.
fn differing_flags(points: &[PartPoint]) -> Vec<String> {
    let mut alike: BTreeMap<(&str, &str), Vec<&PartPoint>> = BTreeMap::new();
    for point in points {
        alike.entry((&point.name, &point.run)).or_default().push(point);
    }
    let notes = alike.into_iter().filter_map(|((name, _), points)| {
        let (first, others) = points.split_first()?;
        let is_own = |flag: &&String| others.iter().any(|point| point.flags.get(*flag) != first.flags.get(*flag));
        let flags: BTreeSet<&String> = points.iter().flat_map(|point| point.flags.keys()).filter(is_own).collect();
        let flags: Vec<&str> = flags.into_iter().map(String::as_str).collect();
        (!others.is_empty()).then(|| {
            format!(
                "note: {name}: its parts were made with different flags ({}), so they are {} points of one name; audit all of \
                 its logs with the same flags",
                flags.join(", "),
                points.len()
            )
        })
    });
    notes.collect()
}

/// A point as a document holds it.
fn small(point: PartPoint) -> anyhow::Result<PartPoint> {
    if point.is_bounded() {
        return Ok(point);
    }
    let scope = part_scope(&Judge::args(&point)?);
    Ok(point.bounded(&scope)?)
}

fn bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes).context("cannot read it")?;
        return Ok(bytes);
    }
    fs::read(path).context("cannot read it")
}

/// Judges points that are together.
struct Judge<'a> {
    global: &'a Global,
    cells: Vec<RivalCell>,
    mark: String,
    targets: Mutex<HashMap<String, Arc<RowTarget>>>,
}

impl<'a> Judge<'a> {
    fn new(global: &'a Global) -> anyhow::Result<Self> {
        let cells: Vec<RivalCell> = RivalCell::all(&catalogue::open(global)?).collect();
        let mark = catalogue_mark(&cells);
        Ok(Self { global, cells, mark, targets: Mutex::default() })
    }

    /// What a pass over all its logs said, where that holds.
    fn verdict<'p>(&self, point: &'p PartPoint) -> Option<(FleetPoint, &'p [String])> {
        point.verdict(&self.mark)
    }

    fn args(point: &PartPoint) -> anyhow::Result<AuditArgs> {
        let row = Row { paths: vec![point.name.clone()], flags: point.flags.clone(), ..Row::default() };
        let base = AuditArgs::bare(ReportFlags::default(), None)?;
        row.args(&base, Path::new("")).map_err(anyhow::Error::msg)
    }

    /// Judges by what the parts hold; the first log has this number among the files.
    fn report(
        &self,
        point: &PartPoint,
        first: u32,
        files: &mut PartFiles,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<PointReport> {
        let args = Self::args(point)?;
        let key = args.target_key();
        let known = self.targets.lock().ok().and_then(|known| known.get(&key).cloned());
        let target = match known {
            Some(target) => target,
            None => Arc::new(args.row_target(self.global)?),
        };
        if let Ok(mut known) = self.targets.lock() {
            known.insert(key, Arc::clone(&target));
        }
        let report = judge_parts(&args, &target, &self.cells, point, first, files, notes)?;
        let (summed, all) = (point.summed(), point.logs.len());
        if summed > 0 {
            notes.push(format!(
                "note: {}: of {summed} of {all} logs the parts hold first lines and sums, and no one judged all of them in one \
                 pass: draws are not replayed, throughput is not known, several ranks count as one sample, scatter and changes are \
                 looked for in blocks of lines, and lines that logs share may count twice",
                point.name
            ));
        }
        Ok(report)
    }

    /// The same for tables.
    fn point(&self, point: &PartPoint, notes: &mut Vec<String>) -> anyhow::Result<FleetPoint> {
        let mut files = PartFiles::of([point]);
        let report = self.report(point, 0, &mut files, notes)?;
        let names = files.names();
        let run = AuditRun { points: &[], verdict: report.verdict, files: &names, errors: &[], notes: &[] };
        Ok(FleetPoint::new(&run, &report)?)
    }

    fn outcome(&self, point: &PartPoint) -> Outcome {
        let mut outcome = Outcome { failures: point.failures.clone(), ..Outcome::default() };
        if is_lost(point) {
            return outcome;
        }
        if let Some((judged, notes)) = self.verdict(point) {
            outcome.point = Some(judged);
            outcome.notes.extend(notes.iter().cloned());
            return outcome;
        }
        match self.point(point, &mut outcome.notes) {
            Ok(judged) => outcome.point = Some(judged),
            Err(error) => outcome.refusal = Some(format!("{error:#}")),
        }
        outcome
    }

    /// Judges all points, on all threads.
    fn outcomes(&self, points: &[PartPoint]) -> Vec<Outcome> {
        let next = AtomicUsize::new(0);
        let threads = self.global.thread_count().get();
        let mut all: Vec<(usize, Outcome)> = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads.min(points.len()))
                .map(|_| {
                    scope.spawn(|| {
                        let mut own = Vec::new();
                        loop {
                            let index = next.fetch_add(1, Ordering::Relaxed);
                            let Some(point) = points.get(index) else { break own };
                            own.push((index, self.outcome(point)));
                        }
                    })
                })
                .collect();
            workers.into_iter().filter_map(|worker| worker.join().ok()).flatten().collect()
        });
        all.sort_by_key(|(index, _)| *index);
        all.into_iter().map(|(_, outcome)| outcome).collect()
    }
}

/// What came of a point.
#[derive(Default)]
struct Outcome {
    point: Option<FleetPoint>,
    failures: Vec<String>,
    /// Why it could not be judged: as in an audit, nothing is said of its row then.
    refusal: Option<String>,
    notes: Vec<String>,
}

/// Merged points as rows of a table.
struct MergedRows {
    rows: Vec<FleetRow>,
    labels: Vec<String>,
    notes: Vec<String>,
}

impl FleetRows for MergedRows {
    fn labels(&self) -> &[String] {
        &self.labels
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn each(&self, each: &mut dyn FnMut(FleetRow) -> io::Result<()>) -> io::Result<()> {
        self.rows.iter().try_for_each(|row| each(row.clone()))
    }
}

impl MergedRows {
    /// Points in the order of their rows; what was refused comes last.
    fn of(points: &[PartPoint], judge: &Judge<'_>, refused: Vec<String>) -> Self {
        let (mut rows, mut labels) = (Vec::<FleetRow>::new(), Vec::<String>::new());
        let mut refusals = BTreeMap::new();
        let mut run = None;
        for ((number, point), outcome) in (1..).zip(points).zip(judge.outcomes(points)) {
            let row = point.row.unwrap_or(number);
            // Two manifests have rows of one number.
            if rows.last().is_none_or(|last| last.row != Some(row)) || run != Some(&point.run) {
                rows.push(FleetRow {
                    row: Some(row),
                    name: point.paths.clone(),
                    labels: point.labels.clone(),
                    ..FleetRow::default()
                });
                run = Some(&point.run);
                for label in point.labels.keys() {
                    if !labels.contains(label) {
                        labels.push(label.clone());
                    }
                }
            }
            let Some(last) = rows.last_mut() else { continue };
            if point.paths.is_empty() {
                last.name.clone_from(&point.name);
            }
            let line = point.line;
            let Outcome { point, failures, refusal, notes } = outcome;
            last.points.extend(point);
            last.failures.extend(failures);
            last.notes.extend(notes);
            last.notes.dedup();
            if let Some(refusal) = refusal {
                let line = line.map_or_else(String::new, |line| format!("line {line}: "));
                refusals.entry(rows.len()).or_insert(format!("{line}{refusal}"));
            }
        }
        for (number, row) in (1..).zip(&mut rows) {
            row.failures.sort();
            row.failures.dedup();
            if let Some(refusal) = refusals.remove(&number) {
                (row.failures, row.points, row.notes) = (vec![refusal], Vec::new(), Vec::new());
            }
        }
        rows.extend(
            refused.into_iter().map(|failure| FleetRow { failures: vec![failure], ..FleetRow::default() }),
        );
        Self { rows, labels, notes: Vec::new() }
    }
}
