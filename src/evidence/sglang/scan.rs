//! The scanner: finds the rare byte patterns that begin a record and hands each record to a sink.
//!
//! It does no I/O and keeps nothing but the number of the line and two buffers for wrapped text, so a log of any size
//! is read in constant memory.

use memchr::memmem::Finder;

use crate::evidence::{Place, Record, SkipReason};

use super::{decode, prefill, prefix, server_args, unwrap};

/// What begins a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    Decode,
    Prefill,
    Start,
    Flush,
}

impl Head {
    const ALL: [Self; 4] = [Self::Decode, Self::Prefill, Self::Start, Self::Flush];

    fn pattern(self) -> &'static [u8] {
        match self {
            Self::Decode => b"Decode batch",
            Self::Prefill => b"Prefill batch",
            Self::Start => b"server_args=",
            Self::Flush => b"Cache flushed successfully!",
        }
    }
}

/// Longest text that parts of the container runtime are joined to.
const MAX_JOINED: usize = 1 << 20;

/// Reads blocks of whole lines into records.
///
/// ```
/// use accsim::evidence::{Record, Scanner};
///
/// let log = b"[2026-10-12 01:02:03 TP0] Decode batch, #running-req: 16, #token: 793, token usage: 0.05, \
///     accept len: 3.52, accept rate: 0.50, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0\n";
/// let mut accept_len = None;
/// Scanner::new(0).lines(log, &mut |place, record| {
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
    finders: [(Head, Finder<'static>); 4],
    /// Text of container runtime parts that wait for their last one, and the line of the first.
    joined: Vec<u8>,
    joined_line: u64,
    /// Unwrapped text of the line at hand.
    plain: Vec<u8>,
    colourless: Vec<u8>,
    /// Whether the file is a container runtime's, decided on its first line.
    runtime: Option<bool>,
}

impl Scanner {
    /// A scanner for the file with index `file`.
    #[must_use]
    pub fn new(file: u32) -> Self {
        Self {
            place: Place { file, line: 1 },
            finders: Head::ALL.map(|head| (head, Finder::new(head.pattern()))),
            joined: Vec::new(),
            joined_line: 0,
            plain: Vec::new(),
            colourless: Vec::new(),
            runtime: None,
        }
    }

    /// Reads a block of whole lines; only the last block of a file may lack its final line break.
    pub fn lines(&mut self, block: &[u8], sink: &mut dyn FnMut(Place, Record<'_>)) {
        if self.runtime.is_none() && !block.is_empty() {
            let first = block.split(|byte| *byte == b'\n').next().unwrap_or(block);
            self.runtime = Some(unwrap::runtime_line(first).is_some());
        }
        if self.runtime == Some(true) {
            for line in block.split_inclusive(|byte| *byte == b'\n') {
                self.runtime_line(line, sink);
                self.count_lines(line);
            }
        } else {
            self.search(block, sink);
        }
    }

    /// Reads the beginning of a line too long to hold; the rest of it follows or is dropped.
    pub fn part_of_line(&mut self, part: &[u8], sink: &mut dyn FnMut(Place, Record<'_>)) {
        self.line(part, self.place.line, sink);
    }

    /// Ends the file: text of the container runtime that still waits for its last part is read as it is.
    pub fn finish(&mut self, sink: &mut dyn FnMut(Place, Record<'_>)) {
        self.flush_joined(sink);
    }

    /// Finds the lines that hold a head and passes over the others.
    fn search(&mut self, block: &[u8], sink: &mut dyn FnMut(Place, Record<'_>)) {
        let mut done = 0;
        let mut hits = Hits::default();
        while let Some(rest) = block.get(done..) {
            let Some((hit, _)) = hits.next(&self.finders, block, done) else {
                self.count_lines(rest);
                return;
            };
            let start = block
                .get(done..hit)
                .and_then(|text| memchr::memrchr(b'\n', text))
                .map_or(done, |at| done + at + 1);
            let end = block
                .get(hit..)
                .and_then(|text| memchr::memchr(b'\n', text))
                .map_or(block.len(), |at| hit + at + 1);
            self.count_lines(block.get(done..start).unwrap_or(&[]));
            let line = block.get(start..end).unwrap_or(&[]);
            self.line(line, self.place.line, sink);
            self.count_lines(line);
            done = end;
        }
    }

    fn count_lines(&mut self, text: &[u8]) {
        let lines = memchr::memchr_iter(b'\n', text).count();
        self.place.line = self.place.line.saturating_add(u64::try_from(lines).unwrap_or(u64::MAX));
    }

    /// One line of a container runtime's file: parts are joined before they are read.
    fn runtime_line(&mut self, line: &[u8], sink: &mut dyn FnMut(Place, Record<'_>)) {
        let Some(part) = unwrap::runtime_line(line.trim_ascii_end()) else {
            self.flush_joined(sink);
            self.line(line, self.place.line, sink);
            return;
        };
        if self.joined.is_empty() && !part.partial {
            self.line(part.text, self.place.line, sink);
            return;
        }
        if self.joined.is_empty() {
            self.joined_line = self.place.line;
        }
        if self.joined.len().saturating_add(part.text.len()) <= MAX_JOINED {
            self.joined.extend_from_slice(part.text);
        }
        if !part.partial {
            self.flush_joined(sink);
        }
    }

    fn flush_joined(&mut self, sink: &mut dyn FnMut(Place, Record<'_>)) {
        if self.joined.is_empty() {
            return;
        }
        let joined = std::mem::take(&mut self.joined);
        self.line(&joined, self.joined_line, sink);
        self.joined = joined;
        self.joined.clear();
    }

    /// Unwraps one physical line and reads the records in it.
    fn line(&mut self, line: &[u8], number: u64, sink: &mut dyn FnMut(Place, Record<'_>)) {
        let place = Place { file: self.place.file, line: number };
        self.plain.clear();
        let text = if unwrap::docker_line(line, &mut self.plain) { self.plain.as_slice() } else { line };
        let text = if memchr::memchr(0x1b, text).is_some() {
            self.colourless.clear();
            unwrap::strip_colours(text, &mut self.colourless);
            self.colourless.as_slice()
        } else {
            text
        };
        for segment in text.split(|byte| matches!(byte, b'\r' | b'\n')) {
            self.segment(segment, place, sink);
        }
    }

    /// Reads the records of a text without line breaks: each ends where the next begins.
    fn segment(&self, text: &[u8], place: Place, sink: &mut dyn FnMut(Place, Record<'_>)) {
        let mut hits = Hits::default();
        let mut done = 0;
        let mut current = hits.next(&self.finders, text, done);
        while let Some((hit, head)) = current {
            let behind = hit + head.pattern().len();
            let next = hits.next(&self.finders, text, behind);
            let end = next.map_or(text.len(), |(next, _)| prefix::start(text, next).max(behind));
            let before = text.get(done..hit).unwrap_or(&[]);
            let message = text.get(behind..end).unwrap_or(&[]);
            record(head, before, message, &mut |record| sink(place, record));
            done = end;
            current = next;
        }
    }
}

/// Reads one record from what stands before and behind its head.
fn record(head: Head, before: &[u8], message: &[u8], sink: &mut dyn FnMut(Record<'_>)) {
    match head {
        Head::Decode => sink(match decode_line(before, message) {
            Ok(line) => Record::Decode(line),
            Err(reason) => Record::Skipped(reason),
        }),
        Head::Prefill => {
            let line = behind_head(message).zip(prefix::read(before));
            if let Some(line) = line.and_then(|((_, message), prefix)| prefill::parse(prefix, message)) {
                sink(Record::Prefill(line));
            }
        }
        Head::Start => {
            if let Some(start) = prefix::read(before).and_then(|_| server_args::parse(message)) {
                sink(Record::Start(Box::new(start)));
            }
        }
        Head::Flush => {
            if prefix::read(before).is_some() {
                sink(Record::CacheFlush);
            }
        }
    }
}

fn decode_line<'a>(
    before: &'a [u8],
    message: &'a [u8],
) -> Result<crate::evidence::DecodeLine<'a>, SkipReason> {
    let prefix = prefix::read(before).ok_or(SkipReason::Lookalike)?;
    // A head at the very end of a line is a record cut there.
    if message.trim_ascii().is_empty() {
        return Err(SkipReason::Truncated);
    }
    let (iteration, message) = behind_head(message).ok_or(SkipReason::Lookalike)?;
    decode::parse(prefix, iteration, message)
}

/// What must follow a head: `.`, `,` or ` [N],`, then a space or the end.
fn behind_head(text: &[u8]) -> Option<(Option<u64>, &[u8])> {
    let (iteration, text) = match text.strip_prefix(b" [") {
        Some(text) => {
            let end = memchr::memchr(b']', text)?;
            (Some(super::number::integer(text.get(..end)?)?), text.get(end + 1..)?)
        }
        None => (None, text),
    };
    let message = text.strip_prefix(b",").or_else(|| text.strip_prefix(b"."))?;
    message.first().is_none_or(|byte| *byte == b' ').then_some((iteration, message))
}

/// Where one head stands next.
#[derive(Clone, Copy, Debug, Default)]
enum Next {
    /// Not searched yet.
    #[default]
    Unknown,
    At(usize),
    Never,
}

/// The next position of each head in one text, so that no part of it is searched twice.
#[derive(Default)]
struct Hits {
    next: [Next; 4],
}

impl Hits {
    /// The first head at or behind `from`; `from` must not fall.
    fn next(
        &mut self,
        finders: &[(Head, Finder<'static>); 4],
        text: &[u8],
        from: usize,
    ) -> Option<(usize, Head)> {
        let mut first: Option<(usize, Head)> = None;
        for ((head, finder), slot) in finders.iter().zip(&mut self.next) {
            let stale = match *slot {
                Next::Unknown => true,
                Next::At(at) => at < from,
                Next::Never => false,
            };
            if stale {
                let found = text.get(from..).and_then(|text| finder.find(text));
                *slot = found.map_or(Next::Never, |at| Next::At(from + at));
            }
            if let Next::At(at) = *slot
                && first.is_none_or(|(earlier, _)| at < earlier)
            {
                first = Some((at, *head));
            }
        }
        first
    }
}
