//! The contexts of a closed loop's running requests: how many KV tokens a step waits for, on average.
//!
//! A step waits for `max(C, lanes * L)`: C tokens of all, L of the longest. Its mean is not the maximum of the means.

use crate::law::float;

use super::lengths::Lengths;

/// Points of the grids on which contexts are integrated.
const GRID: u32 = 128;

/// Places of the output that requests which advance together pass.
const PLACES: u32 = 32;

/// The distribution of one request's context on a grid of equal parts.
struct Contexts {
    /// Middle of each part.
    middles: Vec<f64>,
    /// Share of the contexts in it.
    shares: Vec<f64>,
}

/// Mean of `max(C, lanes * L)` over the steps of a closed loop with `running` requests; `together` where all of them stand at the
/// same place of outputs of one length.
pub(super) fn kv_tokens(running: u32, lanes: f64, input: Lengths, output: Lengths, together: bool) -> f64 {
    let count = f64::from(running);
    if together {
        let passed = |place: u32| (f64::from(place) + 0.5) / f64::from(PLACES) * output.mean();
        let inputs = Contexts::of_inputs(input);
        let sum: f64 = (0..PLACES).map(|place| inputs.waits(count, lanes, passed(place))).sum();
        return sum / f64::from(PLACES);
    }
    if lanes <= 1.0 {
        return count * (input.mean() + output.mean() * (1.0 + output.cv().powi(2)) / 2.0);
    }
    Contexts::of_running(input, output).waits(count, lanes, 0.0)
}

impl Contexts {
    /// Inputs alone: uniform.
    fn of_inputs(input: Lengths) -> Self {
        let (low, high) = (f64::from(input.low()), f64::from(input.high()));
        if low >= high {
            return Self { middles: vec![low], shares: vec![1.0] };
        }
        Self::on(low, high, |context| (context - low) / (high - low))
    }

    /// Input and what is passed of the output: a running request's output is length-biased, and it stands at a uniform place of
    /// it. P(passed <= p) is the mean of min(output, p) over the mean output.
    fn of_running(input: Lengths, output: Lengths) -> Self {
        let (first, last) = (f64::from(input.low()), f64::from(input.high()));
        let count = if first < last { GRID } else { 1 };
        let part = (last - first) / f64::from(count);
        let below = |context: f64| {
            let passed = (0..count).map(|at| passed(output, context - first - (f64::from(at) + 0.5) * part));
            passed.sum::<f64>() / float(u64::from(count))
        };
        Self::on(first, last + f64::from(output.high()), below)
    }

    fn on(low: f64, high: f64, below: impl Fn(f64) -> f64) -> Self {
        let part = (high - low) / f64::from(GRID);
        let edge = |at: u32| low + f64::from(at) * part;
        let under: Vec<f64> = (0..=GRID).map(|at| below(edge(at))).collect();
        Self {
            middles: (0..GRID).map(|at| edge(at) + part / 2.0).collect(),
            shares: under.iter().zip(under.iter().skip(1)).map(|(low, high)| (high - low).max(0.0)).collect(),
        }
    }

    /// Mean of the larger of the sum and `lanes` times the longest of `count` independent contexts, each `shift` longer. Given the
    /// longest, the others are as many independent ones below it: their sum is taken as normal.
    fn waits(&self, count: f64, lanes: f64, shift: f64) -> f64 {
        let (mut under, mut first, mut second, mut mean) = (0.0_f64, 0.0, 0.0, 0.0);
        for (middle, share) in self.middles.iter().zip(&self.shares) {
            let context = middle + shift;
            let before = under;
            under = (under + share).min(1.0);
            // Half of the part that the longest itself lies in.
            let (weight, sum) = (before + share / 2.0, first + share / 2.0 * context);
            let squares = second + share / 2.0 * context * context;
            first += share * context;
            second += share * context * context;
            let longest = libm::pow(under, count) - libm::pow(before, count);
            if longest <= 0.0 || weight <= 0.0 {
                continue;
            }
            let (other, spread) = (sum / weight, (squares / weight - (sum / weight).powi(2)).max(0.0));
            let sum = context + (count - 1.0) * other;
            mean += longest * larger(sum, ((count - 1.0) * spread).sqrt(), lanes * context);
        }
        mean
    }
}

/// Mean of the larger of a normal variable and a number.
fn larger(mean: f64, deviation: f64, number: f64) -> f64 {
    let over = mean - number;
    if deviation <= over.abs() * 1e-6 {
        return mean.max(number);
    }
    let at = over / deviation;
    let below = 0.5 * libm::erfc(-at / std::f64::consts::SQRT_2);
    let density = libm::exp(-at * at / 2.0) / (2.0 * std::f64::consts::PI).sqrt();
    number + over * below + deviation * density
}

/// Mean of min(output, p) over the mean output.
fn passed(output: Lengths, p: f64) -> f64 {
    let (low, high) = (f64::from(output.low()), f64::from(output.high()));
    if p <= 0.0 {
        return 0.0;
    }
    if high <= low {
        return (p / high).min(1.0);
    }
    let p = p.min(high);
    // Of an output uniform on [low, high].
    let capped = if p <= low { p } else { ((p * p - low * low) / 2.0 + p * (high - p)) / (high - low) };
    capped / f64::midpoint(low, high)
}

/// Prefill batches that `running` requests of a closed loop need for each request that ends, when a request ends after `steps` steps
/// on average and a batch takes at most `most` prompts: those that end with one step are prefilled together.
pub(super) fn batches_a_request(running: u32, steps: f64, most: f64, together: bool) -> f64 {
    let count = f64::from(running);
    if together {
        return (count / most).ceil() / count;
    }
    // Each request ends with a step at the same odds: how many do is binomial.
    let odds = (1.0 / steps.max(1.0)).min(1.0);
    if odds >= 1.0 {
        return (count / most).ceil() / count;
    }
    let mean = count * odds;
    if mean > 300.0 {
        // So many that the last batch is as often nearly full as nearly empty.
        return ((mean / most + (1.0 - 1.0 / most) / 2.0) / mean).clamp(1.0 / count, 1.0);
    }
    let mut share = libm::exp(count * libm::log1p(-odds));
    let (mut batches, mut ended, mut left) = (0.0, 0.0_f64, 1.0 - share);
    let ratio = odds / (1.0 - odds);
    while ended < count && ended < 1e5 {
        share *= (count - ended) / (ended + 1.0) * ratio;
        ended += 1.0;
        batches += share * (ended / most).ceil();
        left -= share;
        if left < 1e-9 && ended > mean {
            break;
        }
    }
    (batches / mean).clamp(1.0 / count, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests of one length spread evenly: the longest of N stands at N / (N + 1) of the output.
    #[test]
    fn the_longest_context_is_that_of_order_statistics() {
        let (input, output) = (Lengths::fixed(500), Lengths::fixed(1000));
        for running in [1, 4, 32] {
            let share = f64::from(running) / f64::from(running + 1);
            let expected = 500.0 + 1000.0 * share;
            let found = kv_tokens(running, 1000.0, input, output, false) / 1000.0;
            assert!((found - expected).abs() < 6.0, "{running}: {found} {expected}");
        }
    }

    /// With many requests the sum decides, and its mean is known; at the bend the mean of the larger is above both.
    #[test]
    fn the_mean_of_the_larger_is_above_the_larger_mean() {
        let (input, output): (Lengths, Lengths) = ("128-2048".parse().unwrap(), "64-1024".parse().unwrap());
        let sum = kv_tokens(64, 1.0, input, output, false);
        assert!((kv_tokens(64, 4.0, input, output, false) / sum - 1.0).abs() < 2e-3);
        let longest = kv_tokens(8, 1e6, input, output, false) / 1e6;
        let lanes = kv_tokens(8, 1.0, input, output, false) / longest;
        let at_the_bend = kv_tokens(8, lanes, input, output, false);
        assert!(at_the_bend > 1.01 * lanes * longest, "{at_the_bend} {}", lanes * longest);
    }

    /// Three tenths of a request end with a step: P(one at least) / (3 * 0.1).
    #[test]
    fn requests_that_end_together_share_a_batch() {
        let found = batches_a_request(3, 10.0, 100.0, false);
        assert!((found - (1.0 - 0.729) / 0.3).abs() < 1e-9, "{found}");
        assert!((batches_a_request(3, 10.0, 1.0, false) - 1.0).abs() < 1e-9);
        assert!((batches_a_request(64, 10.0, 8.0, true) - 1.0 / 8.0).abs() < 1e-12);
        assert!((batches_a_request(1, 10.0, 8.0, false) - 1.0).abs() < 1e-9);
        let many = batches_a_request(1 << 20, 100.0, 8.0, false);
        assert!((many - 0.125).abs() < 1e-3, "{many}");
    }

    /// Three independent uniform contexts and lanes for two: the mean of the larger, by drawing them evenly spread.
    #[test]
    fn the_mean_of_the_larger_is_that_of_contexts_on_a_lattice() {
        let uniform = Contexts::on(0.0, 900.0, |context| context / 900.0);
        let at = |place: u32| (f64::from(place) + 0.5) * 900.0 / 60.0;
        let (mut sum, mut count) = (0.0, 0.0);
        for (first, second, third) in
            (0..60).flat_map(|a| (0..60).flat_map(move |b| (0..60).map(move |c| (a, b, c))))
        {
            let contexts = [at(first), at(second), at(third)];
            let longest = contexts.iter().copied().fold(0.0, f64::max);
            sum += contexts.iter().sum::<f64>().max(2.0 * longest);
            count += 1.0;
        }
        let (found, expected) = (uniform.waits(3.0, 2.0, 0.0), sum / count);
        assert!((found / expected - 1.0).abs() < 2e-3, "{found} {expected}");
    }
}
