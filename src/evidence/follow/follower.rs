//! Several logs that grow.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::evidence::source::{HEAD, Kind, recognise};
use crate::evidence::{Input, Limits, LogFile, Place, Record, RecordSink};

use super::error::{FollowError, Unfollowed};
use super::lines::Lines;
use super::pipe::{Pipe, Piped};
use super::tail::{Step, Tail};

/// Bytes that one log is read on before the others have their turn.
const BURST: u64 = 64 << 20;

/// Reads logs while they grow: each call of [`poll`](Self::poll) what came since the last one.
///
/// A file is read from its beginning, and on after it was renamed, cut or written anew; one that is not there is waited for;
/// a pipe and standard input have an end. A line counts when its line break is there. Of a log that is replaced twice
/// between two calls, what stood in between is lost. Memory does not grow with the logs.
///
/// ```
/// use accsim::evidence::{Follower, Input, Limits, Place, Record, RecordSink};
///
/// struct Count(u64);
/// impl RecordSink for Count {
///     fn begin(&mut self, _file: u32, _name: &str, _input: &str) {}
///     fn record(&mut self, _place: Place, _record: &Record<'_>) {
///         self.0 += 1;
///     }
/// }
///
/// let inputs = [Input::Path("not/there/yet.log".into())];
/// let mut follower = Follower::new(&inputs, &Limits::default())?;
/// let mut count = Count(0);
/// assert!(!follower.poll(&mut count).is_more);
/// assert!(!follower.is_over(0));
/// # Ok::<(), accsim::evidence::FollowError>(())
/// ```
#[derive(Debug)]
pub struct Follower {
    logs: Vec<Log>,
    files: Vec<LogFile>,
    errors: Vec<FollowError>,
    buffer: Vec<u8>,
}

/// What one call of [`Follower::poll`] came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Polled {
    /// Bytes read.
    pub bytes: u64,
    /// Whether more is there already.
    pub is_more: bool,
}

#[derive(Debug)]
struct Log {
    source: Source,
    lines: Lines,
    /// Whether its first bytes were looked at.
    is_known: bool,
    /// How often the path came to name another file, and how often the file was cut.
    rotated: u64,
    truncated: u64,
}

#[derive(Debug)]
enum Source {
    /// Not there yet.
    Awaited(PathBuf),
    File(Box<Tail>),
    Pipe(Pipe),
    Over,
}

impl Follower {
    /// Logs to be followed; nothing is read yet.
    ///
    /// # Errors
    ///
    /// Directories, and what is there already and is no plain text or cannot be opened.
    pub fn new(inputs: &[Input], limits: &Limits) -> Result<Self, FollowError> {
        let longest = limits.line_bytes();
        let mut follower =
            Self { logs: Vec::new(), files: Vec::new(), errors: Vec::new(), buffer: Vec::new() };
        for (index, input) in (0..).zip(inputs) {
            let name = input.name();
            let source = match input {
                Input::Stdin => Pipe::stdin().map(Source::Pipe).map_err(Unfollowed::from),
                Input::Url(_) => Err(Unfollowed::from(io::Error::other(
                    "an object does not grow; audit it without --follow",
                ))),
                Input::Path(path) => look_at(path).map(|()| Source::Awaited(path.clone())),
            };
            let source = source.map_err(|why| FollowError { name: name.clone(), why })?;
            let lines = Lines::new(index, longest);
            follower.logs.push(Log { source, lines, is_known: false, rotated: 0, truncated: 0 });
            follower.files.push(LogFile { input: name.as_str().into(), name, has_records: false });
        }
        Ok(follower)
    }

    /// The logs, one an input, in the order of [`Place::file`]. A log keeps its number when it is rotated; its lines are
    /// then counted from 1 again.
    #[must_use]
    pub fn files(&self) -> &[LogFile] {
        &self.files
    }

    /// Logs that are no longer followed.
    #[must_use]
    pub fn errors(&self) -> &[FollowError] {
        &self.errors
    }

    /// How often each log was rotated, and how often it was cut or written anew.
    pub fn restarts(&self) -> impl Iterator<Item = (&LogFile, u64, u64)> {
        self.files.iter().zip(&self.logs).map(|(file, log)| (file, log.rotated, log.truncated))
    }

    /// Whether a log, by its number, can bring nothing more.
    #[must_use]
    pub fn is_over(&self, file: u32) -> bool {
        let log = usize::try_from(file).ok().and_then(|index| self.logs.get(index));
        log.is_none_or(|log| matches!(log.source, Source::Over))
    }

    /// Reads what is there, without waiting, and hands every record to `sink`. Each log begins anew for the sink, in every
    /// call that finds something in it.
    pub fn poll(&mut self, sink: &mut dyn RecordSink) -> Polled {
        let mut polled = Polled::default();
        for (index, (log, file)) in (0..).zip(self.logs.iter_mut().zip(&mut self.files)) {
            sink.begin(index, &file.name, &file.input);
            let mut read = 0;
            let has_records = &mut file.has_records;
            let mut record = |place: Place, record: &Record<'_>| {
                *has_records = true;
                sink.record(place, record);
            };
            while let Some(bytes) = log.next(&mut self.buffer, &mut record).unwrap_or_else(|why| {
                log.lines.finish(&mut record);
                log.source = Source::Over;
                self.errors.push(FollowError { name: file.name.clone(), why });
                None
            }) {
                read += bytes;
                if read >= BURST {
                    polled.is_more = true;
                    break;
                }
            }
            polled.bytes += read;
        }
        polled
    }

    /// Ends the following: last lines without a line break count.
    pub fn finish(&mut self, sink: &mut dyn RecordSink) {
        for (index, (log, file)) in (0..).zip(self.logs.iter_mut().zip(&mut self.files)) {
            sink.begin(index, &file.name, &file.input);
            log.lines.finish(&mut |place, record| {
                file.has_records = true;
                sink.record(place, record);
            });
            log.source = Source::Over;
        }
    }
}

impl Log {
    /// Reads on; `None` when there is nothing new.
    fn next(
        &mut self,
        buffer: &mut Vec<u8>,
        sink: &mut impl FnMut(Place, &Record<'_>),
    ) -> Result<Option<u64>, Unfollowed> {
        if let Source::Awaited(path) = &self.source {
            let path = path.clone();
            match open(path) {
                Ok(Some(source)) => self.source = source,
                Ok(None) => return Ok(None),
                Err(why) => return Err(why),
            }
        }
        let read = match &mut self.source {
            Source::Awaited(_) | Source::Over => return Ok(None),
            Source::File(tail) => match tail.next(buffer)? {
                Step::Nothing => return Ok(None),
                Step::Bytes(read) => read,
                Step::Rotated => {
                    self.lines.finish(sink);
                    (self.is_known, self.rotated) = (false, self.rotated + 1);
                    return Ok(Some(0));
                }
                Step::Truncated => {
                    self.lines.restart(sink);
                    (self.is_known, self.truncated) = (false, self.truncated + 1);
                    return Ok(Some(0));
                }
            },
            Source::Pipe(pipe) => match pipe.next()? {
                Piped::Nothing => return Ok(None),
                Piped::End => {
                    self.lines.finish(sink);
                    self.source = Source::Over;
                    return Ok(None);
                }
                Piped::Bytes(bytes) => {
                    *buffer = bytes;
                    buffer.len()
                }
            },
        };
        if !std::mem::replace(&mut self.is_known, true) {
            check(buffer.get(..HEAD).unwrap_or(buffer))?;
        }
        self.lines.add(buffer, sink);
        Ok(Some(u64::try_from(read).unwrap_or(u64::MAX)))
    }
}

/// What a path names now; `None` when that is nothing.
fn open(path: PathBuf) -> Result<Option<Source>, Unfollowed> {
    match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
        Ok(meta) if meta.is_dir() => Err(Unfollowed::Directory),
        Ok(meta) if meta.is_file() => match Tail::open(path) {
            // Renamed in between.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => Ok(Some(Source::File(Box::new(opened?)))),
        },
        Ok(_) => Ok(Some(Source::Pipe(Pipe::open(path)?))),
    }
}

/// Whether what a path names, if anything, can be followed.
fn look_at(path: &Path) -> Result<(), Unfollowed> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error.into()),
        Ok(meta) if meta.is_dir() => Err(Unfollowed::Directory),
        Ok(meta) if meta.is_file() => {
            let mut head = Vec::with_capacity(HEAD);
            File::open(path)?.take(u64::try_from(HEAD).unwrap_or(u64::MAX)).read_to_end(&mut head)?;
            check(&head)
        }
        // A pipe can be read once.
        Ok(_) => Ok(()),
    }
}

fn check(head: &[u8]) -> Result<(), Unfollowed> {
    match recognise(head) {
        Kind::Text => Ok(()),
        Kind::Packed(format) => Err(Unfollowed::Packed(format)),
        Kind::Unsupported(format) => Err(Unfollowed::Unsupported(format)),
        Kind::NotText(format) => Err(Unfollowed::NotText(format)),
    }
}
