//! What a page of a Parquet file asks for, read before the library acts on it: it allocates as much as a header says.

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Largest page, unpacked. Writers make pages of one MiB.
const MOST_BYTES: u64 = 64 << 20;

/// How far a page may unpack: deflate reaches 1032.
const MOST_RATIO: u64 = 1100;

/// Bytes of a header that are looked at: what matters stands first.
const LOOK: usize = 64;

/// Encodings that ask for no more memory than the page has: plain, dictionary, runs, packed differences, split streams.
const ENCODINGS: [i64; 6] = [0, 2, 3, 5, 8, 9];

/// The bytes of a file. Once its table of contents is read, whatever is read next is the header of a page, and is checked.
pub(super) struct Checked<R> {
    source: R,
    /// Whether pages are read by now.
    is_open: Arc<AtomicBool>,
}

impl<R> Checked<R> {
    pub(super) fn new(source: R) -> (Self, Arc<AtomicBool>) {
        let is_open = Arc::new(AtomicBool::new(false));
        (Self { source, is_open: Arc::clone(&is_open) }, is_open)
    }
}

impl<R: Length> Length for Checked<R> {
    fn len(&self) -> u64 {
        self.source.len()
    }
}

impl<R: ChunkReader> ChunkReader for Checked<R> {
    type T = R::T;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        if self.is_open.load(Ordering::Relaxed) {
            let rest = usize::try_from(self.source.len().saturating_sub(start)).unwrap_or(LOOK);
            let head = self.source.get_bytes(start, rest.min(LOOK))?;
            if !is_modest(&head) {
                return Err(ParquetError::General("a page asks for more than its bytes can hold".to_owned()));
            }
        }
        self.source.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        self.source.get_bytes(start, length)
    }
}

/// Whether a header, in Thrift's compact form, asks for a page of a size that its bytes can have.
fn is_modest(head: &[u8]) -> bool {
    page(&mut Compact { rest: head }).unwrap_or(false)
}

fn page(compact: &mut Compact<'_>) -> Option<bool> {
    let (kind, unpacked, packed) = (compact.number()?, compact.number()?, compact.number()?);
    let (unpacked, packed) = (u64::try_from(unpacked).ok()?, u64::try_from(packed).ok()?);
    if unpacked > MOST_BYTES || unpacked > packed.saturating_mul(MOST_RATIO).saturating_add(1024) {
        return Some(false);
    }
    // The page's own header follows, behind a checksum in some files.
    let mut field = 3_u8;
    let mut head = compact.byte()?;
    field = field.checked_add(head >> 4)?;
    if head & 15 == I32 {
        compact.varint()?;
        head = compact.byte()?;
        field = field.checked_add(head >> 4)?;
    }
    if head & 15 != STRUCT {
        return Some(false);
    }
    let values = u64::try_from(compact.number()?).ok()?;
    Some(match (kind, field) {
        // An entry has four bytes at least, but for short ones of fixed length, of which there are few.
        (DICTIONARY, 7) => values <= unpacked / 4 + 256,
        (DATA, 5) => ENCODINGS.contains(&compact.number()?),
        (DATA_V2, 8) => {
            // Nulls and rows.
            compact.number()?;
            compact.number()?;
            ENCODINGS.contains(&compact.number()?)
        }
        _ => false,
    })
}

const DATA: i64 = 0;
const DICTIONARY: i64 = 2;
const DATA_V2: i64 = 3;
const I32: u8 = 5;
const STRUCT: u8 = 12;

/// Thrift's compact form.
struct Compact<'a> {
    rest: &'a [u8],
}

impl Compact<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// The next field, a number.
    fn number(&mut self) -> Option<i64> {
        (self.byte()? == (1 << 4 | I32)).then(|| self.varint()).flatten()
    }

    fn varint(&mut self) -> Option<i64> {
        let mut value = 0_u64;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                // Signs are folded in.
                let half = i64::try_from(value >> 1).ok()?;
                return Some(if value & 1 == 0 { half } else { -half - 1 });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::is_modest;

    /// A number as a field of Thrift.
    fn number(value: i64) -> Vec<u8> {
        let mut bytes = vec![0x15];
        let mut folded = u64::try_from(value << 1).unwrap();
        while folded >= 128 {
            bytes.push(u8::try_from(folded & 127).unwrap() | 128);
            folded >>= 7;
        }
        bytes.push(u8::try_from(folded).unwrap());
        bytes
    }

    fn header(kind: i64, unpacked: i64, packed: i64, own: u8, values: i64, encoding: i64) -> Vec<u8> {
        [number(kind), number(unpacked), number(packed), vec![own], number(values), number(encoding)].concat()
    }

    #[test]
    fn what_a_page_may_ask_for() {
        assert!(is_modest(&header(0, 5000, 1000, 0x2c, 600, 0)));
        assert!(is_modest(&header(2, 5000, 1000, 0x4c, 600, 2)));
        // Two GiB out of a thousand bytes.
        assert!(!is_modest(&header(0, i64::from(i32::MAX), 1000, 0x2c, 600, 0)));
        assert!(!is_modest(&header(0, 63 << 20, 1000, 0x2c, 600, 0)));
        // Two thousand million entries in five thousand bytes.
        assert!(!is_modest(&header(2, 5000, 1000, 0x4c, i64::from(i32::MAX), 2)));
        // Lengths as differences: the library believes their number.
        assert!(!is_modest(&header(0, 5000, 1000, 0x2c, 600, 6)));
        assert!(!is_modest(&header(0, 5000, 1000, 0x2c, 600, 7)));
        assert!(!is_modest(b""));
        assert!(!is_modest(&[0xff; 64]));
    }
}
