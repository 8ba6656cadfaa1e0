//! What a run came to.

use super::gaps::Gaps;

/// One run of a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Requests finished.
    pub requests: u64,
    /// Tokens that they got.
    pub output_tokens: u64,
    /// Prompt tokens of them.
    pub input_tokens: u64,
    /// When the last one was done, in seconds.
    pub end_s: f64,
    /// Tokens that came between the warm-up and the end of sending, and the seconds between.
    pub steady: (u64, f64),
    /// Seconds from arrival to last token of each request, in the order of finishing.
    pub e2e_s: Vec<f64>,
    /// Seconds from arrival to first token.
    pub ttft_s: Vec<f64>,
    /// Mean seconds a token after the first, of requests with two tokens or more.
    pub tpot_s: Vec<f64>,
    /// When each finished.
    pub finished_s: Vec<f64>,
    /// Output tokens of each.
    pub outputs: Vec<u32>,
    /// How many requests were sent before each: its place in a trace.
    pub numbers: Vec<u64>,
    /// Seconds between two deliveries of tokens to a request.
    pub gaps: Gaps,
    /// Steps of the server.
    pub steps: u64,
    /// Steps times running requests.
    pub request_steps: u64,
    /// Tokens accepted in them, whatever a last step cut off.
    pub accepted: u64,
    /// Seconds in which decoding waited for prefill.
    pub prefill_s: f64,
    /// Seconds of decode steps.
    pub decode_s: f64,
    /// Requests sent back to the queue because the pool was full.
    pub retracted: u64,
}

impl Outcome {
    /// Output tokens a second from the first arrival to the last token: what a benchmark client prints.
    #[must_use]
    pub fn output_tps(&self) -> f64 {
        if self.end_s > 0.0 { crate::law::float(self.output_tokens) / self.end_s } else { 0.0 }
    }

    /// Output tokens a second between warm-up and the end of sending.
    #[must_use]
    pub fn steady_tps(&self) -> f64 {
        let (tokens, seconds) = self.steady;
        if seconds > 0.0 { crate::law::float(tokens) / seconds } else { 0.0 }
    }

    /// Tokens a step and request.
    #[must_use]
    pub fn accept_length(&self) -> Option<f64> {
        (self.request_steps > 0)
            .then(|| crate::law::float(self.accepted) / crate::law::float(self.request_steps))
    }

    /// Requests in the mean step.
    #[must_use]
    pub fn mean_running(&self) -> f64 {
        if self.steps > 0 {
            crate::law::float(self.request_steps) / crate::law::float(self.steps)
        } else {
            0.0
        }
    }

    /// Share of the busy time that went into prefill.
    #[must_use]
    pub fn prefill_share(&self) -> f64 {
        let busy = self.prefill_s + self.decode_s;
        if busy > 0.0 { self.prefill_s / busy } else { 0.0 }
    }
}

/// Mean and percentiles of times, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Percentiles {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
}

impl Percentiles {
    /// Of all `values`, linear between neighbours as `NumPy` does; `None` without values.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let count = crate::law::float(u64::try_from(sorted.len()).ok()?);
        if sorted.is_empty() {
            return None;
        }
        let at = |share: f64| {
            let place = share * (count - 1.0);
            let low = usize::try_from(crate::law::whole(place)).ok()?;
            let (left, right) = (sorted.get(low)?, sorted.get(low + 1).or(sorted.get(low))?);
            Some(left + (right - left) * (place - place.floor()))
        };
        Some(Self { mean: sorted.iter().sum::<f64>() / count, p50: at(0.5)?, p90: at(0.9)?, p99: at(0.99)? })
    }
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Percentiles};

    #[test]
    fn percentiles_interpolate() {
        let values: Vec<f64> = (0..101).rev().map(f64::from).collect();
        let found = Percentiles::of(&values).unwrap();
        assert!((found.p50 - 50.0).abs() < 1e-12 && (found.p90 - 90.0).abs() < 1e-12);
        assert!((Percentiles::of(&[1.0, 2.0]).unwrap().p50 - 1.5).abs() < 1e-12);
        assert_eq!(Percentiles::of(&[]), None);
    }

    #[test]
    fn the_share_of_prefill_is_that_of_the_busy_time() {
        let share =
            |prefill_s, decode_s| Outcome { prefill_s, decode_s, ..Outcome::default() }.prefill_share();
        assert!((share(1.0, 3.0) - 0.25).abs() < 1e-12 && share(0.0, 0.0).abs() < 1e-12);
    }
}
