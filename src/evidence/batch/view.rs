//! A block with what was found in it.

use std::cell::Cell;

use crate::evidence::{
    CacheFlush, DecodeLine, EchoedSetting, Graph, Place, PrefillLine, Record, Skipped, Tags, Time, Timestamp,
};

use super::breaks::line_breaks;
use super::compact::{Base, CompactLine, HUGE, Iteration, Shape, Spot};
use super::found::{Findings, Other, What};

/// The records of one block of a log, in order.
///
/// Decode lines come as [`CompactLine`]s, runs of them at a time; the whole record of any of them, and the number of its
/// line, are made when they are asked for. Whoever wants all records whole asks [`for_each`](Self::for_each).
///
/// ```
/// use accsim::evidence::{Batch, Part, Scanner};
///
/// let line = "[2026-10-12 01:02:03 TP0] Decode batch, #running-req: 16, accept len: 3.52, #queue-req: 0\n";
/// let (mut running, mut lines) = (0, Vec::new());
/// Scanner::new(0).batches(line.repeat(3).as_bytes(), &mut |batch: &Batch<'_>| {
///     batch.parts(&mut |part| {
///         if let Part::Decodes(decodes) = part {
///             for decode in decodes {
///                 running += decode.running_req();
///                 lines.push(batch.place(&batch.mark(decode)).line);
///             }
///         }
///     });
/// });
/// assert_eq!((running, lines.as_slice()), (48, &[1, 2, 3][..]));
/// ```
#[derive(Debug)]
pub struct Batch<'a> {
    text: &'a [u8],
    found: &'a Findings,
    file: u32,
    /// Number of the block's first line.
    line: u64,
    /// A byte of the block, and the line breaks before it: the last one that was asked for.
    counted: Cell<(usize, u64)>,
}

/// Where a record stands in its batch.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    at: u32,
    is_number: bool,
}

/// Where the lines of one look have their time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    at: u32,
    masks: [u64; 3],
}

/// Part of a batch.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// Decode lines with nothing between them.
    Decodes(&'a [CompactLine]),
    /// Any other record, and where it stands.
    Other(Mark, &'a Record<'a>),
}

impl<'a> Batch<'a> {
    /// What was found in `text`, whose first line has this number.
    pub(in crate::evidence) fn new(text: &'a [u8], found: &'a Findings, file: u32, line: u64) -> Self {
        Self { text, found, file, line, counted: Cell::new((0, 0)) }
    }

    /// Index of the file.
    #[must_use]
    pub fn file(&self) -> u32 {
        self.file
    }

    /// Whether there is no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.decodes.is_empty() && self.found.others.is_empty()
    }

    /// Hands the records to `see` in order, decode lines in runs.
    pub fn parts(&self, see: &mut dyn FnMut(Part<'_>)) {
        let mut done = 0;
        let run = |from: usize, to: usize, see: &mut dyn FnMut(Part<'_>)| {
            if let Some(lines) = self.found.decodes.get(from..to).filter(|lines| !lines.is_empty()) {
                see(Part::Decodes(lines));
            }
        };
        for other in &self.found.others {
            run(done, other.before, see);
            done = other.before;
            let mark = Mark { at: other.at, is_number: other.is_numbered };
            see(Part::Other(mark, &self.other(other)));
        }
        run(done, self.found.decodes.len(), see);
    }

    /// Hands every record to `see`, with its place, in order.
    pub fn for_each(&self, see: &mut dyn FnMut(Place, &Record<'_>)) {
        self.parts(&mut |part| match part {
            Part::Decodes(lines) => {
                for line in lines {
                    see(self.place(&self.mark(line)), &Record::Decode(self.decode(line)));
                }
            }
            Part::Other(mark, record) => see(self.place(&mark), record),
        });
    }

    /// The sets of rank tags of this batch; a [voice](CompactLine::voice) is an index to them. One set may stand there
    /// twice.
    #[must_use]
    pub fn voices(&self) -> &'a [Tags] {
        &self.found.tags
    }

    /// The whole record of a decode line of this batch.
    #[must_use]
    pub fn decode(&self, line: &CompactLine) -> DecodeLine<'a> {
        let shape = self.shape(line);
        let mut whole = DecodeLine {
            timestamp: self.time(line).map(Timestamp::of_digits),
            tags: self.tags(line.voice),
            iteration: self.iteration(line),
            running_req: line.running_req,
            accept_len: line.accept_len(),
            accept_rate: line.accept_rate(),
            graph: shape.graph,
            gen_throughput_tps: line.throughput_hundredths().map(|tps| f64::from(tps) / 100.0),
            queue_req: line.queue_req,
            capped: shape.capped,
            message: self.message(line),
        };
        if line.throughput == HUGE {
            let printed =
                whole.field("gen throughput (token/s)").and_then(|value| value.utf8_chunks().next());
            let number = printed.and_then(|printed| printed.valid().split_ascii_whitespace().next());
            whole.gen_throughput_tps = number.and_then(|number| number.parse().ok());
        }
        whole
    }

    /// Where a decode line of this batch stands.
    #[must_use]
    pub fn mark(&self, line: &CompactLine) -> Mark {
        Mark { at: line.at, is_number: self.shape(line).is_numbered }
    }

    /// `cuda graph: True` and its relatives, on a decode line of this batch.
    #[must_use]
    #[inline]
    pub fn graph(&self, line: &CompactLine) -> Option<Graph> {
        self.shape(line).graph
    }

    /// Whether `cap len` or `block accept len` stands on a decode line of this batch.
    #[must_use]
    #[inline]
    pub fn is_capped(&self, line: &CompactLine) -> bool {
        self.shape(line).capped
    }

    /// The forward pass number on a decode line of this batch.
    #[must_use]
    pub fn iteration(&self, line: &CompactLine) -> Option<u64> {
        match self.shape(line).iteration {
            Iteration::Absent => None,
            Iteration::Is(number) => Some(number),
            Iteration::At(digits) => {
                let at = usize::try_from(line.at).unwrap_or(usize::MAX);
                Some(u64::from(digits.read(self.text.get(at..)?.first_chunk()?)))
            }
        }
    }

    /// The engine's time on a decode line of this batch, as printed.
    #[must_use]
    #[inline]
    pub fn time(&self, line: &CompactLine) -> Option<&'a [u8]> {
        let shape = self.shape(line);
        Some(self.text(shape.base, line.at, shape.time?))
    }

    /// Where the lines that look like this one have their time; `None` when they have none in the block, or a long one.
    pub(crate) fn clock(&self, line: &CompactLine) -> Option<Clock> {
        let shape = self.shape(line);
        let spot = shape.time.filter(|_| shape.base == Base::Line)?;
        Some(Clock { at: spot.at, masks: Time::masks(usize::try_from(spot.len).ok()?)? })
    }

    /// The time of a line with this clock.
    #[inline]
    pub(crate) fn read(&self, clock: Clock, line: &CompactLine) -> Option<Time> {
        let at = usize::try_from(line.at.wrapping_add(clock.at)).ok()?;
        Some(Time::masked(self.text.get(at..)?.first_chunk()?, clock.masks))
    }

    /// The message of a line of this batch.
    pub(in crate::evidence) fn message(&self, line: &CompactLine) -> &'a [u8] {
        let shape = self.shape(line);
        self.text(shape.base, line.at, shape.message)
    }

    /// The decode line with this index.
    pub(in crate::evidence) fn line(&self, index: u32) -> Option<&'a CompactLine> {
        self.found.decodes.get(usize::try_from(index).ok()?)
    }

    #[inline]
    fn shape(&self, line: &CompactLine) -> &'a Shape {
        static NONE: Shape = Shape {
            base: Base::Block,
            time: None,
            message: Spot { at: 0, len: 0 },
            iteration: Iteration::Absent,
            graph: None,
            capped: false,
            is_numbered: false,
        };
        let index = usize::try_from(line.shape).unwrap_or(usize::MAX);
        self.found.shapes.get(index).unwrap_or(&NONE)
    }

    /// Where a record of this batch stands. The number of its line is counted from the record that was asked for before,
    /// or from the beginning of the block: ask in order.
    #[must_use]
    pub fn place(&self, mark: &Mark) -> Place {
        let at = usize::try_from(mark.at).unwrap_or(usize::MAX);
        if mark.is_number {
            return Place { file: self.file, line: self.found.numbers.get(at).copied().unwrap_or(self.line) };
        }
        let (from, breaks) = self.counted.get();
        let (from, breaks) = if from <= at { (from, breaks) } else { (0, 0) };
        let between = self.text.get(from..at).unwrap_or(&[]);
        let breaks = breaks + line_breaks(between);
        self.counted.set((at, breaks));
        Place { file: self.file, line: self.line.saturating_add(breaks) }
    }

    fn tags(&self, voice: u32) -> Tags {
        usize::try_from(voice).ok().and_then(|voice| self.found.tags.get(voice)).copied().unwrap_or_default()
    }

    #[inline]
    fn text(&self, base: Base, at: u32, spot: Spot) -> &'a [u8] {
        match base {
            Base::Line => Spot { at: spot.at.saturating_add(at), len: spot.len }.of(self.text),
            Base::Block => spot.of(self.text),
            Base::Kept => spot.of(&self.found.kept),
        }
    }

    fn other(&self, other: &Other) -> Record<'a> {
        let text = |spot: Spot| self.text(other.base, other.at, spot);
        let time = |spot: Option<Spot>| spot.map(|spot| Timestamp::of_digits(text(spot)));
        match &other.what {
            What::Prefill { time: at, voice, iteration, message } => Record::Prefill(PrefillLine {
                timestamp: time(*at),
                tags: self.tags(*voice),
                iteration: *iteration,
                message: text(*message),
            }),
            What::Start(start) => Record::Start(start.clone()),
            What::CacheFlush { time: at, voice } => {
                Record::CacheFlush(CacheFlush { timestamp: time(*at), tags: self.tags(*voice) })
            }
            What::Setting { name, value } => {
                // What was added is UTF-8.
                let word = |spot: Spot| std::str::from_utf8(text(spot)).unwrap_or_default();
                Record::Setting(EchoedSetting { name: word(*name), value: word(*value) })
            }
            What::Counters(counters) => Record::Counters(counters.clone()),
            What::Engine(line) => Record::Engine(line.clone()),
            What::Skipped { reason, text: spot } => {
                Record::Skipped(Skipped { reason: *reason, text: text(*spot) })
            }
        }
    }
}
