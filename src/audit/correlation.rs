//! Ranks that draw the same sequence are one sample (Kish 1965: the design effect of a cluster).

use crate::law::float;

use super::rank::Rank;
use super::trace::Kept;

/// Lines by which one rank may run behind another.
const MAX_SHIFT: usize = 2;

/// Pairs of lines below which nothing is measured and the ranks count as one.
const MIN_PAIRS: usize = 5;

/// Correlation from which ranks count as one sample.
const SHARED_FROM: f64 = 0.5;

/// Products computed at most; long logs of many ranks are compared by their first lines.
const MAX_PRODUCTS: usize = 1 << 26;

/// How alike the ranks of a point are.
#[derive(Clone, Debug)]
pub(super) struct RankCorrelation {
    /// Mean pairwise correlation of the k-th lines, clipped to `[0, 1]`.
    pub(super) rho: f64,
    /// Whether any pair had lines enough to be measured.
    pub(super) is_measured: bool,
    /// Of some lines only sums are known, so that nobody can lay them side by side.
    pub(super) is_summed: bool,
    /// By how many lines each rank runs ahead of the longest one, plus [`MAX_SHIFT`].
    shifts: Vec<usize>,
}

impl RankCorrelation {
    /// Whether the ranks drew the same sequence.
    pub(super) fn is_shared(&self) -> bool {
        self.rho >= SHARED_FROM
    }

    /// The index of line `line` of rank `rank` among the aligned lines.
    pub(super) fn aligned(&self, rank: usize, line: usize) -> usize {
        // A rank that runs ahead by s has its line k beside line k - s of the longest one.
        (line + 2 * MAX_SHIFT).saturating_sub(self.shifts.get(rank).copied().unwrap_or(MAX_SHIFT))
    }
}

/// Compares the ranks; `None` for fewer than two. `is_summed` says that of some lines only sums are known: what the others
/// show is not theirs, and no more steps may count than if all ranks drew the same.
pub(super) fn correlate(ranks: &[&Rank], is_summed: bool) -> Option<RankCorrelation> {
    if ranks.len() < 2 {
        return None;
    }
    if is_summed {
        let shifts = vec![MAX_SHIFT; ranks.len()];
        return Some(RankCorrelation { rho: 1.0, is_measured: false, is_summed, shifts });
    }
    let pairs = ranks.len() * (ranks.len() - 1) / 2;
    let limit = MAX_PRODUCTS / (pairs * (2 * MAX_SHIFT + 1));
    let lines: Vec<&[Kept]> = ranks
        .iter()
        .map(|rank| rank.trace.kept())
        .map(|kept| kept.get(..limit.max(MIN_PAIRS)).unwrap_or(kept))
        .collect();
    let longest =
        (0..ranks.len()).rev().max_by_key(|index| lines.get(*index).map_or(0, |kept| kept.len()))?;

    let (mut sum, mut is_measured) = (0.0, false);
    let mut shifts = vec![MAX_SHIFT; ranks.len()];
    for (index, left) in lines.iter().enumerate() {
        for (other, right) in lines.iter().enumerate().skip(index + 1) {
            let best = best_shift(left, right);
            is_measured |= best.is_some();
            let (rho, ahead) = best.unwrap_or((1.0, MAX_SHIFT));
            sum += rho;
            if index == longest {
                shifts.iter_mut().skip(other).take(1).for_each(|shift| *shift = ahead);
            } else if other == longest {
                shifts.iter_mut().skip(index).take(1).for_each(|shift| *shift = 2 * MAX_SHIFT - ahead);
            }
        }
    }
    let rho = sum / float(u64::try_from(pairs).unwrap_or(u64::MAX));
    Some(RankCorrelation { rho: rho.clamp(0.0, 1.0), is_measured, is_summed, shifts })
}

/// The best correlation over all shifts, and by how many lines the right one runs ahead, plus [`MAX_SHIFT`].
fn best_shift(left: &[Kept], right: &[Kept]) -> Option<(f64, usize)> {
    (0..=2 * MAX_SHIFT)
        .filter_map(|ahead| {
            let left = left.get(MAX_SHIFT.saturating_sub(ahead)..)?;
            let right = right.get(ahead.saturating_sub(MAX_SHIFT)..)?;
            Some((pearson(left, right)?, ahead))
        })
        // Of equal ones the smallest shift.
        .max_by(|left, right| {
            left.0.total_cmp(&right.0).then(right.1.abs_diff(MAX_SHIFT).cmp(&left.1.abs_diff(MAX_SHIFT)))
        })
}

/// Pearson's correlation of lines side by side; `None` for too few or constant ones.
fn pearson(left: &[Kept], right: &[Kept]) -> Option<f64> {
    let lines = left.len().min(right.len());
    if lines < MIN_PAIRS {
        return None;
    }
    let count = float(u64::try_from(lines).unwrap_or(u64::MAX));
    let mean = |kept: &[Kept]| kept.iter().take(lines).map(|line| line.tokens()).sum::<f64>() / count;
    let (left_mean, right_mean) = (mean(left), mean(right));
    let (mut products, mut left_squares, mut right_squares) = (0.0, 0.0, 0.0);
    for (left, right) in left.iter().zip(right) {
        let (left, right) = (left.tokens() - left_mean, right.tokens() - right_mean);
        products += left * right;
        left_squares += left * left;
        right_squares += right * right;
    }
    let scale = (left_squares * right_squares).sqrt();
    // Printed values differ by 0.01 at least, unless they are all alike.
    (left_squares > 1e-9 && right_squares > 1e-9).then(|| products / scale)
}

#[cfg(test)]
mod tests {
    use super::super::trace::{Entry, Trace};
    use super::*;
    use crate::evidence::Place;

    fn rank(values: &[u32]) -> Rank {
        let place = Place { file: 0, line: 1 };
        let line = |value: &u32| Entry { hundredths: *value, before: 1, batch: 1, steady: true, place };
        Rank { trace: Trace::of(values.iter().map(line)), ..Rank::default() }
    }

    const DRAWS: [u32; 10] = [350, 362, 340, 355, 345, 370, 338, 352, 348, 365];

    #[test]
    fn a_rank_that_runs_ahead_is_found_and_aligned() {
        let (whole, late) = (rank(&DRAWS), rank(&DRAWS[2..]));
        let found = correlate(&[&whole, &late], false).unwrap();
        assert!((found.rho - 1.0).abs() < 1e-12 && found.is_measured && found.is_shared());
        // Line 0 of the second is line 2 of the first.
        assert_eq!(found.aligned(0, 2), found.aligned(1, 0));
        let found = correlate(&[&late, &whole], false).unwrap();
        assert_eq!(found.aligned(1, 2), found.aligned(0, 0));
    }

    #[test]
    fn what_cannot_be_measured_counts_as_shared() {
        let few = rank(&DRAWS[..3]);
        let constant = rank(&[400; 20]);
        for pair in [[&few, &few], [&constant, &constant]] {
            let found = correlate(&pair, false).unwrap();
            assert!(!found.is_measured && found.is_shared());
        }
        assert!(correlate(&[&few], false).is_none());
    }

    #[test]
    fn ranks_of_sums_count_as_one_whatever_their_first_lines_show() {
        let (left, right) = (rank(&DRAWS), rank(&[338, 370, 352, 340, 365, 348, 350, 362, 345, 355]));
        assert!(!correlate(&[&left, &right], false).unwrap().is_shared());
        let found = correlate(&[&left, &right], true).unwrap();
        assert!((found.rho - 1.0).abs() < 1e-12 && !found.is_measured && found.is_shared());
    }

    #[test]
    fn own_draws_are_not_shared() {
        let left: Vec<u32> = (0..500).map(|i| 300 + (i * 7919) % 101).collect();
        let right: Vec<u32> = (0..500).map(|i| 300 + (i * i * 31 + 17) % 101).collect();
        let found = correlate(&[&rank(&left), &rank(&right)], false).unwrap();
        assert!(found.rho < 0.3, "{}", found.rho);
    }
}
