//! Deflate, bare and in gzip members, with every byte that stands before a cut or a damage.
//!
//! The readers of `flate2` forget what a call has decoded when an error ends the call; its lower level does not.

use std::io::{self, BufRead, Read};

use flate2::{Decompress, FlushDecompress, Status};

use super::decode::skip_padding;
use super::failure::{Failure, Format};

/// Base-2 logarithm of deflate's largest window.
const WINDOW_BITS: u8 = 15;

/// Reads a bare deflate stream, or gzip members one after the other and the zeros that may stand behind them.
pub(super) struct Inflate<R> {
    source: R,
    decompress: Decompress,
    /// Whom the stream belongs to.
    format: Format,
    state: State,
}

enum State {
    /// The next byte begins a member.
    Between,
    Inside,
    /// What stood before the damage is handed out.
    Failing(Failure),
    Ended,
}

impl<R: BufRead> Inflate<R> {
    pub(super) fn gzip(source: R) -> Self {
        let decompress = Decompress::new_gzip(WINDOW_BITS);
        Self { source, decompress, format: Format::Gzip, state: State::Between }
    }

    /// The data of a zip entry.
    pub(super) fn zip(source: R) -> Self {
        Self { source, decompress: Decompress::new(false), format: Format::Zip, state: State::Inside }
    }

    pub(super) fn source_mut(&mut self) -> &mut R {
        &mut self.source
    }

    /// Begins the next member; `false` at the end.
    fn begin(&mut self) -> io::Result<bool> {
        let more = skip_padding(&mut self.source)?;
        if more {
            self.decompress.reset(true);
        }
        Ok(more)
    }

    /// Decodes some; 0 where the state has changed instead.
    fn step(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let held = self.source.fill_buf()?;
        let at_end = held.is_empty();
        let (taken, given) = (self.decompress.total_in(), self.decompress.total_out());
        let result = self.decompress.decompress(held, out, FlushDecompress::None);
        let taken = length(self.decompress.total_in() - taken);
        let given = length(self.decompress.total_out() - given);
        self.source.consume(taken);
        match result {
            Ok(Status::StreamEnd) => {
                self.state = if self.format == Format::Gzip { State::Between } else { State::Ended };
            }
            Ok(_) if given > 0 || taken > 0 => {}
            Ok(_) if at_end => self.state = State::Failing(Failure::Truncated(self.format)),
            Ok(_) => self.state = State::Failing(Failure::damaged(self.format, "no progress")),
            // The decoder's own words depend on how its buffers were filled.
            Err(_) => self.state = State::Failing(Failure::damaged(self.format, "wrong data or checksum")),
        }
        Ok(given)
    }
}

impl<R: BufRead> Read for Inflate<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match &self.state {
                State::Ended => return Ok(0),
                State::Between => {
                    if !self.begin()? {
                        return Ok(0);
                    }
                    self.state = State::Inside;
                }
                State::Failing(failure) => return Err(failure.clone().into()),
                State::Inside => {
                    let given = self.step(out)?;
                    if given > 0 {
                        return Ok(given);
                    }
                }
            }
        }
    }
}

/// A count of one call, which is no more than its buffers hold.
fn length(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
