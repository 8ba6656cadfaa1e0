//! Bytes of JSON under watch: no text and no nesting in it may ask for more memory than a line of a log.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

/// Nested values that a document may have; those that we know have eight.
const MOST_DEPTH: u32 = 120;

/// Lines that were read so far, shared with whoever parses.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines(Rc<Cell<u64>>);

impl Lines {
    /// The line at hand, from 1.
    pub(super) fn number(&self) -> u64 {
        self.0.get() + 1
    }
}

/// A reader that counts lines and refuses texts that are too long and values that are nested too deep.
pub(super) struct Guard<'a> {
    source: &'a mut dyn BufRead,
    lines: Lines,
    longest: u64,
    /// Bytes of the text or number at hand.
    token: u64,
    depth: u32,
    in_text: bool,
    escaped: bool,
    at_start: bool,
}

impl<'a> Guard<'a> {
    pub(super) fn new(source: &'a mut dyn BufRead, longest: u64) -> Self {
        Self {
            source,
            lines: Lines::default(),
            longest,
            token: 0,
            depth: 0,
            in_text: false,
            escaped: false,
            at_start: true,
        }
    }

    pub(super) fn lines(&self) -> Lines {
        self.lines.clone()
    }

    fn see(&mut self, byte: u8) -> io::Result<()> {
        if byte == b'\n' {
            self.lines.0.set(self.lines.0.get() + 1);
        }
        self.token += 1;
        if self.in_text {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => (self.in_text, self.token) = (false, 0),
                _ => {}
            }
        } else {
            match byte {
                b'"' => (self.in_text, self.token) = (true, 0),
                b'{' | b'[' => (self.depth, self.token) = (self.depth + 1, 0),
                b'}' | b']' => (self.depth, self.token) = (self.depth.saturating_sub(1), 0),
                b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' => self.token = 0,
                _ => {}
            }
        }
        if self.token > self.longest {
            return Err(io::Error::other(
                "a text in the JSON is longer than a line may be (--max-line raises the limit)",
            ));
        }
        if self.depth > MOST_DEPTH {
            return Err(io::Error::other(format!("values are nested more than {MOST_DEPTH} deep")));
        }
        Ok(())
    }
}

impl Read for Guard<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut held = self.source.fill_buf()?;
        if std::mem::take(&mut self.at_start) && held.starts_with(b"\xef\xbb\xbf") {
            self.source.consume(3);
            held = self.source.fill_buf()?;
        }
        let len = held.len().min(out.len());
        let (Some(from), Some(to)) = (held.get(..len), out.get_mut(..len)) else { return Ok(0) };
        to.copy_from_slice(from);
        self.source.consume(len);
        for byte in out.iter().take(len) {
            self.see(*byte)?;
        }
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, longest: u64) -> io::Result<u64> {
        let mut source = text.as_bytes();
        let mut guard = Guard::new(&mut source, longest);
        let lines = guard.lines();
        io::copy(&mut guard, &mut io::sink())?;
        Ok(lines.number())
    }

    #[test]
    fn counts_lines_and_refuses_what_would_cost_memory() {
        assert_eq!(read("{\"a\": \"b\\\"c\"}\n\n[1]", 8).unwrap(), 3);
        assert!(read(&format!("\"{}\"", "x".repeat(9)), 8).is_err());
        assert!(read(&"1".repeat(9), 8).is_err());
        assert!(read(&"[".repeat(121), 8).is_err());
        assert!(read(&"[".repeat(120), 8).is_ok());
        // Brackets in a text nest nothing.
        assert_eq!(read(&format!("\"{}\"", "[".repeat(200)), 400).unwrap(), 1);
    }
}
