//! Records as JSON lines: one object a line, for programs that read line by line.

use std::io::{self, Write};

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::counters::Body;
use crate::evidence::{
    DecodeLine, Exporter, Graph, Hundredths, PrefillLine, Record, RecordKind, ServerStart, Tags, Timestamp,
};
use crate::report::excerpt::excerpt;
use crate::report::other_fields::{self, OtherFields};

use super::engines::EngineFields;

/// Writes the record that stands on `line` of `file`, and a line end.
///
/// Numbers are those that the engine printed; what the line lacks is null. `fields` holds every other field as text.
pub fn write_record(out: &mut dyn Write, file: &str, line: u64, record: &Record<'_>) -> io::Result<()> {
    let head = Head { kind: record.kind().name(), engine: record.engine().name(), file, line };
    match record {
        Record::Decode(decode) => write_line(out, &Decode::new(head, decode)),
        Record::Prefill(prefill) => write_line(out, &Prefill::new(head, prefill)),
        Record::Start(start) => write_line(out, &Start::new(head, start)),
        Record::CacheFlush(flush) => {
            let (timestamp, tags) = (time(flush.timestamp), TagMap(flush.tags));
            write_line(out, &Flush { head, timestamp, tags })
        }
        Record::Setting(setting) => {
            write_line(out, &Setting { head, name: setting.name, value: setting.value })
        }
        Record::Counters(record) => {
            let engine = record.exporter().map(Exporter::name);
            let head = Figures { kind: record.kind().name(), engine, file, line, body: Body::of(record) };
            write_line(out, &head)
        }
        Record::Engine(engine) => write_line(out, &EngineRecord { head, fields: EngineFields::of(engine) }),
        Record::Skipped(skipped) => {
            let (reason, excerpt) = (skipped.reason.name(), excerpt(skipped.text));
            write_line(out, &Rejected { kind: RecordKind::Rejected.name(), reason, file, line, excerpt })
        }
    }
}

fn write_line(out: &mut dyn Write, object: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, object)?;
    out.write_all(b"\n")
}

/// What every record but a rejected one begins with.
#[derive(Serialize)]
struct Head<'a> {
    kind: &'static str,
    engine: &'static str,
    file: &'a str,
    line: u64,
}

/// A record of figures; which engine gave them may be unknown.
#[derive(Serialize)]
struct Figures<'a> {
    kind: &'static str,
    engine: Option<&'static str>,
    file: &'a str,
    line: u64,
    #[serde(flatten)]
    body: Body<'a>,
}

#[derive(Serialize)]
struct EngineRecord<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    #[serde(flatten)]
    fields: EngineFields<'a>,
}

#[derive(Serialize)]
struct Setting<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    name: &'a str,
    value: &'a str,
}

#[derive(Serialize)]
struct Decode<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    timestamp: Option<&'a str>,
    tags: TagMap,
    iteration: Option<u64>,
    running_req: u32,
    tokens: Option<u64>,
    token_usage: Option<f64>,
    accept_len: Option<f64>,
    accept_rate: Option<f64>,
    cuda_graph: Option<bool>,
    graph_label: Option<&'static str>,
    gen_throughput_tps: Option<f64>,
    queue_req: u32,
    fields: FieldMap,
}

impl<'a> Decode<'a> {
    fn new(head: Head<'a>, line: &DecodeLine<'a>) -> Self {
        Self {
            head,
            timestamp: time(line.timestamp),
            tags: TagMap(line.tags),
            iteration: line.iteration,
            running_req: line.running_req,
            tokens: line.tokens(),
            token_usage: line.token_usage().map(Hundredths::as_f64),
            accept_len: line.accept_len.map(Hundredths::as_f64),
            accept_rate: line.accept_rate.map(Hundredths::as_f64),
            cuda_graph: line.graph.map(|graph| graph.on),
            graph_label: label(line.graph),
            gen_throughput_tps: line.gen_throughput_tps,
            queue_req: line.queue_req,
            fields: FieldMap(other_fields::of_decode(line)),
        }
    }
}

#[derive(Serialize)]
struct Prefill<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    timestamp: Option<&'a str>,
    tags: TagMap,
    iteration: Option<u64>,
    new_seq: Option<u32>,
    new_tokens: Option<u64>,
    cached_tokens: Option<u64>,
    token_usage: Option<f64>,
    running_req: Option<u32>,
    queue_req: Option<u32>,
    cuda_graph: Option<bool>,
    graph_label: Option<&'static str>,
    input_throughput_tps: Option<f64>,
    fields: FieldMap,
}

impl<'a> Prefill<'a> {
    fn new(head: Head<'a>, line: &PrefillLine<'a>) -> Self {
        let figures = line.figures();
        Self {
            head,
            timestamp: time(line.timestamp),
            tags: TagMap(line.tags),
            iteration: line.iteration,
            new_seq: figures.new_seq,
            new_tokens: figures.new_tokens,
            cached_tokens: figures.cached_tokens,
            token_usage: figures.token_usage.map(Hundredths::as_f64),
            running_req: figures.running_req,
            queue_req: figures.queue_req,
            cuda_graph: figures.graph.map(|graph| graph.on),
            graph_label: label(figures.graph),
            input_throughput_tps: figures.input_throughput_tps,
            fields: FieldMap(other_fields::of_prefill(line)),
        }
    }
}

#[derive(Serialize)]
struct Start<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    timestamp: Option<&'a str>,
    speculative_algorithm: Option<&'a str>,
    num_steps: Option<u32>,
    eagle_topk: Option<u32>,
    num_draft_tokens: Option<u32>,
    block_size: Option<u32>,
    decode_log_interval: Option<u32>,
    tp_size: Option<u32>,
    dp_size: Option<u32>,
    random_seed: Option<u64>,
    disaggregation_mode: Option<&'a str>,
}

impl<'a> Start<'a> {
    fn new(head: Head<'a>, start: &'a ServerStart) -> Self {
        Self {
            head,
            timestamp: start.timestamp.as_deref(),
            speculative_algorithm: start.speculative_algorithm.as_deref(),
            num_steps: start.num_steps,
            eagle_topk: start.eagle_topk,
            num_draft_tokens: start.num_draft_tokens,
            block_size: start.block_size,
            decode_log_interval: start.decode_log_interval,
            tp_size: start.tp_size,
            dp_size: start.dp_size,
            random_seed: start.random_seed,
            disaggregation_mode: start.disaggregation_mode.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct Flush<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    timestamp: Option<&'a str>,
    tags: TagMap,
}

#[derive(Serialize)]
struct Rejected<'a> {
    kind: &'static str,
    reason: &'static str,
    file: &'a str,
    line: u64,
    excerpt: String,
}

/// `{"DP":0,"TP":0}`.
struct TagMap(Tags);

impl Serialize for TagMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|tag| (tag.name(), tag.rank())))
    }
}

/// Names with values, in the order of print.
struct FieldMap(OtherFields);

impl Serialize for FieldMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

fn time(timestamp: Option<Timestamp<'_>>) -> Option<&str> {
    timestamp.map(Timestamp::as_str)
}

fn label(graph: Option<Graph>) -> Option<&'static str> {
    graph.map(|graph| graph.label.name())
}
