//! The mean accept length with an interval that counts verify steps, not tokens and not requests.

use crate::law::{Lattice, beta_quantile, float, student_quantile, whole};

use super::correlation::RankCorrelation;
use super::options::Confidence;
use super::sample::Sample;

/// Lines from which neighbouring ones are joined to blocks, and lines of a block.
const BLOCKS_FROM: u64 = 40;
const BLOCK_LINES: u64 = 10;
const MAX_BLOCKS: u64 = 50;

/// An interval for the mean, in tokens per verify step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl MeanInterval {
    /// Whether it lies inside `center` plus and minus `reach`.
    pub(super) fn is_within(&self, center: f64, reach: f64) -> bool {
        self.low >= center - reach && self.high <= center + reach
    }

    /// Whether it has no point in common with `center` plus and minus `reach`.
    pub(super) fn is_outside(&self, center: f64, reach: f64) -> bool {
        self.low > center + reach || self.high < center - reach
    }
}

/// The mean of the lines as one sample of independent steps.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    /// Mean weighed by kappa, in tokens.
    pub(super) mean: f64,
    /// Independent steps that it rests on.
    pub(super) steps: f64,
    /// Independent lines: those of one rank where the ranks are one sample.
    pub(super) lines: u64,
    form: Form,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    /// Whole draws between `lo` and `lo + 1`: S of N steps gave the larger one.
    Binomial { lo: f64, draws: f64 },
    /// Anything else: standard error and its degrees of freedom; `None` for a single block.
    Ratio(Option<(f64, f64)>),
}

/// Lines in order: tokens weighed by kappa, and kappa.
type Series = Vec<(f64, f64)>;

impl Estimate {
    /// The estimate from all ranks. `binomial` gives the floor of the two neighbouring lengths that every step drew
    /// from, where the lines bear that out.
    pub(super) fn new(sample: &Sample<'_>, interval: u32, binomial: Option<u32>) -> Self {
        let steps_per_line = f64::from(interval);
        let lattice = binomial.map(|lo| (f64::from(lo), Lattice::new(lo, interval)));
        // On the lattice the printed value stands for a whole number of draws, which is the better value.
        let value = |hundredths: u32| match &lattice {
            Some((lo, lattice)) => lo + lattice.draws(hundredths) / steps_per_line,
            None => f64::from(hundredths) / 100.0,
        };
        // What is only summed cannot be laid side by side.
        let shared = sample
            .correlation
            .as_ref()
            .filter(|correlation| correlation.is_shared() && !correlation.is_summed);
        let (tokens, kappa, lines, series) = match shared {
            Some(correlation) => averaged(sample, correlation, &value),
            None => pooled(sample, &value),
        };
        let mean = tokens / kappa;
        let count = u64::try_from(sample.ranks.len()).unwrap_or(1).max(1);
        let lines = if sample.is_summed { lines / count } else { lines };
        let ranks = float(count);
        let rho = sample.correlation.as_ref().map_or(0.0, |correlation| correlation.rho);
        let overlap = if shared.is_some() { 1.0 } else { 1.0 + (ranks - 1.0) * rho };
        let steps = steps_per_line * kappa / overlap;
        let form = if let Some((lo, _)) = &lattice {
            Form::Binomial { lo: *lo, draws: (steps * (mean - lo)).clamp(0.0, steps) }
        } else {
            let weight = mean - mean.floor();
            let binomial = (weight * (1.0 - weight) / steps).sqrt();
            // How much the lines scatter that are only summed, their first ones do not tell.
            let blocks = block_error(&series, mean, kappa).filter(|_| !sample.is_summed);
            Form::Ratio(blocks.map(|(error, freedom)| ((error * overlap.sqrt()).max(binomial), freedom)))
        };
        Self { mean, steps, lines, form }
    }

    /// The interval at a confidence; `None` where the lines do not tell how much they scatter.
    pub(super) fn interval(&self, confidence: Confidence) -> Option<MeanInterval> {
        let tail = confidence.outside() / 2.0;
        match self.form {
            Form::Binomial { lo, draws } => {
                let (low, high) = clopper_pearson(draws, self.steps, tail);
                Some(MeanInterval { low: lo + low, high: lo + high })
            }
            Form::Ratio(error) => error.map(|(error, freedom)| {
                let reach = student_quantile(1.0 - tail, freedom) * error;
                MeanInterval { low: (self.mean - reach).max(1.0), high: self.mean + reach }
            }),
        }
    }
}

/// Clopper and Pearson's (1934) interval for a share; neither count need be whole.
pub(super) fn clopper_pearson(hits: f64, trials: f64, tail: f64) -> (f64, f64) {
    let low = if hits > 0.0 { beta_quantile(tail, hits, trials - hits + 1.0) } else { 0.0 };
    let high = if hits < trials { beta_quantile(1.0 - tail, hits + 1.0, trials - hits) } else { 1.0 };
    (low, high)
}

/// All lines of all ranks: sums, count, and the kept lines of each rank in order.
fn pooled(sample: &Sample<'_>, value: &dyn Fn(u32) -> f64) -> (f64, f64, u64, Vec<Series>) {
    let (mut tokens, mut kappa, mut lines) = (0.0, 0.0, 0);
    for values in sample.ranks.iter().flat_map(|rank| rank.values.iter()) {
        tokens += values.sums.kappa() * value(values.hundredths);
        kappa += values.sums.kappa();
        lines += values.sums.lines;
    }
    let series = sample.ranks.iter().map(|rank| {
        rank.trace.kept().iter().map(|line| (line.kappa() * value(line.hundredths()), line.kappa())).collect()
    });
    (tokens, kappa, lines, series.collect())
}

/// The averages of the ranks' k-th lines, as one rank.
fn averaged(
    sample: &Sample<'_>,
    correlation: &RankCorrelation,
    value: &dyn Fn(u32) -> f64,
) -> (f64, f64, u64, Vec<Series>) {
    // Per aligned line: sum of values, sum of kappa, ranks.
    let mut sums: Vec<(f64, f64, f64)> = Vec::new();
    let (mut rest_tokens, mut rest_kappa, mut rest_lines) = (0.0, 0.0, 0);
    for (index, rank) in sample.ranks.iter().enumerate() {
        for (number, line) in rank.trace.kept().iter().enumerate() {
            let at = correlation.aligned(index, number);
            if at >= sums.len() {
                sums.resize(at + 1, (0.0, 0.0, 0.0));
            }
            if let Some(sum) = sums.get_mut(at) {
                sum.0 += value(line.hundredths());
                sum.1 += line.kappa();
                sum.2 += 1.0;
            }
        }
        let rest = rank.trace.rest();
        rest_tokens += rest.tokens();
        rest_kappa += rest.kappa();
        rest_lines = rest_lines.max(rest.lines);
    }
    let series: Series = sums
        .iter()
        .filter(|(_, _, ranks)| *ranks > 0.0)
        .map(|(values, kappa, ranks)| (values / ranks * (kappa / ranks), kappa / ranks))
        .collect();
    let ranks = float(u64::try_from(sample.ranks.len()).unwrap_or(1));
    let tokens = series.iter().map(|(tokens, _)| tokens).sum::<f64>() + rest_tokens / ranks;
    let kappa = series.iter().map(|(_, kappa)| kappa).sum::<f64>() + rest_kappa / ranks;
    let lines = u64::try_from(series.len()).unwrap_or(u64::MAX) + rest_lines;
    (tokens, kappa, lines, vec![series])
}

/// Standard error of the ratio of the sums by blocks of neighbouring lines, and its degrees of freedom.
fn block_error(series: &[Series], mean: f64, all_kappa: f64) -> Option<(f64, f64)> {
    let lines: u64 = series.iter().map(|rank| u64::try_from(rank.len()).unwrap_or(0)).sum();
    let block = if lines < BLOCKS_FROM { 1 } else { BLOCK_LINES.max(lines / MAX_BLOCKS) };
    let block = usize::try_from(block).ok()?;
    let (mut squares, mut kappa, mut blocks) = (0.0, 0.0, 0_u64);
    for block in series.iter().flat_map(|rank| rank.chunks(block)) {
        let (tokens, weight) = block.iter().fold((0.0, 0.0), |sum, line| (sum.0 + line.0, sum.1 + line.1));
        squares += (tokens - mean * weight).powi(2);
        kappa += weight;
        blocks += 1;
    }
    let freedom = float(blocks.checked_sub(1).filter(|freedom| *freedom > 0)?);
    let error = (squares * float(blocks) / freedom).sqrt() / kappa;
    // Lines that were summed but not kept narrow it as those that were.
    Some((error * (kappa / all_kappa).sqrt(), freedom))
}

/// Lines of `interval` steps that an honest run needs, 9 times in 10, to be found consistent: Schuirmann's two
/// one-sided tests (1987) at no difference. `margin` in tokens; at an integer target what one step off would need.
pub(super) fn lines_needed(target: f64, margin: f64, confidence: Confidence, interval: u32) -> u64 {
    let weight = target - target.floor();
    let tail = confidence.outside() / 2.0;
    let steps = if weight > 0.0 {
        let z = crate::law::normal_quantile(1.0 - tail) + crate::law::normal_quantile(0.95);
        (z / margin).powi(2) * weight * (1.0 - weight)
    } else if margin < 1.0 {
        tail.ln() / (-margin).ln_1p()
    } else {
        0.0
    };
    whole((steps / f64::from(interval)).ceil())
}

#[cfg(test)]
mod tests {
    use super::super::correlation::correlate;
    use super::super::rank::Rank;
    use super::super::trace::{Entry, Trace};
    use super::*;
    use crate::evidence::Place;

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
    }

    #[test]
    fn clopper_pearson_intervals() {
        for (hits, trials, low, high) in [
            (204.0, 400.0, 3.4598, 3.5600),
            (1020.0, 2000.0, 3.4878, 3.5321),
            (1489.0, 2920.0, 3.4916, 3.5282),
        ] {
            let found = clopper_pearson(hits, trials, 0.025);
            close(3.0 + found.0, low, 5e-5);
            close(3.0 + found.1, high, 5e-5);
        }
        let (low, high) = clopper_pearson(0.0, 240.0, 0.025);
        close(low, 0.0, 0.0);
        close(high, 0.0153, 5e-5);
    }

    /// Worked values at 2.5 % a side.
    #[test]
    fn lines_for_the_default_power() {
        let at = |target, margin| lines_needed(target, margin, Confidence::default(), 40);
        for (margin, lines) in [(0.05, 33), (0.035, 67), (0.02, 203), (0.01, 812)] {
            assert_eq!(at(3.51, margin), lines);
        }
        for (target, lines) in
            [(1.79, 43), (2.27, 32), (2.49, 33), (2.78, 19), (3.51, 17), (3.61, 15), (4.7, 8), (5.3, 7)]
        {
            assert_eq!(at(target, 0.02 * target), lines, "{target}");
        }
        // 5 % a side is a confidence of 90 %.
        let ninety: Confidence = "0.9".parse().unwrap();
        for (margin, lines) in [(0.05, 28), (0.035, 56), (0.02, 170), (0.01, 677)] {
            assert_eq!(lines_needed(3.51, margin, ninety, 40), lines);
        }
        for (target, lines) in [(1.0, 5), (2.0, 3), (3.0, 2), (5.0, 1)] {
            assert_eq!(at(target, 0.02 * target), lines, "{target}");
        }
    }

    #[test]
    fn blocks_widen_the_error_of_lines_that_hang_together() {
        let apart: Series = (0..400).map(|i| (3.5 + 0.1 * f64::from(i % 2 * 2 - 1), 1.0)).collect();
        let together: Series = (0..400).map(|i| (3.5 + 0.1 * f64::from(i / 20 % 2 * 2 - 1), 1.0)).collect();
        let error = |series: &Series| block_error(std::slice::from_ref(series), 3.5, 400.0).unwrap().0;
        assert!(error(&together) > 10.0 * error(&apart));
        assert!(block_error(&[vec![(3.5, 1.0)]], 3.5, 1.0).is_none());
    }

    /// Two ranks that drew alike, of each of which one line is kept and one only summed: half of all tokens.
    #[test]
    fn lines_that_are_not_kept_count_once_for_all_ranks() {
        let rank = |values: [u32; 2]| {
            let (mut trace, mut room) = (Trace::default(), 1);
            for hundredths in values {
                let place = Place { file: 0, line: 1 };
                trace.add(Entry { hundredths, before: 1, batch: 1, steady: true, place }, &mut room);
            }
            Rank { trace, ..Rank::default() }
        };
        let ranks = [rank([340, 360]), rank([350, 370])];
        let sample = Sample { ranks: ranks.iter().collect(), ..Sample::default() };
        let correlation = correlate(&sample.ranks, false).unwrap();
        let (tokens, kappa, lines, series) =
            averaged(&sample, &correlation, &|hundredths| f64::from(hundredths) / 100.0);
        close(tokens, 3.45 + 3.65, 1e-6);
        close(kappa, 2.0, 1e-6);
        assert_eq!((lines, series[0].len()), (2, 1));
    }
}
