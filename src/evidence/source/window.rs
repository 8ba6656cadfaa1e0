//! A buffered reader that can look ahead: formats are told apart by bytes that are then read as if nobody had looked.

use std::io::{self, BufRead, Read};

use super::failure::Failure;

/// Bytes held, and the most that can be looked at.
pub(super) const CAPACITY: usize = 1 << 15;

/// A buffered reader with lookahead that remembers whether its source failed.
pub(super) struct Window<R> {
    source: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// An error that came after bytes which are still to be handed out.
    waiting: Option<io::Error>,
    failed: Option<Failure>,
}

impl<R: Read> Window<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, buffer: vec![0; CAPACITY], start: 0, end: 0, waiting: None, failed: None }
    }

    /// What the source failed with. Whoever was reading at that time has been told.
    pub(super) fn failed(&self) -> Option<&Failure> {
        self.failed.as_ref()
    }

    /// The next bytes: at least `count`, or all that are left. `count` is at most [`CAPACITY`].
    pub(super) fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.end - self.start < count && self.waiting.is_none() {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
            }
            let Some(room) = self.buffer.get_mut(self.end..).filter(|room| !room.is_empty()) else { break };
            match self.source.read(room) {
                Ok(0) => break,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => self.waiting = Some(error),
            }
        }
        if self.start == self.end {
            self.take_error()?;
        }
        Ok(self.held())
    }

    /// Takes exactly `N` bytes; `None` if the source ends before.
    pub(super) fn take_array<const N: usize>(&mut self) -> io::Result<Option<[u8; N]>> {
        let array = self.peek(N)?.first_chunk::<N>().copied();
        match array {
            Some(_) => self.consume(N),
            // A source that failed has not ended.
            None => self.take_error()?,
        }
        Ok(array)
    }

    /// What there is to say where the bytes end too early: what the source failed with, else `end`.
    pub(super) fn early(&mut self, end: io::Error) -> io::Error {
        self.take_error().err().unwrap_or(end)
    }

    /// Passes over `count` bytes; says how many the source lacked.
    pub(super) fn skip(&mut self, count: u64) -> io::Result<u64> {
        let skipped = io::copy(&mut self.by_ref().take(count), &mut io::sink())?;
        Ok(count - skipped)
    }

    fn held(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or(&[])
    }

    fn take_error(&mut self) -> io::Result<()> {
        match self.waiting.take() {
            Some(error) => {
                self.failed = Some(Failure::of_system(&error));
                Err(error)
            }
            None => Ok(()),
        }
    }
}

impl<R: Read> Read for Window<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.start == self.end {
            self.take_error()?;
            if out.len() >= CAPACITY {
                // Large reads pass by the buffer.
                return self.source.read(out).inspect_err(|error| {
                    if error.kind() != io::ErrorKind::Interrupted {
                        self.failed = Some(Failure::of_system(error));
                    }
                });
            }
        }
        let mut held = self.fill_buf()?;
        let read = held.read(out)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: Read> BufRead for Window<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.peek(1)
    }

    fn consume(&mut self, amount: usize) {
        self.start = self.start.saturating_add(amount).min(self.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time, then an error, then the rest.
    struct Stutter(Vec<io::Result<u8>>);

    impl Read for Stutter {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            match self.0.pop() {
                None => Ok(0),
                Some(Ok(byte)) => {
                    out[0] = byte;
                    Ok(1)
                }
                Some(Err(error)) => Err(error),
            }
        }
    }

    fn stutter(steps: impl IntoIterator<Item = io::Result<u8>>) -> Stutter {
        let mut steps: Vec<_> = steps.into_iter().collect();
        steps.reverse();
        Stutter(steps)
    }

    #[test]
    fn looking_ahead_takes_nothing() {
        let mut window = Window::new(stutter((0..10).map(Ok)));
        assert_eq!(window.peek(4).unwrap(), [0, 1, 2, 3]);
        assert_eq!(window.take_array::<2>().unwrap(), Some([0, 1]));
        assert_eq!(window.peek(100).unwrap(), [2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(window.skip(3).unwrap(), 0);
        let mut rest = Vec::new();
        window.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, [5, 6, 7, 8, 9]);
        assert_eq!(window.take_array::<1>().unwrap(), None);
        assert_eq!(window.skip(3).unwrap(), 3);
    }

    #[test]
    fn an_error_comes_after_the_bytes_before_it() {
        let steps = [Ok(1), Err(io::ErrorKind::Interrupted.into()), Ok(2), Err(io::Error::other("no"))];
        let mut window = Window::new(stutter(steps));
        assert_eq!(window.peek(8).unwrap(), [1, 2]);
        assert_eq!(window.failed(), None);
        let mut read = Vec::new();
        assert_eq!(window.read_to_end(&mut read).unwrap_err().to_string(), "no");
        assert_eq!(read, [1, 2]);
        assert!(matches!(window.failed(), Some(Failure::Io { message, .. }) if message == "no"));
    }

    #[test]
    fn a_full_window_moves_on() {
        let bytes: Vec<u8> = (0..=255).cycle().take(3 * CAPACITY).collect();
        let mut window = Window::new(&bytes[..]);
        assert_eq!(window.skip(10).unwrap(), 0);
        assert_eq!(window.peek(CAPACITY).unwrap(), &bytes[10..10 + CAPACITY]);
        let mut rest = Vec::new();
        window.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, &bytes[10..]);
    }
}
