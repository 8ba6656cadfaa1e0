//! An archive, entry by entry.

use std::io::{self, BufRead, Read};

use super::super::budget::count;
use super::super::failure::{Failure, Format};
use super::super::window::Window;
use super::entry::Content;
use super::headers::{
    CENTRAL, CENTRAL_BYTES, END, END_64, LOCAL, LOCAL_BYTES, LOCATOR_64, Local, Method, u16_at, u64_at,
};

/// A zip archive that is read from its first byte on.
pub(in super::super) struct Zip<'w, R> {
    pub(super) window: &'w mut Window<R>,
    /// Packed bytes that are left of the entry at hand; `None` while only the data itself knows.
    pub(super) left: Option<u64>,
    /// The archive ended within the entry at hand, and its reader said so.
    pub(super) cut: bool,
}

/// The head of an entry.
pub(in super::super) struct Entry {
    pub(in super::super) name: Vec<u8>,
    local: Local,
}

impl Entry {
    pub(in super::super) fn is_directory(&self) -> bool {
        self.name.ends_with(b"/")
    }

    /// Whether only its data says where the entry ends.
    pub(in super::super) fn ends_itself(&self) -> bool {
        self.local.has_descriptor
    }
}

impl<'w, R: Read> Zip<'w, R> {
    pub(in super::super) fn new(window: &'w mut Window<R>) -> Self {
        Self { window, left: Some(0), cut: false }
    }

    /// What ended the archive while an entry was read: whoever read it has been told.
    pub(in super::super) fn broken(&self) -> Option<Failure> {
        if self.cut { Some(Failure::Truncated(Format::Zip)) } else { self.window.failed().cloned() }
    }

    /// Passes over the rest of the entry at hand and reads the head of the next one; `None` at the end.
    pub(in super::super) fn next_entry(&mut self) -> io::Result<Option<Entry>> {
        let Some(left) = self.left.take() else {
            return Err(damaged("nothing says where the entry behind the unreadable one begins"));
        };
        self.skip(left)?;
        self.left = Some(0);
        let signature = self.window.peek(LOCAL.len())?;
        if !signature.starts_with(&LOCAL) {
            let is_cut = signature.len() < LOCAL.len();
            return if is_cut { Err(self.window.early(cut())) } else { self.directory().map(|()| None) };
        }
        let mut local = Local::parse(&self.window.take_array::<LOCAL_BYTES>()?.ok_or_else(cut)?);
        let name = self.field(local.name_bytes)?;
        let extra = self.field(local.extra_bytes)?;
        local.read_extra(&extra);
        // Some writers announce a descriptor behind a directory and leave it out.
        local.has_descriptor &= !(name.ends_with(b"/") && local.packed == 0 && self.at_header()?);
        self.left = local.packed_length();
        let entry = Entry { name, local };
        Ok(Some(entry))
    }

    /// The data of the entry whose head was just read. `window` limits the memory of decoders, in bytes.
    pub(in super::super) fn content(
        &mut self,
        entry: &Entry,
        window: u64,
    ) -> Result<Content<'_, 'w, R>, Failure> {
        if entry.local.encrypted {
            return Err(Failure::Encrypted);
        }
        match entry.local.method {
            Method::Other(number) => Err(Failure::Unsupported(format!("compression method {number} of zip"))),
            Method::Zstd | Method::Xz if entry.local.has_descriptor => {
                Err(Failure::Unsupported("a zip entry in zstd or xz whose length follows it".to_owned()))
            }
            _ => Ok(Content::new(self, &entry.local, window)),
        }
    }

    fn field(&mut self, length: u16) -> io::Result<Vec<u8>> {
        let mut field = Vec::new();
        self.window.by_ref().take(u64::from(length)).read_to_end(&mut field)?;
        if field.len() < usize::from(length) { Err(cut()) } else { Ok(field) }
    }

    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        if self.window.skip(bytes)? > 0 { Err(cut()) } else { Ok(()) }
    }

    fn at_header(&mut self) -> io::Result<bool> {
        let next = self.window.peek(LOCAL.len())?;
        Ok(next.starts_with(&LOCAL) || next.starts_with(&CENTRAL))
    }

    /// Reads through the directory at the end: an archive that ends within it was cut.
    fn directory(&mut self) -> io::Result<()> {
        loop {
            let head = self.window.peek(CENTRAL_BYTES)?;
            let field = |at| u64::from(u16_at(head, at));
            let length = match head.first_chunk::<4>() {
                Some(&CENTRAL) => count(CENTRAL_BYTES) + field(28) + field(30) + field(32),
                Some(&END_64) => u64_at(head, 4).saturating_add(12),
                Some(&LOCATOR_64) => 20,
                Some(&END) => {
                    let length = 22 + field(20);
                    return self.skip(length);
                }
                Some(_) => return Err(damaged("no header where one should be")),
                None => return Err(cut()),
            };
            self.skip(length)?;
        }
    }
}

/// The packed bytes of an entry.
pub(super) struct Packed<'z, 'w, R> {
    pub(super) zip: &'z mut Zip<'w, R>,
    /// Packed bytes that were taken.
    pub(super) taken: u64,
}

impl<R: Read> BufRead for Packed<'_, '_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.zip.left == Some(0) {
            return Ok(&[]);
        }
        let held = self.zip.window.fill_buf()?;
        if held.is_empty() {
            self.zip.cut = true;
            return Err(cut());
        }
        let most = self.zip.left.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX));
        Ok(held.get(..most).unwrap_or(held))
    }

    fn consume(&mut self, amount: usize) {
        self.zip.window.consume(amount);
        self.taken += count(amount);
        self.zip.left = self.zip.left.map(|left| left.saturating_sub(count(amount)));
    }
}

impl<R: Read> Read for Packed<'_, '_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut held = self.fill_buf()?;
        let read = held.read(out)?;
        self.consume(read);
        Ok(read)
    }
}

/// The archive ends early.
pub(super) fn cut() -> io::Error {
    Failure::Truncated(Format::Zip).into()
}

pub(super) fn damaged(detail: &str) -> io::Error {
    Failure::damaged(Format::Zip, detail).into()
}
