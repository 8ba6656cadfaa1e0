//! Points of an audit as a table, one a row.

use std::io::{self, Write};

use csv::WriterBuilder;
use serde::Serialize;

use super::cell::text;
use crate::audit::{Finding, Mechanism, PointReport, Severity};
use crate::golden::Target;
use crate::report::audit::{AuditRun, injected, source_of_target};
use crate::report::excerpt::printable;
use crate::report::json::tidy;

/// One row: the names of its fields are those of the columns, and stay as they are. What is unknown is empty. Accept
/// lengths are in tokens a verify step; lists are parted by spaces, names of files by semicolons.
#[derive(Debug, Serialize)]
struct Row {
    point: String,
    verdict: &'static str,
    reason: String,
    engine: Option<&'static str>,
    target_source: Option<&'static str>,
    curve: Option<String>,
    thinking: Option<&'static str>,
    draft_length: Option<u32>,
    target_accept_len: Option<f64>,
    max_accept_len: Option<u32>,
    margin_tokens: Option<f64>,
    confidence: f64,
    decode_lines: u64,
    spec_lines: u64,
    skipped_truncated: u64,
    skipped_duplicate: u64,
    skipped_lookalike: u64,
    skipped_idle: u64,
    skipped_not_finite: u64,
    skipped_out_of_scope: u64,
    steps_per_line: u32,
    steps_per_line_source: &'static str,
    steps: u64,
    independent_steps: f64,
    ranks: usize,
    rank_correlation: Option<f64>,
    accept_len_mean: Option<f64>,
    accept_len_weighted: Option<f64>,
    accept_len_min: Option<f64>,
    accept_len_max: Option<f64>,
    accept_len_ci_low: Option<f64>,
    accept_len_ci_high: Option<f64>,
    running_req_min: Option<u32>,
    running_req_max: Option<u32>,
    queue_req_max: Option<u32>,
    cuda_graph_true: u64,
    cuda_graph_false: u64,
    gen_throughput_median_tps: Option<f64>,
    gen_throughput_steady_mean_tps: Option<f64>,
    speculative_algorithm: Option<String>,
    num_steps: Option<u32>,
    num_draft_tokens: Option<u32>,
    block_size: Option<u32>,
    mechanism: Option<&'static str>,
    mechanisms_rejected: Option<String>,
    replay: Option<&'static str>,
    replay_seed: Option<u64>,
    replay_log10_chance: Option<f64>,
    errors: String,
    warnings: String,
    notes: String,
    injected: String,
    files: String,
}

/// The columns of a table without rows: the fields of [`Row`], in order.
pub(in crate::report) const COLUMNS: [&str; 53] = [
    "point",
    "verdict",
    "reason",
    "engine",
    "target_source",
    "curve",
    "thinking",
    "draft_length",
    "target_accept_len",
    "max_accept_len",
    "margin_tokens",
    "confidence",
    "decode_lines",
    "spec_lines",
    "skipped_truncated",
    "skipped_duplicate",
    "skipped_lookalike",
    "skipped_idle",
    "skipped_not_finite",
    "skipped_out_of_scope",
    "steps_per_line",
    "steps_per_line_source",
    "steps",
    "independent_steps",
    "ranks",
    "rank_correlation",
    "accept_len_mean",
    "accept_len_weighted",
    "accept_len_min",
    "accept_len_max",
    "accept_len_ci_low",
    "accept_len_ci_high",
    "running_req_min",
    "running_req_max",
    "queue_req_max",
    "cuda_graph_true",
    "cuda_graph_false",
    "gen_throughput_median_tps",
    "gen_throughput_steady_mean_tps",
    "speculative_algorithm",
    "num_steps",
    "num_draft_tokens",
    "block_size",
    "mechanism",
    "mechanisms_rejected",
    "replay",
    "replay_seed",
    "replay_log10_chance",
    "errors",
    "warnings",
    "notes",
    "injected",
    "files",
];

/// Writes the points as rows, the names of the columns first.
pub fn write_audit(run: &AuditRun<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = WriterBuilder::new().has_headers(false).from_writer(out);
    writer.write_record(COLUMNS)?;
    for point in run.points {
        writer.serialize(row(run, point))?;
    }
    writer.flush()
}

/// The row of a point by the names of its columns.
pub(in crate::report) fn cells(run: &AuditRun<'_>, point: &PointReport) -> io::Result<serde_json::Value> {
    Ok(serde_json::to_value(row(run, point))?)
}

fn row(run: &AuditRun<'_>, point: &PointReport) -> Row {
    let target = point.target.as_ref();
    let cell = target.and_then(Target::cell);
    let accept_len = point.accept_len.as_ref();
    let interval = accept_len.and_then(|accept_len| accept_len.interval);
    let server = point.server.as_ref();
    let mechanisms = point.mechanisms.as_ref();
    Row {
        point: foreign(&point.name),
        verdict: point.verdict.name(),
        reason: foreign(&point.reason.to_string()),
        engine: point.engine.map(crate::engine::Engine::name),
        target_source: target.map(source_of_target),
        curve: cell.map(|cell| foreign(&cell.curve)),
        thinking: cell.map(|cell| cell.thinking.key()),
        draft_length: cell.map(|cell| cell.draft_length),
        target_accept_len: target.map(|target| target.accept_length().get()),
        max_accept_len: target.map(Target::max_accept_length),
        margin_tokens: target.map(|target| tidy(point.margin.tokens(target.accept_length().get()))),
        confidence: point.confidence.get(),
        decode_lines: point.decode_lines,
        spec_lines: point.spec_lines,
        skipped_truncated: point.skipped.truncated,
        skipped_duplicate: point.skipped.duplicate,
        skipped_lookalike: point.skipped.lookalike,
        skipped_idle: point.skipped.idle,
        skipped_not_finite: point.skipped.not_finite,
        skipped_out_of_scope: point.skipped.out_of_scope,
        steps_per_line: point.interval.steps,
        steps_per_line_source: point.interval.source.name(),
        steps: point.steps,
        independent_steps: tidy(point.independent_steps),
        ranks: point.ranks.len(),
        rank_correlation: point.rank_correlation.map(tidy),
        accept_len_mean: accept_len.map(|accept_len| tidy(accept_len.mean)),
        accept_len_weighted: accept_len.map(|accept_len| tidy(accept_len.weighted)),
        accept_len_min: accept_len.map(|accept_len| accept_len.min),
        accept_len_max: accept_len.map(|accept_len| accept_len.max),
        accept_len_ci_low: interval.map(|interval| tidy(interval.low)),
        accept_len_ci_high: interval.map(|interval| tidy(interval.high)),
        running_req_min: point.running_req.map(|(min, _)| min),
        running_req_max: point.running_req.map(|(_, max)| max),
        queue_req_max: point.max_queue_req,
        cuda_graph_true: point.graphs.0,
        cuda_graph_false: point.graphs.1,
        gen_throughput_median_tps: point.median_tps.map(tidy),
        gen_throughput_steady_mean_tps: point.steady_mean_tps.map(tidy),
        speculative_algorithm: server.and_then(|server| server.speculative_algorithm.as_deref()).map(foreign),
        num_steps: server.and_then(|server| server.num_steps),
        num_draft_tokens: server.and_then(|server| server.num_draft_tokens),
        block_size: server.and_then(|server| server.block_size),
        mechanism: mechanisms.map(|found| found.best.map_or("undetermined", Mechanism::name)),
        mechanisms_rejected: mechanisms
            .map(|found| found.rejected.iter().map(|law| law.name()).collect::<Vec<_>>().join(" ")),
        replay: point.replay.as_ref().map(|replay| replay.status.name()),
        replay_seed: point.replay.as_ref().and_then(|replay| replay.seed),
        replay_log10_chance: point.replay.as_ref().and_then(|replay| replay.log10_chance),
        errors: codes(&point.findings, Severity::Error),
        warnings: codes(&point.findings, Severity::Warning),
        notes: codes(&point.findings, Severity::Note),
        injected: text(
            &injected(point).iter().map(|setting| printable(setting)).collect::<Vec<_>>().join(" "),
        ),
        files: files(run, point),
    }
}

/// The codes of the findings of one severity.
fn codes(findings: &[Finding], severity: Severity) -> String {
    let codes = findings.iter().filter(|finding| finding.severity == severity);
    codes.map(|finding| finding.code.name()).collect::<Vec<_>>().join(" ")
}

fn files(run: &AuditRun<'_>, point: &PointReport) -> String {
    let names = point.files.iter().filter_map(|file| run.file(*file));
    // Each may become a cell of its own.
    names.map(foreign).collect::<Vec<_>>().join("; ")
}

fn foreign(name: &str) -> String {
    text(&printable(name))
}
