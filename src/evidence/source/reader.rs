//! Reads inputs and remembers what was read, what failed and what was passed over.

use std::fs::File;
use std::hash::Hash;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;

use crate::evidence::{Place, Record, RecordSink};

use super::budget::Budget;
use super::failure::{Failure, ReadError};
use super::input::{Input, STDIN};
use super::limits::Limits;
use super::log::{LogFile, Piece, Taker, read_log};
use super::name;
use super::parallel::{Order, Part};
use super::passed::PassedOver;
use super::progress::Progress;
use super::remote;
use super::stream::Content;
use super::text::{TextSink, Texts};
use super::threads::{Threads, Working};
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
        let threads = Threads::new(self.threads);
        let _working = threads.enter();
        for (found, input) in found {
            let budget = Budget::new(&limits, &progress, &threads);
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
        let threads = Threads::new(NonZeroUsize::MIN);
        for (found, input) in found {
            let budget = Budget::new(&limits, &progress, &threads);
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
        let threads = Threads::new(self.threads);
        let _working = threads.enter();
        let budget = Budget::new(&limits, &progress, &threads);
        let mut visitor = InOrder { reader: self, input: Arc::from(name), errors: &mut errors, sink };
        Unpacker::new(budget, &mut visitor).stream(name, source, Asked::ByName);
        errors
    }

    /// Reads several files at a time, each log into the sink of its group; returns these sinks in the order of their first
    /// logs, and what could not be read to its end.
    ///
    /// `group` says by the names of a log and of its input which group it belongs to, `new` makes the sink of a group. A
    /// sink is told of its logs one after the other, with the indices and in the order of
    /// [`read_into`](Self::read_into), so all is the same on any number of threads. Logs of one group wait for each other,
    /// each with up to 8 MiB divided by the number of threads that are read ahead; logs of different groups do not. Memory
    /// grows with the number of threads, not with that of files: a compressed file takes the history that its stream asks
    /// for, for each that is read at the time.
    ///
    /// ```
    /// use accsim::evidence::{Input, Place, Reader, Record, RecordSink};
    ///
    /// #[derive(Default)]
    /// struct Count(usize);
    ///
    /// impl RecordSink for Count {
    ///     fn begin(&mut self, _file: u32, _name: &str, _input: &str) {}
    ///
    ///     fn record(&mut self, _place: Place, _record: &Record<'_>) {
    ///         self.0 += 1;
    ///     }
    /// }
    ///
    /// let mut reader = Reader::default().with_threads(2.try_into().unwrap());
    /// let inputs: [Input; 0] = [];
    /// let (counts, errors) =
    ///     reader.read_groups(&inputs, |log, _input| log.to_owned(), |_log| Count::default());
    /// assert!(counts.is_empty() && errors.is_empty());
    /// ```
    pub fn read_groups<K: Clone + Eq + Hash + Send, S: RecordSink + Send>(
        &mut self,
        inputs: &[Input],
        group: impl Fn(&str, &str) -> K + Sync,
        new: impl Fn(&K) -> S + Sync,
    ) -> (Vec<(K, S)>, Vec<ReadError>) {
        let (found, mut errors) = self.walk(inputs);
        let (limits, progress) = (self.limits.clone(), self.progress());
        let threads = Threads::new(self.threads);
        let order = Order::new(found.len(), self.files.len());
        let work = |working: Working<'_>| {
            while let Some((file, (found, input))) =
                order.next_file().and_then(|file| Some((file, found.get(file)?)))
            {
                let mut part = Part::new(&order, file, input, &group, &new, &working);
                read_found(found, Budget::new(&limits, &progress, &threads), &mut part);
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads.count().min(found.len()) {
                scope.spawn(|| work(threads.enter()));
            }
            work(threads.enter());
        });
        let (outcomes, groups) = order.finish();
        for outcome in outcomes {
            self.files.extend(outcome.logs);
            errors.extend(outcome.errors);
            self.passed_over.extend(outcome.passed_over);
        }
        (groups, errors)
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
        let mut taker = AtOnce { index, name: &name, input: &self.input, sink: self.sink };
        let read = read_log(&name, content, budget, &mut taker);
        self.sink.end();
        let input = Arc::clone(&self.input);
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

/// A log whose turn it is.
struct AtOnce<'a> {
    index: u32,
    name: &'a str,
    input: &'a str,
    sink: &'a mut dyn RecordSink,
}

impl Taker for AtOnce<'_> {
    fn is_turn(&self) -> bool {
        true
    }

    fn begin(&mut self) -> u32 {
        self.sink.begin(self.index, self.name, self.input);
        self.index
    }

    fn take(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Batch(batch) => self.sink.batch(batch),
            Piece::Record(place, record) => self.sink.record(place, record),
        }
    }
}
