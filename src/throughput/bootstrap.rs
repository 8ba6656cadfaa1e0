//! Block bootstrap over stretches of lines (Efron and Tibshirani 1993): lines that follow each other are alike, so stretches
//! are drawn and not lines.

use rand::Rng as _;

use crate::law::{Stream, float, whole};

use super::fit::{Row, Shape};
use super::linear::Normal;
use super::model::Resamples;

/// Resamples.
pub(super) const RESAMPLES: u32 = 1000;

/// Lines of a stretch, where a level has a hundred or more; of fewer, a fifth of them.
const STRETCH: usize = 20;

/// Stretches of a level; longer logs have longer stretches.
const MOST_STRETCHES: usize = 500;

/// What all draws follow from: the same log, the same band.
const SEED: u64 = 0x7472_6f75_6768;

/// Lines of a stretch in a level of so many.
pub(super) fn stretch(lines: usize) -> usize {
    let usual = if lines >= 5 * STRETCH { STRETCH } else { lines.div_ceil(5) };
    usual.max(lines.div_ceil(MOST_STRETCHES)).max(1)
}

/// Indices of as many stretches as there are, drawn with replacement.
fn drawn(random: &mut Stream, count: usize) -> Vec<usize> {
    let span = u64::try_from(count).unwrap_or(0);
    (0..count).map(|_| usize::try_from((u64::from(random.next_u32()) * span) >> 32).unwrap_or(0)).collect()
}

/// 5 % and 95 % points.
pub(super) type Band = (f64, f64);

/// The 5 % and 95 % points.
pub(super) fn band(mut values: Vec<f64>) -> Option<Band> {
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    let last = float(u64::try_from(values.len().checked_sub(1)?).ok()?);
    let at = |share: f64| values.get(usize::try_from(whole((share * last).round())).ok()?).copied();
    Some((at(0.05)?, at(0.95)?))
}

/// Coefficients of resamples, each level with as many stretches as it has; the outliers' weights stay those of the fit.
pub(super) fn coefficients(levels: &[Vec<(Row, f64)>], shape: &Shape) -> Resamples {
    let strata: Vec<Vec<Normal>> = levels
        .iter()
        .map(|rows| {
            rows.chunks(stretch(rows.len()))
                .map(|rows| {
                    let mut normal = Normal::new(shape.size());
                    for (row, weight) in rows {
                        normal.add(&shape.columns(row), row.step_s, *weight);
                    }
                    normal
                })
                .collect()
        })
        .collect();
    let stretches = strata.iter().map(|stretches| u64::try_from(stretches.len()).unwrap_or(0)).sum();
    let resample = |number: u32| {
        let mut random = Stream::new(SEED, number, 0);
        let mut sums = Normal::new(shape.size());
        for stretches in &strata {
            for at in drawn(&mut random, stretches.len()) {
                if let Some(stretch) = stretches.get(at) {
                    sums.merge(stretch);
                }
            }
        }
        let (step, prefill) = shape.law(&sums.nonnegative()?, &[]);
        let slope_s = step.bend.slope_s();
        Some([step.a_s, step.b_s, step.c_s, step.d_s, prefill.p0_s, prefill.p1_s, slope_s].map(short))
    };
    Resamples { stretches, rows: (0..RESAMPLES).filter_map(resample).collect() }
}

/// Six digits: a resample is no more certain than that, and the file stays small.
fn short(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// Bands of a level: tokens a second, and the share of time in prefill where its cost is known (per resample: p0, p1).
pub(super) fn level(rows: &[Row], prefill: Option<&[(f64, f64)]>) -> (Option<Band>, Option<Band>) {
    let stretches: Vec<[f64; 4]> = rows
        .chunks(stretch(rows.len()))
        .map(|rows| {
            rows.iter().fold([0.0; 4], |[tokens, seconds, batches, prompts], row| {
                let steps = f64::from(row.interval);
                [
                    tokens + row.output_tokens(),
                    seconds + row.seconds(),
                    batches + row.batches * steps,
                    prompts + row.prompt_tokens * steps,
                ]
            })
        })
        .collect();
    let (mut tps, mut shares) = (Vec::new(), Vec::new());
    for number in 0..RESAMPLES {
        let mut random = Stream::new(SEED, number, 1);
        let sums = drawn(&mut random, stretches.len()).into_iter().filter_map(|at| stretches.get(at)).fold(
            [0.0; 4],
            |sums: [f64; 4], more| {
                std::array::from_fn(|at| sums.get(at).unwrap_or(&0.0) + more.get(at).unwrap_or(&0.0))
            },
        );
        let [tokens, seconds, batches, prompts] = sums;
        tps.push(tokens / seconds);
        let costs = usize::try_from(number).ok().and_then(|at| prefill?.get(at));
        if let Some((p0, p1)) = costs {
            shares.push(((p0 * batches + p1 * prompts) / seconds).clamp(0.0, 0.999));
        }
    }
    (band(tps), band(shares))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows alike: 16 requests emit 3 tokens each in a step of 8 ms, and prefill takes a tenth of the time.
    #[test]
    fn a_level_without_scatter_has_bands_without_width() {
        let row = Row {
            drafts: Some(3),
            verified: 4,
            running: 16,
            batch: 16.0,
            tokens: 64.0,
            kv_tokens: 16_000.0,
            longest: 1000.0,
            batches: 0.1,
            prompt_tokens: 50.0,
            accept_len: 3.0,
            step_s: 0.008,
            interval: 40,
            has_context: true,
            sees_prefill: true,
            busy: None,
            output: None,
        };
        let is_at = |band: Option<Band>, expected: f64| {
            let (low, high) = band.unwrap();
            assert!(
                (low - expected).abs() < 1e-9 * expected && (high - expected).abs() < 1e-9 * expected,
                "{low} {high}"
            );
        };
        let costs: Vec<(f64, f64)> = (0..RESAMPLES).map(|_| (0.003, 1e-5)).collect();
        let (tps, share) = level(&[row; 30], Some(&costs));
        is_at(tps, 6000.0);
        is_at(share, 0.1);
        let (tps, share) = level(&[row; 30], None);
        is_at(tps, 6000.0);
        assert_eq!(share, None);
    }
}
