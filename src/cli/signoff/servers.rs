//! The pass over the logs that finds servers.

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

/// Whom the lines of a log belong to, by the name of its server.
pub(super) type Mapped<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// The server that a log belongs to: one a worker where files have srt-slurm's names, one a file elsewhere, and what
/// `mapped` says before that. `None` for what is no log.
pub(super) fn server_of(log: &str, input: &str, mapped: Mapped<'_>) -> Option<String> {
    // Recipes and notes quote lines; nobody ran them.
    if !matches!(kind_of(log), FileKind::Text(_)) {
        return None;
    }
    Some(match (mapped(log), WorkerName::parse(log)) {
        (Some(mapped), None) => mapped,
        _ => point_name(log, input, PointBy::Worker),
    })
}

/// A server, built while its logs are read.
pub(super) struct Building {
    builder: PointBuilder,
    seen: Seen,
}

impl Building {
    pub(super) fn new(name: String, replay: ReplayOptions) -> Self {
        let mut builder = PointBuilder::new(name).with_replay(replay);
        // What was injected is judged by rules of its own.
        builder.ignore_settings(true);
        let seen = Seen {
            observed: Observed::default(),
            log: String::new(),
            input: String::new(),
            is_worker: false,
            mode: None,
            largest: None,
            graph_off: None,
        };
        Self { builder, seen }
    }

    /// What was seen; `None` without decode lines and arguments: an environment that echoes its settings is no server.
    pub(super) fn finish(self) -> Option<Seen> {
        let seen = Seen { observed: self.builder.finish(), ..self.seen };
        (seen.observed.decode_lines() > 0 || seen.observed.server().is_some()).then_some(seen)
    }
}

impl RecordSink for Building {
    fn begin(&mut self, _file: u32, log: &str, input: &str) {
        if self.seen.log.is_empty() {
            let worker = WorkerName::parse(log);
            log.clone_into(&mut self.seen.log);
            input.clone_into(&mut self.seen.input);
            self.seen.is_worker = worker.is_some();
            self.seen.mode = worker.map(|worker| worker.mode);
        }
    }

    fn record(&mut self, place: Place, record: &Record<'_>) {
        if let Record::Decode(line) = record {
            self.line(line.running_req, line.graph.is_some_and(|graph| !graph.on), || place);
        }
        self.builder.add(place, record);
    }

    fn batch(&mut self, batch: &Batch<'_>) {
        batch.parts(&mut |part| {
            if let Part::Decodes(lines) = part {
                for line in lines {
                    let is_off = batch.graph(line).is_some_and(|graph| !graph.on);
                    self.line(line.running_req(), is_off, || batch.place(&batch.mark(line)));
                }
            }
        });
        self.builder.add_batch(batch);
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
