//! Numbers and texts as bytes, and bytes packed.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

/// What packed bytes may come to: far more than any part holds.
const MOST: u64 = 8 << 20;

pub(super) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    loop {
        let low = u8::try_from(number & 0x7f).unwrap_or(0);
        number >>= 7;
        if number == 0 {
            return bytes.push(low);
        }
        bytes.push(low | 0x80);
    }
}

/// A number that may be absent.
pub(super) fn put_option(bytes: &mut Vec<u8>, number: Option<u64>) {
    put(bytes, number.map_or(0, |number| number.saturating_add(1)));
}

pub(super) fn put_text(bytes: &mut Vec<u8>, text: &[u8]) {
    put(bytes, u64::try_from(text.len()).unwrap_or(0));
    bytes.extend_from_slice(text);
}

/// Reads what was put, from the front.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    #[expect(clippy::option_option, reason = "a number that is absent is no damage")]
    pub(super) fn option(&mut self) -> Option<Option<u64>> {
        self.number().map(|number| number.checked_sub(1))
    }

    pub(super) fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        let count = self.number()?;
        self.take(count)
    }
}

/// Packs bytes.
pub(super) fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    // Writing to memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// Unpacks bytes; `None` where they are damaged, or come to more than any part holds.
pub(super) fn unpack(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut unpacked = Vec::new();
    let read = ZlibDecoder::new(bytes).take(MOST).read_to_end(&mut unpacked).ok()?;
    (u64::try_from(read).ok()? < MOST).then_some(unpacked)
}
