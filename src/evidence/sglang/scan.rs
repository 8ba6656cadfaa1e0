//! The scanner: finds the rare byte patterns that begin a record and hands each record to a sink.
//!
//! It does no I/O and keeps nothing but the number of the line and two buffers for wrapped text, so a log of any size
//! is read in constant memory.

use crate::evidence::{CacheFlush, DecodeLine, Place, PrefillLine, Record, SkipReason, Skipped};

use super::head::{Found, Head, Hit, Words};
use super::layout::Layouts;
use super::prefix::Prefix;
use super::quotes::Quotes;
use super::runtime::{Joiner, Part};
use super::tag_cache::TagCache;
use super::{decode, number, prefill, prefix, server_args, setting, unwrap};

/// How much of the text before a head a skipped record shows, in bytes.
const CONTEXT: usize = 64;

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
    reader: LineReader,
    /// Unwrapped text of the line at hand.
    plain: Vec<u8>,
    colourless: Vec<u8>,
    /// Parts that wait, once the file proved to be a container runtime's: by its first line, or by one with a record.
    joiner: Option<Joiner>,
    /// Whether a line was seen.
    begun: bool,
    layouts: Layouts,
}

/// Reads the records of one text.
#[derive(Debug)]
struct LineReader {
    words: Words,
    tags: TagCache,
}

impl Scanner {
    /// A scanner for the file with index `file`.
    #[must_use]
    pub fn new(file: u32) -> Self {
        Self {
            place: Place { file, line: 1 },
            reader: LineReader { words: Words::new(), tags: TagCache::default() },
            plain: Vec::new(),
            colourless: Vec::new(),
            joiner: None,
            begun: false,
            layouts: Layouts::default(),
        }
    }

    /// Reads a block of whole lines; only the last block of a file may lack its final line break.
    pub fn lines(&mut self, block: &[u8], sink: &mut impl FnMut(Place, &Record<'_>)) {
        if !self.begun && !block.is_empty() {
            self.begun = true;
            let first = block.split(|byte| *byte == b'\n').next().unwrap_or(block);
            self.joiner = Part::read(first).map(|_| Joiner::default());
        }
        let rest = if self.joiner.is_none() { self.search(block, sink) } else { block };
        for line in rest.split_inclusive(|byte| *byte == b'\n') {
            self.runtime_line(line, sink);
            self.count_lines(line);
        }
    }

    /// Reads the beginning of a line too long to hold; the rest of it follows or is dropped.
    pub fn part_of_line(&mut self, part: &[u8], sink: &mut impl FnMut(Place, &Record<'_>)) {
        self.line(part, self.place.line, sink);
    }

    /// Ends the file: text of the container runtime that still waits for its last part is read as it is.
    pub fn finish(&mut self, sink: &mut impl FnMut(Place, &Record<'_>)) {
        while let Some(whole) = self.joiner.as_mut().and_then(Joiner::give_up) {
            self.line(&whole.text, whole.line, sink);
        }
    }

    /// Finds the lines that hold a head and passes over the others. Returns what is left to read as a container
    /// runtime's, from the first such line on.
    fn search<'a>(&mut self, block: &'a [u8], sink: &mut impl FnMut(Place, &Record<'_>)) -> &'a [u8] {
        let mut done = 0;
        // The next word of a head, `None` where it is not known.
        let mut next: Option<Found> = None;
        while let Some(rest) = block.get(done..).filter(|rest| !rest.is_empty()) {
            let tags = &mut self.reader.tags;
            if let Some(length) = self.layouts.read(rest, tags, |record| sink(self.place, record)) {
                self.place.line = self.place.line.saturating_add(1);
                done += length;
                continue;
            }
            next = next.filter(|found| found.at >= done).or_else(|| self.reader.words.next(block, done));
            let Some(found) = next else {
                self.count_lines(rest);
                break;
            };
            let passed = block.get(done..found.at).unwrap_or(&[]);
            if let Some(last) = memchr::memrchr(b'\n', passed) {
                self.count_lines(passed.get(..=last).unwrap_or(&[]));
                done += last + 1;
                if found.is_decode() {
                    // The line may fit a layout.
                    continue;
                }
            }
            let behind = block.get(found.at..).unwrap_or(&[]);
            let end = memchr::memchr(b'\n', behind).map_or(block.len(), |at| found.at + at + 1);
            let line = block.get(done..end).unwrap_or(&[]);
            if Part::read(line).is_some() {
                self.joiner = Some(Joiner::default());
                return block.get(done..).unwrap_or(&[]);
            }
            next = self.reader.words.next(block, found.end());
            let alone = next.is_none_or(|next| next.at >= end);
            match unwrap::plain(line).filter(|_| alone) {
                Some(text) => self.single(line, text, found.hit(text, done), sink),
                None => self.line(line, self.place.line, sink),
            }
            // One line, and only the last of a log may lack its break.
            self.place.line = self.place.line.saturating_add(u64::from(line.ends_with(b"\n")));
            done = end;
        }
        &[]
    }

    /// Reads a line that needs no unwrapping and has no word but one; learns its layout when it is a decode line.
    fn single(
        &mut self,
        line: &[u8],
        text: &[u8],
        hit: Option<Hit>,
        sink: &mut impl FnMut(Place, &Record<'_>),
    ) {
        let Some(hit) = hit else { return };
        let (place, layouts) = (self.place, &mut self.layouts);
        self.reader.record(text, 0, hit, text.len(), &mut Quotes::default(), &mut |record: &Record<'_>| {
            if let Record::Decode(decode) = record {
                layouts.learn(line, decode);
            }
            sink(place, record);
        });
    }

    fn count_lines(&mut self, text: &[u8]) {
        let lines = memchr::memchr_iter(b'\n', text).count();
        self.place.line = self.place.line.saturating_add(u64::try_from(lines).unwrap_or(u64::MAX));
    }

    /// One line of a container runtime's file: parts are joined before they are read.
    fn runtime_line(&mut self, line: &[u8], sink: &mut impl FnMut(Place, &Record<'_>)) {
        let number = self.place.line;
        let Some(part) = Part::read(line) else {
            // Something else was glued in; nothing that waits goes on behind it.
            self.finish(sink);
            self.line(line, number, sink);
            return;
        };
        if let Some(whole) = self.joiner.as_mut().and_then(|joiner| joiner.add(part, number)) {
            self.line(&whole.text, whole.line, sink);
        }
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
            self.reader.records(segment, &mut |record: &Record<'_>| sink(place, record));
            rest = behind.get(1..).unwrap_or(&[]);
        }
        self.reader.records(rest, &mut |record: &Record<'_>| sink(place, record));
    }
}

impl LineReader {
    /// Reads the records of a text without line breaks: each ends where the next begins.
    fn records(&mut self, text: &[u8], sink: &mut impl FnMut(&Record<'_>)) {
        let mut quotes = Quotes::default();
        let mut done = 0;
        let mut current = self.words.head(text, done);
        while let Some(hit) = current {
            let next = self.words.head(text, hit.end);
            // A setting ends no record: it may be part of one.
            let mut border = next;
            while let Some(setting) =
                border.filter(|border| hit.head != Head::Setting && border.head == Head::Setting)
            {
                border = self.words.head(text, setting.end);
            }
            let end = border.map_or(text.len(), |next| prefix::start(text, hit.end, next.at));
            self.record(text, done, hit, end, &mut quotes, sink);
            if hit.head != Head::Setting {
                done = end;
            }
            current = next;
        }
    }

    /// Reads the record whose head is `hit`: its prefix begins at `done`, its message ends at `end`.
    fn record(
        &mut self,
        text: &[u8],
        done: usize,
        hit: Hit,
        end: usize,
        quotes: &mut Quotes,
        sink: &mut impl FnMut(&Record<'_>),
    ) {
        if hit.head == Head::Setting {
            if let Some(setting) = setting::parse(text, hit.at) {
                sink(&Record::Setting(setting));
            }
            return;
        }
        let prefix = prefix::read(text, done, hit.at, quotes, &mut self.tags);
        let message = text.get(hit.end..end).unwrap_or(&[]);
        match record(hit.head, prefix, message) {
            Ok(Some(record)) => sink(&record),
            Ok(None) => {}
            Err(reason) => {
                let from = done.max(hit.at.saturating_sub(CONTEXT));
                let text = text.get(from..end).unwrap_or(&[]);
                sink(&Record::Skipped(Skipped { reason, text }));
            }
        }
    }
}

/// Reads one record from its prefix and what stands behind its head; `None` for a mere mention.
fn record<'a>(
    head: Head,
    prefix: Option<Prefix<'a>>,
    message: &'a [u8],
) -> Result<Option<Record<'a>>, SkipReason> {
    match head {
        Head::Decode => decode_line(prefix, message).map(|line| Some(Record::Decode(line))),
        Head::Prefill => prefill_line(prefix, message).map(|line| Some(Record::Prefill(line))),
        // Programs name their arguments in other places too (`f(server_args=args)`): those do not look like the line.
        Head::Start => Ok(prefix.zip(server_args::parse(message)).map(|(prefix, mut start)| {
            start.timestamp = prefix.timestamp.map(|time| time.as_str().to_owned());
            Record::Start(Box::new(start))
        })),
        // Read without a prefix.
        Head::Setting => Ok(None),
        Head::Foreign => Err(SkipReason::Lookalike),
        Head::Flush => {
            Ok(prefix.map(|Prefix { timestamp, tags }| Record::CacheFlush(CacheFlush { timestamp, tags })))
        }
    }
}

fn decode_line<'a>(prefix: Option<Prefix<'a>>, message: &'a [u8]) -> Result<DecodeLine<'a>, SkipReason> {
    let prefix = prefix.ok_or(SkipReason::Lookalike)?;
    let (iteration, message) = behind_head(message)?;
    decode::parse(prefix, iteration, message)
}

fn prefill_line<'a>(prefix: Option<Prefix<'a>>, message: &'a [u8]) -> Result<PrefillLine<'a>, SkipReason> {
    let prefix = prefix.ok_or(SkipReason::Lookalike)?;
    let (iteration, message) = behind_head(message)?;
    prefill::parse(prefix, iteration, message)
}

/// What must follow a head: `.`, `,` or ` [N],`, then a space or the end. Behind it the message, without what a wrapper
/// appended.
fn behind_head(text: &[u8]) -> Result<(Option<u64>, &[u8]), SkipReason> {
    // A head at the very end of a line, or one whose number ends it, is a record cut there.
    let rest = text.strip_prefix(b" [").unwrap_or(text);
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if rest.get(digits..).is_some_and(|rest| rest.trim_ascii().is_empty() || rest == b"]") {
        return Err(SkipReason::Truncated);
    }
    iteration(text)
        .and_then(|(iteration, text)| {
            let message = text.strip_prefix(b",").or_else(|| text.strip_prefix(b"."))?;
            message.first().is_none_or(|byte| *byte == b' ').then_some((iteration, unwrap::suffix(message)))
        })
        .ok_or(SkipReason::Lookalike)
}

/// Takes ` [N]` from the start of `text`, where it is.
fn iteration(text: &[u8]) -> Option<(Option<u64>, &[u8])> {
    let Some(text) = text.strip_prefix(b" [") else {
        return Some((None, text));
    };
    let end = memchr::memchr(b']', text)?;
    Some((Some(number::integer(text.get(..end)?)?), text.get(end + 1..)?))
}
