//! The pass over the logs that finds servers.

use std::collections::HashMap;

use crate::audit::{Observed, PointBuilder};
use crate::evidence::{Batch, Mode, Part, Place, PointBy, Record, RecordSink, WorkerName, point_name};
use crate::replay::ReplayOptions;
use crate::signoff::{FileKind, kind_of};

/// A server's lines, not yet judged.
pub(super) struct Seen {
    pub(super) observed: Observed,
    /// Its first log.
    pub(super) log: String,
    /// The input that led to it.
    pub(super) input: String,
    pub(super) is_worker: bool,
    pub(super) mode: Option<Mode>,
    pub(super) largest: Option<(u32, Place)>,
    pub(super) graph_off: Option<Place>,
}

/// Builds servers: one a worker where files have srt-slurm's names, one a file elsewhere.
pub(super) struct Servers<'a> {
    /// The name of the server that a log belongs to, where a map says it.
    pub(super) mapped: &'a dyn Fn(&str) -> Option<String>,
    pub(super) replay: ReplayOptions,
    names: HashMap<String, usize>,
    all: Vec<Building>,
    current: Option<usize>,
}

struct Building {
    builder: PointBuilder,
    seen: Seen,
}

impl<'a> Servers<'a> {
    pub(super) fn new(mapped: &'a dyn Fn(&str) -> Option<String>, replay: ReplayOptions) -> Self {
        Self { mapped, replay, names: HashMap::new(), all: Vec::new(), current: None }
    }

    /// Those that have decode lines, or arguments.
    pub(super) fn finish(self) -> Vec<Seen> {
        let ended = self
            .all
            .into_iter()
            .map(|building| Seen { observed: building.builder.finish(), ..building.seen });
        // An environment that echoes its settings is no server.
        ended.filter(|seen| seen.observed.decode_lines() > 0 || seen.observed.server().is_some()).collect()
    }
}

impl RecordSink for Servers<'_> {
    fn begin(&mut self, _file: u32, log: &str, input: &str) {
        self.current = None;
        // Recipes and notes quote lines; nobody ran them.
        if !matches!(kind_of(log), FileKind::Text(_)) {
            return;
        }
        let worker = WorkerName::parse(log);
        let name = match ((self.mapped)(log), worker) {
            (Some(mapped), None) => mapped,
            _ => point_name(log, input, PointBy::Worker),
        };
        let next = self.all.len();
        let index = *self.names.entry(name.clone()).or_insert(next);
        if index == next {
            let mut builder = PointBuilder::new(name).with_replay(self.replay.clone());
            // What was injected is judged by rules of its own.
            builder.ignore_settings(true);
            let seen = Seen {
                observed: Observed::default(),
                log: log.to_owned(),
                input: input.to_owned(),
                is_worker: worker.is_some(),
                mode: worker.map(|worker| worker.mode),
                largest: None,
                graph_off: None,
            };
            self.all.push(Building { builder, seen });
        }
        self.current = Some(index);
    }

    fn record(&mut self, place: Place, record: &Record<'_>) {
        if let Some(building) = self.current.and_then(|index| self.all.get_mut(index)) {
            if let Record::Decode(line) = record {
                building.line(line.running_req, line.graph.is_some_and(|graph| !graph.on), || place);
            }
            building.builder.add(place, record);
        }
    }

    fn batch(&mut self, batch: &Batch<'_>) {
        let Some(building) = self.current.and_then(|index| self.all.get_mut(index)) else { return };
        batch.parts(&mut |part| {
            if let Part::Decodes(lines) = part {
                for line in lines {
                    let is_off = batch.graph(line).is_some_and(|graph| !graph.on);
                    building.line(line.running_req(), is_off, || batch.place(&batch.mark(line)));
                }
            }
        });
        building.builder.add_batch(batch);
    }
}

impl Building {
    fn line(&mut self, running: u32, is_off: bool, place: impl Fn() -> Place) {
        if self.seen.largest.is_none_or(|(largest, _)| running > largest) {
            self.seen.largest = Some((running, place()));
        }
        if is_off && running > 0 && self.seen.graph_off.is_none() {
            self.seen.graph_off = Some(place());
        }
    }
}
