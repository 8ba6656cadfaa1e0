//! Counters at one moment: a file, or a folder or archive with one for each endpoint.

use std::io::{self, Read};
use std::num::NonZeroUsize;

use crate::evidence::counters::{
    CounterRecord, Document, LOOK, LineFault, Snapshot, read_json, read_text, recognise,
};

use super::budget::{Budget, Raw, count};
use super::failure::{Failure, ReadError};
use super::input::Input;
use super::limits::Limits;
use super::passed::PassedOver;
use super::progress::Progress;
use super::reader::unpack;
use super::stream::Content;
use super::threads::Threads;
use super::unpack::{Unpacker, Visitor};
use super::walk::walk;
use super::window::Window;

/// Why a snapshot cannot be had.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SnapshotError {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    /// It is something else.
    #[error("{0} holds no counters of an engine: expected Prometheus text, or ATOM's /debug/mtp_stats")]
    NoCounters(String),
    /// It ends inside a line or a value.
    #[error("{0} ends in the middle: the scrape was cut")]
    Cut(String),
    /// A line that is no sample; a counter may be lost in it.
    #[error("{name}, line {line}: {fault}")]
    Line {
        /// The file.
        name: String,
        /// Its line.
        line: u64,
        /// What is wrong with it.
        fault: LineFault,
    },
    /// No JSON.
    #[error("{name}, line {line}: not valid JSON")]
    Json {
        /// The file.
        name: String,
        /// The line.
        line: u64,
    },
    /// Differences, not counters at one moment.
    #[error("{0} holds differences over a whole run, not counters at one moment: audit it as it is")]
    Differences(String),
}

/// Reads the counters at one moment. Files of a folder or archive are endpoints, called by their path in it.
pub fn read_snapshot(input: &Input, limits: &Limits) -> Result<Snapshot, SnapshotError> {
    let walked = walk(input, limits);
    if let Some(failed) = walked.failed.into_iter().next() {
        return Err(failed.into());
    }
    let progress = Progress::default();
    let threads = Threads::new(NonZeroUsize::MIN);
    let root = input.name();
    let mut scrapes = Scrapes { root, snapshot: Snapshot::default(), error: None };
    for found in walked.found {
        let budget = Budget::new(limits, &progress, &threads);
        unpack(&found, Unpacker::new(budget, &mut scrapes));
    }
    match scrapes.error {
        Some(error) => Err(error),
        None if scrapes.snapshot.is_empty() => Err(SnapshotError::NoCounters(scrapes.root)),
        None => Ok(scrapes.snapshot),
    }
}

/// Puts the scrapes of all endpoints together.
struct Scrapes {
    root: String,
    snapshot: Snapshot,
    error: Option<SnapshotError>,
}

impl Scrapes {
    fn read<R: Read>(&mut self, name: &str, source: R, longest: u64) -> Result<(), SnapshotError> {
        let mut window = Window::new(source);
        let failed = |error: io::Error| {
            let failure = Failure::of_system(&error);
            SnapshotError::Unreadable(ReadError { name: name.to_owned(), failure, bytes: 0 })
        };
        let document = recognise(window.peek(LOOK).map_err(failed)?);
        let source = &mut window;
        let endpoint = name.strip_prefix(&self.root).unwrap_or(name).trim_start_matches(['!', '/']);
        match document {
            Some(Document::Text) => {
                let read = read_text(source, longest).map_err(failed)?;
                if read.is_cut {
                    return Err(SnapshotError::Cut(name.to_owned()));
                }
                if let Some((line, fault)) = read.fault {
                    return Err(SnapshotError::Line { name: name.to_owned(), line, fault });
                }
                self.snapshot.absorb(endpoint, read.snapshot);
            }
            Some(Document::Json) => {
                let snapshot = &mut self.snapshot;
                let mut take = |_, record| {
                    if let CounterRecord::Debug(stats) = record {
                        snapshot.add_debug(endpoint, &stats);
                    }
                };
                let end = read_json(source, longest, &mut take).map_err(failed)?;
                match end.stopped {
                    Some((_, true)) => return Err(SnapshotError::Cut(name.to_owned())),
                    Some((line, false)) => return Err(SnapshotError::Json { name: name.to_owned(), line }),
                    None => {}
                }
                if end.snapshot.series().values().any(|track| track.is_difference) {
                    return Err(SnapshotError::Differences(name.to_owned()));
                }
                self.snapshot.absorb(endpoint, end.snapshot);
            }
            Some(Document::Parquet) | None => {}
        }
        Ok(())
    }
}

impl Visitor for Scrapes {
    fn log(&mut self, name: String, content: Content<'_>, budget: &Budget<'_>) -> Option<Failure> {
        let longest = count(budget.limits.line_bytes());
        let read = match content {
            Content::Plain(file) => self.read(&name, Raw::new(file, budget), longest),
            Content::Stream(stream) => self.read(&name, stream, longest),
        };
        let error = read.err()?;
        let failure = match &error {
            SnapshotError::Unreadable(error) => Some(error.failure.clone()),
            _ => None,
        };
        self.error.get_or_insert(error);
        failure
    }

    fn failed(&mut self, error: ReadError) {
        self.error.get_or_insert(error.into());
    }

    fn passed_over(&mut self, _: PassedOver) {}
}
