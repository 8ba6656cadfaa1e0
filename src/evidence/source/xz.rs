//! xz, by a decoder in safe Rust.

use std::io::{self, Read};

use lzma_rust2::XzReader;

use super::failure::{Failure, Limit};

/// Bytes asked of the decoder at a time. It forgets what a call has decoded when an error ends the call.
const PIECE: usize = 1 << 12;

/// Memory that the decoder counts beside the dictionary, in KiB.
const OVERHEAD_KIB: u64 = 128;

/// Reads xz streams one after the other.
pub(super) struct Xz<R: Read> {
    decoder: XzReader<R>,
    window: u64,
}

impl<R: Read> Xz<R> {
    /// `window` is the largest dictionary, in bytes.
    pub(super) fn new(source: R, window: u64) -> Self {
        let limit = u32::try_from(window.div_ceil(1024).saturating_add(OVERHEAD_KIB)).unwrap_or(u32::MAX);
        Self { decoder: XzReader::new_mem_limit(source, true, limit), window }
    }
}

impl<R: Read> Read for Xz<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let piece = out.len().min(PIECE);
        let read = self.decoder.read(out.get_mut(..piece).unwrap_or_default());
        read.map_err(|error| match error.kind() {
            io::ErrorKind::OutOfMemory => Failure::OverLimit(Limit::Window(self.window)).into(),
            _ => error,
        })
    }
}
