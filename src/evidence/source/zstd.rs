//! Zstandard: frames one after the other, and what a cut or damaged frame still gives.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::failure::{Failure, Format, Limit};

/// An empty last block, and room for a checksum behind it: what ends a frame that ended otherwise.
const END_OF_FRAME: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Reads Zstandard frames one after the other, skippable ones included (`pzstd` writes them).
pub(super) struct Zstd<R> {
    source: R,
    decoder: Box<FrameDecoder>,
    state: State,
}

enum State {
    /// The next byte begins a frame.
    Between,
    Inside,
    /// The frame is damaged; what was decoded of it is still handed out.
    Failing(io::Error),
}

impl<R: BufRead> Zstd<R> {
    /// `window` is the most history that a frame may ask for, in bytes.
    // The decoder stands on the stack for a moment: not on that of a caller who unpacks on.
    #[inline(never)]
    pub(super) fn new(source: R, window: u64) -> Self {
        let mut decoder = Box::new(FrameDecoder::new());
        decoder.set_max_window_size(window);
        Self { source, decoder, state: State::Between }
    }

    /// Begins the next frame; `false` at the end of the stream.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let skipped = io::copy(&mut self.source.by_ref().take(length), &mut io::sink())?;
                    if skipped < length {
                        return Err(Failure::Truncated(Format::Zstd).into());
                    }
                }
                Err(FrameDecoderError::WindowSizeTooBig { .. }) => {
                    return Err(Failure::OverLimit(Limit::Window(self.decoder.max_window_size())).into());
                }
                Err(error) => return Err(io_error(error)),
            }
        }
        Ok(false)
    }

    /// Decodes one block, of at most 128 KiB.
    fn block(&mut self) -> Result<(), io::Error> {
        let strategy = BlockDecodingStrategy::UptoBlocks(1);
        self.decoder.decode_blocks(&mut self.source, strategy).map(drop).map_err(io_error)
    }

    /// The end of a frame: its checksum, where it has one.
    fn verify(&self) -> io::Result<()> {
        let stored = self.decoder.get_checksum_from_data();
        if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
            return Err(Failure::damaged(Format::Zstd, "wrong checksum").into());
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(out);
            }
            match &mut self.state {
                State::Between => {
                    if !self.begin()? {
                        return Ok(0);
                    }
                    self.state = State::Inside;
                }
                State::Inside if self.decoder.is_finished() => {
                    self.verify()?;
                    self.state = State::Between;
                }
                State::Inside => {
                    if let Err(error) = self.block() {
                        self.state = State::Failing(error);
                        // The decoder keeps a window of what it has decoded until the frame ends. A frame that ends
                        // early gets an end, so that the window comes out.
                        let strategy = BlockDecodingStrategy::UptoBlocks(1);
                        let _ = self.decoder.decode_blocks(&END_OF_FRAME[..], strategy);
                    }
                }
                State::Failing(error) => {
                    return Err(std::mem::replace(error, Failure::Truncated(Format::Zstd).into()));
                }
            }
        }
    }
}

/// The decoder's error; one at the end of the source is marked as such.
fn io_error(error: FrameDecoderError) -> io::Error {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(cause) = next {
        if let Some(cause) = cause.downcast_ref::<io::Error>()
            && cause.kind() == io::ErrorKind::UnexpectedEof
        {
            return io::ErrorKind::UnexpectedEof.into();
        }
        next = cause.source();
    }
    io::Error::other(error)
}
