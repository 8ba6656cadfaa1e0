//! One log, from its bytes to its records.

use std::fs::File;
use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};

use crate::evidence::batch::Batch;
use crate::evidence::{Scanner, sglang::LineScanner};

use super::block::{Block, fill};
use super::budget::Budget;
use super::crew::Crew;
use super::stitch::Stitcher;

/// The bytes of one log.
pub(super) enum Content<'a> {
    /// A regular file that is not compressed; it stands at its beginning.
    Plain(File),
    /// Bytes that come one after the other.
    Stream(&'a mut (dyn Read + Send)),
}

/// How far a log was read.
#[derive(Debug, Default)]
pub(super) struct Reached {
    /// Bytes read.
    pub(super) bytes: u64,
    /// Lines whose rest was passed over because they are too long.
    pub(super) long_lines: u64,
    /// What stopped the reading.
    pub(super) error: Option<io::Error>,
}

/// Blocks of bytes, by their number from 0.
pub(super) enum Source<'a> {
    /// Read at their place, by any number of threads at a time.
    #[cfg(unix)]
    File(&'a File, &'a Budget<'a>),
    /// Read one after the other: whoever holds the lock takes the next one.
    Stream(Mutex<Stream<'a>>),
}

/// A stream, and how far it was read.
pub(super) struct Stream<'a> {
    bytes: &'a mut (dyn Read + Send),
    next: u64,
    ended: bool,
}

/// Reads a log to its end, or up to the first error, and hands the records of each block to `sink`.
pub(super) fn scan(
    content: Content<'_>,
    budget: &Budget<'_>,
    scanner: &mut Scanner,
    sink: &mut dyn FnMut(&Batch<'_>),
) -> Reached {
    match content {
        #[cfg(unix)]
        Content::Plain(file) => scan_source(&Source::File(&file, budget), budget, scanner, sink),
        #[cfg(not(unix))]
        Content::Plain(file) => {
            let mut raw = super::budget::Raw::new(file, budget);
            scan_source(&Source::stream(&mut raw), budget, scanner, sink)
        }
        Content::Stream(stream) => scan_source(&Source::stream(stream), budget, scanner, sink),
    }
}

fn scan_source(
    source: &Source<'_>,
    budget: &Budget<'_>,
    scanner: &mut Scanner,
    sink: &mut dyn FnMut(&Batch<'_>),
) -> Reached {
    let mut stitcher = Stitcher::new(scanner, budget.limits.line_bytes());
    let mut lines = LineScanner::new();
    let mut block = Block::default();
    // Short logs are many: no thread is begun for one.
    let alone = if budget.threads.get() == 1 { u64::MAX } else { 2 };
    for number in 0..alone {
        if budget.progress.is_stopped() {
            return stitcher.finish(sink);
        }
        source.read(number, &mut block);
        if stitcher.reads_ahead() {
            block.scan(&mut lines);
        }
        if stitcher.add(&mut block, sink) {
            return stitcher.finish(sink);
        }
    }
    Crew::new(source, alone, budget).read(&mut stitcher, lines, block, sink);
    stitcher.finish(sink)
}

impl<'a> Source<'a> {
    fn stream(bytes: &'a mut (dyn Read + Send)) -> Self {
        Self::Stream(Mutex::new(Stream { bytes, next: 0, ended: false }))
    }

    /// Reads a block and says which it is: that with this number, or the stream's next.
    pub(super) fn read(&self, number: u64, block: &mut Block) -> u64 {
        match self {
            #[cfg(unix)]
            Self::File(file, budget) => {
                use std::os::unix::fs::FileExt;

                use super::budget::count;
                use super::failure::Failure;

                let mut at = number.saturating_mul(count(super::block::BLOCK));
                fill(block, |room| {
                    let read = file.read_at(room, at)?;
                    at = at.saturating_add(count(read));
                    Ok(read)
                });
                budget.count_raw(block.len());
                if let Some(error) = block.error.as_mut() {
                    *error = Failure::of_system(error).into();
                }
                number
            }
            Self::Stream(stream) => {
                let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
                let ended = stream.ended;
                fill(block, |room| if ended { Ok(0) } else { stream.bytes.read(room) });
                stream.ended = block.is_last();
                stream.next += 1;
                stream.next - 1
            }
        }
    }
}
