//! What lines read at many places, worked out once for a search.

use super::script::Script;
use super::sequence::Sequence;

/// Prints of windows beside a draw: those a multiple of the interval away, and those at any distance.
#[derive(Clone, Debug, Default)]
pub(super) struct Windows {
    /// The first multiple, and what the windows from it on print.
    least: i64,
    multiples: Vec<u32>,
    /// The first draw of the sums, and the sums of all draws from it to each.
    first: u64,
    sums: Vec<u32>,
}

impl Windows {
    /// Multiples from `least` to `greatest` lines away from draw `next`. The cost in lines is returned.
    pub(super) fn lay_multiples(
        &mut self,
        script: &Script,
        sequence: &mut Sequence,
        next: u64,
        (least, greatest): (i64, i64),
    ) -> u64 {
        if !self.multiples.is_empty() {
            return 0;
        }
        let interval = i64::try_from(script.interval).unwrap_or(i64::MAX);
        for multiple in least..=greatest {
            let at = multiple.checked_mul(interval).and_then(|draws| next.checked_add_signed(draws));
            match at.and_then(|at| sequence.sum_ahead(at, script.interval)) {
                Some(sum) => {
                    if self.multiples.is_empty() {
                        self.least = multiple;
                    }
                    self.multiples.push(script.printer.print(sum));
                }
                // Before the first draw, or no longer kept.
                None if self.multiples.is_empty() => {}
                None => break,
            }
        }
        // New draws are what takes time.
        u64::try_from(self.multiples.len()).unwrap_or(u64::MAX).saturating_mul(1 + script.steps() / 4)
    }

    /// Sums from draw `first` on, as far as they are kept. The cost in lines is returned.
    pub(super) fn lay_sums(&mut self, sequence: &mut Sequence, first: u64, count: usize) -> u64 {
        self.first = first.max(sequence.kept_from());
        let passed = usize::try_from(self.first - first).unwrap_or(usize::MAX);
        let draws = sequence.ahead(self.first, count.saturating_sub(passed));
        self.sums.clear();
        self.sums.reserve(draws.len() + 1);
        self.sums.push(0);
        let mut sum: u32 = 0;
        self.sums.extend(draws.iter().map(|draw| {
            sum = sum.wrapping_add(u32::from(*draw));
            sum
        }));
        u64::try_from(self.sums.len()).unwrap_or(u64::MAX) / 4
    }

    /// What the window so many intervals away prints.
    #[inline]
    pub(super) fn multiple(&self, lines: i64) -> Option<u32> {
        let index = usize::try_from(lines.checked_sub(self.least)?).ok()?;
        self.multiples.get(index).copied()
    }

    /// What the window from draw `at` on prints.
    #[inline]
    pub(super) fn at(&self, script: &Script, at: u64) -> Option<u32> {
        let index = usize::try_from(at.checked_sub(self.first)?).ok()?;
        let (before, after) = (self.sums.get(index)?, self.sums.get(index.checked_add(script.interval)?)?);
        Some(script.printer.print(u64::from(after.wrapping_sub(*before))))
    }
}
