//! A decompressor within its budget.

use std::io::{self, BufRead, Read};

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

/// Passes over the zeros that pad one member of a stream to the next; `false` when nothing follows them.
pub(super) fn skip_padding(source: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let held = source.fill_buf()?;
        if held.is_empty() {
            return Ok(false);
        }
        let zeros = held.iter().take_while(|byte| **byte == 0).count();
        if zeros == 0 {
            return Ok(true);
        }
        source.consume(zeros);
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::super::threads::Threads;
    use super::*;
    use crate::evidence::{Limits, Progress};

    /// Fails once, and must not be asked again.
    struct Once(bool);

    impl Read for Once {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            assert!(!self.0, "asked again");
            self.0 = true;
            Err(io::Error::other("bad"))
        }
    }

    #[test]
    fn an_error_is_the_end() {
        let (limits, progress) = (Limits::default(), Progress::default());
        let threads = Threads::new(NonZeroUsize::MIN);
        let budget = Budget::new(&limits, &progress, &threads);
        let mut decoded = Decoded::new(Once(false), Format::Xz, &budget);
        let error = decoded.read(&mut [0; 8]).unwrap_err();
        assert_eq!(Failure::of_system(&error), Failure::damaged(Format::Xz, "bad"));
        assert_eq!(decoded.read(&mut [0; 8]).unwrap(), 0);
    }
}
