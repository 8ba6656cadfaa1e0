//! What came of laying lines against draws.

use crate::evidence::Place;

use super::line::{Judgement, Line};
use super::odds::Odds;

/// Lines shown side by side.
const SHOWN: usize = 8;

/// Slips that are listed; more are only counted.
const LISTED_SLIPS: usize = 64;

/// A line beside its draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SideBySide {
    /// Where it stands.
    pub place: Place,
    /// Printed accept length, in hundredths.
    pub printed: u32,
    /// What the draws print for a constant batch, in hundredths.
    pub expected: u32,
}

/// Lines go on at other draws than those after the line before: steps were drawn and not counted, or lines are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slip {
    /// The first line after it.
    pub place: Place,
    /// Draws that were passed over; negative where draws occur again.
    pub draws: i64,
}

/// Counts over the lines of one rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Lines laid against draws.
    pub(super) checked: u64,
    /// Those that print what the draws give.
    pub(super) exact: u64,
    /// Those that differ, as a changing batch can make them.
    pub(super) bounded: u64,
    /// Lines whose batch did not change.
    pub(super) steady: u64,
    /// Those of them that are exact.
    pub(super) steady_exact: u64,
    /// The first line that fails, with its number.
    pub(super) first_mismatch: Option<(u64, SideBySide)>,
    pub(super) first_lines: Vec<SideBySide>,
    /// In order, each with the number of its line.
    pub(super) slips: Vec<(u64, Slip)>,
    pub(super) slip_count: u64,
    /// Lines whose place among the draws cannot be told: they stand alone between lines that are missing.
    pub(super) adrift: u64,
    /// Decimal logarithm of the offsets tried, summed.
    pub(super) charge: f64,
    /// Draws that the lines stand for.
    pub(super) draws: u64,
}

impl Tally {
    /// Counts a line.
    pub(super) fn add(&mut self, line: &Line, judgement: Judgement, expected: u32, interval: u64) {
        let Some(printed) = line.hundredths else { return };
        self.draws += interval;
        self.checked += 1;
        let steady = u64::from(line.window.is_steady());
        self.steady += steady;
        let shown = SideBySide { place: line.place, printed, expected };
        match judgement {
            Judgement::Exact => {
                self.exact += 1;
                self.steady_exact += steady;
            }
            Judgement::Reached => self.bounded += 1,
            Judgement::Failed => {
                self.first_mismatch.get_or_insert((line.number, shown));
            }
            Judgement::Silent => {}
        }
        if self.first_lines.len() < SHOWN {
            self.first_lines.push(shown);
        }
    }

    /// A line that was counted as reached prints what another offset gives.
    pub(super) fn correct(&mut self) {
        self.bounded -= 1;
        self.exact += 1;
    }

    /// Lines were laid at one of two offsets, and so many more are exact at the other.
    pub(super) fn exchange(&mut self, exact: i64, draws: i64, line: &Line) {
        self.exact = self.exact.saturating_add_signed(exact);
        self.bounded = self.bounded.saturating_add_signed(-exact);
        match self.slips.last_mut() {
            Some((_, slip)) => slip.draws += draws,
            None => self.slips.push((line.number, Slip { place: line.place, draws })),
        }
    }

    /// The rank's first line stands so many draws behind the server's first.
    pub(super) fn begin(&mut self, first: Option<&Line>, draws: i64) {
        self.slips.extend(first.map(|line| (line.number, Slip { place: line.place, draws })));
    }

    pub(super) fn slip(&mut self, number: u64, slip: Slip) {
        self.slip_count += 1;
        if self.slips.len() < LISTED_SLIPS {
            self.slips.push((number, slip));
        }
    }

    /// Lines that no batch makes print so.
    pub(super) fn failed(&self) -> u64 {
        self.checked.saturating_sub(self.exact + self.bounded)
    }

    /// Adds another rank's counts.
    pub(super) fn join(&mut self, other: &Self) {
        self.checked += other.checked;
        self.exact += other.exact;
        self.bounded += other.bounded;
        self.steady += other.steady;
        self.steady_exact += other.steady_exact;
        self.slip_count += other.slip_count;
        self.adrift += other.adrift;
        self.charge += other.charge;
        self.draws += other.draws;
        let earlier = [self.first_mismatch, other.first_mismatch].into_iter().flatten();
        self.first_mismatch = earlier.min_by_key(|(number, _)| *number);
        self.slips.extend(other.slips.iter().take(LISTED_SLIPS.saturating_sub(self.slips.len())));
        self.slips.sort_by_key(|(number, _)| *number);
    }

    /// Decimal logarithm of the chance that a wrong sequence fits as well: steady lines one by one, all others as a group,
    /// offsets charged.
    pub(super) fn log10_chance(&self, odds: Odds) -> f64 {
        crate::law::float(self.steady_exact) * odds.log10_line()
            + odds.log10_tail(self.exact - self.steady_exact, self.checked - self.steady)
            + self.charge
    }

    /// The same for all lines as one group: some of them may fail.
    pub(super) fn log10_tail(&self, odds: Odds) -> f64 {
        odds.log10_tail(self.exact, self.checked) + self.charge
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn counts_of_two_ranks_add_up() {
        let mut all = Tally { checked: 10, exact: 7, bounded: 2, ..Tally::default() };
        all.join(&Tally { checked: 5, exact: 4, bounded: 1, ..Tally::default() });
        assert_eq!((all.checked, all.exact, all.bounded, all.failed()), (15, 11, 3, 1));
    }
}
