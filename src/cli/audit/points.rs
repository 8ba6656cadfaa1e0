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
    let by = PointBy::from(args.point_by);
    let mut reader = Reader::new(Limits::from(&args.limits)).with_threads(global.thread_count());
    let replay = replay.clone();
    let keep = if global.verbose { SHOWN } else { 0 };
    let mut seen = Points {
        by,
        all_in: args.fleet.point.clone(),
        scope: scope(args),
        replay,
        names: HashMap::new(),
        builders: Vec::new(),
        current: None,
        keep,
        draws: draws(args, global),
    };
    let progress = ProgressLine::show(reader.progress(), is_quiet);
    let errors = reader.read_into(inputs, &mut seen);
    drop(progress);
    let points = seen.finish(inputs, &reader, &errors);
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

/// The points of all logs, built while these are read.
struct Points {
    by: PointBy,
    /// The one point that all logs are of, where it was named.
    all_in: Option<String>,
    scope: Scope,
    replay: Replaying,
    names: HashMap<String, usize>,
    builders: Vec<PointBuilder>,
    /// The point of the log at hand.
    current: Option<usize>,
    /// Skipped lines that each point keeps.
    keep: usize,
    /// Whether points keep their lines, to be drawn.
    draws: bool,
}

impl RecordSink for Points {
    fn begin(&mut self, _file: u32, log: &str, input: &str) {
        let name = self.all_in.clone().unwrap_or_else(|| point_name(log, input, self.by));
        let next = self.builders.len();
        let index = *self.names.entry(name.clone()).or_insert(next);
        if index == next {
            let point = self.replay.builder(name).with_scope(self.scope.clone());
            let point = point.keeping_skipped(self.keep);
            self.builders.push(if self.draws { point.keeping_series() } else { point });
        }
        if let Some(point) = self.builders.get_mut(index) {
            point.ignore_settings(settings::is_script(log));
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
        let Self { by, all_in, names, builders, replay, .. } = self;
        let mut seen: Vec<Vec<Observed>> = builders.into_iter().map(PointBuilder::finish_segments).collect();
        let mut take = |name: &str| {
            let found = names.get(name).and_then(|index| seen.get_mut(*index));
            found.map(std::mem::take).unwrap_or_default()
        };
        if let Some(name) = all_in {
            return take(&name);
        }
        let mut points = Vec::new();
        for point in group(reader.files(), by) {
            let mut files =
                point.files.iter().filter_map(|file| reader.files().get(usize::try_from(*file).ok()?));
            let failed = files.any(|file| errors.iter().any(|error| error.name == file.name));
            let mut found = take(&point.name);
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
}
