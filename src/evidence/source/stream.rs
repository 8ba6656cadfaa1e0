//! One log, from its bytes to its records.

use std::fs::File;
use std::io::{self, Read};

use crate::evidence::{Place, Record, Scanner};

use super::budget::{Budget, Raw, count};
use super::limits::BLOCK;

/// The bytes of one log.
pub(super) enum Content<'a> {
    /// A regular file that is not compressed; it stands at its beginning.
    Plain(File),
    /// Bytes that come one after the other.
    Stream(&'a mut (dyn Read + Send)),
}

/// How far a log was read.
pub(super) struct Reached {
    /// Bytes read.
    pub(super) bytes: u64,
    /// Lines whose rest was passed over because they are too long.
    pub(super) long_lines: u64,
    /// What stopped the reading.
    pub(super) error: Option<io::Error>,
}

/// Reads a log to its end, or up to the first error, and hands every record to `sink`.
pub(super) fn scan(
    content: Content<'_>,
    budget: &Budget<'_>,
    scanner: &mut Scanner,
    sink: &mut dyn FnMut(Place, &Record<'_>),
) -> Reached {
    match content {
        Content::Plain(file) => scan_stream(Raw::new(file, budget), budget, scanner, sink),
        Content::Stream(stream) => scan_stream(stream, budget, scanner, sink),
    }
}

fn scan_stream(
    mut source: impl Read,
    budget: &Budget<'_>,
    scanner: &mut Scanner,
    sink: &mut dyn FnMut(Place, &Record<'_>),
) -> Reached {
    let longest = budget.limits.line_bytes();
    // The scanner is compiled for its sink; one that is sized will do.
    let sink = &mut |place: Place, record: &Record<'_>| sink(place, record);
    let mut buffer = Vec::with_capacity(2 * BLOCK);
    let mut reached = Reached { bytes: 0, long_lines: 0, error: None };
    // Whether the buffer goes on with a line whose beginning was read and whose rest is passed over.
    let mut passing = false;
    while !budget.progress.is_stopped() {
        let held = buffer.len();
        let result = source.by_ref().take(count(BLOCK)).read_to_end(&mut buffer);
        let read = buffer.len() - held;
        reached.bytes += count(read);
        let end = buffer.get(held..).and_then(|fresh| memchr::memrchr(b'\n', fresh)).map(|at| held + at + 1);
        if let Some(end) = end {
            let mut block = buffer.get(..end).unwrap_or(&[]);
            // Only a line that was begun by an earlier block can be too long: a line may have a block's length.
            let first = memchr::memchr(b'\n', block.get(held..).unwrap_or(&[])).map_or(end, |at| held + at);
            if passing || first > longest {
                if !passing {
                    scanner.part_of_line(block.get(..longest).unwrap_or(block), sink);
                    reached.long_lines += 1;
                }
                // Its line break stays, for the count.
                block = block.get(first..).unwrap_or(&[]);
            }
            scanner.lines(block, sink);
            passing = false;
            buffer.drain(..end);
        } else if passing {
            buffer.clear();
        } else if buffer.len() > longest {
            scanner.part_of_line(buffer.get(..longest).unwrap_or(&buffer), sink);
            reached.long_lines += 1;
            passing = true;
            buffer.clear();
        }
        if let Err(error) = result {
            reached.error = Some(error);
            break;
        }
        if read == 0 {
            break;
        }
    }
    if !passing {
        scanner.lines(&buffer, sink);
    }
    scanner.finish(sink);
    reached
}
