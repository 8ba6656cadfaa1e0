//! What the lines of one rank add up to.

use std::collections::hash_map;

use rustc_hash::FxHashMap;

use crate::evidence::{CompactLine, Hundredths, Place, Tags, Time};

use super::interval::Growth;
use super::kappa::{Kappa, KappaSums};
use super::rates::Rates;
use super::recent::{self, Recent, Slots};
use super::speed::{self, BinKey, RecentBins, Speed};
use super::tally::{self, Cell, Tally};
use super::trace::{self, Chain, Entry, Lag, Trace};
use super::values::Values;

/// Kinds of lines that one point counts apart (48 bytes each); real logs have thousands.
const KINDS_PER_POINT: usize = 1 << 17;

/// Kinds of lines that came lately: some hundred, as the values of one lattice are.
const RECENT_KINDS: usize = 512;

/// The places of a kind's numbers in one word.
const VALUE_AT: u32 = 42;
const VALUE_BITS: u32 = 16;
const RATE_AT: u32 = 28;
const RATE_BITS: u32 = 14;
const BATCH_BITS: u32 = 14;

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
    /// Of the first steady lines.
    pub(super) growth: Growth,
    /// The first line of a file during whose time another one has lines too: servers that ran side by side.
    pub(super) beside: Option<Place>,
}

/// When the lines of one file were logged, and the first of them.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: Time,
    last: Time,
    lines: u64,
    place: Place,
}

/// Lines of a file, at least, that stand for a server of their own: copies of another file's lines may differ in some.
const LEAST_BESIDE: u64 = 8;
const SHARE_BESIDE: u64 = 10;

impl Span {
    /// Times are told to the second: files that follow on each other may share one.
    fn is_beside(&self, other: &Self) -> bool {
        let (fewer, more) = (self.lines.min(other.lines), self.lines.max(other.lines));
        let are_servers = fewer >= LEAST_BESIDE && fewer >= more / SHARE_BESIDE;
        are_servers && self.first < other.last && other.first < self.last
    }
}

/// The lines of one look between which nothing happens: most lines of a log. What their sums share is here.
#[derive(Clone, Copy, Debug, Default)]
struct Calm {
    /// Whether the next line can be one.
    is_on: bool,
    shape: u32,
    batch: u32,
    /// The value of the line before.
    earlier: u32,
    /// The kind of such a line, without its value and rate.
    kind: u64,
    mixed: u32,
    bin: BinKey,
}

/// A run of such lines.
pub(super) struct CalmRun<'a> {
    calm: Calm,
    kinds: Slots<'a, u64, RECENT_KINDS>,
    bins: RecentBins<'a>,
    /// The values.
    chain: Chain,
}

impl CalmRun<'_> {
    /// The running requests of every line.
    pub(super) fn batch(&self) -> u32 {
        self.calm.batch
    }

    /// Adds a line; nothing is done, and `false`, when it takes more than that. A run has at most as many lines as a
    /// block.
    #[inline]
    pub(super) fn add(&mut self, line: &CompactLine) -> bool {
        let Some(tps) = line.throughput_hundredths() else { return false };
        // What is absent is too large.
        let hundredths = line.accept_len().map_or(u32::MAX, Hundredths::count);
        let rate = line.accept_rate().map_or(0, |rate| rate.count().wrapping_add(1));
        if hundredths >> VALUE_BITS != 0 || rate >> RATE_BITS != 0 {
            return false;
        }
        let key = self.calm.kind | u64::from(hundredths) << VALUE_AT | u64::from(rate) << RATE_AT;
        let Some(kind) = self.kinds.get(self.calm.mixed.wrapping_add(hundredths), key) else { return false };
        let Some(bin) = self.bins.get(self.calm.bin, tps) else { return false };
        *kind += 1;
        bin.add(tps, hundredths);
        self.chain.add(hundredths);
        true
    }

    /// The values of its lines.
    pub(super) fn end(self) -> Chain {
        self.chain
    }
}

/// Collects the lines of one rank.
///
/// A line costs one step of a small table of recent kinds: lines alike are counted, and the sums follow at the end. A
/// log whose lines are all different costs more time and no more memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Gather {
    rank: Rank,
    /// Pairs of the lines that found no room in `kinds`.
    rates: Rates,
    kinds: FxHashMap<Kind, Alike>,
    /// Lines of kinds that came lately, not yet counted in `kinds`.
    recent: Recent<u64, RECENT_KINDS>,
    before: Option<Before>,
    calm: Calm,
    prefilled: bool,
    begun: bool,
    /// Lines that were passed over as warm-up.
    passed: u64,
    /// The engine's time on the line before.
    time: Time,
    /// Of the file at hand, and of those before it.
    span: Option<Span>,
    spans: Vec<Span>,
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

    /// Forgets what the lines added up to, not what the next one has to know of them.
    pub(super) fn forget_sums(&mut self) {
        self.end_calm();
        self.rank = Rank { tags: self.rank.tags, ..Rank::default() };
        self.rates = Rates::default();
        self.kinds = FxHashMap::default();
        self.recent = Recent::default();
    }

    /// A new file.
    pub(super) fn begin_file(&mut self) {
        self.end_file();
        self.begin_segment();
    }

    fn end_file(&mut self) {
        let Some(span) = self.span.take() else { return };
        if self.rank.beside.is_none() {
            self.rank.beside = self.spans.iter().any(|other| other.is_beside(&span)).then_some(span.place);
            self.spans.push(span);
        }
    }

    /// A new stretch of lines: nothing before it tells about the next window.
    pub(super) fn begin_segment(&mut self) {
        self.break_window();
        self.begun = false;
    }

    /// The next window does not follow on the last one.
    pub(super) fn break_window(&mut self) {
        self.end_calm();
        self.before = None;
    }

    /// Requests joined the batch.
    pub(super) fn prefill(&mut self) {
        self.end_calm();
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

    /// The batch during the line before, where the next window follows on its.
    pub(super) fn batch_before(&self) -> Option<u32> {
        if self.calm.is_on { Some(self.calm.batch) } else { self.before.map(|before| before.batch) }
    }

    /// Whether the clock went back since the line before: logs were joined here.
    pub(super) fn is_before(&self, time: Option<Time>) -> bool {
        self.begun && time.is_some_and(|time| time < self.time)
    }

    /// The next line is looked at in full.
    pub(super) fn end_calm(&mut self) {
        if self.calm.is_on {
            self.calm.is_on = false;
            self.before = Some(Before { batch: self.calm.batch, steady: Some(self.calm.earlier) });
        }
    }

    /// Begins a run of lines that are like the one before but for their numbers: those of this shape; `None` where a
    /// line takes more than that.
    pub(super) fn calm_run(&mut self, shape: u32) -> Option<CalmRun<'_>> {
        if !(self.calm.is_on && self.calm.shape == shape) {
            return None;
        }
        Some(CalmRun {
            calm: self.calm,
            kinds: self.recent.slots()?,
            bins: self.rank.speed.recent()?,
            chain: Chain::behind(self.calm.earlier),
        })
    }

    /// Ends a run with these values, the last line of which had this time.
    pub(super) fn end_run(&mut self, values: &Chain, time: Time) {
        let (lines, hundredths) = values.values();
        self.rank.decode_lines += lines;
        self.rank.trace.add_calm(lines, hundredths);
        self.rank.lag.add_chain(values);
        self.rank.growth.pass();
        self.calm.earlier = values.last();
        self.time = time;
        self.span.iter_mut().for_each(|span| {
            span.last = span.last.max(time);
            span.lines += lines;
        });
    }

    /// Says what the next line must be like to be a calm one.
    fn begin_calm(&mut self, shape: u32, graph: Option<bool>) {
        let Some(Before { batch, steady: Some(earlier) }) = self.before else { return };
        if batch >= 1 << BATCH_BITS || earlier >> VALUE_BITS != 0 || !self.rank.trace.is_full() {
            return;
        }
        let alike = Kind { hundredths: 0, rate: None, before: batch, batch, steady: true };
        self.calm = Calm {
            is_on: true,
            shape,
            batch,
            earlier,
            kind: alike.packed(),
            mixed: alike.mixed(),
            bin: BinKey::of(batch, graph),
        };
    }

    #[inline]
    pub(super) fn add(
        &mut self,
        line: &CompactLine,
        graph: Option<bool>,
        is_capped: bool,
        time: Option<Time>,
        place: &impl Fn() -> Place,
        rooms: &mut Rooms,
    ) -> bool {
        self.end_calm();
        if let Some(time) = time {
            if self.is_before(Some(time)) {
                self.begin_segment();
            }
            self.time = time;
            let span =
                self.span.get_or_insert_with(|| Span { first: time, last: time, lines: 0, place: place() });
            (span.first, span.last) = (span.first.min(time), span.last.max(time));
            span.lines += 1;
        }

        self.rank.decode_lines += 1;
        self.rank.speed.add(line, graph, !self.begun, place, &mut rooms.speed);
        self.begun = true;

        let batch = line.running_req();
        let before = self.before.take();
        let steady = !self.prefilled && before.is_some_and(|before| before.batch == batch);
        self.prefilled = false;
        let printed = line.accept_len().map(Hundredths::count);
        self.before = Some(Before { batch, steady: printed.filter(|_| steady) });
        let Some(hundredths) = printed else { return steady };

        if let (true, Some(earlier)) = (steady, before.and_then(|before| before.steady)) {
            self.rank.lag.add(earlier, hundredths);
        }
        let rate = line.accept_rate().map(Hundredths::count);
        let before = before.map_or(batch, |before| before.batch);
        let trace = &mut self.rank.trace;
        if trace.has_room(rooms.trace) {
            trace.add(Entry { hundredths, before, batch, steady, place: place() }, &mut rooms.trace);
        } else {
            trace.leave_out(Cell { hundredths, before, batch });
        }
        let kind = Kind { hundredths, rate, before, batch, steady };
        if steady && !is_capped && graph != Some(false) {
            self.begin_calm(line.shape(), graph);
        }
        let key = kind.packed();
        match self.recent.slot(kind.mixed(), key) {
            Some(lines) => *lines += 1,
            None => self.look_up(kind, key, place, rooms),
        }
        steady
    }

    /// What the requests of the line that was just added hold, where that is still looked at.
    pub(super) fn grow(&mut self, line: &CompactLine, tokens: impl FnOnce() -> Option<u64>, is_steady: bool) {
        if let Some(hundredths) = line.accept_len()
            && self.rank.growth.has_room()
        {
            self.rank.growth.add(tokens(), hundredths.count(), line.running_req(), is_steady);
        }
    }

    /// Counts a line of a kind that did not come lately.
    #[inline(never)]
    fn look_up(&mut self, kind: Kind, key: u64, place: &impl Fn() -> Place, rooms: &mut Rooms) {
        match self.kinds.entry(kind) {
            hash_map::Entry::Occupied(_) => {}
            hash_map::Entry::Vacant(free) if rooms.kinds > 0 => {
                rooms.kinds -= 1;
                free.insert(Alike { lines: 0, first: place() });
            }
            hash_map::Entry::Vacant(_) => {
                let alike = Alike { lines: 1, first: place() };
                self.rank.count(kind, alike, &mut self.rates, &mut rooms.cells);
                return;
            }
        }
        if key == recent::NONE {
            count_in(&mut self.kinds, kind, 1);
        } else if let Some((key, lines)) = self.recent.put(kind.mixed(), key, 1) {
            count_in(&mut self.kinds, Kind::unpacked(key), lines);
        }
    }

    /// Ends the rank: the sums of the lines that were only counted.
    pub(super) fn finish(mut self, rooms: &mut Rooms, rates: &mut Rates) -> Rank {
        self.end_file();
        rates.merge(&self.rates);
        for (key, lines) in self.recent.iter() {
            count_in(&mut self.kinds, Kind::unpacked(key), lines);
        }
        // In order, so that what a full table leaves out does not depend on the hash.
        let mut kinds: Vec<_> = self.kinds.into_iter().collect();
        kinds.sort_unstable_by_key(|(kind, _)| *kind);
        for (kind, alike) in kinds {
            self.rank.count(kind, alike, rates, &mut rooms.cells);
        }
        self.rank.speed.end();
        self.rank
    }
}

fn count_in(kinds: &mut FxHashMap<Kind, Alike>, kind: Kind, lines: u64) {
    if let Some(alike) = kinds.get_mut(&kind) {
        alike.lines += lines;
    }
}

impl Kind {
    /// The kind in one word; [`recent::NONE`] where it does not fit: 16 bits for the value, 14 for the rate and each
    /// batch. Those of real logs do.
    #[inline]
    fn packed(&self) -> u64 {
        let rate = self.rate.map_or(0, |rate| rate.saturating_add(1));
        if self.hundredths >> VALUE_BITS != 0 || rate >> RATE_BITS != 0 {
            return recent::NONE;
        }
        if (self.before | self.batch) >> BATCH_BITS != 0 {
            return recent::NONE;
        }
        // The bit on top tells it from none.
        1 << 63
            | u64::from(self.steady) << 58
            | u64::from(self.hundredths) << VALUE_AT
            | u64::from(rate) << RATE_AT
            | u64::from(self.before) << 14
            | u64::from(self.batch)
    }

    fn unpacked(packed: u64) -> Self {
        let bits = |at: u32, count: u32| u32::try_from(packed >> at & ((1 << count) - 1)).unwrap_or(0);
        Self {
            hundredths: bits(VALUE_AT, VALUE_BITS),
            rate: bits(RATE_AT, RATE_BITS).checked_sub(1),
            before: bits(14, BATCH_BITS),
            batch: bits(0, BATCH_BITS),
            steady: bits(58, 1) == 1,
        }
    }

    /// A number that differs among the kinds of one log.
    #[inline]
    fn mixed(&self) -> u32 {
        // Values of one lattice stand side by side, batches apart.
        let batches =
            self.batch.wrapping_mul(0x9e37_79b1).wrapping_add(self.before.wrapping_mul(0x85eb_ca77));
        self.hundredths.wrapping_add(batches >> 12).wrapping_add(u32::from(self.steady) << 8)
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

#[cfg(test)]
mod tests;
