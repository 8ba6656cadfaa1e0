//! `Engine 000: Avg prompt throughput: ...`: what an engine did in a window.

use crate::evidence::SkipReason;
use crate::evidence::decimal::{Decimal, behind, integer};

use super::prefix::Prefix;

/// One window of a vLLM engine. What the line lacks is `None`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct VllmEngine {
    /// The process, where it is named.
    pub pid: Option<u64>,
    /// `MM-DD HH:MM:SS`: local time without a year.
    pub timestamp: Option<String>,
    /// `Engine 002`.
    pub engine_index: Option<u32>,
    /// `8 Engines Aggregated`.
    pub aggregated_engines: Option<u32>,
    /// Requests that ran.
    pub running_req: Option<u32>,
    /// Requests that waited.
    pub queue_req: Option<u32>,
    /// Generated tokens per second.
    pub gen_throughput_tps: Option<f64>,
    /// Prompt tokens per second.
    pub prompt_throughput_tps: Option<f64>,
    /// Share of the cache in use.
    pub kv_cache_usage: Option<f64>,
}

impl VllmEngine {
    /// Where the line's own text begins: before `Engine 000: `, where that stands right before the head.
    pub(in crate::evidence) fn start(before: &[u8]) -> usize {
        label(before).map_or(before.len(), |(start, ..)| start)
    }

    /// Reads what stands before and behind the head `Avg prompt throughput:`.
    pub(in crate::evidence) fn parse(before: &[u8], message: &[u8]) -> Result<Self, SkipReason> {
        let Prefix { pid, timestamp } = Prefix::read(before);
        let number = |name: &[u8]| behind(message, name).and_then(Decimal::read);
        let (engine_index, aggregated_engines) =
            label(before).map_or((None, None), |(_, index, count)| (index, count));
        let line = Self {
            pid,
            timestamp,
            engine_index,
            aggregated_engines,
            running_req: behind(message, b"Running:").and_then(integer),
            queue_req: behind(message, b"Waiting:")
                .and_then(integer)
                .or_else(|| behind(message, b"Pending:").and_then(integer)),
            gen_throughput_tps: number(b"Avg generation throughput:").map(Decimal::get),
            prompt_throughput_tps: Decimal::read(message.trim_ascii_start()).map(Decimal::get),
            kv_cache_usage: number(b"KV cache usage:").map(Decimal::percent),
        };
        match (line.prompt_throughput_tps, line.gen_throughput_tps, line.running_req) {
            (Some(_), Some(_), Some(_)) => Ok(line),
            (Some(_), ..) => Err(SkipReason::Truncated),
            _ => Err(SkipReason::Lookalike),
        }
    }
}

/// `Engine 002: ` or `8 Engines Aggregated: ` at the end of a text: where it begins, the index, the number of engines.
fn label(before: &[u8]) -> Option<(usize, Option<u32>, Option<u32>)> {
    let text = before.trim_ascii_end().strip_suffix(b":")?;
    if let Some(rest) = text.strip_suffix(b" Engines Aggregated") {
        let digits = rest.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let start = rest.len().checked_sub(digits)?;
        return Some((start, None, integer(rest.get(start..)?)));
    }
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let number = text.len().checked_sub(digits)?;
    let rest = text.get(..number)?.strip_suffix(b"Engine ")?;
    Some((rest.len(), Some(integer(text.get(number..)?)?), None))
}
