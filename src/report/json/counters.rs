//! Records of counters, requests and endpoints as JSON objects. Names are those of the log records that say the same.

use std::collections::BTreeMap;

use serde::Serialize;

use super::tidy;
use crate::evidence::{
    CounterRecord, Counts, DebugStats, IterationStats, ModelCounts, RequestFigures, ServerInfo,
};

/// What such a record says beside its kind, engine, file and line.
#[derive(Serialize)]
#[serde(untagged)]
pub(in crate::report) enum Body<'a> {
    Counters(Counters<'a>),
    Request(Request),
    Iteration(Iteration),
    Debug(Debug),
    ServerInfo(Info<'a>),
}

#[derive(Serialize)]
pub(in crate::report) struct Counters<'a> {
    model: Option<&'a str>,
    span: &'static str,
    accept_len: Option<f64>,
    accepted: Option<u64>,
    drafted: Option<u64>,
    steps: Option<u64>,
    draft_length: Option<u32>,
    draft_accept_rate: Option<f64>,
    per_position: Vec<f64>,
    distribution: BTreeMap<u32, u64>,
    /// A gauge: no measurement.
    last_interval_accept_len: Option<f64>,
    endpoints: u32,
    series: u32,
    restarted: Option<&'a str>,
    contradictions: Vec<String>,
}

#[derive(Serialize)]
pub(in crate::report) struct Request {
    accept_len: Option<f64>,
    accept_len_printed: Option<f64>,
    completion_tokens: Option<u64>,
    accepted: Option<u64>,
    drafted: Option<u64>,
    steps: Option<u64>,
    draft_length: Option<u32>,
    draft_accept_rate: Option<f64>,
    distribution: BTreeMap<u32, u64>,
    contradictions: Vec<String>,
}

#[derive(Serialize)]
pub(in crate::report) struct Iteration {
    iter: Option<u64>,
    rank: Option<u32>,
    accept_len: Option<f64>,
    accept_len_printed: Option<f64>,
    accepted: Option<u64>,
    drafted: Option<u64>,
    steps: Option<u64>,
    draft_length: Option<u32>,
    latency_ms: Option<f64>,
    contradictions: Vec<String>,
}

#[derive(Serialize)]
pub(in crate::report) struct Debug {
    enabled: Option<bool>,
    accept_len: Option<f64>,
    accept_len_printed: Option<f64>,
    accepted: Option<u64>,
    drafted: Option<u64>,
    draft_length: Option<u32>,
    steps: Option<u64>,
    draft_accept_rate: Option<f64>,
    distribution: BTreeMap<u32, u64>,
    contradictions: Vec<String>,
}

#[derive(Serialize)]
pub(in crate::report) struct Info<'a> {
    accept_len: Option<f64>,
    rank_accept_lens: &'a [Option<f64>],
    settings: &'a BTreeMap<String, String>,
}

impl<'a> Body<'a> {
    pub(in crate::report) fn of(record: &'a CounterRecord) -> Self {
        match record {
            CounterRecord::Counters(counters) => Self::Counters(Counters::of(counters)),
            CounterRecord::Request(request) => Self::Request(Request::of(request)),
            CounterRecord::Iteration(iteration) => Self::Iteration(Iteration::of(iteration)),
            CounterRecord::Debug(debug) => Self::Debug(Debug::of(debug)),
            CounterRecord::ServerInfo(info) => Self::ServerInfo(Info::of(info)),
        }
    }

    /// The measured accept length, where there is one.
    pub(in crate::report) fn accept_len(&self) -> Option<f64> {
        match self {
            Self::Counters(counters) => counters.accept_len,
            Self::Request(request) => request.accept_len,
            Self::Iteration(iteration) => iteration.accept_len,
            Self::Debug(debug) => debug.accept_len,
            Self::ServerInfo(info) => info.accept_len,
        }
    }
}

impl<'a> Counters<'a> {
    fn of(counters: &'a ModelCounts) -> Self {
        let counts = &counters.counts;
        Self {
            model: counters.model.as_deref(),
            span: counters.span.name(),
            accept_len: length(counts),
            accepted: counts.accepted,
            drafted: counts.drafted,
            steps: counts.steps,
            draft_length: counts.draft_length(),
            draft_accept_rate: counts.draft_accept_rate().map(tidy),
            per_position: counts.rates().into_iter().map(tidy).collect(),
            distribution: counts.histogram.clone(),
            last_interval_accept_len: counters.last_accept_length.map(tidy),
            endpoints: counters.endpoints,
            series: counters.series,
            restarted: counters.restarted.as_deref(),
            contradictions: counts.contradictions().iter().map(ToString::to_string).collect(),
        }
    }
}

impl Request {
    fn of(request: &RequestFigures) -> Self {
        let counts = &request.counts;
        Self {
            accept_len: request.accept_length().map(tidy),
            accept_len_printed: request.accept_len_printed,
            completion_tokens: request.completion_tokens,
            accepted: counts.accepted,
            drafted: counts.drafted,
            steps: counts.steps,
            draft_length: counts.draft_length(),
            draft_accept_rate: counts.draft_accept_rate().map(tidy),
            distribution: counts.histogram.clone(),
            contradictions: request.contradictions().iter().map(ToString::to_string).collect(),
        }
    }
}

impl Iteration {
    fn of(iteration: &IterationStats) -> Self {
        let counts = &iteration.counts;
        Self {
            iter: iteration.iteration,
            rank: iteration.rank,
            accept_len: length(counts),
            accept_len_printed: iteration.accept_len_printed,
            accepted: counts.accepted,
            drafted: counts.drafted,
            steps: counts.steps,
            draft_length: counts.draft_length(),
            latency_ms: iteration.latency_ms,
            contradictions: iteration.contradictions().iter().map(ToString::to_string).collect(),
        }
    }
}

impl Debug {
    fn of(debug: &DebugStats) -> Self {
        let counts = &debug.counts;
        Self {
            enabled: debug.enabled,
            accept_len: length(counts),
            accept_len_printed: debug.accept_len_printed,
            accepted: counts.accepted,
            drafted: counts.drafted,
            draft_length: counts.draft_length(),
            steps: counts.steps,
            draft_accept_rate: debug.draft_accept_rate,
            distribution: counts.histogram.clone(),
            contradictions: debug.contradictions().iter().map(ToString::to_string).collect(),
        }
    }
}

impl<'a> Info<'a> {
    fn of(info: &'a ServerInfo) -> Self {
        Self {
            accept_len: info.accept_length().map(tidy),
            rank_accept_lens: &info.rank_accept_lens,
            settings: &info.settings,
        }
    }
}

fn length(counts: &Counts) -> Option<f64> {
    counts.accept_length().map(tidy)
}
