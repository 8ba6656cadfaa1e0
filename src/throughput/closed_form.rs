//! The closed form: a closed loop that always has N requests running, in means.

use super::contexts::{batches_a_request, kv_tokens};
use super::lengths::Lengths;
use super::step::{PrefillLaw, StepLaw};

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
    /// Most prompt tokens of a prefill batch.
    pub batch_tokens: u32,
    /// Whether all requests advance by one draw a step (SGLang), or each by its own.
    pub shares_draws: bool,
    /// Whether a request that is done stays for the step that was launched already.
    pub overlap: bool,
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
    ///     batch_tokens: 8192,
    ///     shares_draws: true,
    ///     overlap: false,
    /// }
    /// .steady();
    /// assert!((steady.output_tps - 11_045.66).abs() < 0.01);
    /// ```
    #[must_use]
    pub fn steady(&self) -> Steady {
        self.means().steady(self.step, &self.prefill)
    }

    /// Whether the closed form holds to a hundredth: requests that start together stay together where all outputs have one length
    /// and all draws are shared, and drift apart where lengths differ. Between the two, only a simulation tells.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        let cv = self.output.cv();
        cv > LEAST_SPREAD || (self.shares_draws && cv <= 0.0)
    }

    /// What does not depend on the coefficients, but for the lanes.
    pub(super) fn means(&self) -> Means {
        let x = self.accept_length;
        let (input, output) = (self.input.mean(), self.output.mean());
        // The last step overshoots by half of what a step sees on average, less the token that it needs.
        let seen = (self.variance + x * x) / x;
        let steps = ((output - 1.0 + f64::midpoint(seen, -1.0)) / x).max(0.0);
        let held = steps + f64::from(u8::from(self.overlap));
        let together = self.shares_draws && self.output.cv() <= 0.0;
        let uncached = (input * (1.0 - self.cached)).max(1.0);
        // Prompts that fit into a batch: whole ones of one length; of several lengths the mean of a renewal process.
        let spread = self.input.cv().powi(2);
        let fit = f64::from(self.batch_tokens) / uncached;
        let fit = if spread <= 0.0 { fit.floor() } else { fit + f64::midpoint(spread, -1.0) };
        Means {
            running: self.running,
            drafts: self.drafts,
            verified: self.verified,
            output,
            steps,
            held,
            kv_tokens: f64::from(self.running) * (input + output * (1.0 + self.output.cv().powi(2)) / 2.0),
            waits: kv_tokens(self.running, self.step.lanes, self.input, self.output, together),
            batches: batches_a_request(self.running, held, fit.max(1.0), together),
            uncached,
        }
    }
}

/// Output lengths whose standard deviation is less than this share of their mean keep requests together for long.
const LEAST_SPREAD: f64 = 0.15;

/// Means over the steps and the requests of a closed loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Means {
    running: u32,
    drafts: u32,
    verified: u32,
    output: f64,
    /// Steps of a request, and those in which it takes a place.
    steps: f64,
    held: f64,
    /// KV tokens of all, and those that a step waits for.
    kv_tokens: f64,
    waits: f64,
    /// Prefill batches a request, and its prompt tokens computed.
    batches: f64,
    uncached: f64,
}

impl Means {
    /// The steady state under these coefficients.
    pub(super) fn steady(&self, step: &StepLaw, prefill: &PrefillLaw) -> Steady {
        let running = f64::from(self.running);
        let step_s = step.fixed_s(self.running, self.drafts, self.verified) + step.c_s * self.waits;
        let prefill_s = prefill.p0_s * self.batches + prefill.p1_s * self.uncached;
        let requests_per_s = 1.0 / (prefill_s + self.held * step_s / running);
        let latency_s = running / requests_per_s;
        let ttft_s = prefill.seconds(self.uncached);
        Steady {
            steps: self.steps,
            kv_tokens: self.kv_tokens,
            step_s,
            requests_per_s,
            output_tps: self.output * requests_per_s,
            latency_s,
            ttft_s,
            tpot_s: if self.output > 1.0 { (latency_s - ttft_s).max(0.0) / (self.output - 1.0) } else { 0.0 },
            prefill_share: prefill_s * requests_per_s,
        }
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
            batch_tokens: 8192,
            shares_draws: true,
            overlap: false,
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
}
