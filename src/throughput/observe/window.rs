//! One decode line as an observation of step times.

/// A decode line and the prefills since the line before it, of one rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Requests in its last step.
    pub running: u32,
    /// The same of the line before; none for a rank's first line.
    pub previous: Option<u32>,
    /// Tokens a step and request; 1 without speculation.
    pub accept_len: f64,
    /// Whether the line shows that accept length.
    pub speculated: bool,
    /// Tokens a second of wall time, where printed.
    pub tps: Option<f64>,
    /// `#token` as printed, after the last step.
    pub kv_printed: Option<f64>,
    /// KV tokens of all running requests, mean over the window.
    pub kv_tokens: f64,
    /// KV tokens of the longest of them, mean over the window.
    pub longest: f64,
    /// Prefill batches that the rank waited for.
    pub prefill_batches: u32,
    /// Their prompt tokens.
    pub prefill_tokens: u64,
    /// Whether the steps replayed a graph, where printed.
    pub graph: Option<bool>,
    /// Seconds since the line before, where times have milliseconds.
    pub gap_s: Option<f64>,
    /// Whether the clock went back, or on by far more than the line's throughput allows.
    pub clock_jumped: bool,
    /// Verify steps that it stands for.
    pub interval: u32,
    /// Ranks that wrote a line since this one's last, itself included.
    pub busy: u32,
}

impl Window {
    /// Seconds a step, prefill included: `N*x/throughput`. Exact to rounding when N is steady.
    ///
    /// ```
    /// use accsim::throughput::step_seconds;
    ///
    /// assert!((step_seconds(16, 3.62, 6086.54) - 9.516e-3).abs() < 5e-7);
    /// ```
    #[must_use]
    pub fn step_s(&self) -> Option<f64> {
        self.tps.map(|tps| step_seconds(self.running, self.accept_len, tps))
    }

    /// Mean batch and seconds a step from the window's own seconds, where the log has them to a part in a hundred and the batch
    /// comes near the printed one.
    #[must_use]
    pub fn measured(&self) -> Option<(f64, f64)> {
        let (gap_s, tps) = (self.gap_s.filter(|gap| *gap > 0.1)?, self.tps?);
        let batch = mean_batch(tps, gap_s, self.interval, self.accept_len);
        let near = (batch / f64::from(self.running) - 1.0).abs() < 0.25;
        near.then_some((batch, gap_s / f64::from(self.interval.max(1))))
    }

    /// Prefill batches a step.
    #[must_use]
    pub fn batches_a_step(&self) -> f64 {
        f64::from(self.prefill_batches) / f64::from(self.interval.max(1))
    }

    /// Prompt tokens a step.
    #[must_use]
    pub fn tokens_a_step(&self) -> f64 {
        crate::law::float(self.prefill_tokens) / f64::from(self.interval.max(1))
    }
}

/// Seconds of a step that a line stands for: requests times accept length over tokens a second.
#[must_use]
pub fn step_seconds(running: u32, accept_len: f64, tps: f64) -> f64 {
    f64::from(running) * accept_len / tps
}

/// The mean batch of a window that changed: tokens a second times its seconds, over steps times accept length.
///
/// ```
/// use accsim::throughput::mean_batch;
///
/// assert!((mean_batch(3000.0, 1.0, 40, 3.5) - 21.43).abs() < 5e-3);
/// ```
#[must_use]
pub fn mean_batch(tps: f64, seconds: f64, interval: u32, accept_len: f64) -> f64 {
    tps * seconds / (f64::from(interval.max(1)) * accept_len)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked value 6.
    #[test]
    fn worked_lines() {
        for (running, accept_len, tps, expected_ms) in
            [(1, 1.95, 178.86, 10.902), (16, 3.62, 6086.54, 9.516), (16, 2.0, 3315.0, 9.653)]
        {
            let found = step_seconds(running, accept_len, tps) * 1000.0;
            assert!((found - expected_ms).abs() < 5e-4, "{found}");
        }
    }

    #[test]
    fn a_window_that_changed_has_the_batch_of_its_tokens() {
        assert!((mean_batch(1400.0, 0.8, 40, 3.5) - 8.0).abs() < 1e-12);
        assert!((mean_batch(1400.0, 0.4, 0, 3.5) - 160.0).abs() < 1e-12);
    }
}
