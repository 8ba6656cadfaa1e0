//! The closed form: a closed loop that always has N requests running, in means.

use crate::law::float;

use super::lengths::Lengths;
use super::step::{Load, PrefillLaw, StepLaw};

/// Points of the grid on which contexts are integrated.
const GRID: u32 = 96;

/// A server in its steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand<'a> {
    /// Time of a step.
    pub step: &'a StepLaw,
    /// Cost of prefill on the same server; zero for a server that only decodes.
    pub prefill: PrefillLaw,
    /// Requests running (N).
    pub running: u32,
    /// Draft tokens a request and step (k).
    pub drafts: u32,
    /// Tokens verified a request and step (q).
    pub verified: u32,
    /// Mean tokens a step and request (x).
    pub accept_length: f64,
    /// Variance of the tokens of a step.
    pub variance: f64,
    /// Input tokens.
    pub input: Lengths,
    /// Share of the input found in the prefix cache.
    pub cached: f64,
    /// Output tokens.
    pub output: Lengths,
}

/// What the closed form says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Steps of a request (S).
    pub steps: f64,
    /// KV tokens of all running requests (C).
    pub kv_tokens: f64,
    /// Seconds of a step (t).
    pub step_s: f64,
    /// Requests a second (X).
    pub requests_per_s: f64,
    /// Output tokens a second.
    pub output_tps: f64,
    /// Seconds of a request from its admission to its last token.
    pub latency_s: f64,
    /// Seconds to the first token, without queueing.
    pub ttft_s: f64,
    /// Seconds a token after the first.
    pub tpot_s: f64,
    /// Share of the wall time spent in prefill (phi).
    pub prefill_share: f64,
}

impl Demand<'_> {
    /// The steady state: work conservation for X, Little (1961) for the latency.
    ///
    /// ```
    /// use accsim::throughput::{Demand, Lengths, PrefillLaw, StepLaw};
    ///
    /// let step = StepLaw { a_s: 0.012, b_s: 6e-6, c_s: 2e-8, ..StepLaw::default() };
    /// let steady = Demand {
    ///     step: &step,
    ///     prefill: PrefillLaw { p0_s: 0.0, p1_s: 2e-5 },
    ///     running: 64,
    ///     drafts: 4,
    ///     verified: 5,
    ///     accept_length: 3.51,
    ///     variance: 0.51 * 0.49,
    ///     input: Lengths::fixed(1000),
    ///     cached: 0.0,
    ///     output: Lengths::fixed(1000),
    /// }
    /// .steady();
    /// assert!((steady.output_tps - 11_045.66).abs() < 0.01);
    /// ```
    #[must_use]
    pub fn steady(&self) -> Steady {
        let (x, running) = (self.accept_length, f64::from(self.running));
        let (input, output) = (self.input.mean(), self.output.mean());
        // The last step overshoots by half of what a step sees on average, less the token that it needs.
        let seen = (self.variance + x * x) / x;
        let count = (output - 1.0 + f64::midpoint(seen, -1.0)) / x;
        let context = input + output * (1.0 + self.output.cv().powi(2)) / 2.0;
        let kv_tokens = running * context;
        let longest = if self.step.lanes > 1.0 { self.longest().max(context) } else { context };
        let load =
            Load { running: self.running, drafts: self.drafts, verified: self.verified, kv_tokens, longest };
        let step_s = self.step.step_s(&load);
        let prefill_s = self.prefill.seconds(input * (1.0 - self.cached));
        let requests_per_s = 1.0 / (prefill_s + count * step_s / running);
        let latency_s = running / requests_per_s;
        Steady {
            steps: count,
            kv_tokens,
            step_s,
            requests_per_s,
            output_tps: output * requests_per_s,
            latency_s,
            ttft_s: prefill_s,
            tpot_s: if output > 1.0 { (latency_s - prefill_s) / (output - 1.0) } else { 0.0 },
            prefill_share: prefill_s * requests_per_s,
        }
    }

    /// The mean of the longest of N independent contexts: a running request's output is length-biased and it stands at a
    /// uniform place of it.
    fn longest(&self) -> f64 {
        let top = f64::from(self.input.high()) + f64::from(self.output.high());
        let step = top / f64::from(GRID);
        let survives =
            |at: u32| 1.0 - libm::pow(self.share_below(f64::from(at) * step), f64::from(self.running));
        let inner: f64 = (1..GRID).map(survives).sum();
        step * (inner + f64::midpoint(survives(0), survives(GRID)))
    }

    /// P(context <= c): over the input, of the output passed so far. P(passed <= p) is the mean of min(output, p) over the mean
    /// output.
    fn share_below(&self, context: f64) -> f64 {
        let (low, high) = (f64::from(self.output.low()), f64::from(self.output.high()));
        let passed = |p: f64| {
            if p <= 0.0 {
                0.0
            } else if high <= low {
                (p / high).min(1.0)
            } else {
                let p = p.min(high);
                // Mean of min(O, p) for O uniform on [low, high].
                let capped =
                    if p <= low { p } else { ((p * p - low * low) / 2.0 + p * (high - p)) / (high - low) };
                capped / f64::midpoint(low, high)
            }
        };
        let (first, last) = (f64::from(self.input.low()), f64::from(self.input.high()));
        let count = if first < last { GRID } else { 1 };
        let part = (last - first) / f64::from(count);
        let sum: f64 = (0..count).map(|at| passed(context - first - (f64::from(at) + 0.5) * part)).sum();
        sum / float(u64::from(count))
    }
}

/// Why an open loop has no steady state.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "{rate:.4} requests/s are more than the server completes with any batch up to {most_running}: the knee is {knee:.4} \
     requests/s at {knee_running} running requests"
)]
pub struct NoSteadyState {
    /// Arrival rate asked for.
    pub rate: f64,
    /// Largest batch allowed.
    pub most_running: u32,
    /// Most requests a second.
    pub knee: f64,
    /// The batch that completes them.
    pub knee_running: u32,
}

/// The batch at which an open loop of `rate` requests a second settles: `N = rate * latency(N)`, by bisection; between whole
/// batches the larger one. The batch of `demand` is ignored.
pub fn open_loop(demand: &Demand<'_>, rate: f64, most_running: u32) -> Result<(u32, Steady), NoSteadyState> {
    let at = |running: u32| Demand { running, ..*demand }.steady();
    let most_running = most_running.max(1);
    // X grows with N but for bends of the law, so the knee is searched among all sizes of a geometric grid.
    let sizes = std::iter::successors(Some(1_u32), |size| size.checked_add(size / 16 + 1))
        .take_while(|size| *size < most_running)
        .chain([most_running]);
    let mut knee = (1, at(1).requests_per_s);
    for size in sizes {
        let rate_there = at(size).requests_per_s;
        if rate_there > knee.1 {
            knee = (size, rate_there);
        }
    }
    if rate >= knee.1 {
        return Err(NoSteadyState { rate, most_running, knee: knee.1, knee_running: knee.0 });
    }
    let (mut low, mut high) = (0, knee.0);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if at(middle).requests_per_s >= rate {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok((high, at(high)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step() -> StepLaw {
        StepLaw { a_s: 0.012, b_s: 6e-6, c_s: 2e-8, ..StepLaw::default() }
    }

    fn demand(step: &StepLaw, running: u32, drafts: u32, input: u32, output: u32, x: f64) -> Demand<'_> {
        let weight = x - x.floor();
        Demand {
            step,
            prefill: PrefillLaw { p0_s: 0.0, p1_s: 2e-5 },
            running,
            drafts,
            verified: drafts + 1,
            accept_length: x,
            variance: weight * (1.0 - weight),
            input: Lengths::fixed(input),
            cached: 0.0,
            output: Lengths::fixed(output),
        }
    }

    /// Worked values 2 to 5.
    #[test]
    fn worked_steady_states() {
        let step = step();
        let near = |found: f64, expected: f64, digits: f64| {
            assert!((found - expected).abs() <= digits, "{found} {expected}");
        };
        let first = demand(&step, 64, 4, 1000, 1000, 3.51).steady();
        near(first.steps, 284.983, 5e-4);
        near(first.kv_tokens, 96_000.0, 1e-6);
        near(first.step_s, 0.015_840, 5e-7);
        near(first.requests_per_s, 11.04566, 5e-6);
        near(first.output_tps, 11_045.66, 5e-3);
        near(first.latency_s, 5.7941, 5e-5);
        near(first.prefill_share, 0.2209, 5e-5);
        let second = demand(&step, 64, 4, 1000, 1000, 2.0).steady();
        near(second.steps, 499.750, 5e-4);
        near(second.output_tps, 6959.52, 5e-3);
        near(second.latency_s, 9.1960, 5e-5);
        near(second.prefill_share, 0.1392, 5e-5);
        near(second.output_tps / first.output_tps, 0.63007, 5e-6);
        near(crate::throughput::throughput_ratio(3.51, 2.0, first.prefill_share), 0.62964, 5e-6);
        let third = demand(&step, 64, 4, 8000, 1000, 3.51).steady();
        near(third.output_tps, 3697.80, 5e-3);
        near(third.latency_s, 17.3076, 5e-5);
        near(third.prefill_share, 0.5916, 5e-5);
        let fourth = demand(&step, 64, 4, 8000, 1000, 2.0).steady();
        near(fourth.output_tps, 2827.63, 5e-3);
        near(fourth.latency_s, 22.6338, 5e-5);
        let fifth = demand(&step, 256, 4, 8000, 1000, 3.51).steady();
        near(fifth.step_s, 0.063_200, 5e-7);
        near(fifth.output_tps, 4341.12, 5e-3);
        near(fifth.latency_s, 58.9709, 5e-5);
        near(fifth.prefill_share, 0.6946, 5e-5);
        let sixth = demand(&step, 1, 5, 512, 512, 3.51).steady();
        near(sixth.steps, 145.952, 5e-4);
        near(sixth.step_s, 0.012_051, 5e-7);
        near(sixth.output_tps, 289.40, 5e-3);
        near(sixth.latency_s, 1.7692, 5e-5);
    }

    #[test]
    fn an_open_loop_settles_below_the_knee_and_nowhere_above() {
        let step = step();
        let demand = demand(&step, 1, 4, 1000, 1000, 3.51);
        let (running, steady) = open_loop(&demand, 5.0, 256).unwrap();
        assert!(steady.requests_per_s >= 5.0);
        assert!(Demand { running: running - 1, ..demand }.steady().requests_per_s < 5.0);
        let error = open_loop(&demand, 500.0, 256).unwrap_err();
        assert_eq!((error.most_running, error.knee_running), (256, 256));
    }

    /// Requests of one length spread evenly: the longest of N stands at N / (N + 1) of the output.
    #[test]
    fn the_longest_context_is_that_of_order_statistics() {
        let step = StepLaw { lanes: 4.0, ..step() };
        for running in [1, 4, 32] {
            let found = demand(&step, running, 4, 500, 1000, 3.51).longest();
            let share = f64::from(running) / f64::from(running + 1);
            let expected = 500.0 + 1000.0 * share;
            assert!((found - expected).abs() < 12.0, "{running}: {found} {expected}");
        }
    }
}
