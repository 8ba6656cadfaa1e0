//! Ranks laid side by side where lines of them are lost: their k-th lines are then no longer the same draws.
//!
//! A path through the offsets of the longest rank's lines to another's is searched that explains them best (Viterbi 1967).
//! Each pair of lines is worth a likelihood ratio: two values that hang together against two of one law that do not. On
//! average over pairs of independent lines it is 1 at any offset, and each change of the offset has its price, so lines
//! that are independent come out below 1, and fall with every line.

use std::collections::BTreeMap;

use crate::law::{float, normal_quantile};

use super::trace::Kept;

/// Lines of a rank that are laid side by side.
const LINES: usize = 1024;

/// Lines by which one rank may run behind another, at most and as a share of them.
const MOST_BEHIND: usize = 32;
const LINES_PER_BEHIND: usize = 4;

/// Groups of neighbouring values at most.
const GROUPS: usize = 128;

/// Correlations that ranks with the same draws have: their lines weigh them by their own batches.
const CORRELATIONS: [f64; 3] = [0.5, 0.8, 0.97];

/// Share of lines that are anybody's: cut, altered, or of another run.
const STRANGE: f64 = 0.05;

/// Natural logarithms of the chance that a line goes on at the same offset, at a neighbouring one, at any; and of a line
/// that has no partner.
const STAY: f64 = -0.105;
const NEXT: f64 = -3.5;
const ANY: f64 = -3.5;
const ALONE: f64 = -0.7;

/// The least that a pair of ranks can say: one that lies out of reach does not outweigh all others.
const LEAST: f64 = -9.3;

/// What the best path says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alignment {
    /// Natural logarithm of how much likelier the lines are if the ranks drew the same.
    pub(super) ln_ratio: f64,
    /// Mean correlation of the lines that lie side by side on it.
    pub(super) rho: Option<f64>,
}

/// Lays every rank beside the one with this index. Given that one, independent ranks are independent of each other.
pub(super) fn align(ranks: &[&[Kept]], center: usize) -> Option<Alignment> {
    let lines: Vec<&[Kept]> = ranks.iter().map(|kept| kept.get(..LINES).unwrap_or(kept)).collect();
    let groups = Groups::of(&lines);
    let indices: Vec<Vec<usize>> =
        lines.iter().map(|kept| kept.iter().map(|line| groups.index(line.hundredths())).collect()).collect();
    let own = indices.get(center)?;
    let own_lines = lines.get(center)?;
    let price = float(u64::try_from(CORRELATIONS.len()).unwrap_or(1)).ln();
    let mut best: Option<Alignment> = None;
    for correlation in CORRELATIONS {
        let worth = groups.worth(correlation);
        let (mut sum, mut rho, mut measured) = (-price, 0.0, 0_u32);
        for (index, other) in indices.iter().enumerate().filter(|(index, _)| *index != center) {
            let path = Path::through(own, other, &worth, groups.len());
            sum += path.ln_ratio.max(LEAST);
            let other_lines = lines.get(index).copied().unwrap_or(&[]);
            let pairs: Vec<(f64, f64)> = path
                .pairs
                .iter()
                .filter_map(|(left, right)| {
                    Some((own_lines.get(*left)?.tokens(), other_lines.get(*right)?.tokens()))
                })
                .collect();
            if let Some(found) = super::correlation::pearson(&pairs) {
                rho += found;
                measured += 1;
            }
        }
        if best.is_none_or(|best| sum > best.ln_ratio) {
            best = Some(Alignment { ln_ratio: sum, rho: (measured > 0).then(|| rho / f64::from(measured)) });
        }
    }
    best
}

/// Values by their order, neighbouring ones together where there are many.
struct Groups {
    of: BTreeMap<u32, usize>,
    /// Share of lines, and the normal score of the middle.
    groups: Vec<(f64, f64)>,
}

impl Groups {
    fn of(lines: &[&[Kept]]) -> Self {
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        let values = lines.iter().flat_map(|kept| kept.iter()).map(|line| line.hundredths());
        values.for_each(|value| *counts.entry(value).or_insert(0) += 1);
        let all = float(counts.values().sum::<u64>()).max(1.0);
        let step = counts.len().div_ceil(GROUPS).max(1);
        let mut shares: Vec<f64> = Vec::new();
        let mut of = BTreeMap::new();
        for (number, (value, count)) in counts.into_iter().enumerate() {
            if number % step == 0 {
                shares.push(0.0);
            }
            of.insert(value, shares.len() - 1);
            shares.iter_mut().last().into_iter().for_each(|share| *share += float(count) / all);
        }
        let mut below = 0.0;
        let groups = shares.into_iter().map(|share| {
            let middle: f64 = below + share / 2.0;
            below += share;
            (share, normal_quantile(middle.clamp(1e-9, 1.0 - 1e-9)))
        });
        Self { of, groups: groups.collect() }
    }

    fn len(&self) -> usize {
        self.groups.len()
    }

    fn index(&self, value: u32) -> usize {
        self.of.get(&value).copied().unwrap_or(0)
    }

    /// What a pair of values is worth, for all pairs: the ratio of two normal densities, scaled so that its mean over
    /// independent pairs is 1.
    fn worth(&self, correlation: f64) -> Vec<f64> {
        let square = correlation * correlation;
        let ratio = |left: f64, right: f64| {
            let distance = square * (left * left + right * right) - 2.0 * correlation * left * right;
            (-distance / (2.0 * (1.0 - square))).exp()
        };
        let pairs = || self.groups.iter().flat_map(|left| self.groups.iter().map(move |right| (left, right)));
        let mean: f64 = pairs().map(|(left, right)| left.0 * right.0 * ratio(left.1, right.1)).sum();
        pairs()
            .map(|(left, right)| {
                ((1.0 - STRANGE) * ratio(left.1, right.1) / mean.max(f64::MIN_POSITIVE) + STRANGE).ln()
            })
            .collect()
    }
}

/// Where a line's best path comes from.
#[derive(Clone, Copy)]
enum Step {
    Same,
    Below,
    Above,
    Any,
}

/// The best way to lay one rank beside another.
struct Path {
    ln_ratio: f64,
    /// Lines side by side.
    pairs: Vec<(usize, usize)>,
}

impl Path {
    fn through(own: &[usize], other: &[usize], worth: &[f64], groups: usize) -> Self {
        let reach = (own.len().min(other.len()) / LINES_PER_BEHIND).clamp(1, MOST_BEHIND);
        let offsets = 2 * reach + 1;
        let spread = float(u64::try_from(offsets).unwrap_or(1)).ln();
        // The line beside line `line` at an offset.
        let beside = |line: usize, offset: usize| (line + offset).checked_sub(reach);
        let at = |line: usize, offset: usize| -> f64 {
            let pair = own.get(line).zip(beside(line, offset).and_then(|other_line| other.get(other_line)));
            pair.and_then(|(left, right)| worth.get(left * groups + right)).copied().unwrap_or(ALONE)
        };
        let mut best: Vec<f64> = (0..offsets)
            .map(|offset| {
                let start = if offset == reach { -std::f64::consts::LN_2 } else { -spread };
                start + at(0, offset)
            })
            .collect();
        let mut steps: Vec<Step> = Vec::with_capacity(own.len().saturating_mul(offsets));
        let mut leaders = Vec::with_capacity(own.len());
        for line in 1..own.len() {
            let leader = leading(&best);
            let any = best.get(leader).copied().unwrap_or(f64::NEG_INFINITY) + ANY - spread;
            let value = |offset: Option<usize>| {
                offset.and_then(|offset| best.get(offset)).copied().unwrap_or(f64::NEG_INFINITY)
            };
            let next: Vec<f64> = (0..offsets)
                .map(|offset| {
                    let ways = [
                        (value(Some(offset)) + STAY, Step::Same),
                        (value(offset.checked_sub(1)) + NEXT, Step::Below),
                        (value(Some(offset + 1)) + NEXT, Step::Above),
                        (any, Step::Any),
                    ];
                    let first = (f64::NEG_INFINITY, Step::Same);
                    let way =
                        ways.into_iter().fold(first, |best, way| if way.0 > best.0 { way } else { best });
                    steps.push(way.1);
                    way.0 + at(line, offset)
                })
                .collect();
            leaders.push(leader);
            best = next;
        }
        let mut offset = leading(&best);
        let ln_ratio = best.get(offset).copied().unwrap_or(0.0);
        let mut pairs = Vec::with_capacity(own.len());
        for line in (0..own.len()).rev() {
            if let Some(right) = beside(line, offset).filter(|right| *right < other.len()) {
                pairs.push((line, right));
            }
            let Some(before) = line.checked_sub(1) else { break };
            offset = match steps.get(before * offsets + offset) {
                Some(Step::Below) => offset.saturating_sub(1),
                Some(Step::Above) => offset + 1,
                Some(Step::Any) => leaders.get(before).copied().unwrap_or(offset),
                Some(Step::Same) | None => offset,
            };
        }
        Self { ln_ratio, pairs }
    }
}

/// The offset whose path is the best so far.
fn leading(best: &[f64]) -> usize {
    best.iter().enumerate().max_by(|left, right| left.1.total_cmp(right.1)).map_or(0, |(offset, _)| offset)
}
