//! What a scanner found in a block.

use crate::evidence::{
    CounterRecord, DecodeLine, EngineLine, Record, ServerStart, SkipReason, Tags, Timestamp,
};

use super::compact::{Base, CompactLine, Shape, Spot, index};

/// Sets of tags that are compared with those of a new line; one behind them is kept again.
const COMPARED: usize = 64;

/// A record that is no decode line.
#[derive(Clone, Debug)]
pub(super) struct Other {
    /// Decode lines before it.
    pub(super) before: usize,
    pub(super) at: u32,
    pub(super) is_numbered: bool,
    pub(super) base: Base,
    pub(super) what: What,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Prefill { time: Option<Spot>, voice: u32, iteration: Option<u64>, message: Spot },
    Start(Box<ServerStart>),
    CacheFlush { time: Option<Spot>, voice: u32 },
    Setting { name: Spot, value: Spot },
    Counters(Box<CounterRecord>),
    Engine(Box<EngineLine>),
    Skipped { reason: SkipReason, text: Spot },
}

/// The records of one block, in order. Its memory is used again for the next.
#[derive(Debug, Default)]
pub(in crate::evidence) struct Findings {
    pub(super) decodes: Vec<CompactLine>,
    pub(super) shapes: Vec<Shape>,
    pub(super) others: Vec<Other>,
    /// The sets of tags, by voice.
    pub(super) tags: Vec<Tags>,
    /// The texts of records that do not stand in the block as they are.
    pub(super) kept: Vec<u8>,
    pub(super) numbers: Vec<u64>,
    /// Which use of the memory this is; a voice of an earlier one says nothing.
    use_number: u64,
    last_voice: usize,
    /// Lines counted.
    breaks: u64,
}

/// Where a record's line stands.
#[derive(Clone, Copy, Debug)]
pub(in crate::evidence) enum Stand {
    /// At this byte of the block.
    At(usize),
    /// On this line of the log.
    Line(u64),
}

impl Findings {
    /// Makes room for the next block; `use_number` differs from those of the scanner's other blocks, and is not 0.
    pub(in crate::evidence) fn clear(&mut self, use_number: u64) {
        self.decodes.clear();
        self.shapes.clear();
        self.others.clear();
        self.tags.clear();
        self.kept.clear();
        self.numbers.clear();
        self.use_number = use_number;
        self.last_voice = 0;
        self.breaks = 0;
    }

    /// Counts lines.
    pub(in crate::evidence) fn count(&mut self, lines: u64) {
        self.breaks += lines;
    }

    /// Lines counted.
    pub(in crate::evidence) fn breaks(&self) -> u64 {
        self.breaks
    }

    /// Which use of the memory this is.
    pub(in crate::evidence) fn use_number(&self) -> u64 {
        self.use_number
    }

    /// Adds a decode line.
    #[inline]
    pub(in crate::evidence) fn push(&mut self, line: CompactLine) {
        self.decodes.push(line);
    }

    /// The number of a new shape.
    pub(in crate::evidence) fn shape(&mut self, shape: Shape) -> u32 {
        self.shapes.push(shape);
        index(self.shapes.len() - 1)
    }

    /// The number of a set of tags in this block.
    #[inline]
    pub(in crate::evidence) fn voice(&mut self, tags: &Tags) -> u32 {
        for voice in [self.last_voice, self.last_voice + 1] {
            if self.tags.get(voice) == Some(tags) {
                self.last_voice = voice;
                return index(voice);
            }
        }
        let known = self.tags.iter().rev().take(COMPARED).position(|known| known == tags);
        self.last_voice = if let Some(back) = known {
            self.tags.len() - 1 - back
        } else {
            self.tags.push(*tags);
            self.tags.len() - 1
        };
        index(self.last_voice)
    }

    /// Adds a record that borrows of `block`, or of a text that is not kept.
    pub(in crate::evidence) fn add(&mut self, block: &[u8], stand: Stand, record: &Record<'_>) {
        let (base, what) = match record {
            Record::Decode(line) => return self.decode(block, stand, line),
            Record::Prefill(line) => {
                let voice = self.voice(&line.tags);
                let (base, [time, message]) = self.spots(block, [time(line.timestamp), line.message]);
                let time = line.timestamp.map(|_| time);
                (base, What::Prefill { time, voice, iteration: line.iteration, message })
            }
            Record::Start(start) => (Base::Block, What::Start(start.clone())),
            Record::CacheFlush(flush) => {
                let voice = self.voice(&flush.tags);
                let (base, [time]) = self.spots(block, [time(flush.timestamp)]);
                (base, What::CacheFlush { time: flush.timestamp.map(|_| time), voice })
            }
            Record::Counters(counters) => (Base::Block, What::Counters(counters.clone())),
            Record::Setting(setting) => {
                let texts = [setting.name.as_bytes(), setting.value.as_bytes()];
                let (base, [name, value]) = self.spots(block, texts);
                (base, What::Setting { name, value })
            }
            Record::Engine(line) => (Base::Block, What::Engine(line.clone())),
            Record::Skipped(skipped) => {
                let (base, [text]) = self.spots(block, [skipped.text]);
                (base, What::Skipped { reason: skipped.reason, text })
            }
        };
        let (at, is_numbered) = self.stand(stand);
        self.others.push(Other { before: self.decodes.len(), at, is_numbered, base, what });
    }

    /// Adds a prefill line that begins at `at` of the block; its texts stand so far from there.
    pub(in crate::evidence) fn prefill(
        &mut self,
        at: u32,
        time: Option<Spot>,
        voice: u32,
        iteration: Option<u64>,
        message: Spot,
    ) {
        let what = What::Prefill { time, voice, iteration, message };
        let before = self.decodes.len();
        self.others.push(Other { before, at, is_numbered: false, base: Base::Line, what });
    }

    fn decode(&mut self, block: &[u8], stand: Stand, line: &DecodeLine<'_>) {
        let mut compact = CompactLine::of(line);
        compact.voice = self.voice(&line.tags);
        let (base, [time, message]) = self.spots(block, [time(line.timestamp), line.message]);
        let (at, is_numbered) = self.stand(stand);
        compact.at = at;
        let time = line.timestamp.map(|_| time);
        compact.shape = self.shape(Shape { base, time, message, is_numbered, ..Shape::of(line) });
        self.decodes.push(compact);
    }

    /// Where texts stand: all in the block, or all in a copy.
    fn spots<const N: usize>(&mut self, block: &[u8], texts: [&[u8]; N]) -> (Base, [Spot; N]) {
        let in_block =
            |text: &[u8]| if text.is_empty() { Some(Spot::default()) } else { Spot::find(block, text) };
        if texts.iter().all(|text| in_block(text).is_some()) {
            return (Base::Block, texts.map(|text| in_block(text).unwrap_or_default()));
        }
        let copies = texts.map(|text| {
            let at = index(self.kept.len());
            self.kept.extend_from_slice(text);
            Spot { at, len: index(text.len()) }
        });
        (Base::Kept, copies)
    }

    /// Where a line stands, and whether that is the index of its number.
    fn stand(&mut self, stand: Stand) -> (u32, bool) {
        match stand {
            Stand::At(at) => (index(at), false),
            Stand::Line(number) => {
                self.numbers.push(number);
                (index(self.numbers.len() - 1), true)
            }
        }
    }
}

fn time(timestamp: Option<Timestamp<'_>>) -> &[u8] {
    timestamp.map_or(&[], Timestamp::as_bytes)
}
