//! `iter = 12, global_rank = 0, ..., states = {'num_ctx_requests': 0, ...}`.

use crate::evidence::SkipReason;
use crate::evidence::decimal::{Decimal, behind, integer, owned};
use crate::evidence::pattern::begins_like;

/// One iteration. What the line lacks, or has as `N/A`, is `None`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TrtllmIteration {
    /// Its own time: `2026-08-04 19:08:13`.
    pub timestamp: Option<String>,
    /// Its number.
    pub iter: u64,
    /// The rank that prints.
    pub global_rank: Option<u32>,
    /// Requests that were scheduled.
    pub scheduled_req: Option<u32>,
    /// Requests in their context phase.
    pub num_ctx_requests: Option<u32>,
    /// Tokens that were scheduled for generation, drafts and padding included: not what was accepted.
    pub num_generation_tokens: Option<u64>,
    /// Share of the cache in use.
    pub kv_cache_util: Option<f64>,
    /// Seconds that it took, before 2025-07.
    pub elapsed_s: Option<f64>,
    /// Milliseconds of the host's step.
    pub host_step_time_ms: Option<f64>,
    /// Milliseconds of the device's step before.
    pub prev_device_step_time_ms: Option<f64>,
}

/// What a line begins with, behind its prefix.
const START: &[u8] = b"iter = ";

impl TrtllmIteration {
    /// Where the line's own text begins in what stands before `states = {`; `None` in a fragment.
    pub(in crate::evidence) fn start(before: &[u8]) -> Option<usize> {
        memchr::memmem::rfind(before, START)
    }

    /// Reads the line: from `iter = ` to `states = {`, and what stands behind that.
    pub(in crate::evidence) fn parse(head: &[u8], states: &[u8]) -> Result<Self, SkipReason> {
        let text = |name: &[u8]| behind(head, name);
        let number = |name: &[u8]| text(name).and_then(Decimal::read).map(Decimal::get);
        let iter = text(START).and_then(integer).ok_or(SkipReason::Truncated)?;
        let end = memchr::memchr(b'}', states).ok_or(SkipReason::Truncated)?;
        let states = states.get(..end).unwrap_or(states);
        let state = |name: &[u8]| behind(states, name).and_then(integer::<u64>);
        let timestamp = text(b"timestamp = ").and_then(|text| {
            begins_like(text, b"0000-00-00 00:00:00")?;
            text.get(..19).map(owned)
        });
        let line = Self {
            timestamp,
            iter,
            global_rank: text(b"global_rank = ").and_then(integer),
            scheduled_req: text(b"num_scheduled_requests = ")
                .or_else(|| text(b"num_scheduled_requests: "))
                .and_then(integer),
            num_ctx_requests: state(b"'num_ctx_requests': ").and_then(|count| u32::try_from(count).ok()),
            num_generation_tokens: state(b"'num_generation_tokens': "),
            kv_cache_util: number(b"kv_cache_util = "),
            elapsed_s: number(b"elapsed_time = "),
            host_step_time_ms: number(b"host_step_time = "),
            prev_device_step_time_ms: number(b"prev_device_step_time = "),
        };
        // Elided by hand.
        if line.num_ctx_requests.is_none() && line.num_generation_tokens.is_none() {
            return Err(SkipReason::Truncated);
        }
        Ok(line)
    }
}
