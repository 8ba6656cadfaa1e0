//! Records of engines other than SGLang, with the names and units of their kinds.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::evidence::{AtomForced, AtomStats, EngineLine, TrtllmIteration, VllmEngine, VllmSpec};

use super::number::tidy;

/// What a record says, besides its kind, its engine and its place.
#[derive(Serialize)]
#[serde(untagged)]
pub(in crate::report) enum EngineFields<'a> {
    Spec(Spec<'a>),
    Legacy(Legacy<'a>),
    Engine(Busy<'a>),
    Iteration(Iteration<'a>),
    Stats(Stats<'a>),
    Forced(Forced<'a>),
}

#[derive(Serialize)]
pub(in crate::report) struct Spec<'a> {
    timestamp: Option<&'a str>,
    pid: Option<u64>,
    engine_index: Option<u32>,
    accept_len: Option<f64>,
    accepted: u64,
    drafted: u64,
    draft_length: Option<u32>,
    steps: Option<u64>,
    per_position: Option<&'a [f64]>,
    draft_accept_rate: Option<f64>,
    accepted_throughput_tps: Option<f64>,
    drafted_throughput_tps: Option<f64>,
}

#[derive(Serialize)]
pub(in crate::report) struct Legacy<'a> {
    timestamp: Option<&'a str>,
    pid: Option<u64>,
    accept_len: Option<f64>,
    accepted: u64,
    drafted: u64,
    draft_length: Option<u32>,
    emitted: Option<u64>,
    draft_accept_rate: Option<f64>,
    system_efficiency: Option<f64>,
}

#[derive(Serialize)]
pub(in crate::report) struct Busy<'a> {
    timestamp: Option<&'a str>,
    pid: Option<u64>,
    engine_index: Option<u32>,
    aggregated_engines: Option<u32>,
    running_req: Option<u32>,
    queue_req: Option<u32>,
    gen_throughput_tps: Option<f64>,
    prompt_throughput_tps: Option<f64>,
    kv_cache_usage: Option<f64>,
    accept_len: Option<f64>,
}

#[derive(Serialize)]
pub(in crate::report) struct Iteration<'a> {
    timestamp: Option<&'a str>,
    iter: u64,
    global_rank: Option<u32>,
    scheduled_req: Option<u32>,
    num_ctx_requests: Option<u32>,
    num_generation_tokens: Option<u64>,
    kv_cache_util: Option<f64>,
    elapsed_s: Option<f64>,
    host_step_time_ms: Option<f64>,
    prev_device_step_time_ms: Option<f64>,
    accept_len: Option<f64>,
}

#[derive(Serialize)]
pub(in crate::report) struct Stats<'a> {
    timestamp: Option<&'a str>,
    accept_len: Option<f64>,
    accept_len_printed: Option<f64>,
    accepted: u64,
    drafted: u64,
    draft_length: Option<u32>,
    steps: Option<u64>,
    draft_accept_rate: Option<f64>,
    distribution: &'a BTreeMap<u32, f64>,
}

#[derive(Serialize)]
pub(in crate::report) struct Forced<'a> {
    timestamp: Option<&'a str>,
    accept_len: Option<f64>,
    target_accept_len: f64,
    draft_length: Option<u32>,
    rates: &'a [f64],
}

impl<'a> EngineFields<'a> {
    /// The fields of a line.
    pub(in crate::report) fn of(line: &'a EngineLine) -> Self {
        match line {
            EngineLine::VllmSpec(line) if line.is_legacy => Self::Legacy(Legacy::of(line)),
            EngineLine::VllmSpec(line) => Self::Spec(Spec::of(line)),
            EngineLine::VllmEngine(line) => Self::Engine(Busy::of(line)),
            EngineLine::TrtllmIteration(line) => Self::Iteration(Iteration::of(line)),
            EngineLine::AtomStats(line) => Self::Stats(Stats::of(line)),
            EngineLine::AtomForced(line) => Self::Forced(Forced::of(line)),
        }
    }

    /// The same as a JSON object.
    pub(in crate::report) fn object(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(object)) => object,
            _ => Map::new(),
        }
    }
}

impl<'a> Spec<'a> {
    fn of(line: &'a VllmSpec) -> Self {
        Self {
            timestamp: line.timestamp.as_deref(),
            pid: line.pid,
            engine_index: line.engine_index,
            accept_len: line.accept_len,
            accepted: line.accepted,
            drafted: line.drafted,
            draft_length: line.draft_length,
            steps: line.steps(),
            per_position: Some(line.per_position.as_slice()).filter(|shares| !shares.is_empty()),
            draft_accept_rate: line.draft_accept_rate,
            accepted_throughput_tps: line.accepted_throughput_tps,
            drafted_throughput_tps: line.drafted_throughput_tps,
        }
    }
}

impl<'a> Legacy<'a> {
    fn of(line: &'a VllmSpec) -> Self {
        Self {
            timestamp: line.timestamp.as_deref(),
            pid: line.pid,
            // 1 + A/N is none there: matches behind a rejection count too.
            accept_len: None,
            accepted: line.accepted,
            drafted: line.drafted,
            draft_length: line.draft_length,
            emitted: line.emitted,
            draft_accept_rate: line.draft_accept_rate,
            system_efficiency: line.system_efficiency,
        }
    }
}

impl<'a> Busy<'a> {
    fn of(line: &'a VllmEngine) -> Self {
        Self {
            timestamp: line.timestamp.as_deref(),
            pid: line.pid,
            engine_index: line.engine_index,
            aggregated_engines: line.aggregated_engines,
            running_req: line.running_req,
            queue_req: line.queue_req,
            gen_throughput_tps: line.gen_throughput_tps,
            prompt_throughput_tps: line.prompt_throughput_tps,
            kv_cache_usage: line.kv_cache_usage,
            accept_len: None,
        }
    }
}

impl<'a> Iteration<'a> {
    fn of(line: &'a TrtllmIteration) -> Self {
        Self {
            timestamp: line.timestamp.as_deref(),
            iter: line.iter,
            global_rank: line.global_rank,
            scheduled_req: line.scheduled_req,
            num_ctx_requests: line.num_ctx_requests,
            num_generation_tokens: line.num_generation_tokens,
            kv_cache_util: line.kv_cache_util,
            elapsed_s: line.elapsed_s,
            host_step_time_ms: line.host_step_time_ms,
            prev_device_step_time_ms: line.prev_device_step_time_ms,
            accept_len: None,
        }
    }
}

impl<'a> Stats<'a> {
    fn of(line: &'a AtomStats) -> Self {
        Self {
            timestamp: line.timestamp.as_deref(),
            accept_len: line.accept_len(None).map(tidy),
            accept_len_printed: line.accept_len_printed,
            accepted: line.accepted,
            drafted: line.drafted,
            draft_length: line.draft_length(None),
            steps: line.steps(None),
            draft_accept_rate: line.draft_accept_rate,
            distribution: &line.distribution,
        }
    }
}

impl<'a> Forced<'a> {
    fn of(line: &'a AtomForced) -> Self {
        Self {
            timestamp: line.timestamp.as_deref(),
            accept_len: None,
            target_accept_len: line.target_accept_len,
            draft_length: line.draft_length,
            rates: &line.rates,
        }
    }
}
