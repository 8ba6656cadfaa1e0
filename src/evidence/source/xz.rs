//! xz: streams one after the other, by a decoder in safe Rust that gives what it has decoded before it needs more.

use std::io::{self, BufRead, Read};

use xz4rust::{XzDecoder, XzError, XzNextBlockResult};

use super::decode::skip_padding;
use super::failure::{Failure, Format, Limit};

/// Bytes asked of the decoder at a time. It forgets what a call has decoded when an error ends the call.
const PIECE: usize = 1 << 12;

/// Bytes of dictionary to begin with; the smallest preset asks for 256 KiB.
const FIRST_DICTIONARY: usize = 1 << 16;

/// Reads xz streams one after the other, and the zeros that may stand between them.
pub(super) struct Xz<R> {
    source: R,
    decoder: Box<XzDecoder<'static>>,
    window: u64,
    inside: bool,
}

impl<R: BufRead> Xz<R> {
    /// `window` is the largest dictionary, in bytes.
    // The decoder stands on the stack for a moment: not on that of a caller who unpacks on.
    #[inline(never)]
    pub(super) fn new(source: R, window: u64) -> Self {
        let most = usize::try_from(window).unwrap_or(usize::MAX);
        let decoder = XzDecoder::in_heap_with_alloc_dict_size(FIRST_DICTIONARY.min(most), most);
        Self { source, decoder, window, inside: false }
    }

    /// Begins the next stream; `false` at the end.
    fn begin(&mut self) -> io::Result<bool> {
        let more = skip_padding(&mut self.source)?;
        if more {
            self.decoder.reset();
        }
        Ok(more)
    }

    fn failure(&self, error: &XzError) -> Failure {
        match error {
            XzError::DictionaryTooLarge(_) => Failure::OverLimit(Limit::Window(self.window)),
            error => Failure::damaged(Format::Xz, &error.to_string()),
        }
    }
}

impl<R: BufRead> Read for Xz<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let piece = out.len().min(PIECE);
        let out = out.get_mut(..piece).unwrap_or_default();
        loop {
            if !self.inside {
                if !self.begin()? {
                    return Ok(0);
                }
                self.inside = true;
            }
            let held = self.source.fill_buf()?;
            if held.is_empty() {
                return Err(Failure::Truncated(Format::Xz).into());
            }
            let step = self.decoder.decode(held, out).map_err(|error| self.failure(&error))?;
            self.source.consume(step.input_consumed());
            self.inside = !matches!(step, XzNextBlockResult::EndOfStream(..));
            if step.output_produced() > 0 {
                return Ok(step.output_produced());
            }
        }
    }
}
