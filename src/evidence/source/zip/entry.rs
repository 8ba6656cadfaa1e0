//! The content of an entry, held against the checksum and the lengths that the archive gives for it.

use std::io::{self, BufRead, Read};

use flate2::Crc;
use memchr::memmem;

use super::super::budget::count;
use super::super::inflate::Inflate;
use super::super::xz::Xz;
use super::super::zstd::Zstd;
use super::archive::{Packed, Zip, cut, damaged};
use super::headers::{DESCRIPTOR, DESCRIPTOR_BYTES, Local, Method, Seen};

/// The unpacked bytes of an entry; an error at their end if they are not what was packed.
pub(in super::super) struct Content<'z, 'w, R: Read> {
    decoder: Decoder<'z, 'w, R>,
    crc: Crc,
    size: u64,
    /// What the header promises; `None` where a descriptor behind the data does.
    promised: Option<Seen>,
}

enum Decoder<'z, 'w, R: Read> {
    Stored(Packed<'z, 'w, R>),
    /// Stored, and ended by the descriptor that says so.
    StoredUpToDescriptor(Packed<'z, 'w, R>),
    Deflate(Inflate<Packed<'z, 'w, R>>),
    Zstd(Box<Zstd<Packed<'z, 'w, R>>>),
    Xz(Box<Xz<Packed<'z, 'w, R>>>),
}

impl<'z, 'w, R: Read> Content<'z, 'w, R> {
    pub(super) fn new(zip: &'z mut Zip<'w, R>, local: &Local, window: u64) -> Self {
        let known = zip.left.is_some();
        let packed = Packed { zip, taken: 0 };
        let decoder = match local.method {
            Method::Deflate => Decoder::Deflate(Inflate::zip(packed)),
            Method::Zstd => Decoder::Zstd(Box::new(Zstd::new(packed, window))),
            Method::Xz => Decoder::Xz(Box::new(Xz::new(packed, window))),
            Method::Stored | Method::Other(_) if known => Decoder::Stored(packed),
            Method::Stored | Method::Other(_) => Decoder::StoredUpToDescriptor(packed),
        };
        let promised = Seen { crc: local.crc, packed: local.packed, size: local.size };
        Self { decoder, crc: Crc::new(), size: 0, promised: (!local.has_descriptor).then_some(promised) }
    }

    fn seen(&self, packed: u64) -> Seen {
        Seen { crc: self.crc.sum(), packed, size: self.size }
    }

    fn read_some(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match &mut self.decoder {
            Decoder::Stored(packed) => packed.read(out),
            Decoder::StoredUpToDescriptor(packed) => {
                let seen = Seen { crc: self.crc.sum(), packed: packed.taken, size: packed.taken };
                read_up_to_descriptor(packed, seen, out)
            }
            Decoder::Deflate(decoder) => decoder.read(out),
            Decoder::Zstd(decoder) => decoder.read(out),
            Decoder::Xz(decoder) => decoder.read(out),
        }
    }

    /// The end of the data.
    fn verify(&mut self) -> io::Result<()> {
        let wrong = || damaged("wrong checksum or length of an entry");
        if let Some(promised) = self.promised {
            let as_promised = self.seen(promised.packed) == promised;
            return if as_promised { Ok(()) } else { Err(wrong()) };
        }
        let (crc, size) = (self.crc.sum(), self.size);
        let packed = match &mut self.decoder {
            Decoder::Stored(packed) | Decoder::StoredUpToDescriptor(packed) => packed,
            Decoder::Deflate(decoder) => decoder.source_mut(),
            // `Zip::content` refuses these two where a descriptor follows.
            Decoder::Zstd(_) | Decoder::Xz(_) => return Ok(()),
        };
        let seen = Seen { crc, packed: packed.taken, size };
        let behind = packed.zip.window.peek(DESCRIPTOR_BYTES)?;
        let Some(length) = seen.descriptor_length(behind) else {
            // An archive does not end with a descriptor.
            packed.zip.cut = behind.len() < DESCRIPTOR_BYTES;
            return Err(if packed.zip.cut { cut() } else { wrong() });
        };
        packed.zip.window.consume(length);
        packed.zip.left = Some(0);
        Ok(())
    }
}

impl<R: Read> Read for Content<'_, '_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.read_some(out)?;
        if read == 0 && !out.is_empty() {
            self.verify()?;
        }
        self.crc.update(out.get(..read).unwrap_or(&[]));
        self.size += count(read);
        Ok(read)
    }
}

/// Reads data that only the descriptor behind it ends: the one that says what was `seen` up to it.
fn read_up_to_descriptor<R: Read>(
    packed: &mut Packed<'_, '_, R>,
    seen: Seen,
    out: &mut [u8],
) -> io::Result<usize> {
    let held = packed.zip.window.peek(DESCRIPTOR_BYTES)?;
    if held.is_empty() {
        packed.zip.cut = true;
        return Err(cut());
    }
    let most = match memmem::find(held, &DESCRIPTOR) {
        Some(0) if seen.descriptor_length(held).is_some() => return Ok(0),
        Some(0) => 1,
        Some(data) => data,
        // The last bytes may begin a signature, unless they are the last of all.
        None if held.len() >= DESCRIPTOR_BYTES => held.len() - (DESCRIPTOR.len() - 1),
        None => held.len(),
    };
    let mut data = held.get(..most).unwrap_or(held);
    let read = data.read(out)?;
    packed.consume(read);
    Ok(read)
}
