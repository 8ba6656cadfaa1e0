//! `accsim records`: what the readers find, one record a line.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::apart::apart_from_logs;
use super::format::RESULT;
use super::limits::LimitFlags;
use super::output::write_to;
use super::progress::ProgressLine;
use super::skipped::SkippedReport;
use super::{Exit, Global};
use crate::evidence::{
    Adjacent, Deduplicator, EngineLine, Input, Limits, Place, PointBy, Progress, ReadError, Reader, Record,
    RecordKind, RecordSink, SkipReason, Skipped, VllmSpec, point_name,
};
use crate::report::csv::RecordTable;
use crate::report::json::write_record;
use crate::report::parquet::RecordFile;

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
    #[arg(long, value_name = "FORMAT", default_value = "jsonl", help_heading = RESULT)]
    format: Format,

    /// Write the records to FILE in place of standard output
    #[arg(short, long, value_name = "FILE", help_heading = RESULT)]
    output: Option<PathBuf>,

    #[command(flatten)]
    limits: LimitFlags,
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
    /// Settings of simulated acceptance that a shell or a program echoed
    Setting,
    /// Counters and gauges: Prometheus text, exports of AIPerf
    Counters,
    /// Speculative statistics of single requests
    Request,
    /// Iterations of TensorRT-LLM's `/metrics`
    #[value(name = "iteration_json")]
    IterationJson,
    /// ATOM's `/debug/mtp_stats`
    #[value(name = "debug_stats")]
    DebugStats,
    /// SGLang's `/get_server_info`
    #[value(name = "server_info")]
    ServerInfo,
    /// vLLM: windows of speculative decoding
    Spec,
    /// vLLM: the same of eras that print no accept length
    #[value(name = "spec_legacy")]
    SpecLegacy,
    /// vLLM: windows of an engine
    Engine,
    /// TensorRT-LLM: iterations
    Iter,
    /// ATOM: statistics of an interval
    Interval,
    /// ATOM: statistics since the start
    Cumulative,
    /// ATOM: the acceptance that is forced
    #[value(name = "forced_target")]
    ForcedTarget,
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
    /// A Parquet file with the columns of the table and their types
    Parquet,
}

impl From<Kind> for RecordKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Decode => Self::Decode,
            Kind::Prefill => Self::Prefill,
            Kind::ServerArgs => Self::ServerArgs,
            Kind::CacheFlush => Self::CacheFlush,
            Kind::Setting => Self::Setting,
            Kind::Counters => Self::Counters,
            Kind::Request => Self::Request,
            Kind::IterationJson => Self::IterationJson,
            Kind::DebugStats => Self::DebugStats,
            Kind::ServerInfo => Self::ServerInfo,
            Kind::Spec => Self::Spec,
            Kind::SpecLegacy => Self::SpecLegacy,
            Kind::Engine => Self::Engine,
            Kind::Iter => Self::Iter,
            Kind::Interval => Self::Interval,
            Kind::Cumulative => Self::Cumulative,
            Kind::ForcedTarget => Self::ForcedTarget,
            Kind::Rejected => Self::Rejected,
        }
    }
}

pub(crate) fn run(
    args: &RecordsArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    apart_from_logs(&args.paths, [args.output.as_deref()])?;
    let inputs: Vec<Input> = args.paths.iter().map(|path| Input::from(path.as_path())).collect();
    let mut reader = Reader::new(Limits::from(&args.limits)).with_threads(global.thread_count());
    let progress = ProgressLine::show(reader.progress(), global.quiet);
    let mut errors = Vec::new();
    let mut found = false;
    let mut skipped = global.verbose.then(SkippedReport::default);
    write_to(args.output.as_deref(), out, |out| {
        errors = match args.format {
            Format::Jsonl => {
                let mut write =
                    |file: &str, line: u64, record: &Record<'_>| write_record(out, file, line, record);
                read(args, &mut reader, &inputs, skipped.as_mut(), &mut found, &mut write)?
            }
            Format::Csv => {
                let mut table = RecordTable::new(out)?;
                let mut write = |file: &str, line: u64, record: &Record<'_>| table.write(file, line, record);
                let errors = read(args, &mut reader, &inputs, skipped.as_mut(), &mut found, &mut write)?;
                table.finish()?;
                errors
            }
            Format::Parquet => {
                let mut table = RecordFile::new(out)?;
                let mut write = |file: &str, line: u64, record: &Record<'_>| table.write(file, line, record);
                let errors = read(args, &mut reader, &inputs, skipped.as_mut(), &mut found, &mut write)?;
                table.finish()?;
                errors
            }
        };
        Ok(())
    })?;
    drop(progress);
    if let Some(skipped) = skipped {
        skipped.write(err);
    }
    for error in &errors {
        let _ = writeln!(err, "error: {error}");
    }
    for passed in reader.passed_over().iter().filter(|_| !global.quiet) {
        let _ = writeln!(err, "note: {passed}");
    }
    if !found && errors.is_empty() && !global.quiet {
        let _ = writeln!(err, "note: {}", nothing(args));
    }
    Ok(if errors.is_empty() { Exit::Ok } else { Exit::Failed })
}

/// Why a reader of the result finds nothing.
fn nothing(args: &RecordsArgs) -> &'static str {
    if args.kinds.is_empty() {
        "no record was found; give the log that the server itself wrote, not a client's summary"
    } else {
        "no record of the kinds asked for was found; leave --kind away to see the others"
    }
}

/// Writes one record: the name of its file, its line, itself.
type WriteRecord<'a> = dyn FnMut(&str, u64, &Record<'_>) -> io::Result<()> + 'a;

/// Reads all inputs and hands the wanted records to `write`; its first failure ends the reading.
fn read(
    args: &RecordsArgs,
    reader: &mut Reader,
    inputs: &[Input],
    skipped: Option<&mut SkippedReport>,
    found: &mut bool,
    write: &mut WriteRecord<'_>,
) -> io::Result<Vec<ReadError>> {
    let wanted = if args.kinds.is_empty() {
        RecordKind::ALL.into_iter().filter(|kind| *kind != RecordKind::Rejected).collect()
    } else {
        args.kinds.iter().map(|kind| (*kind).into()).collect()
    };
    let mut sink = Wanted {
        kinds: wanted,
        skipped,
        found,
        write,
        written: Ok(()),
        progress: reader.progress(),
        file: String::new(),
        point: 0,
        points: HashMap::new(),
        dedups: Vec::new(),
        adjacent: Adjacent::default(),
    };
    let errors = reader.read_into(inputs, &mut sink);
    sink.written.map(|()| errors)
}

/// Passes on the wanted kinds of records, duplicates as rejected ones.
struct Wanted<'a, 'w> {
    kinds: Vec<RecordKind>,
    /// Where skipped lines are told of.
    skipped: Option<&'a mut SkippedReport>,
    /// Whether any was handed on.
    found: &'a mut bool,
    write: &'a mut WriteRecord<'w>,
    written: io::Result<()>,
    progress: Arc<Progress>,
    /// Name of the log at hand, and index of the point that it belongs to in an audit.
    file: String,
    point: usize,
    points: HashMap<String, usize>,
    /// One for each point: a line is a copy of one of the same run.
    dedups: Vec<Deduplicator>,
    /// Which engine of vLLM a line belongs to.
    adjacent: Adjacent,
}

impl RecordSink for Wanted<'_, '_> {
    fn begin(&mut self, _file: u32, name: &str, input: &str) {
        name.clone_into(&mut self.file);
        self.adjacent.begin_file();
        let next = self.dedups.len();
        self.point = *self.points.entry(point_name(name, input, PointBy::Path)).or_insert(next);
        if self.point == next {
            self.dedups.push(Deduplicator::default());
        }
    }

    fn record(&mut self, place: Place, record: &Record<'_>) {
        if self.written.is_err() {
            return;
        }
        let changed = match record {
            Record::Engine(line) => {
                let (engine_index, _) = self.adjacent.follow(line);
                match &**line {
                    EngineLine::VllmSpec(spec) if engine_index.is_some() => {
                        let spec = VllmSpec { engine_index, ..spec.clone() };
                        Some(Record::Engine(Box::new(EngineLine::VllmSpec(spec))))
                    }
                    _ => None,
                }
            }
            Record::Decode(line) => {
                let dedup = self.dedups.get_mut(self.point);
                let is_duplicate = dedup.is_some_and(|dedup| dedup.is_duplicate(line));
                let skipped = Skipped { reason: SkipReason::Duplicate, text: line.message };
                is_duplicate.then_some(Record::Skipped(skipped))
            }
            _ => None,
        };
        let record = changed.as_ref().unwrap_or(record);
        if let (Record::Skipped(skipped), Some(report)) = (record, self.skipped.as_mut()) {
            report.add(&self.file, place.line, skipped.reason.name(), skipped.text);
        }
        if self.kinds.contains(&record.kind()) {
            *self.found = true;
            self.written = (self.write)(&self.file, place.line, record);
            if self.written.is_err() {
                self.progress.stop();
            }
        }
    }
}
