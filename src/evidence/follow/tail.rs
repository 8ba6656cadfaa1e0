//! A file that grows, by its path: renamed away, cut to nothing, written anew.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

/// Bytes of one read.
const BLOCK: usize = 1 << 18;

/// Bytes before the place of reading that are looked at again: they differ when the file was written anew.
const MARK: usize = 64;

/// The file that a path names, as far as it was read.
#[derive(Debug)]
pub(super) struct Tail {
    path: PathBuf,
    file: File,
    identity: Identity,
    /// Bytes read.
    at: u64,
    /// The last of them.
    mark: Vec<u8>,
}

/// What one look at a file came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// So many bytes more are in the buffer.
    Bytes(usize),
    /// Nothing new.
    Nothing,
    /// The path names another file now, and the one before was read to its end.
    Rotated,
    /// The file was cut, or written anew.
    Truncated,
}

/// What tells files apart that had the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Identity(#[cfg(unix)] (u64, u64), #[cfg(not(unix))] Option<std::time::SystemTime>);

impl Identity {
    #[cfg(unix)]
    fn of(meta: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self((meta.dev(), meta.ino()))
    }

    /// The standard library shows no number of a file here; two that were made at the same instant pass for one.
    #[cfg(not(unix))]
    fn of(meta: &Metadata) -> Self {
        Self(meta.created().ok())
    }
}

impl Tail {
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let file = File::open(&path)?;
        let identity = Identity::of(&file.metadata()?);
        Ok(Self { path, file, identity, at: 0, mark: Vec::new() })
    }

    /// Reads on; `buffer` holds what is new and nothing else.
    ///
    /// A file that was renamed is read until there is nothing more and its successor has bytes: whoever writes it may not
    /// have noticed yet.
    pub(super) fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Step> {
        buffer.clear();
        let length = self.file.metadata()?.len();
        if length < self.at || (length > self.at && !self.is_marked()?) {
            self.at = 0;
            self.mark.clear();
            return Ok(Step::Truncated);
        }
        self.file.seek(SeekFrom::Start(self.at))?;
        let read = read_up_to(&mut self.file, BLOCK, buffer)?;
        if read > 0 {
            self.advance(buffer);
            return Ok(Step::Bytes(read));
        }
        match fs::metadata(&self.path) {
            Ok(meta) if meta.is_file() && meta.len() > 0 && Identity::of(&meta) != self.identity => {
                match Self::open(self.path.clone()) {
                    Ok(next) => {
                        *self = next;
                        Ok(Step::Rotated)
                    }
                    // Renamed again in between.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Step::Nothing),
                    Err(error) => Err(error),
                }
            }
            // Renamed, and its successor is not there yet.
            _ => Ok(Step::Nothing),
        }
    }

    /// Whether what stands before the place of reading is what was read there.
    fn is_marked(&mut self) -> io::Result<bool> {
        let mut again = Vec::with_capacity(MARK);
        let length = u64::try_from(self.mark.len()).unwrap_or(0);
        self.file.seek(SeekFrom::Start(self.at.saturating_sub(length)))?;
        read_up_to(&mut self.file, self.mark.len(), &mut again)?;
        Ok(again == self.mark)
    }

    fn advance(&mut self, fresh: &[u8]) {
        self.at = self.at.saturating_add(u64::try_from(fresh.len()).unwrap_or(0));
        self.mark.extend_from_slice(fresh.get(fresh.len().saturating_sub(MARK)..).unwrap_or(fresh));
        let surplus = self.mark.len().saturating_sub(MARK);
        self.mark.drain(..surplus);
    }
}

/// Reads so many bytes, or as many as are there.
fn read_up_to(file: &mut File, bytes: usize, buffer: &mut Vec<u8>) -> io::Result<usize> {
    file.take(u64::try_from(bytes).unwrap_or(u64::MAX)).read_to_end(buffer)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::Path;

    use super::*;

    fn append(path: &Path, text: &str) {
        File::options().create(true).append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn step(tail: &mut Tail) -> (Step, String) {
        let mut buffer = Vec::new();
        let step = tail.next(&mut buffer).unwrap();
        (step, String::from_utf8(buffer).unwrap())
    }

    fn bytes(text: &str) -> (Step, String) {
        (Step::Bytes(text.len()), text.to_owned())
    }

    fn only(step: Step) -> (Step, String) {
        (step, String::new())
    }

    #[test]
    fn what_is_added_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        append(&path, "one\n");
        let mut tail = Tail::open(path.clone()).unwrap();
        assert_eq!(step(&mut tail), bytes("one\n"));
        assert_eq!(step(&mut tail), only(Step::Nothing));
        append(&path, "two\nthr");
        assert_eq!(step(&mut tail), bytes("two\nthr"));
        append(&path, "ee\n");
        assert_eq!(step(&mut tail), bytes("ee\n"));
    }

    #[test]
    fn a_renamed_file_is_read_out_before_its_successor() {
        let folder = tempfile::tempdir().unwrap();
        let (path, old) = (folder.path().join("log"), folder.path().join("log.1"));
        append(&path, "one\n");
        let mut tail = Tail::open(path.clone()).unwrap();
        assert_eq!(step(&mut tail), bytes("one\n"));
        fs::rename(&path, &old).unwrap();
        append(&old, "two\n");
        assert_eq!(step(&mut tail), bytes("two\n"));
        assert_eq!(step(&mut tail), only(Step::Nothing));
        // An empty successor: the writer may still hold the old file.
        append(&path, "");
        append(&old, "three\n");
        assert_eq!(step(&mut tail), bytes("three\n"));
        assert_eq!(step(&mut tail), only(Step::Nothing));
        append(&path, "four\n");
        assert_eq!(step(&mut tail), only(Step::Rotated));
        assert_eq!(step(&mut tail), bytes("four\n"));
    }

    #[test]
    fn a_cut_file_is_read_from_its_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        append(&path, "one\ntwo\n");
        let mut tail = Tail::open(path.clone()).unwrap();
        assert_eq!(step(&mut tail), bytes("one\ntwo\n"));
        fs::write(&path, "3\n").unwrap();
        assert_eq!(step(&mut tail), only(Step::Truncated));
        assert_eq!(step(&mut tail), bytes("3\n"));
        // Longer than it was: only its content tells.
        fs::write(&path, "four\nfive\n").unwrap();
        assert_eq!(step(&mut tail), only(Step::Truncated));
        assert_eq!(step(&mut tail), bytes("four\nfive\n"));
    }
}
