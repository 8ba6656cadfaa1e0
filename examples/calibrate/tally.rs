//! Outcomes, counted, and the bounds that they must keep.

use std::collections::BTreeMap;

use accsim::audit::{Mechanism, Verdict};

use crate::run::Outcome;
use crate::truth::Truth;

/// Lines of each rank from which a mechanism must be named.
pub(crate) const NAMED_FROM: u64 = 100;

/// Whether so many of the audits are more than that share of them, by more than their noise (three standard deviations).
pub(crate) fn is_beyond(count: u32, audits: u32, share: f64) -> bool {
    let expected = f64::from(audits) * share;
    f64::from(count) > expected + 3.0 * expected.sqrt() + 1.0
}

/// Counts of one truth and size.
#[derive(Default)]
pub(crate) struct Cell {
    pub(crate) audits: u32,
    pub(crate) consistent: u32,
    pub(crate) inconsistent: u32,
    pub(crate) named_rightly: u32,
    pub(crate) undetermined: u32,
    /// Mechanisms that were named and are not the truth.
    pub(crate) named_wrongly: BTreeMap<&'static str, u32>,
    truth: Option<Mechanism>,
}

/// All counts.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) cells: BTreeMap<(Truth, u64), Cell>,
}

impl Cell {
    /// Counts an audit; says whether its answer was wrong.
    pub(crate) fn add(&mut self, outcome: Outcome) -> bool {
        self.audits += 1;
        self.consistent += u32::from(outcome.verdict == Verdict::Consistent);
        self.inconsistent += u32::from(outcome.verdict == Verdict::Inconsistent);
        match outcome.best {
            None => self.undetermined += 1,
            best if best == self.truth => self.named_rightly += 1,
            Some(best) => *self.named_wrongly.entry(best.name()).or_default() += 1,
        }
        let is_honest = self.truth == Some(Mechanism::MatchExpected);
        let is_wrong = if is_honest { Verdict::Inconsistent } else { Verdict::Consistent };
        // Long logs should be named; why one is not is worth a look.
        let is_unnamed = self.truth.is_some() && outcome.best.is_none() && !is_honest;
        is_unnamed
            || outcome.verdict == is_wrong
            || (self.truth.is_some() && outcome.best.is_some_and(|best| Some(best) != self.truth))
    }

    pub(crate) fn wrong(&self) -> u32 {
        self.named_wrongly.values().sum()
    }

    pub(crate) fn summary(&self) -> String {
        format!(
            "{} consistent, {} inconsistent of {}; named rightly {}, undetermined {}, wrongly {:?}",
            self.consistent,
            self.inconsistent,
            self.audits,
            self.named_rightly,
            self.undetermined,
            self.named_wrongly
        )
    }
}

impl Table {
    pub(crate) fn cell(&mut self, truth: Truth, lines: u64) -> &mut Cell {
        self.cells
            .entry((truth, lines))
            .or_insert_with(|| Cell { truth: truth.mechanism(), ..Cell::default() })
    }

    /// What is beyond the promised bounds, by more than the noise of so many audits (three standard deviations).
    pub(crate) fn beyond_bounds(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for ((truth, lines), cell) in &self.cells {
            let mut at_most = |count: u32, share: f64, what: &str| {
                if is_beyond(count, cell.audits, share) {
                    faults.push(format!(
                        "{}, {lines} lines: {what} {count} of {}",
                        truth.name(),
                        cell.audits
                    ));
                }
            };
            match truth {
                Truth::Honest => at_most(cell.inconsistent, 0.001, "falsely inconsistent"),
                Truth::OffByMargin => at_most(cell.consistent, 0.05, "falsely consistent"),
                _ => {
                    if matches!(truth, Truth::Rounded | Truth::Constant) {
                        at_most(cell.consistent, 0.05, "falsely consistent");
                    }
                    if *lines >= NAMED_FROM && truth.is_told_apart() {
                        at_most(cell.audits - cell.named_rightly, 0.001, "not named");
                    } else {
                        at_most(cell.wrong(), 0.05, "named wrongly");
                    }
                }
            }
        }
        faults
    }
}
