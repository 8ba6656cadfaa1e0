//! The scanner: lines of one log in, records out.
//!
//! It does no I/O and keeps nothing but the number of the line, the parts of a container runtime's line, and buffers for
//! one block's records, so a log of any size is read in constant memory.

use crate::evidence::batch::{Batch, Findings, Stand, line_breaks};
use crate::evidence::{Place, Record};

use super::layout::MARGIN;
use super::lines::LineScanner;
use super::runtime::{Joiner, Part};

/// Bytes read at a time, and a line at least.
const STRETCH: usize = 1 << 18;

/// Reads blocks of whole lines into records.
///
/// ```
/// use accsim::evidence::{Place, Record, Scanner};
///
/// let log = b"[2026-10-12 01:02:03 TP0] Decode batch, #running-req: 16, #token: 793, token usage: 0.05, \
///     accept len: 3.52, accept rate: 0.50, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0\n";
/// let mut accept_len = None;
/// Scanner::new(0).lines(log, &mut |place: Place, record: &Record<'_>| {
///     assert_eq!(place.line, 1);
///     if let Record::Decode(line) = record {
///         accept_len = line.accept_len.map(|printed| printed.as_f64());
///     }
/// });
/// assert_eq!(accept_len, Some(3.52));
/// ```
#[derive(Debug)]
pub struct Scanner {
    place: Place,
    lines: LineScanner,
    found: Findings,
    /// The end of a block, with room behind it.
    padded: Vec<u8>,
    /// Parts that wait, once the file proved to be a container runtime's: by its first line, or by one with a record.
    joiner: Option<Joiner>,
    /// Whether a line was seen.
    begun: bool,
}

impl Scanner {
    /// A scanner for the file with index `file`.
    #[must_use]
    pub fn new(file: u32) -> Self {
        Self {
            place: Place { file, line: 1 },
            lines: LineScanner::new(),
            found: Findings::default(),
            padded: Vec::new(),
            joiner: None,
            begun: false,
        }
    }

    /// Reads a block of whole lines; only the last block of a file may lack its final line break.
    pub fn lines(&mut self, block: &[u8], sink: &mut impl FnMut(Place, &Record<'_>)) {
        self.batches(block, &mut |batch: &Batch<'_>| batch.for_each(sink));
    }

    /// As [`lines`](Self::lines), many records at a time.
    pub fn batches(&mut self, block: &[u8], sink: &mut dyn FnMut(&Batch<'_>)) {
        let mut rest = block;
        while !rest.is_empty() {
            let end = match rest.get(..STRETCH) {
                None => rest.len(),
                Some(stretch) => memchr::memrchr(b'\n', stretch)
                    .or_else(|| memchr::memchr(b'\n', rest))
                    .map_or(rest.len(), |at| at + 1),
            };
            if rest.len() - end >= MARGIN {
                self.stretch(rest, end, sink);
            } else {
                let mut padded = std::mem::take(&mut self.padded);
                padded.clear();
                padded.extend_from_slice(rest.get(..end).unwrap_or(rest));
                padded.resize(end + MARGIN, 0);
                self.stretch(&padded, end, sink);
                self.padded = padded;
            }
            rest = rest.get(end..).unwrap_or(&[]);
        }
    }

    /// Reads the beginning of a line too long to hold; the rest of it follows or is dropped.
    pub fn part_of_line(&mut self, part: &[u8], sink: &mut impl FnMut(Place, &Record<'_>)) {
        self.batch_of_part(part, &mut |batch: &Batch<'_>| batch.for_each(sink));
    }

    /// As [`part_of_line`](Self::part_of_line), its records together.
    pub(in crate::evidence) fn batch_of_part(&mut self, part: &[u8], sink: &mut dyn FnMut(&Batch<'_>)) {
        self.begun = true;
        self.lines.begin(&mut self.found);
        self.lines.line(part, part, Stand::At(0), &mut self.found);
        self.emit(part, sink);
    }

    /// Ends the file: text of the container runtime that still waits for its last part is read as it is.
    pub fn finish(&mut self, sink: &mut impl FnMut(Place, &Record<'_>)) {
        self.last_batch(&mut |batch: &Batch<'_>| batch.for_each(sink));
    }

    /// As [`finish`](Self::finish), the records together.
    pub(in crate::evidence) fn last_batch(&mut self, sink: &mut dyn FnMut(&Batch<'_>)) {
        self.lines.begin(&mut self.found);
        self.give_up();
        self.emit(&[], sink);
    }

    /// Whether the lines at hand are read each for itself: no container runtime's file, or not known to be one.
    pub(in crate::evidence) fn is_plain(&self) -> bool {
        self.joiner.is_none() && self.begun
    }

    /// Hands on what somebody else found in `text`, whose lines follow those read so far.
    pub(in crate::evidence) fn pass(
        &mut self,
        text: &[u8],
        found: &Findings,
        sink: &mut dyn FnMut(&Batch<'_>),
    ) {
        let batch = Batch::new(text, found, self.place.file, self.place.line);
        if !batch.is_empty() {
            sink(&batch);
        }
        self.pass_over(found.breaks());
    }

    /// Passes over lines.
    pub(in crate::evidence) fn pass_over(&mut self, lines: u64) {
        self.place.line = self.place.line.saturating_add(lines);
    }

    /// Reads the whole lines `..end` of `text`; what follows them is only looked at.
    pub(in crate::evidence) fn stretch(&mut self, text: &[u8], end: usize, sink: &mut dyn FnMut(&Batch<'_>)) {
        let block = text.get(..end).unwrap_or(text);
        if !self.begun && !block.is_empty() {
            self.begun = true;
            let first = block.split(|byte| *byte == b'\n').next().unwrap_or(block);
            self.joiner = Part::read(first).map(|_| Joiner::default());
        }
        self.lines.begin(&mut self.found);
        let left = match self.joiner {
            None => self.lines.lines(text, end, &mut self.found),
            Some(_) => Some(0),
        };
        if let Some(left) = left {
            self.joiner.get_or_insert_default();
            let rest = block.get(left..).unwrap_or(&[]);
            let mut number = self.place.line + line_breaks(block.get(..left).unwrap_or(&[]));
            for line in rest.split_inclusive(|byte| *byte == b'\n') {
                self.runtime_line(line, block, number);
                number = number.saturating_add(1);
            }
        }
        self.emit(text, sink);
        let breaks = if left.is_none() { self.found.breaks() } else { line_breaks(block) };
        self.pass_over(breaks);
    }

    /// One line of a container runtime's file: parts are joined before they are read.
    fn runtime_line(&mut self, line: &[u8], block: &[u8], number: u64) {
        let Some(part) = Part::read(line) else {
            // Something else was glued in; nothing that waits goes on behind it.
            self.give_up();
            self.lines.line(line, block, Stand::Line(number), &mut self.found);
            return;
        };
        if let Some(whole) = self.joiner.as_mut().and_then(|joiner| joiner.add(part, number)) {
            self.lines.line(&whole.text, block, Stand::Line(whole.line), &mut self.found);
        }
    }

    fn give_up(&mut self) {
        while let Some(whole) = self.joiner.as_mut().and_then(Joiner::give_up) {
            self.lines.line(&whole.text, &[], Stand::Line(whole.line), &mut self.found);
        }
    }

    fn emit(&self, text: &[u8], sink: &mut dyn FnMut(&Batch<'_>)) {
        let batch = Batch::new(text, &self.found, self.place.file, self.place.line);
        if !batch.is_empty() {
            sink(&batch);
        }
    }
}
