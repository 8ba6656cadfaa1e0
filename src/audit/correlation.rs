//! Ranks that draw the same sequence are one sample (Kish 1965: the design effect of a cluster).

use crate::law::float;

use super::alignment::align;
use super::rank::Rank;
use super::trace::Kept;

/// Lines by which one rank may run behind another.
const MAX_SHIFT: usize = 2;

/// Pairs of lines below which nothing is measured and the ranks count as one.
const MIN_PAIRS: usize = 5;

/// Correlation from which ranks count as one sample.
const SHARED_FROM: f64 = 0.5;

/// Correlation from which the k-th lines are sure to lie side by side.
const ALIKE: f64 = 0.9;

/// Natural logarithms of the likelihood ratio from which ranks whose k-th lines do not agree count as having drawn the same,
/// and below which they count as independent.
const SAME: f64 = 3.0;
const INDEPENDENT: f64 = -6.9;

/// Products computed at most; long logs of many ranks are compared by their first lines.
const MAX_PRODUCTS: usize = 1 << 26;

/// How alike the ranks of a point are.
#[derive(Clone, Debug)]
pub(super) struct RankCorrelation {
    /// Mean pairwise correlation of the k-th lines, clipped to `[0, 1]`; where lines are lost, of those that lie side by
    /// side when that is taken into account. 1 where it cannot be told.
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

    /// The same for ranks whose k-th lines do not agree. Lines may be lost: only what holds along every alignment makes
    /// ranks independent, and where that cannot be told they count as one sample.
    fn realigned(self, lines: &[&[Kept]], longest: usize) -> Self {
        let Some(alignment) = align(lines, longest) else { return self };
        let rho = alignment.rho.filter(|rho| *rho >= SHARED_FROM && alignment.ln_ratio >= SAME);
        match rho {
            Some(rho) => Self { rho: rho.max(self.rho).min(1.0), ..self },
            None if self.is_shared() => self,
            None if alignment.ln_ratio > INDEPENDENT => Self { rho: 1.0, is_measured: false, ..self },
            None => self,
        }
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
    let by_number = RankCorrelation { rho: rho.clamp(0.0, 1.0), is_measured, is_summed, shifts };
    Some(if by_number.rho < ALIKE { by_number.realigned(&lines, longest) } else { by_number })
}

/// The best correlation over all shifts, and by how many lines the right one runs ahead, plus [`MAX_SHIFT`].
fn best_shift(left: &[Kept], right: &[Kept]) -> Option<(f64, usize)> {
    (0..=2 * MAX_SHIFT)
        .filter_map(|ahead| {
            let left = left.get(MAX_SHIFT.saturating_sub(ahead)..)?;
            let right = right.get(ahead.saturating_sub(MAX_SHIFT)..)?;
            let pairs: Vec<(f64, f64)> =
                left.iter().zip(right).map(|(left, right)| (left.tokens(), right.tokens())).collect();
            Some((pearson(&pairs)?, ahead))
        })
        // Of equal ones the smallest shift.
        .max_by(|left, right| {
            left.0.total_cmp(&right.0).then(right.1.abs_diff(MAX_SHIFT).cmp(&left.1.abs_diff(MAX_SHIFT)))
        })
}

/// Pearson's correlation of values side by side; `None` for too few or constant ones.
pub(super) fn pearson(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < MIN_PAIRS {
        return None;
    }
    let count = float(u64::try_from(pairs.len()).unwrap_or(u64::MAX));
    let (left, right) = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    let (left_mean, right_mean) = (left / count, right / count);
    let (mut products, mut left_squares, mut right_squares) = (0.0, 0.0, 0.0);
    for (left, right) in pairs {
        let (left, right) = (left - left_mean, right - right_mean);
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
        let (left, right) = (rank(&sequence(3, 100)), rank(&sequence(4, 100)));
        assert!(!correlate(&[&left, &right], false).unwrap().is_shared());
        let found = correlate(&[&left, &right], true).unwrap();
        assert!((found.rho - 1.0).abs() < 1e-12 && !found.is_measured && found.is_shared());
    }

    /// Values of lines of 40 steps: a fixed sequence of pseudo-random draws, as good as any.
    fn sequence(seed: u32, lines: usize) -> Vec<u32> {
        let mut state = seed;
        let mut draw = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % 100 < 51
        };
        let mut line = || (0..40).map(|_| u32::from(draw())).sum::<u32>();
        (0..lines).map(|_| 300 + line() * 100 / 40).collect()
    }

    /// The same without one line in `step`, from some line on.
    fn losing(values: &[u32], step: usize, from: usize) -> Vec<u32> {
        let kept =
            values.iter().enumerate().filter(|(number, _)| !(number + step - from).is_multiple_of(step));
        kept.map(|(_, value)| *value).collect()
    }

    /// Each rank loses other lines, so the k-th ones are soon other draws: they are found side by side again.
    #[test]
    fn ranks_that_lost_lines_are_found_to_share_their_draws() {
        let values = sequence(7, 120);
        let ranks: Vec<Rank> = (0..8).map(|number| rank(&losing(&values, 9 + number, 2 + number))).collect();
        let ranks: Vec<&Rank> = ranks.iter().collect();
        let lines: Vec<&[Kept]> = ranks.iter().map(|rank| rank.trace.kept()).collect();
        let by_number = best_shift(lines[0], lines[7]).unwrap().0;
        assert!(by_number < SHARED_FROM, "{by_number}");
        let found = correlate(&ranks, false).unwrap();
        assert!(found.is_measured && found.rho > 0.9, "{}", found.rho);
    }

    /// Independent ranks are told so from some fifty lines on; before that nobody can tell, and they count as one.
    #[test]
    fn few_lines_do_not_make_ranks_independent() {
        for (lines, seeds) in [(8, 0..40), (60, 40..80)] {
            let shared = seeds.clone().filter(|seed| {
                let (left, right) = (sequence(2 * seed, lines), sequence(2 * seed + 1, lines));
                correlate(&[&rank(&left), &rank(&right)], false).unwrap().is_shared()
            });
            let shared = shared.count();
            assert!(if lines == 8 { shared == 40 } else { shared <= 4 }, "{lines}: {shared}");
        }
    }

    #[test]
    fn own_draws_are_not_shared() {
        let left: Vec<u32> = (0..500).map(|i| 300 + (i * 7919) % 101).collect();
        let right: Vec<u32> = (0..500).map(|i| 300 + (i * i * 31 + 17) % 101).collect();
        let found = correlate(&[&rank(&left), &rank(&right)], false).unwrap();
        assert!(found.rho < 0.3, "{}", found.rho);
    }

    #[test]
    fn a_constant_on_one_side_correlates_with_nothing() {
        let varied = [3.5, 3.6, 3.4, 3.55, 3.45, 3.7];
        let (left, right): (Vec<_>, Vec<_>) =
            varied.map(|value| ((4.0, value), (value, 4.0))).into_iter().unzip();
        assert_eq!((pearson(&left), pearson(&right)), (None, None));
        let both: Vec<_> = varied.map(|value| (value, 2.0 * value)).to_vec();
        assert!((pearson(&both).unwrap() - 1.0).abs() < 1e-9);
    }
}
