//! A decompressor within its budget.

use std::io::{self, Read};

use super::budget::Budget;
use super::failure::{Failure, Format};

/// The bytes that come out of a decompressor: counted, limited, and ended by the first error.
///
/// Decompressors are not asked again after an error; some would panic.
pub(super) struct Decoded<'a, D> {
    decoder: D,
    format: Format,
    budget: &'a Budget<'a>,
    ended: bool,
}

impl<'a, D: Read> Decoded<'a, D> {
    pub(super) fn new(decoder: D, format: Format, budget: &'a Budget<'a>) -> Self {
        Self { decoder, format, budget, ended: false }
    }
}

impl<D: Read> Read for Decoded<'_, D> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.ended || out.is_empty() {
            return Ok(0);
        }
        if let Err(failure) = self.budget.check() {
            self.ended = true;
            return Err(failure.into());
        }
        match self.decoder.read(out) {
            Ok(read) => {
                self.ended = read == 0;
                self.budget.add_decompressed(read);
                Ok(read)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                self.ended = true;
                Err(Failure::of_decoder(self.format, &error).into())
            }
        }
    }
}
