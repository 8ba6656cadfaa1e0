//! Tier 0: only the accept length moves.

/// Throughput at accept length `to` over that at `from`, when a share `prefill_share` (phi) of the wall time at `from` goes
/// into prefill: `1 / (phi + (1 - phi) * from / to)` (Amdahl 1967).
///
/// The model, draft length, batch and context must be the same: the verifier then computes the same tokens whatever is
/// accepted. On a server that only decodes phi is 0.
///
/// ```
/// use accsim::throughput::throughput_ratio;
///
/// assert!((throughput_ratio(3.51, 2.0, 0.22) - 0.6294).abs() < 5e-5);
/// ```
#[must_use]
pub fn throughput_ratio(from: f64, to: f64, prefill_share: f64) -> f64 {
    1.0 / (prefill_share + (1.0 - prefill_share) * from / to)
}

/// The accept length at which speculation pays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BreakEven {
    /// From this length on.
    At(f64),
    /// Only from a length on that no step can have.
    OutOfReach(f64),
    /// Never: prefill alone costs more than a run without speculation.
    Never,
}

impl BreakEven {
    /// The length, in reach or not.
    #[must_use]
    pub fn length(self) -> Option<f64> {
        match self {
            Self::At(length) | Self::OutOfReach(length) => Some(length),
            Self::Never => None,
        }
    }

    /// Whether a step can have it.
    #[must_use]
    pub fn is_reachable(self) -> bool {
        matches!(self, Self::At(_))
    }
}

/// The accept length at which speculation pays: tokens a step that make up for the longer step.
///
/// `plain_s_per_token` is what a token costs without speculation (seconds of the server, prefill included), `step_s` a verify
/// step, `prefill_s_per_token` the prefill that comes with a token, `running` the batch, `most` the largest length of a step.
#[must_use]
pub fn break_even(
    plain_s_per_token: f64,
    step_s: f64,
    prefill_s_per_token: f64,
    running: u32,
    most: Option<u32>,
) -> BreakEven {
    let room = plain_s_per_token - prefill_s_per_token;
    if room <= 0.0 {
        return BreakEven::Never;
    }
    let length = step_s / f64::from(running.max(1)) / room;
    if most.is_some_and(|most| length > f64::from(most)) {
        BreakEven::OutOfReach(length)
    } else {
        BreakEven::At(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked value 1.
    #[test]
    fn worked_ratios() {
        for (from, to, phi, expected) in [
            (3.51, 2.0, 0.0, 0.5698),
            (3.51, 2.0, 0.22, 0.6294),
            (3.51, 2.0, 0.59, 0.7636),
            (3.51, 2.0, 0.69, 0.8103),
            (3.51, 2.75, 0.1, 0.8008),
        ] {
            assert!((throughput_ratio(from, to, phi) - expected).abs() < 5e-5, "{from} {to} {phi}");
        }
    }

    /// Worked value 8: step times differ by far more than the drafts, so a ratio across draft lengths says nothing.
    #[test]
    fn step_cost_across_draft_lengths() {
        let step = |accept_length: f64, tps: f64| 8.0 * accept_length / tps;
        assert!((step(3.099, 210.0) / step(2.311, 303.6) - 1.939).abs() < 5e-4);
        for (tps, accept_length, expected) in
            [(620.6, 2.0, 1.485), (954.8, 3.88, 1.872), (999.0, 6.25, 2.882)]
        {
            let cost: f64 = accept_length * 460.7 / tps;
            assert!((cost - expected).abs() < 1e-3, "{cost}");
        }
        let at_three = 954.8 * throughput_ratio(3.88, 3.0, 0.0);
        assert!((at_three - 738.25).abs() < 0.01);
    }

    /// Worked value 12, and what it takes to break even.
    #[test]
    fn a_chunk_is_no_token() {
        let token_ms: f64 = 10.88 / 1.95;
        assert!((token_ms - 5.579).abs() < 1e-3 && (1000.0 / token_ms - 179.2).abs() < 0.05);
        let even = break_even(0.01, 0.015, 0.0, 1, Some(2));
        assert!(even.is_reachable() && (even.length().unwrap() - 1.5).abs() < 1e-12);
        assert_eq!(break_even(0.01, 0.015, 0.02, 1, Some(2)), BreakEven::Never);
        let even = break_even(0.01, 0.03, 0.0, 1, Some(2));
        assert!(!even.is_reachable() && (even.length().unwrap() - 3.0).abs() < 1e-12);
    }
}
