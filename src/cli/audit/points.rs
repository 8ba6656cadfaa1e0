//! The points of the logs, built while these are read.

use std::collections::HashMap;
use std::path::Path;

use super::flags::PointByFlag;
use super::{AuditArgs, Wanted, draws, settings};
use crate::audit::{Observed, Options, PointBuilder, Scope};
use crate::cli::Global;
use crate::cli::progress::ProgressLine;
use crate::cli::skipped::SHOWN;
use crate::engine::Engine;
use crate::evidence::{
    Batch, Input, Limits, Place, PointBy, ReadError, Reader, Record, RecordSink, group, point_name,
};
use crate::replay::{ReplayOptions, SEEDS};

/// Reads all logs.
pub(super) fn read(
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
        None => by_log(seen, by, replay, inputs, &reader, &errors),
    };
    (points, reader, errors)
}

/// Which lines count.
pub(super) fn scope(args: &AuditArgs) -> Scope {
    Scope {
        since: args.since.clone(),
        until: args.until.clone(),
        skip_lines: args.skip_lines,
        by_segment: args.point_by == PointByFlag::Segment,
    }
}

/// How points are replayed.
#[derive(Clone, Debug)]
pub(super) struct Replaying {
    /// `None` where they are not.
    options: Option<ReplayOptions>,
    /// Seeds that were searched, by the points' names.
    pub(super) seeds: HashMap<String, u64>,
    /// The engine whose records count.
    engine: Option<Engine>,
}

impl Replaying {
    /// As the flags say, whether a point is audited alone, in a manifest or from its parts.
    pub(super) fn new(args: &AuditArgs, wanted: &Wanted, options: &Options) -> Self {
        Self {
            options: args.replay.options(wanted, args.decode_log_interval, &options.cells),
            seeds: HashMap::new(),
            engine: args.engine.engine(),
        }
    }

    pub(super) fn builder(&self, name: String) -> PointBuilder {
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
    replay: &Replaying,
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
            found.push(replay.builder(point.name).finish());
        }
        points.extend(found.into_iter().filter(|point| point.has_records() || !failed));
    }
    // An input in which there was nothing to read is a point too: silence must not pass for consent.
    for input in inputs.iter().map(Input::name) {
        let has_logs = reader.files().iter().any(|file| *file.input == *input);
        let failed = errors.iter().any(|error| Path::new(&error.name).starts_with(&input));
        if !has_logs && !failed {
            points.push(replay.builder(input).finish());
        }
    }
    points
}
