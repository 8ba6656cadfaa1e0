//! `audit --json`: one document with every point.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::audit::{AcceptLenReport, Finding, Mechanism, PointReport, RivalCell, Verdict};
use crate::evidence::{Place, ServerStart};
use crate::golden::{Target, TargetOrigin};

use super::replay::ReplayEntry;

/// Every point, and the verdict over all.
#[derive(Debug, Serialize)]
pub struct AuditDocument<'a> {
    target: Option<TargetEntry<'a>>,
    points: Vec<PointEntry<'a>>,
    verdict: &'static str,
}

impl<'a> AuditDocument<'a> {
    /// The document of an audit. `files` are the names that places refer to.
    #[must_use]
    pub fn new(points: &'a [PointReport], verdict: Verdict, files: &'a [&'a str]) -> Self {
        Self {
            target: target_of_all(points).map(TargetEntry::from),
            points: points.iter().map(|point| PointEntry::new(point, files)).collect(),
            verdict: verdict.name(),
        }
    }
}

/// The target that all points share. Points whose largest accept length comes from their own server may differ.
fn target_of_all(points: &[PointReport]) -> Option<&Target> {
    let first = points.first()?.target.as_ref()?;
    points.iter().all(|point| point.target.as_ref() == Some(first)).then_some(first)
}

#[derive(Debug, Serialize)]
struct TargetEntry<'a> {
    source: &'static str,
    curve: Option<&'a str>,
    thinking: Option<&'static str>,
    draft_length: Option<u32>,
    accept_length: f64,
    max_accept_length: u32,
}

#[derive(Debug, Serialize)]
struct PointEntry<'a> {
    name: &'a str,
    files: Vec<&'a str>,
    engine: Option<&'static str>,
    engine_version: Option<&'a str>,
    decode_lines: u64,
    spec_lines: u64,
    skipped_lines: SkippedEntry,
    steps: u64,
    independent_steps: f64,
    rank_correlation: Option<f64>,
    ranks: Vec<RankEntry>,
    accept_len: AcceptLenEntry,
    running_req: RangeEntry,
    cuda_graph: GraphEntry,
    queue_req: QueueEntry,
    gen_throughput_tps: ThroughputEntry,
    server: ServerEntry<'a>,
    mechanism: MechanismEntry<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<ReplayEntry<'a>>,
    findings: Vec<FindingEntry<'a>>,
    verdict: &'static str,
    reason: String,
}

#[derive(Debug, Serialize)]
struct SkippedEntry {
    truncated: u64,
    duplicate: u64,
    lookalike: u64,
    idle: u64,
    not_finite: u64,
}

#[derive(Debug, Serialize)]
struct RankEntry {
    tags: BTreeMap<String, u32>,
    lines: u64,
    accept_len: Option<f64>,
}

#[derive(Debug, Default, Serialize)]
struct AcceptLenEntry {
    mean: Option<f64>,
    weighted: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
    confidence: Option<f64>,
}

#[derive(Debug, Serialize)]
struct RangeEntry {
    min: Option<u32>,
    max: Option<u32>,
}

#[derive(Debug, Serialize)]
struct GraphEntry {
    r#true: u64,
    r#false: u64,
}

#[derive(Debug, Serialize)]
struct QueueEntry {
    max: Option<u32>,
}

#[derive(Debug, Serialize)]
struct ThroughputEntry {
    median: Option<f64>,
    steady_mean: Option<f64>,
}

#[derive(Debug, Default, Serialize)]
struct ServerEntry<'a> {
    speculative_algorithm: Option<&'a str>,
    num_steps: Option<u32>,
    num_draft_tokens: Option<u32>,
    block_size: Option<u32>,
    decode_log_interval: Option<u32>,
}

#[derive(Debug, Default, Serialize)]
struct MechanismEntry<'a> {
    best: Option<&'static str>,
    rejected: Vec<&'static str>,
    log_likelihood: BTreeMap<&'static str, Option<f64>>,
    /// Golden cells that the lines cannot tell from the target.
    cells_not_told_apart: Vec<CellEntry<'a>>,
    dispersion: Option<DispersionEntry>,
}

#[derive(Debug, Serialize)]
struct CellEntry<'a> {
    curve: &'a str,
    thinking: &'static str,
    draft_length: u32,
    accept_length: f64,
}

/// D of the steady lines about the target, and the probability of one at most and at least as large.
#[derive(Debug, Serialize)]
struct DispersionEntry {
    d: f64,
    lines: u64,
    lower_tail: f64,
    upper_tail: f64,
}

#[derive(Debug, Serialize)]
struct FindingEntry<'a> {
    code: &'static str,
    severity: String,
    message: &'a str,
    evidence: Option<PlaceEntry<'a>>,
}

#[derive(Debug, Serialize)]
struct PlaceEntry<'a> {
    file: Option<&'a str>,
    line: u64,
}

impl<'a> From<&'a Target> for TargetEntry<'a> {
    fn from(target: &'a Target) -> Self {
        let cell = target.cell();
        Self {
            source: match target.origin() {
                TargetOrigin::Golden(_) => "golden",
                TargetOrigin::Explicit => "explicit",
            },
            curve: cell.map(|cell| cell.curve.as_str()),
            thinking: cell.map(|cell| cell.thinking.key()),
            draft_length: cell.map(|cell| cell.draft_length),
            accept_length: target.accept_length().get(),
            max_accept_length: target.max_accept_length(),
        }
    }
}

impl<'a> PointEntry<'a> {
    fn new(point: &'a PointReport, files: &'a [&'a str]) -> Self {
        Self {
            name: &point.name,
            files: point.files.iter().filter_map(|file| name(files, *file)).collect(),
            engine: point.engine.map(crate::engine::Engine::name),
            engine_version: None,
            decode_lines: point.decode_lines,
            spec_lines: point.spec_lines,
            skipped_lines: SkippedEntry {
                truncated: point.skipped.truncated,
                duplicate: point.skipped.duplicate,
                lookalike: point.skipped.lookalike,
                idle: point.skipped.idle,
                not_finite: point.skipped.not_finite,
            },
            steps: point.steps,
            independent_steps: point.independent_steps,
            rank_correlation: point.rank_correlation,
            ranks: point
                .ranks
                .iter()
                .map(|rank| RankEntry {
                    tags: rank.tags.iter().map(|tag| (tag.name(), tag.rank())).collect(),
                    lines: rank.lines,
                    accept_len: rank.accept_len,
                })
                .collect(),
            accept_len: point.accept_len.as_ref().map(AcceptLenEntry::from).unwrap_or_default(),
            running_req: RangeEntry {
                min: point.running_req.map(|(min, _)| min),
                max: point.running_req.map(|(_, max)| max),
            },
            cuda_graph: GraphEntry { r#true: point.graphs.0, r#false: point.graphs.1 },
            queue_req: QueueEntry { max: point.max_queue_req },
            gen_throughput_tps: ThroughputEntry {
                median: point.median_tps,
                steady_mean: point.steady_mean_tps,
            },
            server: point.server.as_ref().map(ServerEntry::from).unwrap_or_default(),
            mechanism: MechanismEntry::of(point),
            replay: point.replay.as_ref().map(|replay| ReplayEntry::new(replay, files)),
            findings: point.findings.iter().map(|finding| FindingEntry::new(finding, files)).collect(),
            verdict: point.verdict.name(),
            reason: point.reason.to_string(),
        }
    }
}

impl From<&AcceptLenReport> for AcceptLenEntry {
    fn from(report: &AcceptLenReport) -> Self {
        Self {
            mean: Some(report.mean),
            weighted: Some(report.weighted),
            min: Some(report.min),
            max: Some(report.max),
            ci_low: report.interval.map(|interval| interval.low),
            ci_high: report.interval.map(|interval| interval.high),
            confidence: Some(report.confidence.get()),
        }
    }
}

impl<'a> From<&'a ServerStart> for ServerEntry<'a> {
    fn from(server: &'a ServerStart) -> Self {
        Self {
            speculative_algorithm: server.speculative_algorithm.as_deref(),
            num_steps: server.num_steps,
            num_draft_tokens: server.num_draft_tokens,
            block_size: server.block_size,
            decode_log_interval: server.decode_log_interval,
        }
    }
}

impl<'a> MechanismEntry<'a> {
    fn of(point: &'a PointReport) -> Self {
        let Some(mechanisms) = &point.mechanisms else { return Self::default() };
        // JSON has no minus infinity: null is the log-likelihood of an impossible line.
        let finite = |value: f64| value.is_finite().then_some(value);
        let dispersion = mechanisms.dispersion.filter(|scatter| scatter.d.is_finite());
        Self {
            best: Some(mechanisms.best.map_or("undetermined", Mechanism::name)),
            rejected: mechanisms.rejected.iter().map(|mechanism| mechanism.name()).collect(),
            log_likelihood: mechanisms
                .log_likelihood
                .iter()
                .map(|(mechanism, ln)| (mechanism.name(), finite(*ln)))
                .collect(),
            cells_not_told_apart: mechanisms.cells_alike.iter().map(CellEntry::from).collect(),
            dispersion: dispersion.map(|scatter| DispersionEntry {
                d: scatter.d,
                lines: scatter.lines,
                lower_tail: scatter.lower_tail,
                upper_tail: scatter.upper_tail,
            }),
        }
    }
}

impl<'a> From<&'a RivalCell> for CellEntry<'a> {
    fn from(cell: &'a RivalCell) -> Self {
        Self {
            curve: &cell.curve,
            thinking: cell.thinking.key(),
            draft_length: cell.draft_length,
            accept_length: cell.accept_length.get(),
        }
    }
}

impl<'a> FindingEntry<'a> {
    fn new(finding: &'a Finding, files: &'a [&'a str]) -> Self {
        let place = |place: Place| PlaceEntry { file: name(files, place.file), line: place.line };
        Self {
            code: finding.code.name(),
            severity: finding.severity.to_string(),
            message: &finding.message,
            evidence: finding.evidence.map(place),
        }
    }
}

/// The name of a file by its index.
fn name<'a>(files: &[&'a str], index: u32) -> Option<&'a str> {
    files.get(usize::try_from(index).ok()?).copied()
}
