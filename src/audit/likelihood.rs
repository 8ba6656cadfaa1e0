//! Log-likelihood of the lines under a law.

use crate::law::{AcceptanceLaw, LineLaw, Window, float, ln_normal_average, ln_normal_line, whole};

use super::dispersion::TOLERATED_MISSES as MISSED;
use super::sample::Sample;

/// Sum over all judged lines; minus infinity as soon as one cannot occur under the law.
///
/// A steady line off the lattice is one whose batch changed unseen. Where that is tolerated it counts as a changing
/// one, at the price of its rarity (one line in ten).
pub(super) fn log_likelihood(
    law: &AcceptanceLaw,
    interval: u32,
    sample: &Sample<'_>,
    tolerates_misses: bool,
) -> f64 {
    let line = LineLaw::new(law, interval);
    let misses = Misses::of(sample, tolerates_misses);
    let mut sum = 0.0;
    for (hundredths, window, count) in sample.windows() {
        let ln = ln_line(&line, hundredths, window, misses);
        if !ln.is_finite() {
            return f64::NEG_INFINITY;
        }
        sum += float(count) * ln;
    }
    sum
}

/// How often the batch of a steady line changed unseen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misses {
    /// Never.
    None,
    /// One line in ten.
    Few,
    /// Nothing tells when requests join: as often as not.
    Many,
}

impl Misses {
    pub(super) fn of(sample: &Sample<'_>, are_tolerated: bool) -> Self {
        match (are_tolerated, sample.is_blind) {
            (false, _) => Self::None,
            (true, false) => Self::Few,
            (true, true) => Self::Many,
        }
    }
}

/// Log-likelihood of one line.
pub(super) fn ln_line(line: &LineLaw, hundredths: u32, window: Window, misses: Misses) -> f64 {
    let ln = line.ln_probability(hundredths, window);
    let Window::Steady { batch } = window else { return ln };
    let changing = || {
        let window = Window::Changing { kappa: 1.0, batch: f64::from(batch) };
        line.ln_probability(hundredths, window)
    };
    match misses {
        Misses::Few if !ln.is_finite() => MISSED.ln() + changing(),
        // Both ways to print it.
        Misses::Many => (0.5 * ln.exp() + 0.5 * changing().exp()).ln(),
        Misses::None | Misses::Few => ln,
    }
}

/// Log-likelihood of the most likely real acceptance with at most `max` tokens a step: each request-step has a mean
/// and a variance that nothing prescribes. The variance has a floor, a tenth of the most that the mean allows: without
/// it a constant log would be real too.
pub(super) fn log_likelihood_of_real(sample: &Sample<'_>, interval: u32, max: u32) -> f64 {
    if sample.range().is_none_or(|(low, high)| low < 100 || high > max.saturating_mul(100)) {
        return f64::NEG_INFINITY;
    }
    let interval = f64::from(interval);
    let tokens = |hundredths: u32| f64::from(hundredths) / 100.0;
    let (mut weight, mut weighted) = (0.0, 0.0);
    for (hundredths, window, count) in sample.windows() {
        let draws = float(count) * interval * window.batch();
        weight += draws;
        weighted += draws * tokens(hundredths);
    }
    let mean = weighted / weight;
    let squares: f64 = sample
        .windows()
        .map(|(hundredths, window, count)| {
            float(count) * interval * window.batch() * (tokens(hundredths) - mean).powi(2)
        })
        .sum();
    let floor = (mean - 1.0) * (f64::from(max) - mean) / 10.0;
    let variance = (squares / float(sample.lines())).max(floor).max(0.0);
    sample
        .windows()
        .map(|(hundredths, window, count)| {
            let changing = |batch: f64| ln_normal_line(mean, variance / (interval * batch), hundredths);
            let ln = match window {
                Window::Changing { batch, .. } => changing(batch),
                Window::Steady { batch } => {
                    let draws = whole(interval) * u64::from(batch);
                    let steady = ln_normal_average(mean, variance, draws, hundredths);
                    match Misses::of(sample, true) {
                        Misses::Many => (0.5 * steady.exp() + 0.5 * changing(f64::from(batch)).exp()).ln(),
                        _ if steady.is_finite() => steady,
                        _ => MISSED.ln() + changing(f64::from(batch)),
                    }
                }
            };
            float(count) * ln
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::tally::Cell;
    use super::*;
    use crate::law::{Setting, printed};

    /// Lines of one batch size by the sum of their steps' lengths.
    fn sample(sums: &[u64], batch: u32) -> Sample<'static> {
        let mut cells: BTreeMap<Cell, u64> = BTreeMap::new();
        for sum in sums {
            let hundredths = printed(*sum, 40).unwrap();
            *cells.entry(Cell { hundredths, before: batch, batch }).or_default() += 1;
        }
        let steady = cells.into_iter().collect();
        Sample { steady, ..Sample::default() }
    }

    /// What no law can exceed: every value has the share of the lines that show it.
    fn saturated(sample: &Sample<'_>) -> f64 {
        let all = float(sample.lines());
        sample.steady.iter().map(|(_, count)| float(*count) * (float(*count) / all).ln()).sum()
    }

    proptest! {
        #[test]
        fn no_law_beats_the_saturated_one(
            sums in prop::collection::vec(120_u64..=160, 1..60),
            batch in 1_u32..64,
            length in 2.5_f64..4.5,
        ) {
            let setting = Setting::new(length, 6).unwrap();
            let sample = sample(&sums, batch);
            let bound = saturated(&sample);
            for law in [
                AcceptanceLaw::match_expected(setting),
                AcceptanceLaw::multinomial(setting),
                AcceptanceLaw::rounded(setting),
                AcceptanceLaw::per_request(setting),
            ] {
                let ln = log_likelihood(&law, 40, &sample, false);
                prop_assert!(ln <= bound + 1e-9, "{law:?}: {ln} above {bound}");
                // Tolerated misses come on top: one line in ten.
                let lenient = log_likelihood(&law, 40, &sample, true);
                let room = float(sample.lines()) * (1.0 + MISSED).ln();
                prop_assert!(lenient >= ln && lenient <= bound + room + 1e-9, "{law:?}: {lenient}");
            }
        }
    }

    #[test]
    fn real_acceptance_prints_no_more_than_the_longest_step() {
        let ln = |sums: &[u64], max| log_likelihood_of_real(&sample(sums, 4), 40, max);
        assert!(ln(&[120, 140, 160], 4).is_finite());
        // 6.25 and 0.75 tokens a step.
        for impossible in [ln(&[120, 140, 250], 4), ln(&[120, 140, 30], 4)] {
            assert_eq!(impossible.total_cmp(&f64::NEG_INFINITY), std::cmp::Ordering::Equal);
        }
    }

    #[test]
    fn a_miss_is_possible_only_where_it_is_tolerated() {
        let law = AcceptanceLaw::match_expected(Setting::new(3.51, 6).unwrap());
        let mut sample = sample(&[141, 140, 139], 4);
        sample.steady.push((Cell { hundredths: 351, before: 4, batch: 4 }, 1));
        assert!(log_likelihood(&law, 40, &sample, false).is_infinite());
        assert!(log_likelihood(&law, 40, &sample, true).is_finite());
        // Outside what the law can give nothing is tolerated.
        sample.steady.push((Cell { hundredths: 401, before: 4, batch: 4 }, 1));
        assert!(log_likelihood(&law, 40, &sample, true).is_infinite());
    }
}
