//! The first lines of a rank in their order, for what depends on order: correlation between ranks, blocks, and changes
//! of the law.

use crate::evidence::Place;
use crate::law::Window;

use super::kappa::{Kappa, KappaSums};
use super::tally::Cell;

/// Lines kept per rank: at 40 steps a line, two and a half million verify steps.
const LINES_PER_RANK: usize = 1 << 16;

/// Lines kept per point (sixteen bytes each).
pub(super) const LINES_PER_POINT: usize = 1 << 20;

/// One kept line. Numbers too large for their room read as the largest that has some.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    hundredths: u16,
    kappa: u16,
    /// `#running-req`, and above it whether the line is steady.
    batch: u16,
    before: u16,
    file: u16,
    line: u32,
}

/// A line on its way into the trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Printed accept length.
    pub(super) hundredths: u32,
    /// `#running-req` of the line before.
    pub(super) before: u32,
    /// `#running-req`.
    pub(super) batch: u32,
    /// The batch did not change.
    pub(super) steady: bool,
    pub(super) place: Place,
}

/// The bit that says steady.
const STEADY: u16 = 1 << 15;

impl Kept {
    /// Printed accept length, in tokens; what is above 655.35 reads as that.
    pub(super) fn tokens(self) -> f64 {
        f64::from(self.hundredths) / 100.0
    }

    /// The printed value in hundredths.
    pub(super) fn hundredths(self) -> u32 {
        u32::from(self.hundredths)
    }

    pub(super) fn kappa(self) -> f64 {
        Kappa::unpack(self.kappa)
    }

    /// The batch during the line's window.
    pub(super) fn window(self) -> Window {
        let Cell { before, batch, .. } = self.cell();
        if self.is_steady() {
            Window::Steady { batch }
        } else {
            Window::Changing {
                kappa: Kappa::between(before, batch).get(),
                batch: f64::midpoint(f64::from(before), f64::from(batch)),
            }
        }
    }

    /// Whether the batch did not change.
    pub(super) fn is_steady(self) -> bool {
        self.batch & STEADY != 0
    }

    /// Its value and batch sizes.
    pub(super) fn cell(self) -> Cell {
        Cell {
            hundredths: u32::from(self.hundredths),
            before: u32::from(self.before),
            batch: u32::from(self.batch & !STEADY),
        }
    }

    /// What decides how likely the line is under a law.
    pub(super) fn kind(self) -> (Cell, bool) {
        (self.cell(), self.is_steady())
    }

    /// Where it stands.
    pub(super) fn place(self) -> Place {
        Place { file: u32::from(self.file), line: u64::from(self.line) }
    }
}

impl From<Entry> for Kept {
    fn from(entry: Entry) -> Self {
        let batch = |number: u32| u16::try_from(number).unwrap_or(u16::MAX).min(STEADY - 1);
        Self {
            hundredths: u16::try_from(entry.hundredths).unwrap_or(u16::MAX),
            kappa: Kappa::between(entry.before, entry.batch).pack(),
            batch: batch(entry.batch) | if entry.steady { STEADY } else { 0 },
            before: batch(entry.before),
            file: u16::try_from(entry.place.file).unwrap_or(u16::MAX),
            line: u32::try_from(entry.place.line).unwrap_or(u32::MAX),
        }
    }
}

/// The first lines, and sums of all others.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace {
    kept: Vec<Kept>,
    rest: KappaSums,
}

impl Trace {
    /// Adds a line; `room` is what the point can still keep.
    pub(super) fn add(&mut self, entry: Entry, room: &mut usize) {
        // Once a line is left out, all later ones are: what is kept has no gaps.
        if *room > 0 && self.kept.len() < LINES_PER_RANK && self.rest.lines == 0 {
            *room -= 1;
            self.kept.push(Kept::from(entry));
        } else {
            self.rest.add(entry.hundredths, Kappa::between(entry.before, entry.batch), 1);
        }
    }

    /// A trace with these lines.
    #[cfg(test)]
    pub(super) fn of(entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut trace = Self::default();
        entries.into_iter().for_each(|entry| trace.add(entry, &mut LINES_PER_POINT.clone()));
        trace
    }

    pub(super) fn kept(&self) -> &[Kept] {
        &self.kept
    }

    /// Sums of the lines that were not kept.
    pub(super) fn rest(&self) -> &KappaSums {
        &self.rest
    }
}

/// Exact sums over pairs of consecutive steady lines.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lag {
    pairs: u64,
    earlier: u128,
    later: u128,
    earlier_squares: u128,
    later_squares: u128,
    products: u128,
}

impl Lag {
    pub(super) fn add(&mut self, earlier: u32, later: u32) {
        let (earlier, later) = (u128::from(earlier), u128::from(later));
        self.pairs += 1;
        self.earlier += earlier;
        self.later += later;
        self.earlier_squares += earlier * earlier;
        self.later_squares += later * later;
        self.products += earlier * later;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.pairs += other.pairs;
        self.earlier += other.earlier;
        self.later += other.later;
        self.earlier_squares += other.earlier_squares;
        self.later_squares += other.later_squares;
        self.products += other.products;
    }

    pub(super) fn pairs(&self) -> u64 {
        self.pairs
    }

    /// Correlation of a line with the next one; `None` for fewer than two pairs or constant lines.
    pub(super) fn correlation(&self) -> Option<f64> {
        // Covariances times pairs squared, in whole numbers: no cancellation.
        let pairs = u128::from(self.pairs);
        let spread =
            |squares: u128, sum: u128| pairs.checked_mul(squares)?.checked_sub(sum.checked_mul(sum)?);
        let (left, right) =
            (spread(self.earlier_squares, self.earlier)?, spread(self.later_squares, self.later)?);
        if left == 0 || right == 0 {
            return None;
        }
        let (joint, apart) = (pairs.checked_mul(self.products)?, self.earlier.checked_mul(self.later)?);
        let covariance = if joint >= apart { double(joint - apart) } else { -double(apart - joint) };
        Some(covariance / (double(left).sqrt() * double(right).sqrt()))
    }
}

/// The nearest double.
fn double(value: u128) -> f64 {
    let high = u64::try_from(value >> 64).unwrap_or(u64::MAX);
    let low = u64::try_from(value & u128::from(u64::MAX)).unwrap_or(0);
    crate::law::float(high) * 2_f64.powi(64) + crate::law::float(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lag_correlation_is_pearsons() {
        let mut lag = Lag::default();
        for (earlier, later) in [(1, 2), (2, 4), (3, 5), (4, 4), (5, 5)] {
            lag.add(earlier, later);
        }
        assert!((lag.correlation().unwrap() - 0.774_596_669_241_483).abs() < 1e-12);
        let mut constant = Lag::default();
        constant.add(350, 350);
        constant.add(350, 350);
        assert_eq!(constant.correlation(), None);
        assert_eq!(Lag::default().correlation(), None);
    }

    #[test]
    fn lines_beyond_the_room_are_summed() {
        let (mut trace, mut room) = (Trace::default(), 2);
        for hundredths in [351, 352, 353] {
            let place = Place { file: 0, line: 1 };
            trace.add(Entry { hundredths, before: 1, batch: 1, steady: true, place }, &mut room);
        }
        assert_eq!(trace.kept().len(), 2);
        assert!((trace.rest().tokens() - 3.53).abs() < 1e-9);
        assert_eq!(trace.rest().lines, 1);
    }
}
