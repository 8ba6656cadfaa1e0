//! `accsim records`: what the readers find, one record a line.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Exit;
use super::output::write_to;
use crate::evidence::{Deduplicator, Input, ReadError, Reader, Record, RecordKind, SkipReason, Skipped};
use crate::report::csv::RecordTable;
use crate::report::json::write_record;

/// Flags of `accsim records`.
#[derive(Args, Clone, Debug)]
pub(crate) struct RecordsArgs {
    /// Server logs: files, directories, or - for standard input; each path is one run of one server
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Kinds of records to print [default: every kind but rejected]
    #[arg(long = "kind", value_name = "KIND", value_delimiter = ',')]
    kinds: Vec<Kind>,

    /// How to print a record
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    format: Format,

    /// Write the records to FILE in place of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// `--kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Decode lines
    Decode,
    /// Prefill lines
    Prefill,
    /// Server arguments: a run begins
    #[value(name = "server_args")]
    ServerArgs,
    /// Flushes of the cache
    #[value(name = "cache_flush")]
    CacheFlush,
    /// Lines that look like a record and are none, each with the reason
    Rejected,
}

/// `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One JSON object a line
    Jsonl,
    /// A table; texts that a spreadsheet would run as a formula get an apostrophe in front
    Csv,
}

impl From<Kind> for RecordKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Decode => Self::Decode,
            Kind::Prefill => Self::Prefill,
            Kind::ServerArgs => Self::ServerArgs,
            Kind::CacheFlush => Self::CacheFlush,
            Kind::Rejected => Self::Rejected,
        }
    }
}

pub(crate) fn run(args: &RecordsArgs, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<Exit> {
    let mut errors = Vec::new();
    write_to(args.output.as_deref(), out, |out| {
        errors = match args.format {
            Format::Jsonl => read(args, &mut |file, line, record| write_record(out, file, line, record))?,
            Format::Csv => {
                let mut table = RecordTable::new(out)?;
                let errors = read(args, &mut |file, line, record| table.write(file, line, record))?;
                table.finish()?;
                errors
            }
        };
        Ok(())
    })?;
    for error in &errors {
        let _ = writeln!(err, "error: {error}");
    }
    Ok(if errors.is_empty() { Exit::Ok } else { Exit::Failed })
}

/// Reads all paths and hands the wanted records to `write`; after its first failure nothing more.
fn read(
    args: &RecordsArgs,
    write: &mut dyn FnMut(&str, u64, &Record<'_>) -> io::Result<()>,
) -> io::Result<Vec<ReadError>> {
    let wanted: Vec<RecordKind> = if args.kinds.is_empty() {
        RecordKind::ALL.into_iter().filter(|kind| *kind != RecordKind::Rejected).collect()
    } else {
        args.kinds.iter().map(|kind| (*kind).into()).collect()
    };
    let mut reader = Reader::default();
    let mut written = Ok(());
    let mut errors = Vec::new();
    for path in &args.paths {
        // A line is a copy of one of the same run: paths are runs, as in an audit.
        let mut dedup = Deduplicator::default();
        errors.extend(reader.read_named(&Input::from(path.as_path()), &mut |file, place, record| {
            if written.is_err() {
                return;
            }
            let duplicate = match record {
                Record::Decode(line) if dedup.is_duplicate(line) => {
                    Some(Record::Skipped(Skipped { reason: SkipReason::Duplicate, text: line.message }))
                }
                _ => None,
            };
            let record = duplicate.as_ref().unwrap_or(record);
            if wanted.contains(&record.kind()) {
                written = write(file, place.line, record);
            }
        }));
        if written.is_err() {
            break;
        }
    }
    written.map(|()| errors)
}
