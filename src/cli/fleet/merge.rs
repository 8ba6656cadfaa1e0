//! `accsim merge`: parts of points put together and judged.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;

use super::part::{self, PartPoint, PartWriter};
use super::row::Row;
use super::run::{check_binary, check_format, report};
use crate::audit::{PointReport, RivalCell, Verdict};
use crate::cli::audit::{AuditArgs, PartFiles, RowTarget, exit_of, judge_parts, write_report};
use crate::cli::format::ReportFlags;
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
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Points by name and flags.
type Points = BTreeMap<(String, BTreeMap<String, String>), PartPoint>;

pub(in crate::cli) fn run(
    args: &MergeArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    check_binary(args.format.format(), args.output.is_some())?;
    let (points, mut refused) = join(&args.parts, err)?;
    if args.partial {
        write_to(args.output.as_deref(), out, |out| {
            let mut writer = PartWriter::new(out)?;
            points.values().try_for_each(|point| writer.point(point))?;
            writer.finish()
        })?;
        return Ok(if refused.is_empty() { Exit::Ok } else { Exit::Failed });
    }
    let flags = AuditArgs::bare(args.format, args.output.clone())?;
    let is_fleet = points.values().any(|point| point.row.is_some());
    if is_fleet {
        check_format(args.format.format(), args.output.is_some())?;
    }
    let mut points: Vec<PartPoint> = points.into_values().collect();
    points.sort_by(|left, right| (left.row, &left.name).cmp(&(right.row, &right.name)));
    let judged = judge_all(&points, global)?;
    if is_fleet {
        let mut rows = judged.rows(&points)?;
        rows.0.extend(
            refused.into_iter().map(|failure| FleetRow { failures: vec![failure], ..FleetRow::default() }),
        );
        return report(&rows, &flags, global, out, err);
    }
    let Judged { reports, mut failures, notes, files } = judged;
    for failure in &failures {
        writeln!(err, "error: {failure}")?;
    }
    for note in notes.iter().filter(|_| !global.quiet && !args.format.is_json()) {
        writeln!(err, "{note}")?;
    }
    failures.append(&mut refused);
    let failures: Vec<String> = failures;
    let reports: Vec<PointReport> = reports.into_iter().flatten().collect();
    let verdict = reports.iter().map(|point| point.verdict).reduce(Verdict::worst);
    let names = files.names();
    let run = AuditRun {
        points: &reports,
        verdict: verdict.unwrap_or(Verdict::Insufficient),
        files: &names,
        errors: &failures,
        notes: &notes,
    };
    write_to(args.output.as_deref(), out, |out| write_report(&flags, global, &run, out))?;
    let exit = if failures.is_empty() { Exit::Ok } else { Exit::Failed };
    Ok(reports.iter().map(|point| exit_of(point.verdict)).fold(exit, Exit::worst))
}

/// Reads parts and puts them together. What cannot be read is named and left out.
fn join(paths: &[PathBuf], err: &mut dyn Write) -> anyhow::Result<(Points, Vec<String>)> {
    let (mut points, mut refused) = (Points::new(), Vec::new());
    for path in paths {
        match bytes(path).and_then(|bytes| part::read(&bytes)) {
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
    for point in points.values_mut() {
        *point = std::mem::take(point).sealed();
    }
    Ok((points, refused))
}

fn bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes).context("cannot read it")?;
        return Ok(bytes);
    }
    fs::read(path).context("cannot read it")
}

/// What came of the points, in their order.
#[derive(Default)]
struct Judged {
    /// None where the point could not be judged.
    reports: Vec<Option<PointReport>>,
    failures: Vec<String>,
    notes: Vec<String>,
    files: PartFiles,
}

fn judge_all(points: &[PartPoint], global: &Global) -> anyhow::Result<Judged> {
    let cells: Vec<RivalCell> = RivalCell::all(&catalogue::open(global)?).collect();
    let mut targets: HashMap<String, Arc<RowTarget>> = HashMap::new();
    let mut judged = Judged { files: PartFiles::of(points), ..Judged::default() };
    let mut first = 0;
    for point in points {
        let mut notes = Vec::new();
        judged.failures.extend(point.failures.iter().cloned());
        if point.logs.is_empty() && !point.failures.is_empty() {
            judged.reports.push(None);
            continue;
        }
        let report = judge_one(point, global, &cells, &mut targets, first, &mut judged.files, &mut notes);
        first += u32::try_from(point.logs.len()).unwrap_or(u32::MAX);
        judged.reports.push(match report {
            Ok(report) => Some(report),
            Err(error) => {
                judged.failures.push(format!("{}: {error:#}", point.name));
                None
            }
        });
        judged.notes.extend(notes);
    }
    judged.failures.sort();
    judged.failures.dedup();
    judged.notes.dedup();
    Ok(judged)
}

fn judge_one(
    point: &PartPoint,
    global: &Global,
    cells: &[RivalCell],
    targets: &mut HashMap<String, Arc<RowTarget>>,
    first: u32,
    files: &mut PartFiles,
    notes: &mut Vec<String>,
) -> anyhow::Result<PointReport> {
    let row = Row { paths: vec![point.name.clone()], flags: point.flags.clone(), ..Row::default() };
    let base = AuditArgs::bare(ReportFlags::default(), None)?;
    let args = row.args(&base, Path::new("")).map_err(anyhow::Error::msg)?;
    let key = args.target_key();
    let target = if let Some(target) = targets.get(&key) {
        Arc::clone(target)
    } else {
        let target = Arc::new(args.row_target(global)?);
        targets.insert(key, Arc::clone(&target));
        target
    };
    judge_parts(&args, &target, cells, point, first, files, notes)
}

/// Merged points as rows of a table.
struct MergedRows(Vec<FleetRow>, Vec<String>);

impl FleetRows for MergedRows {
    fn labels(&self) -> &[String] {
        &self.1
    }

    fn each(&self, each: &mut dyn FnMut(FleetRow) -> io::Result<()>) -> io::Result<()> {
        self.0.iter().try_for_each(|row| each(row.clone()))
    }
}

impl Judged {
    fn rows(&self, points: &[PartPoint]) -> anyhow::Result<MergedRows> {
        let files = self.files.names();
        let run =
            AuditRun { points: &[], verdict: Verdict::Insufficient, files: &files, errors: &[], notes: &[] };
        let mut rows = Vec::new();
        for (number, (point, report)) in (1..).zip(points.iter().zip(&self.reports)) {
            let is_silent = report.is_none() && point.failures.is_empty();
            let unjudged = is_silent.then(|| format!("{}: cannot be judged", point.name));
            rows.push(FleetRow {
                row: point.row.unwrap_or(number),
                labels: point.labels.clone(),
                points: report
                    .iter()
                    .map(|report| FleetPoint::new(&run, report))
                    .collect::<Result<_, _>>()?,
                failures: point.failures.iter().cloned().chain(unjudged).collect(),
                notes: Vec::new(),
            });
        }
        let mut labels: Vec<String> = points.iter().flat_map(|point| point.labels.keys().cloned()).collect();
        labels.sort();
        labels.dedup();
        Ok(MergedRows(rows, labels))
    }
}
