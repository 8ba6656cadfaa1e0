//! Throughput of one rank: exact for thousands of lines, then in bins of a tenth of a percent.
//!
//! `gen throughput` divides by the wall time since the line before, idle time included. So a line says little when
//! it is a rank's first, when its implied step took five times as long as usual at its batch size, or when it ran
//! without a graph among lines that mostly had one.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::evidence::{DecodeLine, Place};
use crate::law::float;

/// Lines per rank and per point that are kept one by one (56 bytes each).
const LINES_PER_RANK: usize = 1 << 16;
pub(super) const LINES_PER_POINT: usize = 1 << 17;

/// Bins of all ranks of a point together.
pub(super) const BINS_PER_POINT: usize = 1 << 16;

/// Bits of a double that a bin drops: with ten binary digits kept, it is a tenth of a percent wide.
const DROPPED_BITS: u32 = 42;

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
    /// Sum of tokens per second.
    tps: f64,
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
        self.tps / float(self.lines)
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
    pub(super) fn add(&mut self, line: &DecodeLine<'_>, first: bool, place: Place, room: &mut Room) {
        let Some(tps) = line.gen_throughput_tps.filter(|tps| tps.is_finite() && *tps >= 0.0) else { return };
        let item = Item {
            lines: 1,
            batch: line.running_req,
            tps,
            hundredths: line.accept_len.map_or(100, |printed| u64::from(printed.count())),
            graph: line.graph.map(|graph| graph.on),
            first,
            place,
        };
        if self.bins.is_empty() && self.lines.len() < LINES_PER_RANK && room.lines > 0 {
            room.lines -= 1;
            self.lines.push(item);
        } else {
            for kept in std::mem::take(&mut self.lines) {
                room.lines += 1;
                self.bin(kept, room);
            }
            self.bin(item, room);
        }
    }

    fn bin(&mut self, item: Item, room: &mut Room) {
        let bin = Bin {
            batch: coarse(item.batch),
            graph: item.graph,
            first: item.first,
            tps: item.tps.to_bits() >> DROPPED_BITS,
        };
        if let Some(binned) = self.bins.get_mut(&bin) {
            binned.lines += item.lines;
            binned.tps += item.tps;
            binned.hundredths += item.hundredths;
            binned.place = binned.place.min(item.place);
        } else if room.bins > 0 {
            room.bins -= 1;
            self.bins.insert(bin, item);
        }
    }

    pub(super) fn summary(&self) -> SpeedSummary {
        // In order, so that sums do not depend on the hash.
        let mut bins: Vec<_> = self.bins.iter().collect();
        bins.sort_unstable_by_key(|(bin, _)| **bin);
        let bins = bins.into_iter().map(|(_, item)| item);
        let items: Vec<Item> = self.lines.iter().chain(bins).copied().collect();
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
        let tps: f64 = kept.iter().map(|item| item.tps).sum();
        SpeedSummary {
            median_tps: median(kept.iter().map(|item| (item.mean_tps(), item.lines)).collect()),
            steady_mean_tps: (lines > 0).then(|| tps / float(lines)),
            idle_lines: idle().map(|item| item.lines).sum(),
            first_idle: idle().map(|item| item.place).min(),
        }
    }
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
    use crate::evidence::{Graph, GraphLabel, Hundredths, Tags};

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
        speed.add(&line, number == 0, Place { file: 0, line: number }, room);
    }

    fn summary(lines: &[(u32, f64, bool)], room: &mut Room) -> SpeedSummary {
        let mut speed = Speed::default();
        for (number, (batch, tps, graph)) in (0..).zip(lines) {
            add(&mut speed, number, *batch, *tps, *graph, room);
        }
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
