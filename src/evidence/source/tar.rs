//! tar archives, entry by entry, in memory that no header can ask for.
//!
//! The fields of a header are read by the `tar` crate. Its own iterator is not used: it reads long names and extended
//! headers into memory whatever their size, and hands out the holes of sparse files as zeros without end.

use std::io::{self, Read};

use ::tar::{EntryType, GnuExtSparseHeader, Header, PaxExtensions};

use super::budget::count;
use super::failure::{Failure, Format};
use super::window::Window;

const BLOCK: usize = 512;

/// Longest name or extended header; GNU tar and libarchive write far less.
const LONGEST_EXTENSION: u64 = 1 << 20;

/// What an archive holds, entry by entry.
pub(super) struct Tar<'w, R> {
    window: &'w mut Window<R>,
    /// Bytes that are left of the entry at hand, without its padding.
    left: u64,
    /// Bytes behind them up to the next header.
    padding: u64,
    /// The archive ended within the entry at hand, and its reader said so.
    cut: bool,
}

/// The head of an entry.
pub(super) struct Entry {
    pub(super) name: Vec<u8>,
    pub(super) kind: EntryKind,
}

/// What an entry is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Directory,
    Link,
    Special,
    Sparse,
}

/// What extension headers say about the entry behind them.
#[derive(Default)]
struct Extensions {
    name: Option<Vec<u8>>,
    size: Option<u64>,
    sparse: bool,
}

impl<'w, R: Read> Tar<'w, R> {
    pub(super) fn new(window: &'w mut Window<R>) -> Self {
        Self { window, left: 0, padding: 0, cut: false }
    }

    /// What ended the archive while an entry was read: whoever read it has been told.
    pub(super) fn broken(&self) -> Option<Failure> {
        if self.cut { Some(Failure::Truncated(Format::Tar)) } else { self.window.failed().cloned() }
    }

    /// Passes over the rest of the entry at hand and reads the head of the next one; `None` at the end.
    pub(super) fn next_entry(&mut self) -> Result<Option<Entry>, io::Error> {
        let mut extensions = Extensions::default();
        let mut ended = false;
        loop {
            self.pass_over()?;
            let Some(block) = self.window.take_array::<BLOCK>()? else {
                // A block of zeros ends an archive.
                return if ended { Ok(None) } else { Err(Failure::Truncated(Format::Tar).into()) };
            };
            if block.iter().all(|byte| *byte == 0) {
                ended = true;
                continue;
            }
            let header = Header::from_byte_slice(&block);
            if header.cksum().ok() != Some(checksum(&block)) {
                // What stands behind the end of an archive is anybody's.
                return if ended { Ok(None) } else { Err(damaged("wrong checksum of a header")) };
            }
            ended = false;
            let size = header.entry_size().map_err(|_| damaged("size of an entry is no number"))?;
            match header.entry_type() {
                EntryType::GNULongName => {
                    let mut name = self.extension(size)?;
                    name.truncate(name.iter().position(|byte| *byte == 0).unwrap_or(name.len()));
                    extensions.name = Some(name);
                }
                EntryType::XHeader => extensions.read(&self.extension(size)?)?,
                EntryType::GNULongLink | EntryType::XGlobalHeader => self.expect(size),
                kind => {
                    self.sparse_blocks(header)?;
                    let kind = EntryKind::of(kind, extensions.sparse);
                    // A hard link has no bytes of its own, whatever its size says.
                    let is_hard_link = header.entry_type() == EntryType::Link;
                    self.expect(if is_hard_link { 0 } else { extensions.size.unwrap_or(size) });
                    let name = extensions.name.take().unwrap_or_else(|| header.path_bytes().into_owned());
                    let kind = if name.ends_with(b"/") { EntryKind::Directory } else { kind };
                    return Ok(Some(Entry { name, kind }));
                }
            }
        }
    }

    fn expect(&mut self, size: u64) {
        self.left = size;
        self.padding = size.wrapping_neg() % count(BLOCK);
    }

    fn pass_over(&mut self) -> io::Result<()> {
        for part in [std::mem::take(&mut self.left), std::mem::take(&mut self.padding)] {
            if self.window.skip(part)? > 0 {
                return Err(Failure::Truncated(Format::Tar).into());
            }
        }
        Ok(())
    }

    /// The content of a header that stands before an entry and describes it.
    fn extension(&mut self, size: u64) -> io::Result<Vec<u8>> {
        if size > LONGEST_EXTENSION {
            return Err(damaged("a name or an extended header is longer than 1 MiB"));
        }
        self.expect(size);
        let mut content = Vec::new();
        self.read_to_end(&mut content)?;
        Ok(content)
    }

    /// Old GNU headers of sparse files go on in blocks that no size counts.
    fn sparse_blocks(&mut self, header: &Header) -> io::Result<()> {
        let mut more = header.entry_type() == EntryType::GNUSparse
            && header.as_gnu().is_some_and(::tar::GnuHeader::is_extended);
        while more {
            let block = self.window.take_array::<BLOCK>()?.ok_or(Failure::Truncated(Format::Tar))?;
            let mut extended = GnuExtSparseHeader::new();
            extended.as_mut_bytes().copy_from_slice(&block);
            more = extended.is_extended();
        }
        Ok(())
    }
}

/// The bytes of the entry at hand.
impl<R: Read> Read for Tar<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 || out.is_empty() {
            return Ok(0);
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(out.len());
        let read = self.window.read(out.get_mut(..most).unwrap_or_default())?;
        if read == 0 {
            self.cut = true;
            return Err(Failure::Truncated(Format::Tar).into());
        }
        self.left -= count(read);
        Ok(read)
    }
}

impl EntryKind {
    fn of(kind: EntryType, sparse: bool) -> Self {
        match kind {
            _ if sparse => Self::Sparse,
            EntryType::Directory => Self::Directory,
            EntryType::Link | EntryType::Symlink => Self::Link,
            EntryType::Char | EntryType::Block | EntryType::Fifo => Self::Special,
            EntryType::GNUSparse => Self::Sparse,
            // POSIX: what is not known is a regular file.
            _ => Self::File,
        }
    }
}

impl Extensions {
    fn read(&mut self, content: &[u8]) -> io::Result<()> {
        for extension in PaxExtensions::new(content) {
            let extension = extension.map_err(|_| damaged("an extended header is malformed"))?;
            let value = extension.value_bytes();
            match extension.key_bytes() {
                b"path" => self.name = Some(value.to_vec()),
                b"size" => {
                    let size = std::str::from_utf8(value).ok().and_then(|size| size.parse().ok());
                    self.size = Some(size.ok_or_else(|| damaged("size of an entry is no number"))?);
                }
                key => self.sparse |= key.starts_with(b"GNU.sparse."),
            }
        }
        Ok(())
    }
}

/// The sum of a header's bytes, those of the sum itself taken as spaces.
fn checksum(block: &[u8; BLOCK]) -> u32 {
    let sum = |bytes: &[u8]| bytes.iter().map(|byte| u32::from(*byte)).sum::<u32>();
    let field = 148..156;
    sum(block) - sum(block.get(field).unwrap_or(&[])) + 8 * u32::from(b' ')
}

fn damaged(detail: &str) -> io::Error {
    Failure::damaged(Format::Tar, detail).into()
}
