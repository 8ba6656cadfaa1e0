//! Bytes in: files, directories and standard input, compressed or not, read as a stream in bounded memory.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::{Place, Record, Scanner};

/// Bytes read at a time.
const BLOCK: usize = 1 << 18;

/// Longest line that is read whole; the rest of a longer one is passed over.
const MAX_LINE: usize = 1 << 22;

/// What a path of the command line names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// `-`
    Stdin,
    /// A file, or a directory that is walked.
    Path(PathBuf),
}

impl From<&Path> for Input {
    fn from(path: &Path) -> Self {
        if path == Path::new("-") { Self::Stdin } else { Self::Path(path.to_owned()) }
    }
}

/// A file that could not be read to its end. What was read before counts.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {name}: {cause}")]
pub struct ReadError {
    /// The file, as it is named to the user.
    pub name: String,
    /// What the system said.
    pub cause: io::Error,
}

/// Reads inputs one after the other and keeps the names that places refer to.
#[derive(Debug, Default)]
pub struct Reader {
    files: Vec<String>,
}

impl Reader {
    /// The names of the files read so far, in the order of [`Place::file`].
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Reads one input and hands every record to `sink`; returns the files that could not be read to their end.
    pub fn read(&mut self, input: &Input, sink: &mut impl FnMut(Place, &Record<'_>)) -> Vec<ReadError> {
        self.read_named(input, &mut |_: &str, place: Place, record: &Record<'_>| sink(place, record))
    }

    /// As [`Reader::read`], and names the file of every record: while reading, [`Reader::files`] cannot be asked.
    pub fn read_named(
        &mut self,
        input: &Input,
        sink: &mut impl FnMut(&str, Place, &Record<'_>),
    ) -> Vec<ReadError> {
        let mut errors = Vec::new();
        match input {
            Input::Stdin => {
                self.stream("(standard input)".to_owned(), Ok(io::stdin().lock()), sink, &mut errors);
            }
            Input::Path(path) => {
                for file in walk(path, &mut errors) {
                    self.stream(file.display().to_string(), open(&file), sink, &mut errors);
                }
            }
        }
        errors
    }

    fn stream<R: Read>(
        &mut self,
        name: String,
        source: io::Result<R>,
        sink: &mut impl FnMut(&str, Place, &Record<'_>),
        errors: &mut Vec<ReadError>,
    ) {
        let index = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let mut sink = |place: Place, record: &Record<'_>| sink(&name, place, record);
        let outcome = source.and_then(|source| scan(source, &mut Scanner::new(index), &mut sink));
        if let Err(cause) = outcome {
            errors.push(ReadError { name: name.clone(), cause });
        }
        self.files.push(name);
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// The regular files at and below `path`, in the order of their names. Links to directories are not followed, and
/// what is no regular file (a pipe, a device) is read only when it is named itself.
fn walk(path: &Path, errors: &mut Vec<ReadError>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut waiting = vec![(path.to_owned(), true)];
    while let Some((path, named)) = waiting.pop() {
        let kind = if named { fs::metadata(&path) } else { fs::symlink_metadata(&path) };
        match kind {
            Ok(kind) if kind.is_dir() => match children(&path) {
                // The stack reverses the order.
                Ok(children) => waiting.extend(children.into_iter().rev().map(|child| (child, false))),
                Err(cause) => errors.push(ReadError { name: path.display().to_string(), cause }),
            },
            Ok(kind) if named || kind.is_file() => files.push(path),
            Ok(kind) if kind.is_symlink() && path.is_file() => files.push(path),
            Ok(_) => {}
            Err(cause) => errors.push(ReadError { name: path.display().to_string(), cause }),
        }
    }
    files
}

fn children(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut children =
        fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    children.sort();
    Ok(children)
}

/// Scans a stream to its end, through gzip where its first bytes say so.
fn scan<R: Read>(
    source: R,
    scanner: &mut Scanner,
    sink: &mut impl FnMut(Place, &Record<'_>),
) -> io::Result<()> {
    let mut source = BufReader::new(source);
    if source.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        scan_plain(MultiGzDecoder::new(source), scanner, sink)
    } else {
        scan_plain(source, scanner, sink)
    }
}

fn scan_plain<R: Read>(
    mut source: R,
    scanner: &mut Scanner,
    sink: &mut impl FnMut(Place, &Record<'_>),
) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(2 * BLOCK);
    // Whether the buffer goes on with a line whose beginning was too long to hold.
    let mut overlong = false;
    let outcome = loop {
        let held = buffer.len();
        let read = match source.by_ref().take(BLOCK as u64).read_to_end(&mut buffer) {
            Ok(read) => read,
            Err(cause) => break Err(cause),
        };
        if read == 0 {
            break Ok(());
        }
        if let Some(end) =
            buffer.get(held..).and_then(|fresh| memchr::memrchr(b'\n', fresh)).map(|at| held + at + 1)
        {
            let block = buffer.get(..end).unwrap_or(&[]);
            scanner.lines(if overlong { tail(block) } else { block }, sink);
            overlong = false;
            buffer.drain(..end);
        } else if buffer.len() > MAX_LINE {
            if !overlong {
                scanner.part_of_line(&buffer, sink);
            }
            overlong = true;
            buffer.clear();
        }
    };
    if !overlong {
        scanner.lines(&buffer, sink);
    }
    scanner.finish(sink);
    outcome
}

/// What remains of a block when the rest of an overlong line is dropped; its line break stays, for the count.
fn tail(block: &[u8]) -> &[u8] {
    memchr::memchr(b'\n', block).and_then(|end| block.get(end..)).unwrap_or(block)
}
