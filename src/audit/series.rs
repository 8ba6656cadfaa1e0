//! The lines of a point in their order, for plots: exact while they are few, then by stretches of which the smallest, the
//! largest and the mean value are kept. Bounded memory; nothing is judged by it.

use std::collections::BTreeMap;

use crate::evidence::{CompactLine, Hundredths, Place, Tags, Timestamp};
use crate::law::float;
use crate::simulate::log::LocalTime;

/// Stretches of one rank; before there are more, neighbours are joined.
const STRETCHES: usize = 1024;

/// Ranks whose lines are kept; those beyond are only counted.
const MOST_RANKS: usize = 64;

/// Printed values counted apart; a lattice has some hundred.
const MOST_VALUES: usize = 4096;

/// What the lines of one point show, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The ranks, in the order in which they first print.
    pub ranks: Vec<RankSeries>,
    /// Lines of ranks beyond those that are kept.
    pub left_out: u64,
    /// Speculative lines by printed accept length, in hundredths.
    pub values: BTreeMap<u32, ValueCount>,
    /// Lines whose value found no room there.
    pub other_values: u64,
}

/// Lines that print one accept length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValueCount {
    /// Those whose batch equals that of the line before, no prefill between.
    pub steady: u64,
    /// The others.
    pub changing: u64,
}

/// The lines of one rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankSeries {
    /// Its tags.
    pub tags: Tags,
    /// Decode lines.
    pub lines: u64,
    /// Whether every line has a time and none lies before that of the line before.
    pub is_timed: bool,
    /// Lines of a stretch; the last one may have fewer.
    pub span: u64,
    /// The stretches, in order.
    pub stretches: Vec<LineStretch>,
}

/// Lines that follow one another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineStretch {
    /// Number of its first line among those of the rank, from 0.
    pub number: u64,
    /// Lines.
    pub lines: u64,
    /// Where the first and the last of them stand.
    pub places: (Place, Place),
    /// Seconds on the engine's clock of the first and the last line; 0 where it is not known.
    pub seconds: (f64, f64),
    /// Accept lengths, in tokens a verify step.
    pub accept_len: Extent,
    /// Running requests.
    pub running_req: Extent,
    /// Tokens a second.
    pub tps: Extent,
}

/// Smallest, largest and mean of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// How many.
    pub count: u64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    sum: f64,
}

impl Default for Extent {
    fn default() -> Self {
        Self { count: 0, min: f64::INFINITY, max: f64::NEG_INFINITY, sum: 0.0 }
    }
}

impl Extent {
    /// Of one value, or of none.
    #[must_use]
    pub fn of(value: Option<f64>) -> Self {
        value.map_or_else(Self::default, |value| Self { count: 1, min: value, max: value, sum: value })
    }

    /// The mean; `None` without a value.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / float(self.count))
    }

    fn join(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            sum: self.sum + other.sum,
        }
    }
}

impl LineStretch {
    fn join(self, next: Self) -> Self {
        Self {
            number: self.number,
            lines: self.lines + next.lines,
            places: (self.places.0, next.places.1),
            seconds: (self.seconds.0, next.seconds.1),
            accept_len: self.accept_len.join(next.accept_len),
            running_req: self.running_req.join(next.running_req),
            tps: self.tps.join(next.tps),
        }
    }
}

impl RankSeries {
    fn add(&mut self, line: LineStretch, is_timed: bool) {
        let last = self.stretches.last().map_or(f64::NEG_INFINITY, |last| last.seconds.1);
        self.is_timed &= is_timed && line.seconds.0 >= last;
        self.lines += 1;
        if let Some(open) = self.stretches.last_mut().filter(|last| last.lines < self.span) {
            *open = open.join(line);
            return;
        }
        if self.stretches.len() >= STRETCHES {
            self.coarsen();
        }
        // The last one may have room now.
        match self.stretches.last_mut().filter(|last| last.lines < self.span) {
            Some(open) => *open = open.join(line),
            None => self.stretches.push(line),
        }
    }

    /// Joins neighbours two by two.
    fn coarsen(&mut self) {
        let joined = self.stretches.chunks(2).filter_map(|pair| match pair {
            [first, second] => Some(first.join(*second)),
            [first] => Some(*first),
            _ => None,
        });
        self.stretches = joined.collect();
        self.span = self.span.saturating_mul(2);
    }

    /// The same in at most so many stretches, as long as that is above 0.
    #[must_use]
    pub fn at_most(&self, stretches: usize) -> Self {
        let mut coarse = self.clone();
        while coarse.stretches.len() > stretches.max(1) {
            coarse.coarsen();
        }
        coarse
    }
}

impl Series {
    /// Takes a line of the rank with this number.
    pub(super) fn add(
        &mut self,
        rank: usize,
        tags: Tags,
        line: &CompactLine,
        time: Option<Timestamp<'_>>,
        is_steady: bool,
        place: Place,
    ) {
        if let Some(hundredths) = line.accept_len().map(Hundredths::count) {
            let has_room = self.values.len() < MOST_VALUES || self.values.contains_key(&hundredths);
            if has_room {
                let count = self.values.entry(hundredths).or_default();
                if is_steady { count.steady += 1 } else { count.changing += 1 }
            } else {
                self.other_values += 1;
            }
        }
        if rank >= MOST_RANKS {
            self.left_out += 1;
            return;
        }
        while self.ranks.len() <= rank {
            self.ranks.push(RankSeries { is_timed: true, span: 1, ..RankSeries::default() });
        }
        let Some(series) = self.ranks.get_mut(rank) else { return };
        series.tags = tags;
        let seconds = time.and_then(LocalTime::seconds_of);
        let number = series.lines;
        series.add(
            LineStretch {
                number,
                lines: 1,
                places: (place, place),
                seconds: (seconds.unwrap_or(0.0), seconds.unwrap_or(0.0)),
                accept_len: Extent::of(line.accept_len().map(Hundredths::as_f64)),
                running_req: Extent::of(Some(f64::from(line.running_req()))),
                tps: Extent::of(line.throughput_hundredths().map(|tps| f64::from(tps) / 100.0)),
            },
            seconds.is_some(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u64, value: f64) -> LineStretch {
        let place = Place { file: 0, line: number + 1 };
        LineStretch {
            number,
            lines: 1,
            places: (place, place),
            seconds: (float(number), float(number)),
            accept_len: Extent::of(Some(value)),
            running_req: Extent::of(Some(4.0)),
            tps: Extent::of(None),
        }
    }

    fn series(lines: u64) -> RankSeries {
        let mut rank = RankSeries { is_timed: true, span: 1, ..RankSeries::default() };
        for number in 0..lines {
            rank.add(line(number, float(number)), true);
        }
        rank
    }

    #[test]
    fn few_lines_are_kept_one_by_one() {
        let rank = series(1024);
        assert_eq!((rank.span, rank.stretches.len(), rank.lines), (1, 1024, 1024));
    }

    #[test]
    fn many_lines_keep_their_extremes_and_their_sum() {
        let rank = series(100_001);
        assert_eq!(rank.span, 128);
        assert!(rank.stretches.len() <= STRETCHES && rank.is_timed);
        assert_eq!(rank.stretches.iter().map(|stretch| stretch.lines).sum::<u64>(), 100_001);
        let mut next = 0;
        for stretch in &rank.stretches {
            let last = next + stretch.lines - 1;
            assert_eq!(stretch.number, next);
            assert_eq!((stretch.accept_len.min, stretch.accept_len.max), (float(next), float(last)));
            assert_eq!(stretch.accept_len.mean(), Some(f64::midpoint(float(next), float(last))));
            assert_eq!((stretch.places.0.line, stretch.places.1.line), (next + 1, last + 1));
            assert_eq!((stretch.tps.count, stretch.tps.mean()), (0, None));
            next += stretch.lines;
        }
        let coarse = rank.at_most(100);
        assert!(coarse.stretches.len() <= 100);
        assert_eq!(coarse.stretches.iter().map(|stretch| stretch.lines).sum::<u64>(), 100_001);
    }

    #[test]
    fn a_clock_that_goes_back_is_no_axis() {
        let mut rank = series(3);
        rank.add(LineStretch { seconds: (1.0, 1.0), ..line(3, 1.0) }, true);
        assert!(!rank.is_timed);
    }
}
