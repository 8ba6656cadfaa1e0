//! A block of a log: its bytes, and what was found in the lines that it holds whole.

use std::io;

use crate::evidence::batch::Findings;
use crate::evidence::sglang::{LineScanner, MARGIN};

/// Bytes of a block: few enough to stay in the processor's own cache from being read to being scanned.
pub(super) const BLOCK: usize = 1 << 18;

// A line may be as long, see `Limits::line`: what is left of a block is never too long a line.
const _: () = assert!(BLOCK <= super::limits::LEAST_LINE);

/// A block, and the memory of it.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// [`BLOCK`] bytes, and [`MARGIN`] that are looked at and mean nothing.
    buffer: Vec<u8>,
    len: usize,
    /// What ended the log behind these bytes; a block that is not full ends it too.
    pub(super) error: Option<io::Error>,
    pub(super) found: Findings,
    /// Whether [`inner`](Self::inner) was scanned.
    pub(super) is_scanned: bool,
}

impl Block {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing follows.
    pub(super) fn is_last(&self) -> bool {
        self.error.is_some() || self.len < BLOCK
    }

    pub(super) fn text(&self) -> &[u8] {
        self.buffer.get(..self.len).unwrap_or(&[])
    }

    /// The whole lines behind the first line break, with what follows them, and their length. `None` where no line
    /// ends.
    pub(super) fn inner(&self) -> Option<(usize, &[u8], usize)> {
        let begin = memchr::memchr(b'\n', self.text())? + 1;
        let end = memchr::memrchr(b'\n', self.text())? + 1;
        Some((begin, self.buffer.get(begin..self.len + MARGIN)?, end - begin))
    }

    /// Finds the records in the whole lines, each for itself.
    pub(super) fn scan(&mut self, lines: &mut LineScanner) {
        let mut found = std::mem::take(&mut self.found);
        lines.begin(&mut found);
        // Lines of a container runtime hang together.
        self.is_scanned =
            self.inner().is_some_and(|(_, text, len)| lines.lines(text, len, &mut found).is_none());
        self.found = found;
    }
}

/// Fills a block by `read`, up to the end or an error.
pub(super) fn fill(block: &mut Block, mut read: impl FnMut(&mut [u8]) -> io::Result<usize>) {
    block.buffer.resize(BLOCK + MARGIN, 0);
    block.len = 0;
    block.error = None;
    block.is_scanned = false;
    while let Some(room) = block.buffer.get_mut(block.len..BLOCK).filter(|room| !room.is_empty()) {
        match read(room) {
            Ok(0) => break,
            // A source that says it read more than there is room for is not believed.
            Ok(read) => block.len = (block.len + read).min(BLOCK),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                block.error = Some(error);
                break;
            }
        }
    }
    // No line goes on with what an earlier block left here.
    if let Some(margin) = block.buffer.get_mut(block.len..block.len + MARGIN) {
        margin.fill(0);
    }
}
