//! What a scanner found in a block.

use crate::evidence::{DecodeLine, Record, ServerStart, SkipReason, Tags, Timestamp};

use super::compact::{CompactLine, Flags, Spot, index};

/// Sets of tags that are compared with those of a new line; one behind them is kept again.
const COMPARED: usize = 64;

/// A record that is no decode line.
#[derive(Clone, Debug)]
pub(super) struct Other {
    /// Decode lines before it.
    pub(super) before: usize,
    pub(super) at: u32,
    pub(super) flags: Flags,
    pub(super) what: What,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Prefill { time: Spot, voice: u32, iteration: u64, message: Spot },
    Start(Box<ServerStart>),
    CacheFlush { time: Spot, voice: u32 },
    Skipped { reason: SkipReason, text: Spot },
}

/// The records of one block, in order. Its memory is used again for the next.
#[derive(Debug, Default)]
pub(in crate::evidence) struct Findings {
    pub(super) decodes: Vec<CompactLine>,
    pub(super) others: Vec<Other>,
    /// The sets of tags, by voice.
    pub(super) tags: Vec<Tags>,
    /// The texts of records that do not stand in the block as they are.
    pub(super) kept: Vec<u8>,
    pub(super) numbers: Vec<u64>,
    /// Which use of the memory this is; a voice of an earlier one says nothing.
    use_number: u64,
    last_voice: usize,
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
        self.others.clear();
        self.tags.clear();
        self.kept.clear();
        self.numbers.clear();
        self.use_number = use_number;
        self.last_voice = 0;
    }

    /// Which use of the memory this is.
    pub(in crate::evidence) fn use_number(&self) -> u64 {
        self.use_number
    }

    /// Adds a decode line whose texts stand in the block, at `at` of which the line begins.
    #[inline]
    pub(in crate::evidence) fn push(&mut self, at: u32, mut line: CompactLine) {
        line.at = at;
        self.decodes.push(line);
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
        self.last_voice = match known {
            Some(back) => self.tags.len() - 1 - back,
            None => {
                self.tags.push(*tags);
                self.tags.len() - 1
            }
        };
        index(self.last_voice)
    }

    /// Adds a record that borrows of `block`, or of a text that is not kept.
    pub(in crate::evidence) fn add(&mut self, block: &[u8], stand: Stand, record: &Record<'_>) {
        let mut flags = Flags::default();
        let what = match record {
            Record::Decode(line) => return self.decode(block, stand, line),
            Record::Prefill(line) => {
                flags = flags
                    .with(Flags::TIME, line.timestamp.is_some())
                    .with(Flags::ITERATION, line.iteration.is_some());
                let voice = self.voice(&line.tags);
                let [time, message] = self.spots(block, [time(line.timestamp), line.message], &mut flags);
                What::Prefill { time, voice, iteration: line.iteration.unwrap_or(0), message }
            }
            Record::Start(start) => What::Start(start.clone()),
            Record::CacheFlush(flush) => {
                flags = flags.with(Flags::TIME, flush.timestamp.is_some());
                let voice = self.voice(&flush.tags);
                let [time] = self.spots(block, [time(flush.timestamp)], &mut flags);
                What::CacheFlush { time, voice }
            }
            Record::Skipped(skipped) => {
                let [text] = self.spots(block, [skipped.text], &mut flags);
                What::Skipped { reason: skipped.reason, text }
            }
        };
        let at = self.stand(stand, &mut flags);
        self.others.push(Other { before: self.decodes.len(), at, flags, what });
    }

    /// Adds a prefill line whose texts stand in the block.
    pub(in crate::evidence) fn prefill(
        &mut self,
        at: u32,
        time: Option<Spot>,
        voice: u32,
        iteration: Option<u64>,
        message: Spot,
    ) {
        let flags = Flags::default()
            .with(Flags::TIME, time.is_some())
            .with(Flags::ITERATION, iteration.is_some());
        let what = What::Prefill {
            time: time.unwrap_or_default(),
            voice,
            iteration: iteration.unwrap_or(0),
            message,
        };
        self.others.push(Other { before: self.decodes.len(), at, flags, what });
    }

    fn decode(&mut self, block: &[u8], stand: Stand, line: &DecodeLine<'_>) {
        let mut compact = CompactLine::of(line);
        compact.voice = self.voice(&line.tags);
        let texts = [time(line.timestamp), line.message];
        [compact.time, compact.message] = self.spots(block, texts, &mut compact.flags);
        compact.at = self.stand(stand, &mut compact.flags);
        self.decodes.push(compact);
    }

    /// Where texts stand: all in the block, or all in a copy.
    fn spots<const N: usize>(&mut self, block: &[u8], texts: [&[u8]; N], flags: &mut Flags) -> [Spot; N] {
        let in_block = |text: &[u8]| if text.is_empty() { Some(Spot::default()) } else { Spot::find(block, text) };
        if texts.iter().all(|text| in_block(text).is_some()) {
            return texts.map(|text| in_block(text).unwrap_or_default());
        }
        *flags = flags.with(Flags::KEPT, true);
        texts.map(|text| {
            let at = index(self.kept.len());
            self.kept.extend_from_slice(text);
            Spot { at, len: index(text.len()) }
        })
    }

    fn stand(&mut self, stand: Stand, flags: &mut Flags) -> u32 {
        match stand {
            Stand::At(at) => index(at),
            Stand::Line(number) => {
                *flags = flags.with(Flags::NUMBERED, true);
                self.numbers.push(number);
                index(self.numbers.len() - 1)
            }
        }
    }
}

fn time(timestamp: Option<Timestamp<'_>>) -> &[u8] {
    timestamp.map_or(&[], Timestamp::as_bytes)
}
