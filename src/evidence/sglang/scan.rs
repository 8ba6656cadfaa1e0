//! The scanner: finds the rare byte patterns that begin a record and hands each record to a sink.
//!
//! It does no I/O and keeps nothing but the number of the line and two buffers for wrapped text, so a log of any size
//! is read in constant memory.

use aho_corasick::packed::Searcher;

use crate::evidence::{DecodeLine, Place, PrefillLine, Record, SkipReason};

use super::layout::Layouts;
use super::tag_cache::TagCache;
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
    heads: Heads,
    /// Text of container runtime parts that wait for their last one, and the line of the first.
    joined: Vec<u8>,
    joined_line: u64,
    /// Unwrapped text of the line at hand.
    plain: Vec<u8>,
    colourless: Vec<u8>,
    /// Whether the file is a container runtime's, decided on its first line.
    runtime: Option<bool>,
    layouts: Layouts,
    tags: TagCache,
}

impl Scanner {
    /// A scanner for the file with index `file`.
    #[must_use]
    pub fn new(file: u32) -> Self {
        Self {
            place: Place { file, line: 1 },
            heads: Heads::new(),
            joined: Vec::new(),
            joined_line: 0,
            plain: Vec::new(),
            colourless: Vec::new(),
            runtime: None,
            layouts: Layouts::default(),
            tags: TagCache::default(),
        }
    }

    /// Reads a block of whole lines; only the last block of a file may lack its final line break.
    pub fn lines(&mut self, block: &[u8], sink: &mut impl FnMut(Place, &Record<'_>)) {
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
    pub fn part_of_line(&mut self, part: &[u8], sink: &mut impl FnMut(Place, &Record<'_>)) {
        self.line(part, self.place.line, sink);
    }

    /// Ends the file: text of the container runtime that still waits for its last part is read as it is.
    pub fn finish(&mut self, sink: &mut impl FnMut(Place, &Record<'_>)) {
        self.flush_joined(sink);
    }

    /// Finds the lines that hold a head and passes over the others.
    fn search(&mut self, block: &[u8], sink: &mut impl FnMut(Place, &Record<'_>)) {
        let mut done = 0;
        let mut next = Next::Unknown;
        while let Some(rest) = block.get(done..).filter(|rest| !rest.is_empty()) {
            if let Some(length) = self.layouts.read(rest, &mut self.tags, |record| sink(self.place, record)) {
                self.place.line = self.place.line.saturating_add(1);
                done += length;
                continue;
            }
            next = match next {
                Next::At(at, head) if at >= done => Next::At(at, head),
                _ => self.heads.next(block, done),
            };
            let Next::At(hit, head) = next else {
                self.count_lines(rest);
                return;
            };
            let passed = block.get(done..hit).unwrap_or(&[]);
            if let Some(start) = memchr::memrchr(b'\n', passed) {
                self.count_lines(passed.get(..=start).unwrap_or(&[]));
                done += start + 1;
                if head == Head::Decode {
                    // The line of the hit may fit a layout.
                    continue;
                }
            }
            let end = block
                .get(hit..)
                .and_then(|text| memchr::memchr(b'\n', text))
                .map_or(block.len(), |at| hit + at + 1);
            let line = block.get(done..end).unwrap_or(&[]);
            next = self.heads.next(block, hit + head.pattern().len());
            let alone = !matches!(next, Next::At(at, _) if at < end);
            if alone && head == Head::Prefill && unwrap::is_plain(line) {
                self.record(head, line.trim_ascii_end(), hit - done, sink);
            } else {
                self.line_of_block(line, sink);
            }
            if line.ends_with(b"\n") {
                self.place.line = self.place.line.saturating_add(1);
            }
            done = end;
        }
    }

    /// Reads the one record of a line that needs no unwrapping.
    fn record(&mut self, head: Head, line: &[u8], hit: usize, sink: &mut impl FnMut(Place, &Record<'_>)) {
        let before = line.get(..hit).unwrap_or(&[]);
        let message = line.get(hit + head.pattern().len()..).unwrap_or(&[]);
        let place = self.place;
        record(head, before, message, &mut self.tags, &mut |record: &Record<'_>| sink(place, record));
    }

    /// Reads one line by name, and learns its layout when it is a plain decode line.
    fn line_of_block(&mut self, line: &[u8], sink: &mut impl FnMut(Place, &Record<'_>)) {
        let mut layouts = std::mem::take(&mut self.layouts);
        self.line(line, self.place.line, &mut |place, record: &Record<'_>| {
            if let Record::Decode(decode) = record {
                layouts.learn(line, decode);
            }
            sink(place, record);
        });
        self.layouts = layouts;
    }

    fn count_lines(&mut self, text: &[u8]) {
        let lines = memchr::memchr_iter(b'\n', text).count();
        self.place.line = self.place.line.saturating_add(u64::try_from(lines).unwrap_or(u64::MAX));
    }

    /// One line of a container runtime's file: parts are joined before they are read.
    fn runtime_line(&mut self, line: &[u8], sink: &mut impl FnMut(Place, &Record<'_>)) {
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

    fn flush_joined(&mut self, sink: &mut impl FnMut(Place, &Record<'_>)) {
        if self.joined.is_empty() {
            return;
        }
        let joined = std::mem::take(&mut self.joined);
        self.line(&joined, self.joined_line, sink);
        self.joined = joined;
        self.joined.clear();
    }

    /// Unwraps one physical line and reads the records in it.
    fn line(&mut self, line: &[u8], number: u64, sink: &mut impl FnMut(Place, &Record<'_>)) {
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
        let mut rest = text;
        while let Some(end) = memchr::memchr2(b'\r', b'\n', rest) {
            let (segment, behind) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            segment_records(segment, place, &self.heads, &mut self.tags, sink);
            rest = behind.get(1..).unwrap_or(&[]);
        }
        segment_records(rest, place, &self.heads, &mut self.tags, sink);
    }
}

/// Reads the records of a text without line breaks: each ends where the next begins.
fn segment_records(
    text: &[u8],
    place: Place,
    heads: &Heads,
    tags: &mut TagCache,
    sink: &mut impl FnMut(Place, &Record<'_>),
) {
    let mut done = 0;
    let mut current = heads.next(text, done);
    while let Next::At(hit, head) = current {
        let behind = hit + head.pattern().len();
        current = heads.next(text, behind);
        let end = match current {
            Next::At(next, _) => prefix::start(text, next).max(behind),
            _ => text.len(),
        };
        let before = text.get(done..hit).unwrap_or(&[]);
        let message = text.get(behind..end).unwrap_or(&[]);
        record(head, before, message, tags, &mut |record: &Record<'_>| sink(place, record));
        done = end;
    }
}

/// Reads one record from what stands before and behind its head.
fn record(
    head: Head,
    before: &[u8],
    message: &[u8],
    tags: &mut TagCache,
    sink: &mut impl FnMut(&Record<'_>),
) {
    match head {
        Head::Decode => sink(&match decode_line(before, message, tags) {
            Ok(line) => Record::Decode(line),
            Err(reason) => Record::Skipped(reason),
        }),
        Head::Prefill => {
            let found = behind_head(message).filter(|(_, message)| prefill::is_prefill(message));
            if let Some(((_, message), prefix)) = found.zip(prefix::read(before, tags)) {
                sink(&Record::Prefill(PrefillLine {
                    timestamp: prefix.timestamp,
                    tags: prefix.tags,
                    message,
                }));
            }
        }
        Head::Start => {
            if let Some(start) = prefix::read(before, tags).and_then(|_| server_args::parse(message)) {
                sink(&Record::Start(Box::new(start)));
            }
        }
        Head::Flush => {
            if prefix::read(before, tags).is_some() {
                sink(&Record::CacheFlush);
            }
        }
    }
}

fn decode_line<'a>(
    before: &'a [u8],
    message: &'a [u8],
    tags: &mut TagCache,
) -> Result<DecodeLine<'a>, SkipReason> {
    let prefix = prefix::read(before, tags).ok_or(SkipReason::Lookalike)?;
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

/// Where the next head stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Not searched yet.
    Unknown,
    At(usize, Head),
    Never,
}

/// Searches for all heads in one pass.
#[derive(Debug)]
struct Heads {
    /// `None` on a processor without the vector instructions: the heads are then searched one by one.
    searcher: Option<Searcher>,
}

impl Heads {
    fn new() -> Self {
        Self { searcher: Searcher::new(Head::ALL.map(Head::pattern)) }
    }

    /// The first head at or behind `from`.
    fn next(&self, text: &[u8], from: usize) -> Next {
        let rest = text.get(from..).unwrap_or(&[]);
        let found = match &self.searcher {
            Some(searcher) => searcher
                .find(rest)
                .and_then(|found| Some((found.start(), *Head::ALL.get(found.pattern().as_usize())?))),
            None => Head::ALL
                .into_iter()
                .filter_map(|head| Some((memchr::memmem::find(rest, head.pattern())?, head)))
                .min_by_key(|(at, _)| *at),
        };
        found.map_or(Next::Never, |(at, head)| Next::At(from + at, head))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_found_in_order_with_and_without_the_searcher() {
        let text = b"x Prefill batch, Decode batc Decode batch server_args= Cache flushed successfully!";
        for heads in [Heads::new(), Heads { searcher: None }] {
            let mut found = Vec::new();
            let mut from = 0;
            while let Next::At(at, head) = heads.next(text, from) {
                found.push(head);
                from = at + 1;
            }
            assert_eq!(found, [Head::Prefill, Head::Decode, Head::Start, Head::Flush]);
        }
    }
}
