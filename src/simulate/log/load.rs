//! What clients ask of a server, and how fast it answers: a model, light and plausible, no prediction.

use std::ops::RangeInclusive;

use super::error::PlanError;

/// Most requests in one rank's batch.
const MAX_RUNNING: u32 = 1 << 16;

/// Longest input and output of a request, in tokens.
const MAX_TOKENS: u32 = 1 << 24;

/// Most decode lines of a cycle of clients.
const MAX_CYCLE: u64 = 1 << 40;

/// Microseconds of a verify step: of any, and more with each request.
const STEP_US: u64 = 8_000;
const STEP_PER_REQUEST_US: u64 = 60;

/// A closed loop of clients: each sends its next request when the last one is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// Clients per data-parallel rank. Between two numbers they come and go: a quarter of a cycle each they join, stay,
    /// leave, stay away.
    pub running: RangeInclusive<u32>,
    /// Decode lines of such a cycle, at least 1.
    pub cycle_lines: u64,
    /// `max_running_requests`: what is above it waits in the queue.
    pub max_running: Option<u32>,
    /// Input tokens of a request, uniform.
    pub input: RangeInclusive<u32>,
    /// Output tokens of a request, uniform.
    pub output: RangeInclusive<u32>,
    /// Largest batch with a captured graph; larger ones print `False`.
    pub max_graph_batch: Option<u32>,
}

impl Load {
    /// As many clients throughout; 512 tokens in and out.
    #[must_use]
    pub fn constant(running: u32) -> Self {
        Self {
            running: running..=running,
            cycle_lines: 120,
            max_running: None,
            input: 512..=512,
            output: 512..=512,
            max_graph_batch: None,
        }
    }

    pub(in crate::simulate::log) fn check(&self) -> Result<(), PlanError> {
        PlanError::ordered("running requests", &self.running, MAX_RUNNING)?;
        PlanError::ordered("input tokens", &self.input, MAX_TOKENS)?;
        PlanError::ordered("output tokens", &self.output, MAX_TOKENS)?;
        PlanError::range("the most running requests", self.max_running.unwrap_or(1), 1, MAX_RUNNING)?;
        let (what, low, high, found) = ("lines of a cycle", 1, MAX_CYCLE, self.cycle_lines);
        if (low..=high).contains(&found) { Ok(()) } else { Err(PlanError::Range { what, low, high, found }) }
    }

    /// Clients of a rank that has printed so many lines.
    pub(in crate::simulate::log) fn clients(&self, printed: u64) -> u64 {
        let (low, high) = (u64::from(*self.running.start()), u64::from(*self.running.end()));
        if low == high {
            return low;
        }
        let quarter = self.cycle_lines.div_ceil(4);
        let of_cycle = printed % quarter.saturating_mul(4);
        let passed = of_cycle % quarter;
        match of_cycle / quarter {
            0 => low + (high - low) * passed / quarter,
            1 => high,
            2 => high - (high - low) * passed / quarter,
            _ => low,
        }
    }
}

/// Microseconds of a verify step of a batch.
pub(super) fn step_us(running: u64) -> u64 {
    STEP_US + STEP_PER_REQUEST_US * running
}
