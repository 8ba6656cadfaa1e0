//! The first lines of a rank in their order, for what depends on order: correlation between ranks, blocks, and changes
//! of the law.

use std::ops::{AddAssign, Mul};

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
        if self.has_room(*room) {
            *room -= 1;
            self.kept.push(Kept::from(entry));
        } else {
            self.leave_out(Cell { hundredths: entry.hundredths, before: entry.before, batch: entry.batch });
        }
    }

    /// Whether the next line is kept, where the point can still keep `room` lines.
    pub(super) fn has_room(&self, room: usize) -> bool {
        // Once a line is left out, all later ones are: what is kept has no gaps.
        room > 0 && self.kept.len() < LINES_PER_RANK && !self.is_full()
    }

    /// Adds a line that is not kept.
    pub(super) fn leave_out(&mut self, line: Cell) {
        self.rest.add(line.hundredths, Kappa::between(line.before, line.batch), 1);
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

    /// Whether no more lines are kept.
    pub(super) fn is_full(&self) -> bool {
        self.rest.lines > 0
    }

    /// As [`add`](Self::add) of lines of a batch that did not change, once no more lines are kept.
    pub(super) fn add_calm(&mut self, lines: u64, hundredths: u64) {
        self.rest.add_calm(lines, hundredths);
    }

    /// Adds sums of lines that are not kept.
    pub(super) fn add_rest(&mut self, sums: (u64, u128, u128)) {
        self.rest.add_raw(sums);
    }

    /// Sums of the lines that were not kept.
    pub(super) fn rest(&self) -> &KappaSums {
        &self.rest
    }
}

/// Exact sums over pairs of consecutive steady lines.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lag {
    sums: Sums<u128>,
    /// Sums of the latest pairs, in words of the machine.
    latest: Sums<u64>,
}

/// Sums over pairs.
#[derive(Clone, Copy, Debug, Default)]
struct Sums<T> {
    pairs: u64,
    earlier: T,
    later: T,
    earlier_squares: T,
    later_squares: T,
    products: T,
}

/// So many pairs of values below this add up to less than 2^64.
const LATEST: u64 = 1 << 20;
const SMALL: u32 = 1 << 20;

impl Lag {
    /// Adds the pairs of values that follow on each other.
    pub(super) fn add_chain(&mut self, chain: &Chain) {
        self.sums = self.sums.and(chain.pairs());
    }

    #[inline]
    pub(super) fn add(&mut self, earlier: u32, later: u32) {
        if earlier >= SMALL || later >= SMALL {
            return self.sums.add(earlier, later);
        }
        if self.latest.pairs == LATEST {
            self.sums = self.sums.and(self.latest);
            self.latest = Sums::default();
        }
        self.latest.add(earlier, later);
    }

    /// The pairs, and the sums over them as they are held.
    pub(super) fn raw(&self) -> (u64, [u128; 5]) {
        let sums = self.sums.and(self.latest);
        let Sums { pairs, earlier, later, earlier_squares, later_squares, products } = sums;
        (pairs, [earlier, later, earlier_squares, later_squares, products])
    }

    /// Adds sums as they are held.
    pub(super) fn add_raw(&mut self, (pairs, sums): (u64, [u128; 5])) {
        let [earlier, later, earlier_squares, later_squares, products] = sums;
        let own = &mut self.sums;
        own.pairs = own.pairs.saturating_add(pairs);
        own.earlier = own.earlier.saturating_add(earlier);
        own.later = own.later.saturating_add(later);
        own.earlier_squares = own.earlier_squares.saturating_add(earlier_squares);
        own.later_squares = own.later_squares.saturating_add(later_squares);
        own.products = own.products.saturating_add(products);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.sums = self.sums.and(self.latest).and(other.sums).and(other.latest);
        self.latest = Sums::default();
    }

    pub(super) fn pairs(&self) -> u64 {
        self.sums.pairs + self.latest.pairs
    }

    /// Correlation of a line with the next one; `None` for fewer than two pairs or constant lines.
    pub(super) fn correlation(&self) -> Option<f64> {
        // Covariances times pairs squared, in whole numbers: no cancellation.
        let sums = self.sums.and(self.latest);
        let pairs = u128::from(sums.pairs);
        let spread =
            |squares: u128, sum: u128| pairs.checked_mul(squares)?.checked_sub(sum.checked_mul(sum)?);
        let (left, right) =
            (spread(sums.earlier_squares, sums.earlier)?, spread(sums.later_squares, sums.later)?);
        if left == 0 || right == 0 {
            return None;
        }
        let (joint, apart) = (pairs.checked_mul(sums.products)?, sums.earlier.checked_mul(sums.later)?);
        let covariance = if joint >= apart { double(joint - apart) } else { -double(apart - joint) };
        Some(covariance / (double(left).sqrt() * double(right).sqrt()))
    }
}

/// Sums over values that follow on each other. Each is the later one of a pair and the earlier one of the next, so half of
/// the sums over the pairs follow from the others. At most as many values as a block has lines, each below 2^16.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    /// The value before the first.
    before: u32,
    last: u32,
    values: u64,
    sum: u64,
    squares: u64,
    products: u64,
}

impl Chain {
    /// Of values that follow on this one.
    pub(super) fn behind(before: u32) -> Self {
        Self { before, last: before, values: 0, sum: 0, squares: 0, products: 0 }
    }

    #[inline]
    pub(super) fn add(&mut self, value: u32) {
        let (last, value) = (u64::from(std::mem::replace(&mut self.last, value)), u64::from(value));
        self.values += 1;
        self.sum += value;
        self.squares += value * value;
        self.products += last * value;
    }

    /// How many values, and their sum.
    pub(super) fn values(&self) -> (u64, u64) {
        (self.values, self.sum)
    }

    /// The last one.
    pub(super) fn last(&self) -> u32 {
        self.last
    }

    /// The sums over the pairs.
    fn pairs(&self) -> Sums<u64> {
        let (before, last) = (u64::from(self.before), u64::from(self.last));
        Sums {
            pairs: self.values,
            earlier: self.sum + before - last,
            later: self.sum,
            earlier_squares: self.squares + before * before - last * last,
            later_squares: self.squares,
            products: self.products,
        }
    }
}

impl<T: From<u32> + Copy + AddAssign + Mul<Output = T>> Sums<T> {
    #[inline]
    fn add(&mut self, earlier: u32, later: u32) {
        let (earlier, later) = (T::from(earlier), T::from(later));
        self.pairs += 1;
        self.earlier += earlier;
        self.later += later;
        self.earlier_squares += earlier * earlier;
        self.later_squares += later * later;
        self.products += earlier * later;
    }
}

impl Sums<u128> {
    fn and<T: Into<u128>>(self, other: Sums<T>) -> Self {
        Self {
            pairs: self.pairs + other.pairs,
            earlier: self.earlier + other.earlier.into(),
            later: self.later + other.later.into(),
            earlier_squares: self.earlier_squares + other.earlier_squares.into(),
            later_squares: self.later_squares + other.later_squares.into(),
            products: self.products + other.products.into(),
        }
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
    fn the_largest_values_add_up() {
        let mut lag = Lag::default();
        for _ in 0..3 {
            lag.add(1, u32::MAX);
            lag.add(u32::MAX, 1);
        }
        let (once, square) = (u128::from(u32::MAX), u128::from(u32::MAX).pow(2));
        assert_eq!(lag.raw(), (6, [3 * once + 3, 3 * once + 3, 3 * square + 3, 3 * square + 3, 6 * once]));
    }

    #[test]
    fn a_chain_is_its_pairs() {
        let values = [351, 347, 360, 351, 351, 299];
        let (mut one_by_one, mut at_once) = (Lag::default(), Lag::default());
        let mut chain = Chain::behind(320);
        at_once.add_chain(&chain);
        assert_eq!(at_once.raw(), one_by_one.raw());
        for (earlier, later) in [320].iter().chain(&values).zip(&values) {
            one_by_one.add(*earlier, *later);
            chain.add(*later);
        }
        at_once.add_chain(&chain);
        assert_eq!(at_once.raw(), one_by_one.raw());
        assert_eq!((chain.values(), chain.last()), ((6, values.iter().sum::<u32>().into()), 299));
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

    #[test]
    fn pairs_of_the_latest_lines_count() {
        let (mut lag, mut other) = (Lag::default(), Lag::default());
        lag.add(350, 351);
        other.add(351, 352);
        other.add(352, 353);
        lag.merge(&other);
        lag.add(353, 354);
        assert_eq!((other.pairs(), lag.pairs()), (2, 4));
    }
}
