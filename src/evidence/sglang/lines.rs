//! The scanner's inner loop: finds the rare byte patterns that begin a record, and reads what they begin. It knows
//! nothing of the lines before a block but what makes it fast.

use fearless_simd::{Level, Simd, dispatch};

use crate::evidence::batch::{Findings, Stand, line_breaks_by};
use crate::evidence::{CacheFlush, DecodeLine, PrefillLine, Record, SkipReason, Skipped};

use super::head::{EngineHead, Found, Head, Hit, Words};
use super::layout::{DecodeLayout, Layouts, MARGIN, PrefillLayout};
use super::prefix::Prefix;
use super::quotes::Quotes;
use super::runtime::Part;
use super::tag_cache::TagCache;
use super::{decode, number, other, prefill, prefix, server_args, setting, unwrap};

/// How much of the text before a head a skipped record shows, in bytes.
pub(super) const CONTEXT: usize = 64;

/// Reads blocks of whole lines, each for itself: any number of them on any threads.
#[derive(Debug)]
pub(in crate::evidence) struct LineScanner {
    reader: TextReader,
    /// Unwrapped text of the line at hand.
    plain: Vec<u8>,
    colourless: Vec<u8>,
    decodes: Layouts<DecodeLayout>,
    prefills: Layouts<PrefillLayout>,
    /// Blocks begun.
    blocks: u64,
    /// What the processor can do.
    level: Level,
}

/// Reads the records of one text.
#[derive(Debug)]
struct TextReader {
    words: Words,
    tags: TagCache,
}

impl LineScanner {
    pub(in crate::evidence) fn new() -> Self {
        Self {
            reader: TextReader { words: Words::new(), tags: TagCache::default() },
            plain: Vec::new(),
            colourless: Vec::new(),
            decodes: Layouts::default(),
            prefills: Layouts::default(),
            blocks: 0,
            level: Level::new(),
        }
    }

    /// Forgets what was found: a new block begins.
    pub(in crate::evidence) fn begin(&mut self, findings: &mut Findings) {
        self.blocks += 1;
        findings.clear(self.blocks);
    }

    /// Finds the records in the whole lines `..end` of `text`, and counts these lines; what stands behind them is only
    /// looked at. Returns where a line of a container runtime stands that may hold a record: it and all that follow it
    /// are left to read.
    pub(in crate::evidence) fn lines(
        &mut self,
        text: &[u8],
        end: usize,
        findings: &mut Findings,
    ) -> Option<usize> {
        dispatch!(self.level, simd => self.lines_by(simd, text, end, findings))
    }

    /// As [`lines`](Self::lines), by these vectors.
    #[expect(clippy::inline_always, reason = "only what is inlined is compiled for the vectors at hand")]
    #[inline(always)]
    fn lines_by<S: Simd>(
        &mut self,
        simd: S,
        text: &[u8],
        end: usize,
        findings: &mut Findings,
    ) -> Option<usize> {
        let block = text.get(..end)?;
        let mut done = 0;
        // Lines before this place are counted.
        let mut counted = 0;
        // The next word of a head, `None` where it is not known.
        let mut next: Option<Found> = None;
        let left = loop {
            let begin = done;
            let mut alike = 0;
            let tags = &mut self.reader.tags;
            while let Some(length) = self.decodes.read(simd, text, done, end, tags, findings) {
                done += length;
                alike += 1;
            }
            if alike > 0 {
                // Each is one line.
                let passed = block.get(counted..begin).unwrap_or(&[]);
                findings.count(alike + line_breaks_by(simd, passed));
                counted = done;
            }
            next = next.filter(|found| found.at >= done).or_else(|| self.reader.words.next(block, done));
            let Some(found) = next else { break None };
            if let Some(past) = self.fitting(simd, text, done, end, found, findings) {
                done = past;
                continue;
            }
            let passed = block.get(done..found.at).unwrap_or(&[]);
            done = memchr::memrchr(b'\n', passed).map_or(done, |last| done + last + 1);
            let behind = block.get(found.at..).unwrap_or(&[]);
            let line_end = memchr::memchr(b'\n', behind).map_or(end, |at| found.at + at + 1);
            let line = block.get(done..line_end).unwrap_or(&[]);
            if Part::read(line).is_some() {
                break Some(done);
            }
            next = self.reader.words.next(block, found.end());
            let alone = next.is_none_or(|next| next.at >= line_end);
            match unwrap::plain(line).filter(|_| alone) {
                Some(plain) => {
                    if let Some(hit) = found.hit(plain, done) {
                        self.single(text, done, line, plain, hit, findings);
                    }
                }
                None => self.line(line, text, Stand::At(done), findings),
            }
            done = line_end;
        };
        findings.count(line_breaks_by(simd, block.get(counted..).unwrap_or(&[])));
        left
    }

    /// Reads the line that holds a word by a layout, where it stands as far behind its line's beginning as that says;
    /// returns where it ends.
    #[expect(clippy::inline_always, reason = "only what is inlined is compiled for the vectors at hand")]
    #[inline(always)]
    fn fitting<S: Simd>(
        &mut self,
        simd: S,
        text: &[u8],
        done: usize,
        end: usize,
        found: Found,
        findings: &mut Findings,
    ) -> Option<usize> {
        let head = if found.is_decode() {
            self.decodes.head()?
        } else if found.is_prefill() {
            self.prefills.head()?
        } else {
            return None;
        };
        let start = found.at.checked_sub(head).filter(|start| *start >= done)?;
        if start > done && text.get(start - 1) != Some(&b'\n') {
            return None;
        }
        let tags = &mut self.reader.tags;
        let length = if found.is_decode() {
            self.decodes.read(simd, text, start, end, tags, findings)?
        } else {
            self.prefills.read(simd, text, start, end, tags, findings)?
        };
        Some(start + length)
    }

    /// Reads a line that needs no unwrapping and has no word but one; learns its layout.
    fn single(
        &mut self,
        block: &[u8],
        at: usize,
        line: &[u8],
        plain: &[u8],
        hit: Hit,
        findings: &mut Findings,
    ) {
        let (decodes, prefills) = (&mut self.decodes, &mut self.prefills);
        // At the very end of a block no layout is looked at; this line may have one.
        let is_new = block.len() - at >= line.len() + MARGIN;
        self.reader.record(plain, 0, hit, plain.len(), &mut Quotes::default(), &mut |record: &Record<'_>| {
            match record {
                Record::Decode(decode) if is_new => decodes.learn_decode(line, decode),
                Record::Prefill(prefill) if is_new => prefills.learn_prefill(line, prefill),
                _ => {}
            }
            findings.add(block, Stand::At(at), record);
        });
    }

    /// Unwraps one line, which may stand in `block`, and reads the records in it.
    pub(in crate::evidence) fn line(
        &mut self,
        line: &[u8],
        block: &[u8],
        stand: Stand,
        findings: &mut Findings,
    ) {
        self.plain.clear();
        let text = if unwrap::docker_line(line, &mut self.plain) { self.plain.as_slice() } else { line };
        let text = if memchr::memchr(0x1b, text).is_some() {
            self.colourless.clear();
            unwrap::strip_colours(text, &mut self.colourless);
            self.colourless.as_slice()
        } else {
            text
        };
        let add = &mut |record: &Record<'_>| findings.add(block, stand, record);
        let mut rest = text;
        while let Some(end) = memchr::memchr2(b'\r', b'\n', rest) {
            let (segment, behind) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            self.reader.records(segment, add);
            rest = behind.get(1..).unwrap_or(&[]);
        }
        self.reader.records(rest, add);
    }
}

impl TextReader {
    /// Reads the records of a text without line breaks: each ends where the next begins.
    fn records(&mut self, text: &[u8], sink: &mut impl FnMut(&Record<'_>)) {
        let mut quotes = Quotes::default();
        let mut done = 0;
        let mut current = self.words.head(text, done);
        while let Some(hit) = current {
            let next = self.words.head(text, hit.end);
            // A setting ends no record: it may be part of one.
            let mut border = next;
            while let Some(inner) = border.filter(|border| !hit.head.is_inner() && border.head.is_inner()) {
                border = self.words.head(text, inner.end);
            }
            let end = border.map_or(text.len(), |next| prefix::start(text, hit.end, next.at));
            self.record(text, done, hit, end, &mut quotes, sink);
            if !hit.head.is_inner() {
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
        if let Head::Engine(head) = hit.head {
            return self.engine(text, done, head, hit, end, quotes, sink);
        }
        if matches!(hit.head, Head::Config | Head::Stray) {
            return other::inner(text, done, hit, sink);
        }
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

impl TextReader {
    /// Reads a line of another engine, unless it is quoted.
    #[expect(clippy::too_many_arguments, reason = "a record's place in its text")]
    fn engine(
        &mut self,
        text: &[u8],
        done: usize,
        head: EngineHead,
        hit: Hit,
        end: usize,
        quotes: &mut Quotes,
        sink: &mut impl FnMut(&Record<'_>),
    ) {
        let before = text.get(done..hit.at).unwrap_or(&[]);
        let start = done + other::start(head, before);
        let is_logged = prefix::read(text, done, start, quotes, &mut self.tags).is_some();
        let message = unwrap::suffix(text.get(hit.end..end).unwrap_or(&[]));
        let line = if is_logged { other::line(head, before, message) } else { Err(SkipReason::Lookalike) };
        match line {
            Ok(line) => sink(&Record::Engine(Box::new(line))),
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
        // Read without a prefix, or by their own rules.
        Head::Setting | Head::Engine(_) | Head::Config | Head::Stray => Ok(None),
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
