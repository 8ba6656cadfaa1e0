//! Reads inputs and remembers what was read, what failed and what was passed over.

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::evidence::{Place, Record, RecordSink};

use super::budget::Budget;
use super::failure::{Failure, ReadError};
use super::input::{Input, STDIN};
use super::limits::Limits;
use super::log::{LogFile, Piece, read_log};
use super::name;
use super::parallel::{Apart, Event, in_order};
use super::passed::PassedOver;
use super::progress::Progress;
use super::remote;
use super::stream::Content;
use super::text::{TextSink, Texts};
use super::unpack::{Asked, Unpacker, Visitor};
use super::walk::{Found, walk};

/// Reads inputs one after the other and keeps the names that places refer to.
///
/// Files, directories, `-`; gzip, zstd, xz, tar and zip, each recognised by its first bytes, and inside each other up
/// to [`Limits::layers`]. Nothing is unpacked to disk. What cannot be read to its end is an error and what was read
/// before counts; what is no log by its nature is passed over and kept in [`passed_over`](Self::passed_over).
///
/// ```
/// use accsim::evidence::{Limits, Reader, Record};
///
/// let log = b"[2026-10-12 01:02:03 TP0] Decode batch, #running-req: 16, #token: 793, token usage: 0.05, \
///     accept len: 3.52, accept rate: 0.50, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0\n";
/// let mut reader = Reader::new(Limits::default());
/// let mut lines = 0;
/// let errors = reader.read_stream("memory", &mut &log[..], &mut |_, record| {
///     lines += usize::from(matches!(record, Record::Decode(_)));
/// });
/// assert!(errors.is_empty());
/// assert_eq!((lines, reader.files()[0].name.as_str()), (1, "memory"));
/// ```
#[derive(Debug)]
pub struct Reader {
    limits: Limits,
    threads: NonZeroUsize,
    progress: Arc<Progress>,
    files: Vec<LogFile>,
    passed_over: Vec<PassedOver>,
}

impl Default for Reader {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Reader {
    /// A reader with these limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            threads: NonZeroUsize::MIN,
            progress: Arc::default(),
            files: Vec::new(),
            passed_over: Vec::new(),
        }
    }

    /// The same reader on several threads, the calling one among them; without this on that one alone. What is read is
    /// the same on any number.
    #[must_use]
    pub fn with_threads(self, threads: NonZeroUsize) -> Self {
        Self { threads, ..self }
    }

    /// The logs read so far, in the order of [`Place::file`].
    #[must_use]
    pub fn files(&self) -> &[LogFile] {
        &self.files
    }

    /// What was seen and not read, in the order in which it was seen.
    #[must_use]
    pub fn passed_over(&self) -> &[PassedOver] {
        &self.passed_over
    }

    /// The counters of this reader, to be watched from another thread, and to stop it.
    #[must_use]
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Reads one input and hands every record to `sink`; returns what could not be read to its end.
    pub fn read(&mut self, input: &Input, sink: &mut dyn FnMut(Place, &Record<'_>)) -> Vec<ReadError> {
        self.read_all(std::slice::from_ref(input), sink)
    }

    /// Reads inputs one after the other and hands every record to `sink`; returns what could not be read to its end.
    ///
    /// Like [`read`](Self::read) in a loop, but [`Progress::total`] is known from the beginning.
    pub fn read_all(&mut self, inputs: &[Input], sink: &mut dyn FnMut(Place, &Record<'_>)) -> Vec<ReadError> {
        self.read_into(inputs, &mut Each(sink))
    }

    /// As [`read_all`](Self::read_all), into a sink that is told of each log before its records come.
    pub fn read_into(&mut self, inputs: &[Input], sink: &mut dyn RecordSink) -> Vec<ReadError> {
        let (found, mut errors) = self.walk(inputs);
        let (limits, progress) = (self.limits.clone(), self.progress());
        for (found, input) in found {
            let budget = Budget::new(&limits, &progress, self.threads);
            let mut visitor = InOrder { reader: self, input, errors: &mut errors, sink };
            read_found(&found, budget, &mut visitor);
        }
        errors
    }

    /// Hands the lines of every text to a sink, those of files without records too: whatever [`read_into`](Self::read_into)
    /// would look into, in the same order.
    pub fn read_texts(&mut self, inputs: &[Input], sink: &mut dyn TextSink) -> Vec<ReadError> {
        let (found, mut errors) = self.walk(inputs);
        let (limits, progress) = (self.limits.clone(), self.progress());
        for (found, input) in found {
            let budget = Budget::new(&limits, &progress, NonZeroUsize::MIN);
            let (files, passed_over) = (&mut self.files, &mut self.passed_over);
            let mut visitor = Texts { files, passed_over, input, errors: &mut errors, sink };
            read_found(&found, budget, &mut visitor);
        }
        errors
    }

    /// Reads bytes that come from somewhere else, shown as `name`.
    pub fn read_stream(
        &mut self,
        name: &str,
        source: &mut (dyn Read + Send),
        sink: &mut dyn FnMut(Place, &Record<'_>),
    ) -> Vec<ReadError> {
        let mut errors = Vec::new();
        let (limits, progress) = (self.limits.clone(), self.progress());
        progress.expect(None);
        let sink = &mut Each(sink);
        let budget = Budget::new(&limits, &progress, self.threads);
        let mut visitor = InOrder { reader: self, input: Arc::from(name), errors: &mut errors, sink };
        Unpacker::new(budget, &mut visitor).stream(name, source, Asked::ByName);
        errors
    }

    /// Reads inputs on several threads, each log into a state of its own.
    ///
    /// `new` makes the state of a log from its name, `record` takes a record with its line into it, and `done` takes
    /// the state of each log with its index in [`files`](Self::files), in the order in which [`read_all`](Self::read_all)
    /// reads them, whatever the number of threads. A file on disk is read by one thread, with all that is packed in
    /// it. At most twice as many files as threads are begun and not done, and a thread waits when it has 16 states
    /// that nobody has taken; so memory does not grow with the number of files.
    pub fn read_each<S: Send>(
        &mut self,
        inputs: &[Input],
        threads: NonZeroUsize,
        new: impl Fn(&str) -> S + Sync,
        record: impl Fn(&mut S, u64, &Record<'_>) + Sync,
        mut done: impl FnMut(u32, S),
    ) -> Vec<ReadError> {
        let (found, mut errors) = self.walk(inputs);
        let (limits, progress) = (self.limits.clone(), self.progress());
        let read = |index: usize, emit: &mut dyn FnMut(Event<S>)| {
            if let Some((found, input)) = found.get(index) {
                let mut visitor = Apart { input, new: &new, record: &record, emit };
                read_found(found, Budget::new(&limits, &progress, NonZeroUsize::MIN), &mut visitor);
            }
        };
        in_order(found.len(), threads, &read, &mut |event| match event {
            Event::Log(log, state) => {
                let index = self.next_file();
                self.files.push(log);
                done(index, state);
            }
            Event::Failed(error) => errors.push(error),
            Event::PassedOver(passed) => self.passed_over.push(passed),
        });
        errors
    }

    /// The files of inputs, each with the name of its input.
    fn walk(&mut self, inputs: &[Input]) -> (Vec<(Found, Arc<str>)>, Vec<ReadError>) {
        let (mut files, mut errors) = (Vec::new(), Vec::new());
        for input in inputs {
            let walked = walk(input, &self.limits);
            let name: Arc<str> = input.name().into();
            walked.found.iter().for_each(|found| self.progress.expect(found.length));
            files.extend(walked.found.into_iter().map(|found| (found, Arc::clone(&name))));
            errors.extend(walked.failed);
            self.passed_over.extend(walked.passed_over);
        }
        (files, errors)
    }

    fn next_file(&self) -> u32 {
        u32::try_from(self.files.len()).unwrap_or(u32::MAX)
    }
}

/// Reads a file that a walk came upon.
fn read_found(found: &Found, budget: Budget<'_>, visitor: &mut dyn Visitor) {
    if budget.progress.is_stopped() {
        return;
    }
    unpack(found, Unpacker::new(budget, visitor));
}

/// Opens what a walk came upon and hands it to `unpacker`.
pub(super) fn unpack(found: &Found, unpacker: Unpacker<'_>) {
    match &found.source {
        Input::Stdin => unpacker.stream(STDIN, &mut io::stdin(), found.asked),
        Input::Url(url) => {
            let name = name::escaped(url);
            match remote::open(url) {
                Ok(mut object) => unpacker.stream(&name, &mut object, found.asked),
                Err(failure) => unpacker.stream(&name, &mut Refused(Some(failure)), found.asked),
            }
        }
        Input::Path(path) => unpacker.file(&name::of_path(path), File::open(path), found.asked),
    }
}

/// What could not be opened, as a stream that says so.
struct Refused(Option<Failure>);

impl Read for Refused {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), |failure| Err(failure.into()))
    }
}

/// Hands the records of every log to one sink.
struct InOrder<'a> {
    reader: &'a mut Reader,
    input: Arc<str>,
    errors: &'a mut Vec<ReadError>,
    sink: &'a mut dyn RecordSink,
}

/// A function that takes the records of every log.
struct Each<'a>(&'a mut dyn FnMut(Place, &Record<'_>));

impl RecordSink for Each<'_> {
    fn begin(&mut self, _file: u32, _name: &str, _input: &str) {}

    fn record(&mut self, place: Place, record: &Record<'_>) {
        (self.0)(place, record);
    }
}

impl Visitor for InOrder<'_> {
    fn log(&mut self, name: String, content: Content<'_>, budget: &Budget<'_>) -> Option<Failure> {
        let index = self.reader.next_file();
        let input = Arc::clone(&self.input);
        self.sink.begin(index, &name, &input);
        let sink = &mut *self.sink;
        let read = read_log(&name, content, budget, index, &mut |piece| match piece {
            Piece::Batch(batch) => sink.batch(batch),
            Piece::Record(place, record) => sink.record(place, record),
        });
        self.reader.files.push(LogFile { name, input, has_records: read.has_records });
        self.reader.passed_over.extend(read.passed_over);
        let failure = read.error.as_ref().map(|error| error.failure.clone());
        self.errors.extend(read.error);
        failure
    }

    fn failed(&mut self, error: ReadError) {
        self.errors.push(error);
    }

    fn passed_over(&mut self, passed: PassedOver) {
        self.reader.passed_over.push(passed);
    }
}
