//! What replay needs of a decode line.

use crate::evidence::Place;

use super::reach::BatchPath;

/// Steps of which one more or less is a notable part.
const FEW_STEPS: u32 = 8;

/// One decode line of a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    /// Its number among all lines of the point: places of logs that were rotated say nothing about the order.
    pub(super) number: u64,
    pub(super) place: Place,
    /// Printed accept length in hundredths; `None` where the line shows none.
    pub(super) hundredths: Option<u32>,
    pub(super) window: WindowKind,
    /// The counters started anew before it.
    pub(super) flushed: bool,
    /// Something before it could not be read, or its tokens say that a line is missing.
    pub(super) gap: bool,
    pub(super) succession: Succession,
    /// It begins another log, or lines joined by hand: it may stand before those that came before.
    pub(super) joined: bool,
    /// When it was printed, and the most draws per millisecond that any line so far shows.
    pub(super) millis: Option<u64>,
    pub(super) draws_per_milli: f64,
    /// What its batch may have been if a prefill line was lost: its tokens do not rise as those of the same requests do.
    pub(super) belied: Option<BatchPath>,
    /// Tokens that each request gained since the line before, where the batch did not change and they are whole.
    pub(super) gained: Option<u64>,
}

impl Line {
    /// Whether its tokens say that no line is missing before it.
    pub(super) fn follows(&self) -> bool {
        self.succession == Succession::Next
    }
}

/// What the tokens of two lines with the same requests say about lines between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Succession {
    /// There are none.
    Next,
    Missing,
    Unknown,
}

impl Succession {
    /// Requests that go on hold as many tokens more as they emitted: those of one line, or of several.
    ///
    /// Measured on SGLang 0.5.16: steady lines differ by one step's tokens at most, and fall where requests finished in
    /// the last step.
    pub(super) fn of(earlier: u64, later: u64, hundredths: u32, batch: u32, interval: u32) -> Self {
        let Some(rise) = later.checked_sub(earlier) else { return Self::Unknown };
        let steps = f64::from(batch) * f64::from(interval.max(1));
        let printed = f64::from(hundredths) / 100.0;
        let rise = crate::law::float(rise) / steps.max(1.0);
        let slack = if interval < FEW_STEPS { 1.0 } else { 0.5 };
        if (rise - printed).abs() <= slack {
            Self::Next
        } else if rise > 1.75 * printed {
            Self::Missing
        } else {
            Self::Unknown
        }
    }
}

/// What is known about the batch in a line's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowKind {
    /// The same requests throughout: there is one value to print.
    Steady,
    /// Requests came or went.
    Changing(BatchPath),
    /// The line before is not known.
    Unknown,
}

/// What draws say about a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// It prints what the draws give.
    Exact,
    /// It differs, as a changing batch can make it.
    Reached,
    /// No batch makes it print so.
    Failed,
    /// It prints nothing to compare.
    Silent,
}

/// Prints sums of draws.
#[derive(Clone, Debug)]
pub(super) struct Printer {
    interval: u32,
    spread: u64,
    /// Smallest sum, and what that and the following ones print.
    first: u64,
    printed: Vec<u32>,
    /// How many sums there are; only the first ones have a place in the table.
    sums: u64,
}

/// Sums that have a table.
const MAX_TABLE: u64 = 1 << 16;

impl Printer {
    /// For windows of `interval` draws between `lo` and `hi`.
    pub(super) fn new(interval: u32, lo: u32, hi: u32) -> Self {
        let steps = u64::from(interval.max(1));
        let (first, last) = (u64::from(lo) * steps, u64::from(hi) * steps);
        let sums = last.saturating_sub(first) + 1;
        let last = last.min(first.saturating_add(MAX_TABLE));
        let printed = (first..=last).map(|sum| crate::law::printed(sum, steps).unwrap_or(0)).collect();
        Self { interval: interval.max(1), spread: u64::from(hi.saturating_sub(lo)), first, printed, sums }
    }

    /// How far two draws can differ.
    pub(super) fn spread(&self) -> u64 {
        self.spread
    }

    /// The hundredths that a constant batch prints.
    #[inline]
    pub(super) fn print(&self, sum: u64) -> u32 {
        let index = sum.checked_sub(self.first).and_then(|index| usize::try_from(index).ok());
        match index.and_then(|index| self.printed.get(index)) {
            Some(printed) => *printed,
            None => crate::law::printed(sum, u64::from(self.interval)).unwrap_or(0),
        }
    }

    /// Whether no draws at all make a line print so: no place explains it.
    pub(super) fn is_impossible(&self, line: &Line) -> bool {
        let (Some(hundredths), Some(least), Some(greatest)) =
            (line.hundredths, self.printed.first(), self.printed.last())
        else {
            return false;
        };
        let is_whole = u32::try_from(self.printed.len()).is_ok_and(|sums| u64::from(sums) == self.sums);
        let is_between = (*least..=*greatest).contains(&hundredths);
        let is_missed = line.window.is_steady() && self.printed.binary_search(&hundredths).is_err();
        is_whole && (is_missed || !is_between)
    }

    /// Lays a line against its draws.
    pub(super) fn judge(&self, line: &Line, draws: &[u8]) -> (Judgement, u32) {
        let expected = self.print(super::sequence::sum(draws));
        let Some(hundredths) = line.hundredths else { return (Judgement::Silent, expected) };
        let judgement = if hundredths == expected {
            Judgement::Exact
        } else if line.window.can_print(draws, hundredths) {
            Judgement::Reached
        } else {
            Judgement::Failed
        };
        (judgement, expected)
    }
}

impl WindowKind {
    /// Whether the window had one batch, so that it must print one value.
    pub(super) fn is_steady(self) -> bool {
        self == Self::Steady
    }

    fn can_print(self, draws: &[u8], hundredths: u32) -> bool {
        match self {
            Self::Steady => false,
            Self::Changing(path) => path.can_print(draws, hundredths),
            Self::Unknown => {
                let least = draws.iter().min().map_or(u32::MAX, |draw| u32::from(*draw) * 100);
                let greatest = draws.iter().max().map_or(0, |draw| u32::from(*draw) * 100);
                (least..=greatest).contains(&hundredths)
            }
        }
    }
}
