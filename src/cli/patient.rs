//! Files for readers that take an interruption for a failure.

use std::io::{self, Read};

/// A source whose interrupted reads are tried again: what holds a buffer over it never sees one.
pub(crate) struct Patient<R>(pub(crate) R);

impl<R: Read> Read for Patient<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(out) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}
