//! The lines that are judged: all of them, or those of one rank where the ranks are one sample.

use std::collections::BTreeMap;

use crate::evidence::Place;
use crate::law::{Lattice, StepRange, Window};

use super::correlation::{RankCorrelation, correlate};
use super::interval::Growth;
use super::kappa::{Kappa, KappaSums};
use super::observed::Observed;
use super::rank::Rank;
use super::tally::Cell;
use super::trace::{Kept, Lag};

/// The ranks with accept lengths, and how they hang together.
#[derive(Default)]
pub(super) struct Sample<'a> {
    /// Ranks with speculative lines.
    pub(super) ranks: Vec<&'a Rank>,
    pub(super) correlation: Option<RankCorrelation>,
    /// The ranks that are judged: one where they are one sample, else all.
    pub(super) judged: Vec<&'a Rank>,
    /// Steady lines of the judged ranks by cell, in order.
    pub(super) steady: Vec<(Cell, u64)>,
    /// The other lines of the judged ranks.
    pub(super) changing: Vec<(Cell, u64)>,
    /// Neighbouring steady lines of the judged ranks.
    pub(super) lag: Lag,
    /// Of some lines only sums are known.
    pub(super) is_summed: bool,
    /// Batches change, and no prefill line tells when: a line with as many requests as the one before may stand for
    /// others all the same.
    pub(super) is_blind: bool,
    /// How many steps a line stands for, as its requests grow.
    pub(super) growth: Option<StepRange>,
}

impl<'a> Sample<'a> {
    pub(super) fn new(seen: &'a Observed) -> Self {
        let ranks: Vec<&Rank> = seen.ranks.iter().filter(|rank| rank.spec_lines > 0).collect();
        let correlation = correlate(&ranks, seen.is_summed);
        let judged: Vec<&Rank> = if correlation.as_ref().is_some_and(RankCorrelation::is_shared) {
            // Of equal ones the first.
            ranks.iter().copied().rev().max_by_key(|rank| rank.steady.lines()).into_iter().collect()
        } else {
            ranks.clone()
        };
        let mut lag = Lag::default();
        for rank in &judged {
            lag.merge(&rank.lag);
        }
        let steady = merged(judged.iter().map(|rank| rank.steady.sorted()));
        let changing = merged(judged.iter().map(|rank| rank.changing.sorted()));
        let is_blind = !seen.has_prefills && seen.batch.is_some_and(|(min, max)| min != max);
        // Without them nobody knows when requests joined, and those bring their prompts along.
        let growth = ranks.iter().map(|rank| &rank.growth).filter(|_| seen.has_prefills);
        let growth = Growth::range(growth);
        Self {
            ranks,
            correlation,
            judged,
            steady,
            changing,
            lag,
            is_summed: seen.is_summed,
            is_blind,
            growth,
        }
    }

    /// Some lines on their own, of no rank.
    pub(super) fn of_lines(lines: &[Kept], is_blind: bool) -> Self {
        let (mut steady, mut changing) = (BTreeMap::new(), BTreeMap::new());
        for line in lines {
            let cells = if line.is_steady() { &mut steady } else { &mut changing };
            *cells.entry(line.cell()).or_insert(0) += 1;
        }
        Self {
            steady: steady.into_iter().collect(),
            changing: changing.into_iter().collect(),
            is_blind,
            ..Self::default()
        }
    }

    /// Lines of the judged ranks.
    pub(super) fn lines(&self) -> u64 {
        self.steady_lines() + self.changing.iter().map(|(_, count)| count).sum::<u64>()
    }

    pub(super) fn steady_lines(&self) -> u64 {
        self.steady.iter().map(|(_, count)| count).sum()
    }

    /// The judged lines with the batch during their windows.
    pub(super) fn windows(&self) -> impl Iterator<Item = (u32, Window, u64)> + '_ {
        let steady = self
            .steady
            .iter()
            .map(|(cell, count)| (cell.hundredths, Window::Steady { batch: cell.batch }, *count));
        let changing = self.changing.iter().map(|(cell, count)| {
            let kappa = Kappa::between(cell.before, cell.batch).get();
            let batch = f64::midpoint(f64::from(cell.before), f64::from(cell.batch));
            (cell.hundredths, Window::Changing { kappa, batch }, *count)
        });
        steady.chain(changing)
    }

    /// Smallest and largest printed value of all lines of all ranks, in hundredths.
    pub(super) fn range(&self) -> Option<(u32, u32)> {
        let values = || {
            let ranks = self.ranks.iter().flat_map(|rank| rank.values.iter().map(|value| value.hundredths));
            ranks.chain(self.windows().map(|(hundredths, ..)| hundredths))
        };
        Some((values().min()?, values().max()?))
    }

    /// The value farthest outside `[lo, hi]` that any line of any rank shows, in hundredths, and the first line that
    /// shows a value outside.
    pub(super) fn outside(&self, lo: u32, hi: u32) -> Option<(u32, Option<Place>)> {
        let (low, high) = (lo.saturating_mul(100), hi.saturating_mul(100));
        let distance = |value: u32| low.saturating_sub(value).max(value.saturating_sub(high));
        let values = || self.ranks.iter().flat_map(|rank| rank.values.iter());
        // A printed value is off by at most 0.005, so one hundredth outside is outside.
        let outside = || values().filter(|value| distance(value.hundredths) > 0);
        let farthest = outside().map(|value| value.hundredths).max_by_key(|value| distance(*value))?;
        Some((farthest, outside().map(|value| value.first).min()))
    }

    /// The whole number that every line shows, if they all show the same one.
    pub(super) fn constant(&self) -> Option<u32> {
        let (low, high) = self.range()?;
        (low == high && low.is_multiple_of(100)).then_some(low / 100)
    }

    /// Mean of all lines of all ranks weighed by kappa, in tokens; of the lines where they have no rank.
    pub(super) fn mean(&self) -> f64 {
        if self.ranks.is_empty() {
            let mut sums = KappaSums::default();
            for (cell, count) in self.steady.iter().chain(&self.changing) {
                sums.add(cell.hundredths, Kappa::between(cell.before, cell.batch), *count);
            }
            return sums.tokens() / sums.kappa();
        }
        let sum = |of: fn(&Rank) -> f64| self.ranks.iter().map(|rank| of(rank)).sum::<f64>();
        sum(|rank| rank.sums.tokens()) / sum(|rank| rank.sums.kappa())
    }

    /// The printed values of the steady lines in hundredths, ascending, each with its number of lines.
    pub(super) fn steady_values(&self) -> Vec<(u32, u64)> {
        let mut values: Vec<(u32, u64)> = Vec::new();
        for (cell, count) in &self.steady {
            match values.last_mut().filter(|last| last.0 == cell.hundredths) {
                Some(last) => last.1 += count,
                None => values.push((cell.hundredths, *count)),
            }
        }
        values
    }

    /// Steady lines whose value no `steps` whole draws shared by a batch can give.
    pub(super) fn off_lattice(&self, steps: u32) -> u64 {
        let on_lattice: u64 = self.on_lattice(steps).map(|(_, count)| count).sum();
        self.steady_lines() - on_lattice
    }

    /// The other steady lines, whatever whole lengths their draws had.
    pub(super) fn on_lattice(&self, steps: u32) -> impl Iterator<Item = &(Cell, u64)> {
        // The cells are ordered by value, so one lattice at a time is enough.
        let mut floor = 0;
        let mut lattice = Lattice::new(floor, steps);
        self.steady.iter().filter(move |(cell, _)| {
            if cell.hundredths / 100 != floor {
                floor = cell.hundredths / 100;
                lattice = Lattice::new(floor, steps);
            }
            lattice.contains(cell.hundredths)
        })
    }
}

/// The cells of several ranks as one ordered list.
fn merged(tallies: impl Iterator<Item = Vec<(Cell, u64)>>) -> Vec<(Cell, u64)> {
    let mut cells: Vec<(Cell, u64)> = tallies.flatten().collect();
    cells.sort_unstable();
    cells.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        if is_same {
            kept.1 += next.1;
        }
        is_same
    });
    cells
}
