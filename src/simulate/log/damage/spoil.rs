//! Damage to the records of a block, and what it costs a reader.

use memchr::memmem;

use super::wrap::physical_line;
use super::{Damage, Rate};
use crate::law::float;
use crate::simulate::log::draws::Mixer;
use crate::simulate::log::summary::{DamageCounts, Fate};
use crate::simulate::log::text::Text;
use crate::simulate::log::time::Clock;

/// What a reader makes of an undamaged line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::simulate::log) enum Record {
    /// A decode line.
    Decode,
    /// Another record with a head of its own.
    Other,
    /// Nothing.
    None,
    /// A sentence; in the middle of a record it makes a reader think of prose.
    Prose,
}

/// Where the lines of a block stand, without their line breaks.
#[derive(Debug, Default)]
pub(in crate::simulate::log) struct Records(Vec<Span>);

#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
    kind: Record,
    at: u64,
    rank: u32,
}

impl Records {
    /// Adds the line that stands from `start` to `end` of the block's text.
    pub(in crate::simulate::log) fn push(
        &mut self,
        start: usize,
        end: usize,
        kind: Record,
        at: u64,
        rank: u32,
    ) {
        self.0.push(Span { start, end, kind, at, rank });
    }

    pub(in crate::simulate::log) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Span {
    fn of<'a>(&self, text: &'a Text) -> &'a [u8] {
        text.as_bytes().get(self.start..self.end).unwrap_or(&[])
    }

    fn place(&self) -> (u64, u32) {
        (self.at, self.rank)
    }
}

impl Mixer {
    /// Whether something of this rate happens.
    pub(super) fn hits(&mut self, rate: Rate) -> bool {
        rate.get() > 0.0 && self.share() < rate.get()
    }

    /// A number from 0 to 1, 1 excluded.
    fn share(&mut self) -> f64 {
        float(self.next() >> 11) / float(1 << 53)
    }

    /// An index from `low` to `high`, both included.
    pub(super) fn index(&mut self, low: usize, high: usize) -> usize {
        let wide = |index| u64::try_from(index).unwrap_or(u64::MAX);
        usize::try_from(self.between(wide(low), wide(high.max(low)))).unwrap_or(low)
    }
}

/// Damages blocks of lines.
#[derive(Debug)]
pub(in crate::simulate::log) struct Spoiler<'a> {
    damage: &'a Damage,
    chance: Mixer,
    counts: DamageCounts,
    fates: Vec<Fate>,
}

/// What happens to a decode line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blow {
    Cut,
    Interleave,
    Repeat,
    Glue,
    None,
}

impl<'a> Spoiler<'a> {
    /// For one block; its number decides what happens in it.
    pub(in crate::simulate::log) fn new(damage: &'a Damage, seed: u64, block: u64) -> Self {
        let chance = Mixer::new(seed, block ^ 0xda_3a9e << 32);
        Self { damage, chance, counts: DamageCounts::default(), fates: Vec::new() }
    }

    /// What was done, and what became of each decode line.
    pub(in crate::simulate::log) fn finish(self) -> (DamageCounts, Vec<Fate>) {
        (self.counts, self.fates)
    }

    /// Writes the lines of a block to `out` with what happens to them.
    pub(in crate::simulate::log) fn spoil(
        &mut self,
        text: &Text,
        records: &Records,
        clock: &mut Clock,
        out: &mut Text,
    ) {
        let mut rest = records.0.as_slice();
        while let [line, behind @ ..] = rest {
            let blow = if line.kind == Record::Decode { self.blow() } else { Blow::None };
            let taken = match (blow, behind.first()) {
                (Blow::Cut, _) => self.cut(line, text, clock, out),
                (Blow::Repeat, _) => self.repeat(line, text, clock, out),
                (Blow::Interleave, Some(next)) if next.kind != Record::Prose => {
                    self.interleave(line, next, text, clock, out)
                }
                (Blow::Glue, Some(next)) if matches!(next.kind, Record::Decode | Record::Other) => {
                    self.counts.glued += 1;
                    self.write(line, &[line.of(text), next.of(text)], clock, out);
                    self.fate(line, Fate::Whole);
                    self.fate(next, Fate::Whole);
                    2
                }
                _ => self.whole(line, text, clock, out),
            };
            rest = rest.get(taken..).unwrap_or(&[]);
        }
    }

    fn blow(&mut self) -> Blow {
        let mut share = self.chance.share();
        for (rate, blow) in [
            (self.damage.truncated, Blow::Cut),
            (self.damage.interleaved, Blow::Interleave),
            (self.damage.duplicated, Blow::Repeat),
            (self.damage.glued, Blow::Glue),
        ] {
            if share < rate.get() {
                return blow;
            }
            share -= rate.get();
        }
        Blow::None
    }

    fn fate(&mut self, line: &Span, fate: Fate) {
        if line.kind == Record::Decode {
            self.fates.push(fate);
        }
    }

    fn write(&mut self, line: &Span, parts: &[&[u8]], clock: &mut Clock, out: &mut Text) {
        let is_split = physical_line(self.damage, parts, line.place(), clock, &mut self.chance, out);
        self.counts.split += u64::from(is_split);
    }

    fn whole(&mut self, line: &Span, text: &Text, clock: &mut Clock, out: &mut Text) -> usize {
        let bytes = line.of(text);
        let bracket = memchr::memchr(b']', bytes).filter(|_| self.chance.hits(self.damage.coloured));
        if let Some((prefix, message)) = bracket.and_then(|end| bytes.split_at_checked(end + 1)) {
            self.counts.coloured += 1;
            let (before, value, behind) = accept_len(message);
            let colours: [&[u8]; 2] = if value.is_empty() { [b"", b""] } else { [b"\x1b[1;33m", b"\x1b[0m"] };
            let parts = [b"\x1b[32m", prefix, b"\x1b[0m", before, colours[0], value, colours[1], behind];
            self.write(line, &parts, clock, out);
        } else {
            self.write(line, &[bytes], clock, out);
        }
        self.fate(line, Fate::Whole);
        1
    }

    fn cut(&mut self, line: &Span, text: &Text, clock: &mut Clock, out: &mut Text) -> usize {
        let bytes = line.of(text);
        let Some((low, high)) = cuts(bytes) else { return self.whole(line, text, clock, out) };
        let end = self.chance.index(low, high + QUEUE.len() + 2);
        self.counts.truncated += 1;
        self.write(line, &[bytes.get(..end).unwrap_or(bytes)], clock, out);
        self.fate(line, Fate::Lost);
        1
    }

    fn repeat(&mut self, line: &Span, text: &Text, clock: &mut Clock, out: &mut Text) -> usize {
        self.counts.duplicated += 1;
        for _ in 0..2 {
            self.write(line, &[line.of(text)], clock, out);
        }
        self.fate(line, Fate::Repeated);
        1
    }

    fn interleave(
        &mut self,
        line: &Span,
        next: &Span,
        text: &Text,
        clock: &mut Clock,
        out: &mut Text,
    ) -> usize {
        let bytes = line.of(text);
        let Some((low, high)) = cuts(bytes) else { return self.whole(line, text, clock, out) };
        // The comma before the last field goes with the rest: without it that field would read as a wrapper's remark.
        let at = self.chance.index(low, high.saturating_sub(2));
        let (head, tail) = bytes.split_at_checked(at).unwrap_or((bytes, &[]));
        self.counts.interleaved += 1;
        self.fate(line, Fate::Lost);
        if next.kind == Record::Decode && self.chance.next().is_multiple_of(2) {
            // Both fields of the next line and the rest of this one stand on one line: neither can be told.
            self.write(line, &[head, next.of(text), tail], clock, out);
            self.fate(next, Fate::Lost);
        } else {
            self.write(line, &[head, next.of(text)], clock, out);
            self.write(line, &[tail], clock, out);
            self.fate(next, Fate::Whole);
        }
        2
    }
}

const QUEUE: &[u8] = b"#queue-req";

/// Where a decode line can be cut so that a reader knows it: behind the name of its first field and before that of
/// its last one.
fn cuts(line: &[u8]) -> Option<(usize, usize)> {
    const FIRST: &[u8] = b"#running-req";
    let low = memmem::find(line, FIRST)? + FIRST.len();
    let high = memmem::rfind(line, QUEUE)?;
    (low <= high).then_some((low, high))
}

/// A message split around the value of its accept length; all of it comes first where it has none.
fn accept_len(message: &[u8]) -> (&[u8], &[u8], &[u8]) {
    const NAME: &[u8] = b" accept len: ";
    let Some((before, rest)) =
        memmem::find(message, NAME).and_then(|at| message.split_at_checked(at + NAME.len()))
    else {
        return (message, &[], &[]);
    };
    let (value, behind) =
        memchr::memchr(b',', rest).and_then(|at| rest.split_at_checked(at)).unwrap_or((rest, &[]));
    (before, value, behind)
}
