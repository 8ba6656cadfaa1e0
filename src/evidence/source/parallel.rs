//! Several files at a time, and their logs in the order in which one thread would read them.
//!
//! A log belongs to a group, and the logs of one group have their turn one after the other: in the order of their files.
//! Groups know nothing of each other, so logs of different groups are read at the same time. A log that waits for its turn
//! is read ahead a little.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::evidence::RecordSink;

use super::budget::Budget;
use super::failure::{Failure, ReadError};
use super::log::{LogFile, Piece, Taker, read_log};
use super::passed::PassedOver;
use super::stream::Content;
use super::threads::Working;
use super::unpack::Visitor;

/// What came of a file.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) logs: Vec<LogFile>,
    pub(super) errors: Vec<ReadError>,
    pub(super) passed_over: Vec<PassedOver>,
}

/// Files that are read at the same time, and the states of the groups that their logs belong to.
pub(super) struct Order<K, S> {
    state: Mutex<State<K, S>>,
    /// A file ended, or its only log was found.
    changed: Condvar,
}

struct State<K, S> {
    /// The next file to begin.
    next: usize,
    files: Vec<FileState>,
    /// Files before this one have all their logs counted.
    counted: usize,
    /// Logs before the first of this reading.
    first_log: usize,
    groups: Vec<Member<K, S>>,
    indices: HashMap<K, usize>,
}

struct Member<K, S> {
    key: K,
    /// The index of its first log, once that had its turn.
    first: Option<u32>,
    /// `None` while a log has its turn.
    sink: Option<S>,
    /// Files whose only log belongs to it and has not ended.
    open: BTreeSet<usize>,
}

#[derive(Default)]
struct FileState {
    /// Logs before those of this file; known as soon as those of all earlier files are counted.
    before: usize,
    /// Logs in it, and the group of its only one. `None` for an archive that has not ended: who knows what will come.
    logs: Option<usize>,
    group: Option<usize>,
    outcome: Outcome,
}

impl<K: Clone + Eq + Hash, S> Order<K, S> {
    /// `files` files; `first_log` is the index of the first log in them.
    pub(super) fn new(files: usize, first_log: usize) -> Self {
        let files = (0..files).map(|_| FileState::default()).collect();
        let state =
            State { next: 0, files, counted: 0, first_log, groups: Vec::new(), indices: HashMap::new() };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// The next file that nobody has begun. Files are begun in their order, so the first one that has not ended never
    /// waits for its turn.
    pub(super) fn next_file(&self) -> Option<usize> {
        let mut state = self.state();
        let file = state.next;
        state.next += usize::from(file < state.files.len());
        (file < state.files.len()).then_some(file)
    }

    /// What came of all files, in their order, and of all groups, in that of their first logs.
    pub(super) fn finish(self) -> (Vec<Outcome>, Vec<(K, S)>) {
        let State { files, mut groups, .. } = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        groups.sort_by_key(|group| group.first);
        let groups = groups.into_iter().filter_map(|group| Some((group.key, group.sink?)));
        (files.into_iter().map(|file| file.outcome).collect(), groups.collect())
    }

    fn state(&self) -> MutexGuard<'_, State<K, S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The group with this key. A file that holds nothing but one log says so, and later files need not wait for it to end.
    fn group(&self, file: usize, key: K, is_only: bool) -> usize {
        let mut state = self.state();
        let next = state.groups.len();
        let group = *state.indices.entry(key.clone()).or_insert(next);
        if group == next {
            state.groups.push(Member { key, first: None, sink: None, open: BTreeSet::new() });
        }
        if is_only {
            if let Some(group) = state.groups.get_mut(group) {
                group.open.insert(file);
            }
            if let Some(file) = state.files.get_mut(file) {
                (file.logs, file.group) = (Some(1), Some(group));
            }
            state.count();
            self.changed.notify_all();
        }
        group
    }

    /// A file ended with `logs` logs.
    fn end(&self, file: usize, outcome: Outcome) {
        let mut state = self.state();
        let logs = outcome.logs.len();
        let ended = state.files.get_mut(file).and_then(|ended| {
            ended.outcome = outcome;
            ended.logs = Some(logs);
            ended.group
        });
        if let Some(group) = ended.and_then(|group| state.groups.get_mut(group)) {
            group.open.remove(&file);
        }
        state.count();
        self.changed.notify_all();
    }
}

impl<K, S> State<K, S> {
    /// Counts logs as far as they are known.
    fn count(&mut self) {
        while let Some(FileState { before, logs: Some(logs), .. }) = self.files.get(self.counted) {
            let before = before + logs;
            self.counted += 1;
            if let Some(next) = self.files.get_mut(self.counted) {
                next.before = before;
            }
        }
    }

    /// Whether all logs of a group that come before those of a file have ended.
    fn is_turn(&self, file: usize, group: usize) -> bool {
        let open = self.groups.get(group).and_then(|group| group.open.first());
        self.counted >= file && open.is_none_or(|open| *open >= file)
    }

    /// The index of a log: the `number`th of its file, from 0.
    fn index(&self, file: usize, number: usize) -> u32 {
        let before = self.files.get(file).map_or(0, |file| file.before);
        u32::try_from(self.first_log + before + number).unwrap_or(u32::MAX)
    }
}

/// Reads one file, each log in it into the state of its group.
pub(super) struct Part<'a, K: Clone + Eq + Hash, S, G, N> {
    order: &'a Order<K, S>,
    file: usize,
    input: &'a Arc<str>,
    /// The key of a log's group, and the state of a new group.
    group: &'a G,
    new: &'a N,
    working: &'a Working<'a>,
    is_archive: bool,
    outcome: Outcome,
}

impl<'a, K: Clone + Eq + Hash, S, G, N> Part<'a, K, S, G, N> {
    pub(super) fn new(
        order: &'a Order<K, S>,
        file: usize,
        input: &'a Arc<str>,
        group: &'a G,
        new: &'a N,
        working: &'a Working<'a>,
    ) -> Self {
        Self { order, file, input, group, new, working, is_archive: false, outcome: Outcome::default() }
    }
}

impl<K, S, G, N> Visitor for Part<'_, K, S, G, N>
where
    K: Clone + Eq + Hash,
    S: RecordSink,
    G: Fn(&str, &str) -> K,
    N: Fn(&K) -> S,
{
    fn log(&mut self, name: String, content: Content<'_>, budget: &Budget<'_>) -> Option<Failure> {
        let key = (self.group)(&name, self.input);
        let group = self.order.group(self.file, key, !self.is_archive);
        let mut turn = Turn { part: self, name: &name, group, sink: None };
        let read = read_log(&name, content, budget, &mut turn);
        turn.sink.iter_mut().for_each(RecordSink::end);
        drop(turn);
        let log = LogFile { name, input: Arc::clone(self.input), has_records: read.has_records };
        self.outcome.logs.push(log);
        let failure = read.error.as_ref().map(|error| error.failure.clone());
        self.outcome.errors.extend(read.error);
        self.outcome.passed_over.extend(read.passed_over);
        failure
    }

    fn failed(&mut self, error: ReadError) {
        self.outcome.errors.push(error);
    }

    fn passed_over(&mut self, passed: PassedOver) {
        self.outcome.passed_over.push(passed);
    }

    fn archive(&mut self) {
        self.is_archive = true;
    }
}

/// Ends the file, whatever happened: the others must not wait for it.
impl<K: Clone + Eq + Hash, S, G, N> Drop for Part<'_, K, S, G, N> {
    fn drop(&mut self) {
        self.order.end(self.file, std::mem::take(&mut self.outcome));
    }
}

/// One log and its turn.
struct Turn<'a, 'b, K: Clone + Eq + Hash, S, G, N> {
    part: &'a Part<'b, K, S, G, N>,
    name: &'a str,
    group: usize,
    /// The state of the group, while it is the log's turn.
    sink: Option<S>,
}

impl<K, S, G, N> Taker for Turn<'_, '_, K, S, G, N>
where
    K: Clone + Eq + Hash,
    S: RecordSink,
    G: Fn(&str, &str) -> K,
    N: Fn(&K) -> S,
{
    fn is_turn(&self) -> bool {
        self.part.order.state().is_turn(self.part.file, self.group)
    }

    fn begin(&mut self) -> u32 {
        let Part { order, file, working, .. } = *self.part;
        if !self.is_turn() {
            working.pause(|| {
                let mut state = order.state();
                while !state.is_turn(file, self.group) {
                    state = order.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            });
        }
        let mut state = order.state();
        let index = state.index(file, self.part.outcome.logs.len());
        if let Some(group) = state.groups.get_mut(self.group) {
            group.first.get_or_insert(index);
            let sink = group.sink.take().unwrap_or_else(|| (self.part.new)(&group.key));
            drop(state);
            self.sink.insert(sink).begin(index, self.name, self.part.input);
        }
        index
    }

    fn take(&mut self, piece: Piece<'_>) {
        let Some(sink) = &mut self.sink else { return };
        match piece {
            Piece::Batch(batch) => sink.batch(batch),
            Piece::Record(place, record) => sink.record(place, record),
        }
    }
}

/// Gives the state back.
impl<K: Clone + Eq + Hash, S, G, N> Drop for Turn<'_, '_, K, S, G, N> {
    fn drop(&mut self) {
        let mut state = self.part.order.state();
        if let Some(group) = state.groups.get_mut(self.group).filter(|_| self.sink.is_some()) {
            group.sink = self.sink.take();
        }
    }
}
