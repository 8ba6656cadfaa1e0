//! Puts the blocks of a log together again: lines that go over the end of a block, and lines that are too long.

use crate::evidence::Scanner;
use crate::evidence::batch::Batch;
use crate::evidence::sglang::MARGIN;

use super::block::Block;
use super::budget::count;
use super::stream::Reached;

/// Takes the blocks of one log in order.
pub(super) struct Stitcher<'a> {
    scanner: &'a mut Scanner,
    /// The beginning of a line that goes on in the next block.
    carried: Vec<u8>,
    /// The next block goes on with a line whose beginning was read and whose rest is passed over.
    passing: bool,
    longest: usize,
    reached: Reached,
}

impl<'a> Stitcher<'a> {
    /// `longest` is how long a line may be, a block at least.
    pub(super) fn new(scanner: &'a mut Scanner, longest: usize) -> Self {
        Self { scanner, carried: Vec::new(), passing: false, longest, reached: Reached::default() }
    }

    /// Whether blocks can be scanned before the ones before them are added.
    pub(super) fn reads_ahead(&self) -> bool {
        self.reached.bytes == 0 || self.scanner.is_plain()
    }

    /// Adds the next block; `true` when it is the last.
    pub(super) fn add(&mut self, block: &mut Block, sink: &mut dyn FnMut(&Batch<'_>)) -> bool {
        self.reached.bytes += count(block.len());
        match block.inner() {
            None => self.carry(block.text()),
            Some((begin, text, len)) => {
                self.end_line(block.text().get(..begin).unwrap_or(&[]), sink);
                if block.is_scanned && self.scanner.is_plain() {
                    self.scanner.pass(text, &block.found, sink);
                } else if len > 0 {
                    self.scanner.stretch(text, len, sink);
                }
                self.carry(text.get(len..text.len() - MARGIN).unwrap_or(&[]));
            }
        }
        if self.carried.len() > self.longest {
            self.cut(sink);
            self.passing = true;
        }
        self.reached.error = block.error.take();
        self.reached.error.is_some() || block.is_last()
    }

    /// Ends the log.
    pub(super) fn finish(mut self, sink: &mut dyn FnMut(&Batch<'_>)) -> Reached {
        if !self.carried.is_empty() {
            self.line(sink);
        }
        self.scanner.last_batch(sink);
        self.reached
    }

    /// Takes text in which no line ends.
    fn carry(&mut self, text: &[u8]) {
        if !self.passing {
            self.carried.extend_from_slice(text);
        }
    }

    /// Takes the end of the line at hand, its break included.
    fn end_line(&mut self, end: &[u8], sink: &mut dyn FnMut(&Batch<'_>)) {
        if self.passing {
            self.passing = false;
            return self.scanner.pass_over(1);
        }
        self.carried.extend_from_slice(end);
        if self.carried.len() - 1 > self.longest {
            self.cut(sink);
            self.scanner.pass_over(1);
        } else {
            self.line(sink);
        }
    }

    /// Reads the line that was carried.
    fn line(&mut self, sink: &mut dyn FnMut(&Batch<'_>)) {
        let len = self.carried.len();
        self.carried.extend_from_slice(&[0; MARGIN]);
        self.scanner.stretch(&self.carried, len, sink);
        self.carried.clear();
    }

    /// Reads the beginning of the line that was carried, which is too long.
    fn cut(&mut self, sink: &mut dyn FnMut(&Batch<'_>)) {
        self.scanner.batch_of_part(self.carried.get(..self.longest).unwrap_or(&self.carried), sink);
        self.reached.long_lines += 1;
        self.carried.clear();
    }
}
