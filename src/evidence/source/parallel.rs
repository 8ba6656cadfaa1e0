//! Several files at a time, and their logs in the order in which one thread would read them.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::evidence::{Place, Record};

use super::budget::Budget;
use super::failure::{Failure, ReadError};
use super::log::{LogFile, Piece, read_log};
use super::passed::PassedOver;
use super::stream::Content;
use super::unpack::Visitor;

/// Events of one file that wait for the one who takes them.
const WAITING: usize = 16;

/// What the reading of a file gives, in order.
pub(super) enum Event<S> {
    Log(LogFile, S),
    Failed(ReadError),
    PassedOver(PassedOver),
}

/// Reads the files `0..files` with `read` and hands their events to `take`, those of file 0 first.
///
/// `read` runs on up to `threads` threads. It takes files in their order and blocks when nobody takes its events; the
/// file whose events are taken is always one that is being read, so neither side waits for ever.
pub(super) fn in_order<S: Send>(
    files: usize,
    threads: NonZeroUsize,
    read: &(impl Fn(usize, &mut dyn FnMut(Event<S>)) + Sync),
    take: &mut dyn FnMut(Event<S>),
) {
    let threads = threads.get().min(files);
    if threads <= 1 {
        (0..files).for_each(|file| read(file, take));
        return;
    }
    // The files that are begun, in their order: whoever takes a number puts the end of its events here before it lets
    // anybody else take one.
    let (begin, files_begun) = sync_channel::<Receiver<Event<S>>>(threads);
    let numbers = Mutex::new(0..files);
    thread::scope(|scope| {
        for _ in 0..threads {
            let (begin, numbers) = (begin.clone(), &numbers);
            scope.spawn(move || {
                while let Some((file, events)) = next_file(numbers, &begin) {
                    // Nobody takes them any more only when the taker panicked.
                    read(file, &mut |event| drop(events.send(event)));
                }
            });
        }
        drop(begin);
        for events in files_begun {
            events.into_iter().for_each(&mut *take);
        }
    });
}

fn next_file<S>(
    numbers: &Mutex<Range<usize>>,
    begin: &SyncSender<Receiver<Event<S>>>,
) -> Option<(usize, SyncSender<Event<S>>)> {
    let mut numbers = numbers.lock().ok()?;
    let file = numbers.next()?;
    let (events, waiting) = sync_channel(WAITING);
    begin.send(waiting).ok()?;
    Some((file, events))
}

/// Reads every log into a state of its own.
pub(super) struct Apart<'a, S, N, R> {
    pub(super) input: &'a Arc<str>,
    pub(super) new: &'a N,
    pub(super) record: &'a R,
    pub(super) emit: &'a mut dyn FnMut(Event<S>),
}

impl<S, N, R> Visitor for Apart<'_, S, N, R>
where
    N: Fn(&str) -> S,
    R: Fn(&mut S, u64, &Record<'_>),
{
    fn log(&mut self, name: String, content: Content<'_>, budget: &Budget<'_>) -> Option<Failure> {
        let mut state = (self.new)(&name);
        let read = read_log(&name, content, budget, 0, &mut |piece| {
            let mut see = |place: Place, record: &Record<'_>| (self.record)(&mut state, place.line, record);
            match piece {
                Piece::Batch(batch) => batch.for_each(&mut see),
                Piece::Record(place, record) => see(place, record),
            }
        });
        let log = LogFile { name, input: Arc::clone(self.input), has_records: read.has_records };
        (self.emit)(Event::Log(log, state));
        let failure = read.error.as_ref().map(|error| error.failure.clone());
        read.error.into_iter().for_each(|error| self.failed(error));
        read.passed_over.into_iter().for_each(|passed| self.passed_over(passed));
        failure
    }

    fn failed(&mut self, error: ReadError) {
        (self.emit)(Event::Failed(error));
    }

    fn passed_over(&mut self, passed: PassedOver) {
        (self.emit)(Event::PassedOver(passed));
    }
}
