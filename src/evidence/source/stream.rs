//! One log, from its bytes to its records.

use std::fs::File;
use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};

use crate::evidence::{Batch, Scanner, sglang::LineScanner};

use super::block::{Block, fill};
use super::budget::{Budget, count};
use super::crew::Crew;
use super::log::{Piece, Taker};
use super::stitch::Stitcher;

/// Blocks that all logs together may hold while they wait for their turn; each may hold one.
const AHEAD: usize = 32;

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
    /// Whether a record was found.
    pub(super) has_records: bool,
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

/// Reads a log to its end, or up to the first error, and hands on the records of each block.
pub(super) fn scan(content: Content<'_>, budget: &Budget<'_>, taker: &mut dyn Taker) -> Reached {
    match content {
        #[cfg(unix)]
        Content::Plain(file) => scan_source(&Source::File(&file, budget), budget, taker),
        #[cfg(not(unix))]
        Content::Plain(file) => {
            let mut raw = super::budget::Raw::new(file, budget);
            scan_source(&Source::stream(&mut raw), budget, taker)
        }
        Content::Stream(stream) => scan_source(&Source::stream(stream), budget, taker),
    }
}

fn scan_source(source: &Source<'_>, budget: &Budget<'_>, taker: &mut dyn Taker) -> Reached {
    let mut lines = LineScanner::new();
    let ahead = read_ahead(source, budget, &mut lines, taker);
    let mut scanner = Scanner::new(taker.begin());
    let mut stitcher = Stitcher::new(&mut scanner, budget.limits.line_bytes());
    let mut has_records = false;
    let mut sink = |batch: &Batch<'_>| {
        has_records = true;
        taker.take(Piece::Batch(batch));
    };
    read_blocks(source, ahead, budget, &mut stitcher, lines, &mut sink);
    let reached = stitcher.finish(&mut sink);
    Reached { has_records, ..reached }
}

/// Reads the first blocks while other logs have their turn.
fn read_ahead(
    source: &Source<'_>,
    budget: &Budget<'_>,
    lines: &mut LineScanner,
    taker: &mut dyn Taker,
) -> Vec<Block> {
    let most = (AHEAD / budget.threads.count()).max(1);
    let mut ahead: Vec<Block> = Vec::new();
    while !taker.is_turn()
        && ahead.len() < most
        && !ahead.last().is_some_and(Block::is_last)
        && !budget.progress.is_stopped()
    {
        let mut block = Block::default();
        source.read(count(ahead.len()), &mut block);
        block.scan(lines);
        ahead.push(block);
    }
    ahead
}

/// Adds all blocks, those that were read `ahead` first.
fn read_blocks(
    source: &Source<'_>,
    ahead: Vec<Block>,
    budget: &Budget<'_>,
    stitcher: &mut Stitcher<'_>,
    mut lines: LineScanner,
    sink: &mut dyn FnMut(&Batch<'_>),
) {
    let first = count(ahead.len());
    for mut block in ahead {
        if stitcher.add(&mut block, sink) || budget.progress.is_stopped() {
            return;
        }
    }
    let mut block = Block::default();
    // Short logs are many: no thread is begun for one.
    let alone = if budget.threads.count() == 1 { u64::MAX } else { first.max(2) };
    for number in first..alone {
        if budget.progress.is_stopped() {
            return;
        }
        source.read(number, &mut block);
        if stitcher.reads_ahead() {
            block.scan(&mut lines);
        }
        if stitcher.add(&mut block, sink) {
            return;
        }
    }
    Crew::new(source, alone, budget).read(stitcher, lines, block, sink);
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
