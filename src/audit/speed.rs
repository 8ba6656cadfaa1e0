//! Throughput of one rank: exact for thousands of lines, then in bins of a tenth of a percent.
//!
//! `gen throughput` divides by the wall time since the line before, idle time included. So a line says little when
//! it is a rank's first, when its implied step took five times as long as usual at its batch size, or when it ran
//! without a graph among lines that mostly had one.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::evidence::{CompactLine, Hundredths, Place};
use crate::law::float;

use super::recent::{Recent, Slots};

/// Lines per rank and per point that are kept one by one (64 bytes each).
const LINES_PER_RANK: usize = 1 << 16;
pub(super) const LINES_PER_POINT: usize = 1 << 17;

/// Bins of all ranks of a point together.
pub(super) const BINS_PER_POINT: usize = 1 << 16;

/// Bits of a double that a bin drops: with ten binary digits kept, it is a tenth of a percent wide.
const DROPPED_BITS: u32 = 42;

/// Where the throughput stands in a packed bin.
const TPS_AT: u32 = 35;

/// A window counts as idle when its step time exceeds the median at its batch size by this factor.
const IDLE_FACTOR: f64 = 5.0;

/// What is left of a point's memory for throughput.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) lines: usize,
    pub(super) bins: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { lines: LINES_PER_POINT, bins: BINS_PER_POINT }
    }
}

/// Lines alike: one line, or those of one bin.
#[derive(Clone, Copy, Debug)]
struct Item {
    lines: u64,
    batch: u32,
    /// Sum of tokens per second, in hundredths.
    tps: u64,
    /// Sum of accept lengths, in hundredths.
    hundredths: u64,
    graph: Option<bool>,
    /// A rank's first line.
    first: bool,
    /// The first of them.
    place: Place,
}

impl Item {
    fn mean_tps(&self) -> f64 {
        tokens(self.tps) / float(self.lines)
    }

    /// Seconds that one verify step seems to have taken.
    fn step_s(&self) -> f64 {
        f64::from(self.batch) * float(self.hundredths) / float(self.lines) / 100.0 / self.mean_tps()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Bin {
    batch: u32,
    graph: Option<bool>,
    first: bool,
    tps: u64,
}

/// The throughput of one rank's lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Speed {
    lines: Vec<Item>,
    bins: FxHashMap<Bin, Item>,
    /// Lines of bins that came lately, not yet counted in `bins`.
    recent: Recent<Sums, RECENT_BINS>,
}

/// Bins of lines that came lately: some thousand, as throughputs scatter.
const RECENT_BINS: usize = 2048;

/// The bins that came lately.
pub(super) struct RecentBins<'a>(Slots<'a, Sums, RECENT_BINS>);

impl RecentBins<'_> {
    /// The sums that a line with this throughput belongs to, if its bin came lately: `like` is the bin of a line that
    /// differs in the throughput alone.
    #[inline]
    pub(super) fn get(&mut self, like: BinKey, tps: u32) -> Option<&mut Sums> {
        let tps = bin_of(tps);
        let mixed = like.mixed.wrapping_add(u32::try_from(tps).unwrap_or(0));
        self.0.get(mixed, like.packed | tps << TPS_AT)
    }
}

/// A bin without its throughput, as far as lines of one look share it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BinKey {
    packed: u64,
    mixed: u32,
}

impl BinKey {
    /// Of lines that are not a rank's first.
    pub(super) fn of(batch: u32, graph: Option<bool>) -> Self {
        let bin = Bin { batch: coarse(batch), graph, first: false, tps: 0 };
        Self { packed: bin.packed(), mixed: bin.mixed() }
    }
}

/// What the lines of one bin add to it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    lines: u64,
    tps: u64,
    hundredths: u64,
}

/// What is left when the lines that say little are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SpeedSummary {
    /// Median and mean in tokens per second; `None` where no line had a throughput.
    pub(super) median_tps: Option<f64>,
    pub(super) steady_mean_tps: Option<f64>,
    /// Lines with idle time before them, and the first of them.
    pub(super) idle_lines: u64,
    pub(super) first_idle: Option<Place>,
}

impl Speed {
    #[inline]
    pub(super) fn add(
        &mut self,
        line: &CompactLine,
        graph: Option<bool>,
        first: bool,
        place: &impl Fn() -> Place,
        room: &mut Room,
    ) {
        let Some(tps) = line.throughput_hundredths() else { return };
        let batch = line.running_req();
        let hundredths = line.accept_len().map_or(100, Hundredths::count);
        let bin = Bin::of(batch, tps, graph, first);
        if let Some(sums) = self.recent.slot(bin.mixed(), bin.packed()) {
            return sums.add(tps, hundredths);
        }
        let (tps, hundredths) = (u64::from(tps), u64::from(hundredths));
        // Where the line stands is asked only for a new bin: to find out takes time.
        let known = self.bins.get(&bin).map(|known| known.place);
        let place = known.unwrap_or_else(place);
        self.look_up(Item { lines: 1, batch, tps, hundredths, graph, first, place }, room);
    }

    /// The bins that came lately.
    pub(super) fn recent(&mut self) -> Option<RecentBins<'_>> {
        self.recent.slots().map(RecentBins)
    }

    /// Counts a line whose bin did not come lately.
    #[inline(never)]
    fn look_up(&mut self, item: Item, room: &mut Room) {
        if self.bins.is_empty() && self.lines.len() < LINES_PER_RANK && room.lines > 0 {
            room.lines -= 1;
            self.lines.push(item);
            return;
        }
        for kept in std::mem::take(&mut self.lines) {
            room.lines += 1;
            self.bin(kept, room);
        }
        if let Some(bin) = self.bin(item, room)
            && let Some((key, sums)) = self.recent.put(bin.mixed(), bin.packed(), Sums::default())
        {
            count_in(&mut self.bins, Bin::unpacked(key), sums);
        }
    }

    /// Adds a line to its bin; `None` when there is no room for a new one.
    fn bin(&mut self, item: Item, room: &mut Room) -> Option<Bin> {
        let tps = u32::try_from(item.tps).unwrap_or(u32::MAX);
        let bin = Bin::of(item.batch, tps, item.graph, item.first);
        if let Some(binned) = self.bins.get_mut(&bin) {
            binned.lines += item.lines;
            binned.tps += item.tps;
            binned.hundredths += item.hundredths;
            binned.place = binned.place.min(item.place);
        } else if room.bins > 0 {
            room.bins -= 1;
            self.bins.insert(bin, item);
        } else {
            return None;
        }
        Some(bin)
    }

    /// Ends the rank: what came lately is counted, and its memory is free.
    pub(super) fn end(&mut self) {
        for (key, sums) in std::mem::take(&mut self.recent).iter() {
            count_in(&mut self.bins, Bin::unpacked(key), sums);
        }
    }

    /// What the lines add up to, once the rank has [ended](Self::end).
    pub(super) fn summary(&self) -> SpeedSummary {
        // In order, so that sums do not depend on the hash.
        let mut bins: Vec<_> = self.bins.iter().map(|(bin, item)| (*bin, *item)).collect();
        bins.sort_unstable_by_key(|(bin, _)| *bin);
        let items: Vec<Item> =
            self.lines.iter().copied().chain(bins.into_iter().map(|(_, item)| item)).collect();
        let typical = step_medians(&items);
        let is_idle = |item: &Item| {
            // Nothing may have been generated at all: then the step seems endless.
            typical.get(&item.batch).is_some_and(|median| item.step_s() > IDLE_FACTOR * median)
        };
        let count = |graph| -> u64 {
            items.iter().filter(|item| item.graph == Some(graph)).map(|item| item.lines).sum()
        };
        let mostly_graphs = count(true) > count(false);
        let is_kept =
            |item: &&Item| !(item.first || is_idle(item) || (mostly_graphs && item.graph == Some(false)));
        let mut kept: Vec<Item> = items.iter().filter(is_kept).copied().collect();
        if kept.is_empty() {
            kept.clone_from(&items);
        }
        let idle = || items.iter().filter(|item| is_idle(item));
        let lines: u64 = kept.iter().map(|item| item.lines).sum();
        let tps: u64 = kept.iter().map(|item| item.tps).sum();
        SpeedSummary {
            median_tps: median(kept.iter().map(|item| (item.mean_tps(), item.lines)).collect()),
            steady_mean_tps: (lines > 0).then(|| tokens(tps) / float(lines)),
            idle_lines: idle().map(|item| item.lines).sum(),
            first_idle: idle().map(|item| item.place).min(),
        }
    }
}

/// The bits of a throughput in hundredths that a bin keeps.
#[inline]
fn bin_of(tps: u32) -> u64 {
    f64::from(tps).to_bits() >> DROPPED_BITS
}

impl Bin {
    #[inline]
    fn of(batch: u32, tps: u32, graph: Option<bool>, first: bool) -> Self {
        Self { batch: coarse(batch), graph, first, tps: bin_of(tps) }
    }

    /// The bin in one word: 22 bits of a double, a batch, and what has three values or two.
    #[inline]
    fn packed(&self) -> u64 {
        let graph = match self.graph {
            None => 0,
            Some(false) => 1,
            Some(true) => 2,
        };
        // The bit on top tells it from none.
        1 << 63 | self.tps << TPS_AT | u64::from(self.first) << 34 | graph << 32 | u64::from(self.batch)
    }

    fn unpacked(packed: u64) -> Self {
        let graph = match packed >> 32 & 3 {
            0 => None,
            1 => Some(false),
            _ => Some(true),
        };
        Self {
            batch: u32::try_from(packed & u64::from(u32::MAX)).unwrap_or(0),
            graph,
            first: packed >> 34 & 1 == 1,
            tps: packed >> TPS_AT & ((1 << 22) - 1),
        }
    }

    /// A number that differs among the bins of one log.
    #[inline]
    fn mixed(&self) -> u32 {
        // Throughputs of one batch stand side by side.
        let tps = u32::try_from(self.tps & u64::from(u32::MAX)).unwrap_or(0);
        tps.wrapping_add(self.batch.wrapping_mul(0x9e37_79b1) >> 12).wrapping_add(u32::from(self.first) << 8)
    }
}

impl Sums {
    #[inline]
    pub(super) fn add(&mut self, tps: u32, hundredths: u32) {
        self.lines += 1;
        self.tps += u64::from(tps);
        self.hundredths += u64::from(hundredths);
    }
}

fn count_in(bins: &mut FxHashMap<Bin, Item>, bin: Bin, sums: Sums) {
    if let Some(item) = bins.get_mut(&bin) {
        item.lines += sums.lines;
        item.tps += sums.tps;
        item.hundredths += sums.hundredths;
    }
}

/// Hundredths in whole tokens.
fn tokens(hundredths: u64) -> f64 {
    float(hundredths) / 100.0
}

/// Batch sizes to seven binary digits: within 0.8 %.
fn coarse(batch: u32) -> u32 {
    let drop = 25_u32.saturating_sub(batch.leading_zeros());
    (batch >> drop) << drop
}

/// Median step time by batch size.
fn step_medians(items: &[Item]) -> BTreeMap<u32, f64> {
    let mut steps: BTreeMap<u32, Vec<(f64, u64)>> = BTreeMap::new();
    for item in items {
        steps.entry(item.batch).or_default().push((item.step_s(), item.lines));
    }
    steps.into_iter().filter_map(|(batch, steps)| Some((batch, median(steps)?))).collect()
}

/// The middle of values with counts; between two middle ones, their mean.
fn median(mut values: Vec<(f64, u64)>) -> Option<f64> {
    values.sort_by(|left, right| left.0.total_cmp(&right.0));
    let total: u64 = values.iter().map(|(_, count)| count).sum();
    let at = |rank: u64| {
        let mut passed = 0;
        values.iter().find(|(_, count)| {
            passed += count;
            passed > rank
        })
    };
    let (low, high) = (at(total.checked_sub(1)? / 2)?.0, at(total / 2)?.0);
    Some(f64::midpoint(low, high))
}

#[cfg(test)]
mod tests {
    use crate::evidence::{DecodeLine, Graph, GraphLabel, Tags};

    use super::*;

    fn add(speed: &mut Speed, number: u64, batch: u32, tps: f64, graph: bool, room: &mut Room) {
        let line = DecodeLine {
            timestamp: None,
            tags: Tags::default(),
            iteration: None,
            running_req: batch,
            accept_len: Some(Hundredths::new(200)),
            accept_rate: None,
            graph: Some(Graph { label: GraphLabel::Cuda, on: graph }),
            gen_throughput_tps: Some(tps),
            queue_req: 0,
            capped: false,
            message: b"",
        };
        speed.add(
            &CompactLine::of(&line),
            Some(graph),
            number == 0,
            &|| Place { file: 0, line: number },
            room,
        );
    }

    fn summary(lines: &[(u32, f64, bool)], room: &mut Room) -> SpeedSummary {
        let mut speed = Speed::default();
        for (number, (batch, tps, graph)) in (0..).zip(lines) {
            add(&mut speed, number, *batch, *tps, *graph, room);
        }
        speed.end();
        speed.summary()
    }

    #[test]
    fn first_idle_and_graphless_lines_are_dropped() {
        let lines = [
            (1, 0.39, true),
            (1, 178.0, true),
            (1, 165.0, true),
            (1, 12.0, true),
            (1, 170.0, true),
            (1, 60.0, false),
        ];
        let found = summary(&lines, &mut Room::default());
        assert_eq!(found.median_tps, Some(170.0));
        assert_eq!(found.steady_mean_tps, Some(171.0));
        assert_eq!((found.idle_lines, found.first_idle.map(|place| place.line)), (2, Some(0)));
    }

    #[test]
    fn a_rank_that_would_lose_every_line_keeps_them() {
        let found = summary(&[(8, 100.0, true)], &mut Room::default());
        assert_eq!((found.median_tps, found.idle_lines), (Some(100.0), 0));
        assert_eq!(summary(&[], &mut Room::default()), SpeedSummary::default());
    }

    #[test]
    fn a_line_without_any_throughput_is_idle() {
        let found = summary(&[(1, 100.0, true), (1, 100.0, true), (1, 0.0, true)], &mut Room::default());
        assert_eq!((found.median_tps, found.idle_lines), (Some(100.0), 1));
    }

    #[test]
    fn bins_pack_into_a_word() {
        for batch in [0, 1, 300, u32::MAX] {
            for tps in [0, 1, 170_250, u32::MAX] {
                for (graph, first) in [(None, true), (Some(false), false), (Some(true), true)] {
                    let bin = Bin::of(batch, tps, graph, first);
                    assert_eq!(Bin::unpacked(bin.packed()), bin);
                }
            }
        }
    }

    /// Bins give what single lines give, to their width.
    #[test]
    fn bins_are_close_to_exact() {
        let lines: Vec<_> = (0..5000_u32)
            .map(|i| (1 + i % 7, 500.0 + f64::from(i * 7919 % 400) + f64::from(1 + i % 7) * 100.0, true))
            .collect();
        let exact = summary(&lines, &mut Room::default());
        let binned = summary(&lines, &mut Room { lines: 100, bins: BINS_PER_POINT });
        for (exact, binned) in
            [(exact.median_tps, binned.median_tps), (exact.steady_mean_tps, binned.steady_mean_tps)]
        {
            let (exact, binned) = (exact.unwrap(), binned.unwrap());
            assert!((exact - binned).abs() < 1e-3 * exact, "{binned} is not {exact}");
        }
        let starved = summary(&lines, &mut Room { lines: 0, bins: 0 });
        assert_eq!(starved, SpeedSummary::default());
    }
}
