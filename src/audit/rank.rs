//! What the lines of one rank add up to.

use std::collections::hash_map;

use rustc_hash::FxHashMap;

use crate::evidence::{DecodeLine, Hundredths, Place, Tags, Timestamp};

use super::kappa::{Kappa, KappaSums};
use super::rates::Rates;
use super::speed::{self, Speed};
use super::tally::{self, Cell, Tally};
use super::trace::{self, Entry, Lag, Trace};
use super::values::Values;

/// Kinds of lines that one point counts apart (48 bytes each); real logs have thousands.
const KINDS_PER_POINT: usize = 1 << 17;

/// Memory that the ranks of one point share.
#[derive(Clone, Debug)]
pub(super) struct Rooms {
    /// Kinds of lines that can still be counted apart.
    kinds: usize,
    cells: tally::Budget,
    trace: usize,
    speed: speed::Room,
}

impl Default for Rooms {
    fn default() -> Self {
        Self {
            kinds: KINDS_PER_POINT,
            cells: tally::Budget::default(),
            trace: trace::LINES_PER_POINT,
            speed: speed::Room::default(),
        }
    }
}

/// The line before, as far as the next one needs it.
#[derive(Clone, Copy, Debug)]
struct Before {
    batch: u32,
    /// Its printed value, if it was steady itself.
    steady: Option<u32>,
}

/// All that tells two lines of one rank apart in the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Kind {
    hundredths: u32,
    rate: Option<u32>,
    /// `#running-req` of the line before; of the line itself where none is known.
    before: u32,
    batch: u32,
    steady: bool,
}

/// Lines of one kind.
#[derive(Clone, Copy, Debug)]
struct Alike {
    lines: u64,
    /// The first of them.
    first: Place,
}

/// Sums over the lines of one rank. Only lines with running requests come here.
#[derive(Clone, Debug, Default)]
pub(super) struct Rank {
    pub(super) tags: Tags,
    pub(super) decode_lines: u64,
    pub(super) spec_lines: u64,
    /// Sum of the printed accept lengths, in hundredths.
    pub(super) hundredths: u128,
    /// The same weighed by running requests, and the sum of these.
    pub(super) batch_hundredths: u128,
    pub(super) batches: u128,
    /// Largest batch of a speculative line.
    pub(super) max_batch: Option<u32>,
    /// All speculative lines, weighed by kappa.
    pub(super) sums: KappaSums,
    pub(super) values: Values,
    /// Lines whose batch equals that of the line before, no prefill between.
    pub(super) steady: Tally,
    /// All others.
    pub(super) changing: Tally,
    pub(super) trace: Trace,
    pub(super) lag: Lag,
    pub(super) speed: Speed,
}

/// Collects the lines of one rank.
///
/// A line costs one step of a hash table: lines alike are counted, and the sums follow at the end. A log whose lines
/// are all different costs more time and no more memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Gather {
    rank: Rank,
    /// Pairs of the lines that found no room in `kinds`.
    rates: Rates,
    kinds: FxHashMap<Kind, Alike>,
    before: Option<Before>,
    prefilled: bool,
    begun: bool,
    /// Lines that were passed over as warm-up.
    passed: u64,
    /// The engine's time on the line before.
    time: Vec<u8>,
}

impl Gather {
    pub(super) fn new(tags: Tags) -> Self {
        Self { rank: Rank { tags, ..Rank::default() }, ..Self::default() }
    }

    pub(super) fn tags(&self) -> Tags {
        self.rank.tags
    }

    pub(super) fn set_tags(&mut self, tags: Tags) {
        self.rank.tags = tags;
    }

    /// A new stretch of lines: nothing before it tells about the next window.
    pub(super) fn begin_segment(&mut self) {
        self.break_window();
        self.begun = false;
    }

    /// The next window does not follow on the last one.
    pub(super) fn break_window(&mut self) {
        self.before = None;
    }

    /// Requests joined the batch.
    pub(super) fn prefill(&mut self) {
        self.prefilled = true;
    }

    /// Whether any line came.
    pub(super) fn has_lines(&self) -> bool {
        self.rank.decode_lines > 0
    }

    /// Whether the line is one of the first so many, which do not count.
    pub(super) fn is_warming_up(&mut self, lines: u64) -> bool {
        let is_early = self.passed < lines;
        self.passed += u64::from(is_early);
        is_early
    }

    /// Whether the clock went back since the line before: logs were joined here.
    pub(super) fn is_before(&self, line: &DecodeLine<'_>) -> bool {
        self.begun && line.timestamp.is_some_and(|time| time.as_bytes() < self.time.as_slice())
    }

    pub(super) fn add(&mut self, line: &DecodeLine<'_>, place: Place, rooms: &mut Rooms) {
        if let Some(time) = line.timestamp.map(Timestamp::as_bytes) {
            if self.is_before(line) {
                self.begin_segment();
            }
            self.time.clear();
            self.time.extend_from_slice(time);
        }

        self.rank.decode_lines += 1;
        self.rank.speed.add(line, !self.begun, place, &mut rooms.speed);
        self.begun = true;

        let batch = line.running_req;
        let before = self.before.take();
        let steady = !self.prefilled && before.is_some_and(|before| before.batch == batch);
        self.prefilled = false;
        let printed = line.accept_len.map(Hundredths::count);
        self.before = Some(Before { batch, steady: printed.filter(|_| steady) });
        let Some(hundredths) = printed else { return };

        if let (true, Some(earlier)) = (steady, before.and_then(|before| before.steady)) {
            self.rank.lag.add(earlier, hundredths);
        }
        let rate = line.accept_rate.map(Hundredths::count);
        let before = before.map_or(batch, |before| before.batch);
        self.rank.trace.add(Entry { hundredths, before, batch, steady, place }, &mut rooms.trace);
        let kind = Kind { hundredths, rate, before, batch, steady };
        match self.kinds.entry(kind) {
            hash_map::Entry::Occupied(mut alike) => alike.get_mut().lines += 1,
            hash_map::Entry::Vacant(free) if rooms.kinds > 0 => {
                rooms.kinds -= 1;
                free.insert(Alike { lines: 1, first: place });
            }
            hash_map::Entry::Vacant(_) => {
                self.rank.count(kind, Alike { lines: 1, first: place }, &mut self.rates, &mut rooms.cells);
            }
        }
    }

    /// Ends the rank: the sums of the lines that were only counted.
    pub(super) fn finish(mut self, rooms: &mut Rooms, rates: &mut Rates) -> Rank {
        rates.merge(&self.rates);
        // In order, so that what a full table leaves out does not depend on the hash.
        let mut kinds: Vec<_> = self.kinds.into_iter().collect();
        kinds.sort_unstable_by_key(|(kind, _)| *kind);
        for (kind, alike) in kinds {
            self.rank.count(kind, alike, rates, &mut rooms.cells);
        }
        self.rank
    }
}

impl Rank {
    /// Adds lines alike to the sums.
    fn count(&mut self, kind: Kind, alike: Alike, rates: &mut Rates, cells: &mut tally::Budget) {
        let Kind { hundredths, rate, before, batch, steady } = kind;
        let Alike { lines, first } = alike;
        let kappa = Kappa::between(before, batch);
        let weight = u128::from(batch) * u128::from(lines);
        self.spec_lines += lines;
        self.hundredths += u128::from(hundredths) * u128::from(lines);
        self.batch_hundredths += u128::from(hundredths) * weight;
        self.batches += weight;
        self.max_batch = self.max_batch.max(Some(batch));
        self.sums.add(hundredths, kappa, lines);
        self.values.add(hundredths, kappa, lines, first);
        if let Some(rate) = rate {
            rates.add(hundredths, rate, first);
        }
        let tally = if steady { &mut self.steady } else { &mut self.changing };
        tally.add(Cell { hundredths, before, batch }, lines, cells);
    }
}
