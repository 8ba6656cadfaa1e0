//! Layouts: the fast path of the scanner.
//!
//! The decode lines of one server differ in little but their digits. Once a line has been read by name, its *layout* is
//! kept: the whole line as fixed text, with the places where any digit may stand. A later line that fits it byte for
//! byte has the same names in the same order, so its numbers are taken from their places. A line that fits no layout
//! is read by name; both ways give the same record (a property test compares them).

use wide::u8x16;

use crate::evidence::{DecodeLine, Graph, Hundredths, Record, Timestamp};

use super::fields::{Field, Fields};
use super::tag_cache::TagCache;

/// Bytes that the processor compares at a time.
const LANES: usize = 16;

/// Bytes compared before the loop looks at the outcome.
const BLOCK: usize = 4 * LANES;

/// Longest line that has a layout.
const MAX_LINE: usize = 16 * BLOCK;

/// Most layouts kept: numbers change their width, and a file can hold the lines of several servers.
const MAX_LAYOUTS: usize = 64;

/// 16 bytes of a line.
#[derive(Clone, Copy, Debug, Default)]
struct Pattern {
    text: u8x16,
    /// Bits that must equal `text`: all of a letter, the upper four of a digit, none behind the end.
    mask: u8x16,
    /// The lower four bits where a digit must stand: they must not exceed 9.
    digit: u8x16,
}

/// A byte range of the line.
#[derive(Clone, Copy, Debug)]
struct Spot {
    at: usize,
    len: usize,
}

/// A number of at most eight digits, as the eight bytes that end with it.
#[derive(Clone, Copy, Debug)]
struct Digits {
    word: usize,
    /// Keeps the bytes of the number.
    mask: u64,
}

/// A number with two decimals.
#[derive(Clone, Copy, Debug)]
struct Decimal {
    whole: Digits,
    /// Where its decimals stand.
    decimals: usize,
}

/// One kind of line, with the width of each of its numbers.
#[derive(Clone, Debug)]
struct Layout {
    blocks: Vec<[Pattern; 4]>,
    len: usize,
    time: Option<Spot>,
    tags: Spot,
    message: Spot,
    iteration: Option<Digits>,
    running: Digits,
    queue: Digits,
    accept_len: Option<Decimal>,
    accept_rate: Option<Decimal>,
    throughput: Option<Decimal>,
    graph: Option<Graph>,
    capped: bool,
    /// The layout of the line that came after the last line of this one.
    next: usize,
}

/// The layouts of one log.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    known: Vec<Layout>,
    last: usize,
    misses: usize,
}

impl Layouts {
    /// Reads the line at the start of `text` and hands it to `see`; returns its length, the line break included.
    #[inline]
    pub(super) fn read<'a>(
        &mut self,
        text: &'a [u8],
        tags: &mut TagCache,
        see: impl FnOnce(&Record<'a>),
    ) -> Option<usize> {
        let expected = self.known.get(self.last)?.next;
        let index = match self.known.get(expected) {
            Some(layout) if layout.fits(text) => expected,
            _ => self.find(text)?,
        };
        self.last = index;
        let layout = self.known.get(index)?;
        see(&Record::Decode(layout.line(text, tags)?));
        Some(layout.len)
    }

    /// Looks through all layouts whose line would end here.
    #[cold]
    #[inline(never)]
    fn find(&mut self, text: &[u8]) -> Option<usize> {
        let found = self.known.iter().position(|layout| layout.ends(text) && layout.fits(text))?;
        if let Some(layout) = self.known.get_mut(self.last) {
            layout.next = found;
        }
        Some(found)
    }

    /// Keeps the layout of a line that was read by name: `raw` is the whole line with its break, of which `line` borrows.
    pub(super) fn learn(&mut self, raw: &[u8], line: &DecodeLine<'_>) {
        let Some(mut layout) = Layout::of(raw, line) else { return };
        self.misses = self.misses.wrapping_add(1);
        // When full, an old one makes room: which one matters little, as long as it is not always the same.
        let index = if self.known.len() < MAX_LAYOUTS { self.known.len() } else { self.misses % MAX_LAYOUTS };
        layout.next = index;
        if let Some(last) = self.known.get_mut(self.last) {
            last.next = index;
        }
        match self.known.get_mut(index) {
            Some(old) => *old = layout,
            None => self.known.push(layout),
        }
        self.last = index;
    }
}

impl Layout {
    /// Whether a line of this layout would end where `text` has a line break.
    fn ends(&self, text: &[u8]) -> bool {
        self.len.checked_sub(1).and_then(|last| text.get(last)) == Some(&b'\n')
    }

    /// Whether `text` begins with a line of this layout. Too near the end of a block to tell counts as no.
    #[inline]
    fn fits(&self, text: &[u8]) -> bool {
        let nine = u8x16::splat(9);
        let (windows, _) = text.as_chunks::<BLOCK>();
        if windows.len() < self.blocks.len() {
            return false;
        }
        self.blocks.iter().zip(windows).all(|(patterns, window)| {
            let (lanes, _) = window.as_chunks::<LANES>();
            let mut bad = u8x16::default();
            for (pattern, bytes) in patterns.iter().zip(lanes) {
                let bytes = u8x16::new(*bytes);
                bad |= (bytes ^ pattern.text) & pattern.mask | (bytes & pattern.digit).saturating_sub(nine);
            }
            bad == u8x16::default()
        })
    }

    #[inline]
    fn line<'a>(&self, text: &'a [u8], tags: &mut TagCache) -> Option<DecodeLine<'a>> {
        let text = text.get(..self.len)?;
        let at = |spot: Spot| text.get(spot.at..spot.at + spot.len);
        let hundredths = |decimal: Decimal| decimal.read(text);
        Some(DecodeLine {
            timestamp: self.time.and_then(at).map(Timestamp::of_digits),
            tags: tags.get(at(self.tags)?),
            iteration: self.iteration.and_then(|digits| digits.read(text)).map(u64::from),
            running_req: self.running.read(text)?,
            accept_len: self.accept_len.and_then(hundredths).map(Hundredths::new),
            accept_rate: self.accept_rate.and_then(hundredths).map(Hundredths::new),
            graph: self.graph,
            gen_throughput_tps: self.throughput.and_then(hundredths).map(|count| f64::from(count) / 100.0),
            queue_req: self.queue.read(text)?,
            capped: self.capped,
            message: at(self.message)?,
        })
    }

    /// The layout of a line; `None` when it has none that is worth keeping.
    fn of(raw: &[u8], line: &DecodeLine<'_>) -> Option<Self> {
        let message = spot(raw, line.message)?;
        let head = memchr::memmem::rfind(raw.get(..message.at)?, b"Decode batch")?;
        let close = memchr::memrchr(b']', raw.get(..head)?)?;
        let open = memchr::memrchr(b'[', raw.get(..close)?)?;
        let time = line.timestamp.map(|time| spot(raw, time.as_bytes()));
        // What a bracket holds behind its time, up to its end: the tags.
        let tags_at = time.map_or(Some(open + 1), |time| time.map(|time| time.at + time.len))?;
        // Every layout has both counts: a line without them is no record.
        let unread = Digits { word: 0, mask: 0 };
        let mut layout = Self {
            blocks: patterns(raw)?,
            len: raw.len(),
            time: time.flatten(),
            tags: Spot { at: tags_at, len: close.checked_sub(tags_at)? },
            message,
            iteration: None,
            running: unread,
            queue: unread,
            accept_len: None,
            accept_rate: None,
            throughput: None,
            graph: line.graph,
            capped: line.capped,
            next: 0,
        };
        if line.iteration.is_some() {
            let at = memchr::memrchr(b'[', raw.get(..message.at)?)? + 1;
            let len = memchr::memchr(b']', raw.get(at..)?)?;
            layout.iteration = Some(Digits::at(raw, at, len)?);
        }
        for field in Fields::new(line.message) {
            let Field::Named { name, value } = field else { return None };
            // A name with another digit in it is another name.
            if name.iter().any(u8::is_ascii_digit) {
                return None;
            }
            let Spot { at, len } = spot(raw, value)?;
            match name {
                b"#running-req" => layout.running = Digits::at(raw, at, len)?,
                b"#queue-req" => layout.queue = Digits::at(raw, at, len)?,
                b"accept len" => layout.accept_len = Some(Decimal::at(raw, at, len)?),
                b"accept rate" => layout.accept_rate = Some(Decimal::at(raw, at, len)?),
                b"gen throughput (token/s)" => layout.throughput = Some(Decimal::at(raw, at, len)?),
                _ => {}
            }
        }
        // One record a line: a second one, or a bare carriage return, would be lost in the fixed text.
        let (before, behind) = (raw.get(..open)?, raw.get(message.at + message.len..)?);
        let heads = [&b" batch"[..], b"server_args=", b"Cache flushed"];
        let alone = heads.iter().all(|head| memchr::memmem::find(before, head).is_none())
            && memchr::memchr(b'\r', before).is_none()
            && behind.trim_ascii().is_empty();
        (alone && raw.ends_with(b"\n")).then_some(layout)
    }
}

/// The fixed text of a line; `None` when it is too long.
fn patterns(raw: &[u8]) -> Option<Vec<[Pattern; 4]>> {
    if raw.len() > MAX_LINE {
        return None;
    }
    let pattern = |bytes: &[u8]| {
        let lanes = |lane: &dyn Fn(&u8) -> u8| {
            let mut lanes = [0; LANES];
            lanes.iter_mut().zip(bytes).for_each(|(to, byte)| *to = lane(byte));
            u8x16::new(lanes)
        };
        Pattern {
            text: lanes(&|byte| *byte),
            mask: lanes(&|byte| if byte.is_ascii_digit() { 0xf0 } else { 0xff }),
            digit: lanes(&|byte| if byte.is_ascii_digit() { 0x0f } else { 0 }),
        }
    };
    let block = |block: &[u8]| {
        let mut patterns = [Pattern::default(); 4];
        patterns.iter_mut().zip(block.chunks(LANES)).for_each(|(to, bytes)| *to = pattern(bytes));
        patterns
    };
    Some(raw.chunks(BLOCK).map(block).collect())
}

impl Digits {
    /// The number that stands at `at`, when it is one to eight digits with as many bytes before it.
    fn at(raw: &[u8], at: usize, len: usize) -> Option<Self> {
        let value = raw.get(at..at + len)?;
        if !(1..=8).contains(&len) || !value.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let other_bits = 64 - 8 * u32::try_from(len).ok()?;
        Some(Self { word: (at + len).checked_sub(8)?, mask: u64::MAX.checked_shl(other_bits)? })
    }

    /// Eight digits at a time: those before the number are masked to zeros.
    #[inline]
    fn read(self, text: &[u8]) -> Option<u32> {
        let word = u64::from_le_bytes(*text.get(self.word..)?.first_chunk()?);
        let ones = word & self.mask & 0x0f0f_0f0f_0f0f_0f0f;
        let pairs = ones.wrapping_mul(10).wrapping_add(ones >> 8) & 0x00ff_00ff_00ff_00ff;
        let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
        let all = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff;
        u32::try_from(all).ok()
    }
}

impl Decimal {
    /// The number that stands at `at`, when it is one to seven digits, a point and two digits.
    fn at(raw: &[u8], at: usize, len: usize) -> Option<Self> {
        let whole = len.checked_sub(3).filter(|whole| *whole <= 7)?;
        let [b'.', b'0'..=b'9', b'0'..=b'9'] = raw.get(at + whole..at + len)? else { return None };
        Some(Self { whole: Digits::at(raw, at, whole)?, decimals: at + whole + 1 })
    }

    /// The number in hundredths.
    #[inline]
    fn read(self, text: &[u8]) -> Option<u32> {
        let [tenths, rest] = text.get(self.decimals..)?.first_chunk::<2>()?;
        let decimals = u32::from(tenths & 0x0f) * 10 + u32::from(rest & 0x0f);
        Some(self.whole.read(text)? * 100 + decimals)
    }
}

/// Where `part` stands inside `whole`; `None` when it is no part of it.
fn spot(whole: &[u8], part: &[u8]) -> Option<Spot> {
    let at = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    (at + part.len() <= whole.len()).then_some(Spot { at, len: part.len() })
}
