//! A manifest worked through: rows on all threads, each result into the journal, then the table.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use anyhow::{Context as _, ensure};

use super::document::PartWriter;
use super::identity::{self, Own};
use super::journal::{Entry, Journal, Spot};
use super::manifest::Manifest;
use super::part::PartPoint;
use super::row::Row;
use super::table::JournalRows;
use crate::audit::RivalCell;
use crate::cli::apart::{apart, apart_from_logs};
use crate::cli::audit::{AuditArgs, Folders, RowResult, RowTarget, audit_row, exit_of};
use crate::cli::format::ReportFormat;
use crate::cli::output::{is_stdout, plain, write_to};
use crate::cli::progress::FollowLine;
use crate::cli::{Exit, Global, catalogue};
use crate::report::fleet::{FleetRows, FleetTally};
use crate::report::{csv, json, parquet, text};

/// Results that wait for the journal, at most; a thread that has one more waits too.
const WAITING: usize = 256;

/// A row that is still to be audited.
struct Pending {
    /// Its index among the rows of the table.
    index: usize,
    /// Where it begins in the manifest.
    line: u64,
    args: AuditArgs,
    identity: String,
    inputs: String,
}

/// What all rows share.
struct Shared<'a> {
    global: Global,
    cells: Vec<RivalCell>,
    targets: Mutex<HashMap<String, Arc<RowTarget>>>,
    done: AtomicU64,
    total: u64,
    line: &'a FollowLine,
    is_partial: bool,
    folders: Folders,
}

pub(in crate::cli) fn run(
    args: &AuditArgs,
    manifest: &Path,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let format = args.format.format();
    let is_partial = args.fleet.partial;
    if is_partial {
        args.format.check_partial()?;
        // Of the command line: once, and not of each row.
        args.check_partial(|_| false)?;
    } else {
        check_format(format, args.output.is_some())?;
    }
    let output = [args.output.as_deref(), args.fleet.journal.as_deref()];
    ensure!(
        !args.fleet.journal.as_deref().is_some_and(is_stdout),
        "--journal: a journal is a file that is read again; name one"
    );
    // Before the journal is made: it may have the name of another file too.
    let golden = global.golden_files();
    apart(golden.iter().map(PathBuf::as_path).chain([manifest]), output)?;
    let read = Manifest::read(manifest)?;
    let shard = args.fleet.shard;
    if !read.rows.is_empty() {
        let inputs: Vec<PathBuf> = read.rows.iter().flat_map(|row| row.inputs(&read.base)).collect();
        apart_from_logs(&inputs, output)?;
    }
    let own = Own::new(output.into_iter().flatten().filter(|file| !is_stdout(file)));
    let (mut journal, done, mut about_journal) = Journal::open(args.fleet.journal.as_deref())?;

    let mut notes = Vec::new();
    if read.rows.is_empty() {
        notes.push(format!("note: {}: the manifest has a heading and no rows", manifest.display()));
    }
    let (folders, curves) = (Folders::default(), identity::of_curves(global));
    let mut rows: Vec<(&Row, Option<Spot>)> = Vec::new();
    let mut pending = Vec::new();
    let mut invalid = Vec::new();
    let mut first: HashMap<String, u64> = HashMap::new();
    let base = args;
    for row in read.rows.iter().filter(|row| shard.is_none_or(|shard| shard.holds(row.number))) {
        let args = row.failure.clone().map_or_else(|| row.args(base, &read.base), Err);
        let kept = |args: AuditArgs| match args.check_partial(|name| row.flags.contains_key(name)) {
            Err(error) if is_partial => Err(error.to_string()),
            _ => Ok(args),
        };
        let args = match args.and_then(kept) {
            Ok(args) => args,
            Err(failure) => {
                invalid.push((rows.len(), format!("line {}: {failure}", row.line), true));
                rows.push((row, None));
                continue;
            }
        };
        if let Some(failure) = &base.fleet.failure {
            invalid.push((rows.len(), failure.clone(), false));
            rows.push((row, None));
            continue;
        }
        let identity = identity::of_row(row, &args, &curves, is_partial);
        if let Some(earlier) = first.insert(identity.clone(), row.number) {
            notes.push(format!("note: row {} repeats row {earlier}: counted once", row.number));
            first.insert(identity, earlier);
            continue;
        }
        let inputs = identity::of_inputs(&args, &folders, &own);
        let known = done.get(&identity).filter(|(then, _)| *then == inputs).map(|(_, spot)| *spot);
        // What failed may go well this time.
        let known = known.filter(|spot| journal.get(*spot).is_ok_and(|entry| entry.failures.is_empty()));
        if known.is_none() {
            pending.push(Pending { index: rows.len(), line: row.line, args, identity, inputs });
        }
        rows.push((row, known));
    }
    let resumed = rows.len() - pending.len() - invalid.len();
    for (index, failure, is_unreadable) in invalid {
        let entry = Entry::of_failure(failure, is_unreadable);
        if let (Some(slot), Some(spot)) = (rows.get_mut(index), journal.add(&[entry])?.first()) {
            slot.1 = Some(*spot);
        }
    }
    if args.fleet.journal.is_some() && resumed > 0 {
        about_journal.push(format!("note: {resumed} of {} rows were done before", rows.len()));
    }
    // What came of a manifest does not tell whether it was interrupted: no document has these.
    if !global.quiet {
        about_journal.iter().try_for_each(|note| writeln!(err, "{note}"))?;
    }
    if !(global.quiet || args.format.is_json()) {
        notes.iter().try_for_each(|note| writeln!(err, "{note}"))?;
    }
    for (index, spot) in work(&pending, &mut journal, args, global, folders)? {
        if let Some(slot) = rows.get_mut(index) {
            slot.1 = Some(spot);
        }
    }
    journal.drop_damaged().context("cannot write the journal")?;
    if is_partial {
        return write_parts(&journal, &rows, &read.base, args, global.quiet, out, err);
    }
    let table = JournalRows {
        journal: &journal,
        rows: &rows,
        labels: &read.labels,
        folder: &read.base,
        notes: &notes,
    };
    let exit = report(&table, args, global, out, err)?;
    // Silence must not pass for consent.
    Ok(if read.rows.is_empty() { exit.worst(Exit::Undecided) } else { exit })
}

/// Writes the parts of all rows as one document.
fn write_parts(
    journal: &Journal,
    rows: &[(&Row, Option<Spot>)],
    folder: &Path,
    args: &AuditArgs,
    is_quiet: bool,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let mut has_failed = false;
    write_to(args.output.as_deref(), out, |out| {
        let mut writer = PartWriter::new(out)?;
        for (row, spot) in rows {
            let Some(spot) = spot else { continue };
            let mut entry = journal.get(*spot)?;
            for failure in &entry.failures {
                has_failed = true;
                writeln!(err, "error: row {}: {failure}", row.number)?;
            }
            if entry.parts.is_empty() {
                // A row that failed is a point that nobody could look at.
                let failures = std::mem::take(&mut entry.failures);
                let name = row.name(folder);
                entry.parts.push(PartPoint { name, failures, ..PartPoint::default() });
            }
            let (run, name) = (identity::of_words(row, folder, entry.is_unreadable), row.name(folder));
            for part in entry.parts {
                if let Some(note) = part.unfit_note().filter(|_| !is_quiet) {
                    writeln!(err, "row {}: {note}", row.number)?;
                }
                let part = PartPoint {
                    row: Some(row.number),
                    run: run.clone(),
                    labels: row.labels.clone(),
                    paths: if part.name == name { String::new() } else { name.clone() },
                    ..part
                };
                writer.point(&part)?;
            }
        }
        writer.finish()
    })?;
    Ok(if has_failed { Exit::Failed } else { Exit::Ok })
}

/// Audits rows and returns where the result of each stands.
fn work(
    pending: &[Pending],
    journal: &mut Journal,
    args: &AuditArgs,
    global: &Global,
    folders: Folders,
) -> anyhow::Result<Vec<(usize, Spot)>> {
    if pending.is_empty() {
        return Ok(Vec::new());
    }
    let threads = global.thread_count().get();
    let each = u16::try_from(threads / pending.len().max(1)).unwrap_or(1).max(1);
    let line = FollowLine::show(global.quiet || args.format.is_json());
    let shared = Shared {
        global: Global { threads: Some(each), verbose: false, quiet: true, ..global.clone() },
        cells: RivalCell::all(&catalogue::open(global)?).collect(),
        targets: Mutex::default(),
        done: AtomicU64::new(0),
        total: u64::try_from(pending.len()).unwrap_or(u64::MAX),
        line: &line,
        is_partial: args.fleet.partial,
        folders,
    };
    let (sender, receiver) = sync_channel(WAITING);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..threads.min(pending.len()) {
            let (shared, next, sender) = (&shared, &next, sender.clone());
            scope.spawn(move || {
                // In the manifest's order: what an interrupted audit has done is its front.
                while let Some(row) = pending.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if sender.send((row.index, shared.audit(row))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        // A journal that cannot be written ends the work: nobody hears the threads then.
        let written = write_down(&receiver, journal);
        drop(receiver);
        written
    })
}

/// Writes results as they come, as many at a time as there are.
fn write_down(
    receiver: &Receiver<(usize, Entry)>,
    journal: &mut Journal,
) -> anyhow::Result<Vec<(usize, Spot)>> {
    let mut spots = Vec::new();
    while let Ok((index, entry)) = receiver.recv() {
        let (mut indices, mut entries) = (vec![index], vec![entry]);
        for (index, entry) in receiver.try_iter().take(WAITING) {
            indices.push(index);
            entries.push(entry);
        }
        spots.extend(indices.into_iter().zip(journal.add(&entries).context("cannot write the journal")?));
    }
    Ok(spots)
}

impl Shared<'_> {
    fn audit(&self, row: &Pending) -> Entry {
        let mut parts = Vec::new();
        let result = self.target(&row.args).and_then(|target| {
            if self.is_partial {
                parts = crate::cli::audit::parts(&row.args, &self.global, &self.folders, true)?;
                return Ok(RowResult::default());
            }
            audit_row(&row.args, &self.global, &target, &self.cells, &self.folders)
        });
        let mut result = result.unwrap_or_else(|error| RowResult {
            failures: vec![format!("{error:#}")],
            ..RowResult::default()
        });
        let said = |failures: &mut Vec<String>| {
            for failure in failures {
                *failure = format!("line {}: {failure}", row.line);
            }
        };
        said(&mut result.failures);
        for part in &mut parts {
            part.line = Some(row.line);
            said(&mut part.failures);
            result.failures.extend(part.failures.iter().cloned());
        }
        result.failures.sort();
        result.failures.dedup();
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.line.say(&format!("auditing: {done} of {} rows", self.total));
        let RowResult { points, failures, notes } = result;
        Entry {
            row: row.identity.clone(),
            inputs: row.inputs.clone(),
            points,
            parts,
            failures,
            notes,
            is_unreadable: false,
        }
    }

    /// The target of a row; rows often share it, and to look it up takes longer than a small log.
    fn target(&self, args: &AuditArgs) -> anyhow::Result<Arc<RowTarget>> {
        let key = args.target_key();
        let known = self.targets.lock().ok().and_then(|known| known.get(&key).cloned());
        if let Some(known) = known {
            return Ok(known);
        }
        let target = Arc::new(args.row_target(&self.global)?);
        if let Ok(mut known) = self.targets.lock() {
            known.insert(key, Arc::clone(&target));
        }
        Ok(target)
    }
}

/// Whether many points can be printed that way.
pub(in crate::cli) fn check_format(format: ReportFormat, has_output: bool) -> anyhow::Result<()> {
    let is_table =
        matches!(format, ReportFormat::Text | ReportFormat::Json | ReportFormat::Csv | ReportFormat::Parquet);
    ensure!(is_table, "the results of many runs are printed as text, json, csv or parquet");
    check_binary(format, has_output)
}

/// Refuses to print what is no text.
pub(in crate::cli) fn check_binary(format: ReportFormat, has_output: bool) -> anyhow::Result<()> {
    ensure!(
        format != ReportFormat::Parquet || has_output,
        "a Parquet table is binary; name a file with -o FILE"
    );
    Ok(())
}

/// Prints the results, and what they come to.
pub(in crate::cli) fn report(
    rows: &dyn FleetRows,
    args: &AuditArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let is_quiet = global.quiet || args.format.is_json();
    rows.each(&mut |row| {
        // What is of no row was said before.
        for failure in row.failures.iter().filter(|_| row.row.is_some()) {
            writeln!(err, "error: {}", row.said(failure))?;
        }
        for note in row.notes.iter().filter(|_| !is_quiet) {
            writeln!(err, "{}", row.said(note))?;
        }
        Ok(())
    })?;
    write_to(args.output.as_deref(), out, |out| match args.format.format() {
        ReportFormat::Json => json::write_fleet(rows, out),
        ReportFormat::Csv => csv::write_fleet(rows, out),
        ReportFormat::Parquet => parquet::write_fleet(rows, out),
        _ if args.keeps_colours(global) => text::fleet::write_fleet(rows, global.verbose, out),
        _ => out.write_all(&plain(|out| text::fleet::write_fleet(rows, global.verbose, out))?),
    })?;
    let tally = FleetTally::of(rows)?;
    let exit = if tally.failed > 0 { Exit::Failed } else { Exit::Ok };
    Ok(tally.worst.map_or(exit, |worst| exit.worst(exit_of(worst))))
}
