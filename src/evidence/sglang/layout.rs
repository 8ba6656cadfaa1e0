//! Layouts: the fast path of the scanner.
//!
//! The decode lines of one server differ in little but their digits, and so do its prefill lines. Once a line has been
//! read by name, its *layout* is kept: the whole line as fixed text, with the places where any digit may stand. A later
//! line that fits it byte for byte has the same names in the same order, so its numbers are taken from their places. A
//! line that fits no layout is read by name; both ways give the same record (a property test compares them).

use fearless_simd::{Simd, SimdBase, SimdInt, SimdMask};

use crate::evidence::batch::{ABSENT, Base, CompactLine, Findings, Iteration, Shape, Spot, index};
use crate::evidence::digits::{Digits, Four, MAX_LINE, Number, Repeated, Window};
use crate::evidence::{DecodeLine, PrefillLine, Timestamp};

use super::fields::{Field, Fields};
use super::prefill;
use super::tag_cache::{Short, TagCache};

/// Bytes of a pattern: as many as the widest vectors have.
const LANES: usize = 64;

/// Bytes behind the last line of a block with which a layout can be laid on it.
pub(in crate::evidence) const MARGIN: usize = size_of::<Window>();

/// Most layouts kept of one kind: numbers change their width, and a file can hold the lines of several servers.
const MAX_LAYOUTS: usize = 64;

/// The most digits of a number in a layout: whether a longer one is in range depends on the digits.
const MAX_DIGITS: usize = 9;

/// Some bytes of a line.
#[derive(Clone, Copy, Debug)]
struct Pattern {
    /// A letter as it is, 0 for a digit.
    least: [u8; LANES],
    /// How far above that a byte may be: 0 for a letter, 9 for a digit, anything behind the end.
    range: [u8; LANES],
}

/// What all layouts have.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    patterns: Vec<Pattern>,
    len: usize,
    /// Where the head begins.
    head: usize,
    tags: Tagged,
    iteration: Option<Digits>,
    /// The layout of the line that came after the last line of this one.
    next: usize,
}

/// Where the tags stand, and those of the line before.
#[derive(Clone, Debug)]
struct Tagged {
    at: usize,
    len: usize,
    /// Zeros behind the tags, for [`Short`].
    mask: Option<u128>,
    word: u128,
    voice: u32,
    use_number: u64,
}

/// Lines of one kind, with the width of each of their numbers.
pub(super) trait Layout: Sized {
    /// What a line of this kind has where its head begins.
    const HEAD: [u8; 8];

    fn frame(&self) -> &Frame;
    fn frame_mut(&mut self) -> &mut Frame;
    /// Adds the line at the start of `line`, which fits and begins at `at` of the block.
    fn add<S: Simd>(&mut self, simd: S, line: &Window, at: u32, voice: u32, findings: &mut Findings);
}

/// A decode line.
#[derive(Clone, Debug)]
pub(super) struct DecodeLayout {
    frame: Frame,
    shape: Shape,
    /// The number of the shape in the findings of this use.
    shape_number: u32,
    use_number: u64,
    queue: Repeated,
    /// Running requests, accept length, accept rate and throughput; [`ABSENT`] where the line lacks one.
    numbers: Four,
}

/// A prefill line: its figures are read when they are asked for.
#[derive(Clone, Debug)]
pub(super) struct PrefillLayout {
    frame: Frame,
    time: Option<Spot>,
    message: Spot,
}

/// The layouts of one kind of line in one log.
#[derive(Debug)]
pub(super) struct Layouts<L> {
    known: Vec<L>,
    last: usize,
    misses: usize,
    /// The head of some layout begins elsewhere in its line.
    has_other_heads: bool,
}

impl<L> Default for Layouts<L> {
    fn default() -> Self {
        Self { known: Vec::new(), last: 0, misses: 0, has_other_heads: false }
    }
}

impl<L: Layout> Layouts<L> {
    /// Reads the line that begins at `at` of `text` and ends within `end`; returns its length, the line break included.
    #[expect(clippy::inline_always, reason = "only what is inlined is compiled for the vectors at hand")]
    #[inline(always)]
    pub(super) fn read<S: Simd>(
        &mut self,
        simd: S,
        text: &[u8],
        at: usize,
        end: usize,
        tags: &mut TagCache,
        findings: &mut Findings,
    ) -> Option<usize> {
        let line: &Window = text.get(at..)?.first_chunk()?;
        // Most lines that fit no layout have another head.
        let head = self.known.get(self.last)?.frame().head % MAX_LINE;
        if !self.has_other_heads && line.get(head..)?.first_chunk() != Some(&L::HEAD) {
            return None;
        }
        let expected = self.known.get(self.last)?.frame().next;
        let found = match self.known.get(expected) {
            Some(layout) if layout.frame().fits(simd, line) => expected,
            _ => self.find(simd, line)?,
        };
        self.last = found;
        let layout = self.known.get_mut(found)?;
        let len = layout.frame().len;
        if at + len > end {
            return None;
        }
        let voice = layout.frame_mut().tags.voice(line, tags, findings);
        layout.add(simd, line, index(at), voice, findings);
        Some(len)
    }

    /// Where in its line the head of the next record is expected.
    #[inline]
    pub(super) fn head(&self) -> Option<usize> {
        Some(self.known.get(self.last)?.frame().head)
    }

    /// Looks through all layouts.
    #[inline(never)]
    fn find<S: Simd>(&mut self, simd: S, line: &Window) -> Option<usize> {
        let fits = |frame: &Frame| frame.ends(line) && simd.vectorize(|| frame.fits(simd, line));
        let found = self.known.iter().position(|layout| fits(layout.frame()))?;
        if let Some(layout) = self.known.get_mut(self.last) {
            layout.frame_mut().next = found;
        }
        Some(found)
    }

    fn learn(&mut self, mut layout: L) {
        self.misses = self.misses.wrapping_add(1);
        let head = self.known.first().map_or(layout.frame().head, |first| first.frame().head);
        self.has_other_heads |= head != layout.frame().head;
        // When full, an old one makes room: which one matters little, as long as it is not always the same.
        let index = if self.known.len() < MAX_LAYOUTS { self.known.len() } else { self.misses % MAX_LAYOUTS };
        layout.frame_mut().next = index;
        if let Some(last) = self.known.get_mut(self.last) {
            last.frame_mut().next = index;
        }
        match self.known.get_mut(index) {
            Some(old) => *old = layout,
            None => self.known.push(layout),
        }
        self.last = index;
    }
}

impl Layouts<DecodeLayout> {
    /// Keeps the layout of a line that was read by name: `raw` is the whole line with its break, of which `line` borrows.
    pub(super) fn learn_decode(&mut self, raw: &[u8], line: &DecodeLine<'_>) {
        if let Some(layout) = DecodeLayout::of(raw, line) {
            self.learn(layout);
        }
    }
}

impl Layouts<PrefillLayout> {
    /// As [`learn_decode`](Layouts::learn_decode), for a prefill line.
    pub(super) fn learn_prefill(&mut self, raw: &[u8], line: &PrefillLine<'_>) {
        if let Some(layout) = PrefillLayout::of(raw, line) {
            self.learn(layout);
        }
    }
}

impl Frame {
    /// Whether a line of this layout would end where `line` has a line break.
    fn ends(&self, line: &Window) -> bool {
        self.len.checked_sub(1).and_then(|last| line.get(last)) == Some(&b'\n')
    }

    /// Whether `line` begins with a line of this layout.
    #[expect(clippy::inline_always, reason = "only what is inlined is compiled for the vectors at hand")]
    #[inline(always)]
    fn fits<S: Simd>(&self, simd: S, line: &Window) -> bool {
        // By index: the methods of iterators are too large to be compiled for the vectors at hand.
        let (windows, _) = line.as_chunks::<LANES>();
        let mut bad = S::u8s::splat(simd, 0);
        let mut number = 0;
        while let (Some(pattern), Some(window)) = (self.patterns.get(number), windows.get(number)) {
            let mut at = 0;
            while at < LANES {
                let above = lanes(simd, window, at) - lanes(simd, &pattern.least, at);
                bad |= above.saturating_sub(lanes(simd, &pattern.range, at));
                at += S::u8s::LEN;
            }
            number += 1;
        }
        bad.simd_eq(0).all_true()
    }

    /// The frame of a line that was read by name; `None` when it has none that is worth keeping.
    fn of(
        raw: &[u8],
        word: &[u8],
        time: Option<Timestamp<'_>>,
        iteration: Option<u64>,
        message: &[u8],
    ) -> Option<Self> {
        let spot = place(raw, message)?;
        let head = memchr::memmem::rfind(raw.get(..spot)?, word)?;
        let close = memchr::memrchr(b']', raw.get(..head)?)?;
        let open = memchr::memrchr(b'[', raw.get(..close)?)?;
        let time = time.map(|time| Some((place(raw, time.as_bytes())?, time.as_bytes().len())));
        // What a bracket holds behind its time, up to its end: the tags.
        let tags_at = time.map_or(Some(open + 1), |time| time.map(|(at, len)| at + len))?;
        let tags_len = close.checked_sub(tags_at)?;
        let iteration = if iteration.is_some() {
            let at = memchr::memrchr(b'[', raw.get(..spot)?)? + 1;
            let len = memchr::memchr(b']', raw.get(at..)?)?;
            Some(Digits::at(raw, at, len)?)
        } else {
            None
        };
        // A name with another digit in it is another name.
        let fields = Fields::new(message);
        let is_named = |field: Field<'_>| match field {
            Field::Named { name, .. } => !name.iter().any(u8::is_ascii_digit),
            Field::Continued(_) | Field::Junk(_) => false,
        };
        let is_short = |number: &[u8]| number.len() <= MAX_DIGITS;
        let numbers = message.split(|byte| !byte.is_ascii_digit()).all(is_short);
        // One record a line: a second one, or a bare carriage return, would be lost in the fixed text.
        let (before, behind) = (raw.get(..open)?, raw.get(spot + message.len()..)?);
        let heads = [&b" batch"[..], b"server_args=", b"Cache flushed"];
        let alone = heads.iter().all(|head| memchr::memmem::find(before, head).is_none())
            && memchr::memchr(b'\r', before).is_none()
            && behind.trim_ascii().is_empty();
        (fields.into_iter().all(is_named) && numbers && alone && raw.ends_with(b"\n")).then_some(())?;
        Some(Self {
            patterns: patterns(raw)?,
            len: raw.len(),
            head,
            tags: Tagged {
                at: tags_at,
                len: tags_len,
                mask: mask(tags_len),
                word: 0,
                voice: 0,
                use_number: 0,
            },
            iteration,
            next: 0,
        })
    }
}

impl Tagged {
    /// The voice of the tags of `line`.
    #[expect(clippy::inline_always, reason = "a part of the innermost loop, as its callers are")]
    #[inline(always)]
    fn voice(&mut self, line: &Window, tags: &mut TagCache, findings: &mut Findings) -> u32 {
        let bytes = line.get(self.at % MAX_LINE..).and_then(|rest| rest.first_chunk::<16>());
        let (Some(mask), Some(bytes)) = (self.mask, bytes) else {
            return tags.voice(line.get(self.at..self.at + self.len).unwrap_or(&[]), findings);
        };
        let word = u128::from_le_bytes(*bytes) & mask;
        if self.word != word || self.use_number != findings.use_number() {
            self.voice = self.other_voice(line, word, tags, findings);
            self.word = word;
            self.use_number = findings.use_number();
        }
        self.voice
    }

    #[inline(never)]
    fn other_voice(&self, line: &Window, word: u128, tags: &mut TagCache, findings: &mut Findings) -> u32 {
        tags.voice_of(Short { word, len: index(self.len) }, findings)
            .unwrap_or_else(|| tags.voice(line.get(self.at..self.at + self.len).unwrap_or(&[]), findings))
    }
}

impl Layout for DecodeLayout {
    const HEAD: [u8; 8] = *b"Decode b";

    #[inline]
    fn frame(&self) -> &Frame {
        &self.frame
    }

    #[inline]
    fn frame_mut(&mut self) -> &mut Frame {
        &mut self.frame
    }

    #[expect(clippy::inline_always, reason = "only what is inlined is compiled for the vectors at hand")]
    #[inline(always)]
    fn add<S: Simd>(&mut self, simd: S, line: &Window, at: u32, voice: u32, findings: &mut Findings) {
        if self.use_number != findings.use_number() {
            self.use_number = findings.use_number();
            self.shape_number = findings.shape(self.shape);
        }
        let [running_req, accept_len, accept_rate, throughput] = self.numbers.read(simd, line);
        findings.push(CompactLine {
            at,
            shape: self.shape_number,
            voice,
            running_req,
            queue_req: self.queue.read(line),
            accept_len,
            accept_rate,
            throughput,
        });
    }
}

impl Layout for PrefillLayout {
    const HEAD: [u8; 8] = *b"Prefill ";

    #[inline]
    fn frame(&self) -> &Frame {
        &self.frame
    }

    #[inline]
    fn frame_mut(&mut self) -> &mut Frame {
        &mut self.frame
    }

    #[inline]
    fn add<S: Simd>(&mut self, _simd: S, line: &Window, at: u32, voice: u32, findings: &mut Findings) {
        let iteration = self.frame.iteration.map(|digits| u64::from(digits.read(line)));
        findings.prefill(at, self.time, voice, iteration, self.message);
    }
}

impl DecodeLayout {
    fn of(raw: &[u8], line: &DecodeLine<'_>) -> Option<Self> {
        let frame = Frame::of(raw, b"Decode batch", line.timestamp, line.iteration, line.message)?;
        let mut shape = Shape { base: Base::Line, ..Shape::of(line) };
        shape.message = Spot::find(raw, line.message)?;
        if let Some(time) = line.timestamp {
            shape.time = Some(Spot::find(raw, time.as_bytes())?);
        }
        if let Some(digits) = frame.iteration {
            shape.iteration = Iteration::At(digits);
        }
        // Every line has both counts: one without them is no record.
        let (mut running, mut queue) = (None, None);
        let (mut accept_len, mut accept_rate, mut throughput) = (None, None, None);
        for field in Fields::new(line.message) {
            let Field::Named { name, value } = field else { return None };
            let (at, len) = (place(raw, value)?, value.len());
            match name {
                b"#running-req" => running = Some(Digits::at(raw, at, len)?),
                b"#queue-req" => queue = Some(Digits::at(raw, at, len)?),
                b"accept len" => accept_len = Some(Number::decimal(raw, at, len)?),
                b"accept rate" => accept_rate = Some(Number::decimal(raw, at, len)?),
                b"gen throughput (token/s)" => throughput = Some(Number::decimal(raw, at, len)?),
                _ => {}
            }
        }
        let or_absent = |number: Option<Number>| number.unwrap_or(Number::constant(ABSENT));
        Some(Self {
            frame,
            shape,
            shape_number: 0,
            use_number: 0,
            queue: Repeated::new(queue?),
            numbers: Four::new([
                running?.into(),
                or_absent(accept_len),
                or_absent(accept_rate),
                or_absent(throughput),
            ]),
        })
    }
}

impl PrefillLayout {
    fn of(raw: &[u8], line: &PrefillLine<'_>) -> Option<Self> {
        let frame = Frame::of(raw, b"Prefill batch", line.timestamp, line.iteration, line.message)?;
        let message = Spot::find(raw, line.message).filter(|_| prefill::is_obvious(line.message))?;
        let time = match line.timestamp {
            Some(time) => Some(Spot::find(raw, time.as_bytes())?),
            None => None,
        };
        Some(Self { frame, time, message })
    }
}

/// The fixed text of a line; `None` when it is too long.
fn patterns(raw: &[u8]) -> Option<Vec<Pattern>> {
    if raw.len() > MAX_LINE {
        return None;
    }
    let pattern = |bytes: &[u8]| {
        let mut pattern = Pattern { least: [0; LANES], range: [u8::MAX; LANES] };
        let lanes = pattern.least.iter_mut().zip(&mut pattern.range);
        for ((least, range), byte) in lanes.zip(bytes) {
            (*least, *range) = if byte.is_ascii_digit() { (b'0', 9) } else { (*byte, 0) };
        }
        pattern
    };
    Some(raw.chunks(LANES).map(pattern).collect())
}

/// The bytes from `at` on.
#[expect(clippy::inline_always, reason = "only what is inlined is compiled for the vectors at hand")]
#[inline(always)]
fn lanes<S: Simd>(simd: S, bytes: &[u8; LANES], at: usize) -> S::u8s {
    S::u8s::from_slice(simd, bytes.get(at..at + S::u8s::LEN).unwrap_or(&[]))
}

/// What keeps the first `len` of 16 bytes.
fn mask(len: usize) -> Option<u128> {
    let others = 16_usize.checked_sub(len)?;
    Some(u128::MAX.checked_shr(8 * u32::try_from(others).ok()?).unwrap_or(0))
}

/// Where `part` stands inside `whole`; `None` when it is no part of it.
fn place(whole: &[u8], part: &[u8]) -> Option<usize> {
    Spot::find(whole, part).and_then(|spot| usize::try_from(spot.at).ok())
}
