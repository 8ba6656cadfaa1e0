//! Records as one table: the columns of every kind, empty where a record lacks them.

use std::io::{self, Write};

use csv::{Writer, WriterBuilder};
use serde::Serialize;
use serde_json::Value;

use super::cell::text;
use crate::evidence::{
    CounterRecord, DecodeLine, EngineLine, Exporter, Graph, Hundredths, PrefillLine, Record, ServerStart,
    Timestamp,
};
use crate::report::excerpt::excerpt;
use crate::report::json::EngineFields;
use crate::report::json::counters::Body;
use crate::report::other_fields::{self, OtherFields};

/// Writes records as rows, the names of the columns first.
///
/// Shares and lengths keep the two decimals of the log. `tags` reads `DP0 TP0`; `fields` is a JSON object of all fields
/// without a column, as printed.
pub struct RecordTable<'w> {
    writer: Writer<&'w mut dyn Write>,
}

/// One row. The names of its fields are those of the columns, see [`COLUMNS`].
#[derive(Debug, Default, Serialize)]
pub(in crate::report) struct Row {
    kind: &'static str,
    engine: Option<&'static str>,
    file: String,
    line: u64,
    timestamp: Option<String>,
    tags: Option<String>,
    iteration: Option<u64>,
    running_req: Option<u32>,
    tokens: Option<u64>,
    token_usage: Option<String>,
    accept_len: Option<String>,
    accept_rate: Option<String>,
    cuda_graph: Option<bool>,
    graph_label: Option<&'static str>,
    gen_throughput_tps: Option<f64>,
    queue_req: Option<u32>,
    new_seq: Option<u32>,
    new_tokens: Option<u64>,
    cached_tokens: Option<u64>,
    input_throughput_tps: Option<f64>,
    speculative_algorithm: Option<String>,
    num_steps: Option<u32>,
    eagle_topk: Option<u32>,
    num_draft_tokens: Option<u32>,
    block_size: Option<u32>,
    decode_log_interval: Option<u32>,
    tp_size: Option<u32>,
    dp_size: Option<u32>,
    random_seed: Option<u64>,
    disaggregation_mode: Option<String>,
    reason: Option<&'static str>,
    excerpt: Option<String>,
    fields: Option<String>,
}

/// The columns of a table without rows: the fields of [`Row`], in order.
pub(in crate::report) const COLUMNS: [&str; 33] = [
    "kind",
    "engine",
    "file",
    "line",
    "timestamp",
    "tags",
    "iteration",
    "running_req",
    "tokens",
    "token_usage",
    "accept_len",
    "accept_rate",
    "cuda_graph",
    "graph_label",
    "gen_throughput_tps",
    "queue_req",
    "new_seq",
    "new_tokens",
    "cached_tokens",
    "input_throughput_tps",
    "speculative_algorithm",
    "num_steps",
    "eagle_topk",
    "num_draft_tokens",
    "block_size",
    "decode_log_interval",
    "tp_size",
    "dp_size",
    "random_seed",
    "disaggregation_mode",
    "reason",
    "excerpt",
    "fields",
];

impl<'w> RecordTable<'w> {
    /// A table that is written to `out`.
    pub fn new(out: &'w mut dyn Write) -> io::Result<Self> {
        let mut writer = WriterBuilder::new().has_headers(false).from_writer(out);
        writer.write_record(COLUMNS)?;
        Ok(Self { writer })
    }

    /// Adds the record that stands on `line` of `file`.
    pub fn write(&mut self, file: &str, line: u64, record: &Record<'_>) -> io::Result<()> {
        Ok(self.writer.serialize(row_of(file, line, record).guarded())?)
    }

    /// Ends the table.
    pub fn finish(mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Row {
    /// The same with no text that a spreadsheet would run.
    fn guarded(self) -> Self {
        let guarded = |value: Option<String>| value.as_deref().map(text);
        Self {
            file: text(&self.file),
            speculative_algorithm: guarded(self.speculative_algorithm),
            disaggregation_mode: guarded(self.disaggregation_mode),
            excerpt: guarded(self.excerpt),
            ..self
        }
    }
}

/// The row of the record that stands on `line` of `file`, texts as they are.
pub(in crate::report) fn row_of(file: &str, line: u64, record: &Record<'_>) -> Row {
    let row = Row { kind: record.kind().name(), file: file.to_owned(), line, ..Row::default() };
    let logged = Row { engine: Some(record.engine().name()), ..row };
    match record {
        Record::Decode(decode) => decode_row(decode, logged),
        Record::Prefill(prefill) => prefill_row(prefill, logged),
        Record::Start(start) => start_row(start, logged),
        Record::CacheFlush(flush) => {
            Row { timestamp: time(flush.timestamp), tags: Some(flush.tags.to_string()), ..logged }
        }
        Record::Setting(setting) => {
            let field = serde_json::json!({ setting.name: setting.value });
            Row { fields: Some(field.to_string()), ..logged }
        }
        Record::Counters(record) => figures_row(record, row_of_figures(record, logged)),
        Record::Engine(line) => engine_row(line, logged),
        Record::Skipped(skipped) => Row {
            engine: None,
            reason: Some(skipped.reason.name()),
            excerpt: Some(excerpt(skipped.text)),
            ..logged
        },
    }
}

fn row_of_figures(record: &CounterRecord, row: Row) -> Row {
    Row { engine: record.exporter().map(Exporter::name), ..row }
}

/// The accept length in its column, all else as fields.
fn figures_row(record: &CounterRecord, row: Row) -> Row {
    let body = Body::of(record);
    let fields = serde_json::to_string(&body).unwrap_or_default();
    Row { accept_len: body.accept_len().map(|length| length.to_string()), fields: Some(fields), ..row }
}

fn decode_row(line: &DecodeLine<'_>, row: Row) -> Row {
    Row {
        timestamp: time(line.timestamp),
        tags: Some(line.tags.to_string()),
        iteration: line.iteration,
        running_req: Some(line.running_req),
        tokens: line.tokens(),
        token_usage: decimals(line.token_usage()),
        accept_len: decimals(line.accept_len),
        accept_rate: decimals(line.accept_rate),
        cuda_graph: line.graph.map(|graph| graph.on),
        graph_label: label(line.graph),
        gen_throughput_tps: line.gen_throughput_tps,
        queue_req: Some(line.queue_req),
        fields: Some(object(other_fields::of_decode(line))),
        ..row
    }
}

/// What has a column goes there; the rest are fields.
fn engine_row(line: &EngineLine, row: Row) -> Row {
    let mut fields = EngineFields::of(line).object();
    let mut take = |name: &str| fields.remove(name).filter(|value| !value.is_null());
    let number = |value: Option<Value>| value.and_then(|value| u32::try_from(value.as_u64()?).ok());
    let row = Row {
        timestamp: take("timestamp").and_then(|value| value.as_str().map(str::to_owned)),
        running_req: number(take("running_req")),
        queue_req: number(take("queue_req")),
        accept_len: take("accept_len").map(|value| value.to_string()),
        gen_throughput_tps: take("gen_throughput_tps").and_then(|value| value.as_f64()),
        ..row
    };
    fields.retain(|_, value| !value.is_null());
    Row { fields: Some(Value::Object(fields).to_string()), ..row }
}

fn prefill_row(line: &PrefillLine<'_>, row: Row) -> Row {
    let figures = line.figures();
    Row {
        timestamp: time(line.timestamp),
        tags: Some(line.tags.to_string()),
        iteration: line.iteration,
        running_req: figures.running_req,
        token_usage: decimals(figures.token_usage),
        cuda_graph: figures.graph.map(|graph| graph.on),
        graph_label: label(figures.graph),
        queue_req: figures.queue_req,
        new_seq: figures.new_seq,
        new_tokens: figures.new_tokens,
        cached_tokens: figures.cached_tokens,
        input_throughput_tps: figures.input_throughput_tps,
        fields: Some(object(other_fields::of_prefill(line))),
        ..row
    }
}

fn start_row(start: &ServerStart, row: Row) -> Row {
    Row {
        timestamp: start.timestamp.clone(),
        speculative_algorithm: start.speculative_algorithm.clone(),
        num_steps: start.num_steps,
        eagle_topk: start.eagle_topk,
        num_draft_tokens: start.num_draft_tokens,
        block_size: start.block_size,
        decode_log_interval: start.decode_log_interval,
        tp_size: start.tp_size,
        dp_size: start.dp_size,
        random_seed: start.random_seed,
        disaggregation_mode: start.disaggregation_mode.clone(),
        ..row
    }
}

/// Digits, dashes and colons: no formula begins with a digit.
fn time(timestamp: Option<Timestamp<'_>>) -> Option<String> {
    timestamp.map(|time| time.as_str().to_owned())
}

fn decimals(value: Option<Hundredths>) -> Option<String> {
    value.map(|value| value.to_string())
}

fn label(graph: Option<Graph>) -> Option<&'static str> {
    graph.map(|graph| graph.label.name())
}

/// A JSON object; it begins with a brace, so it is no formula.
fn object(fields: OtherFields) -> String {
    let members: Vec<String> = fields
        .into_iter()
        .map(|(name, value)| format!("{}:{}", Value::from(name), Value::from(value)))
        .collect();
    format!("{{{}}}", members.join(","))
}
