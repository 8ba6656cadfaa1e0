//! `audit --json`: one document with every point.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::audit::{
    AcceptLenReport, ExpectedLine, Finding, InjectedSetting, Margin, Mechanism, PointReport, RivalCell,
};
use crate::evidence::{Place, ServerStart};
use crate::golden::Target;
use crate::report::audit::{AuditRun, source_of_target};

use super::number::tidy;
use super::pooled::PooledEntry;
use super::replay::ReplayEntry;

/// Every point, and the verdict over all. Its form is written down in `docs/schema/audit.schema.json`.
#[derive(Debug, Serialize)]
pub struct AuditDocument<'a> {
    target: Option<TargetEntry<'a>>,
    points: Vec<PointEntry<'a>>,
    verdict: &'static str,
    /// What could not be read to its end.
    errors: &'a [String],
    /// What else there is to know about inputs and target.
    notes: &'a [String],
}

impl<'a> AuditDocument<'a> {
    /// The document of an audit.
    #[must_use]
    pub fn new(run: &AuditRun<'a>) -> Self {
        Self {
            target: run.target().map(TargetEntry::from),
            points: run.points.iter().map(|point| PointEntry::new(run, point)).collect(),
            verdict: run.verdict.name(),
            errors: run.errors,
            notes: run.notes,
        }
    }
}

/// One point with its own target, for documents whose points have several.
#[derive(Debug, Serialize)]
struct PointWithTarget<'a> {
    target: Option<TargetEntry<'a>>,
    #[serde(flatten)]
    point: PointEntry<'a>,
}

/// A point's entry, with its target.
pub(in crate::report) fn point<'a>(run: &AuditRun<'a>, point: &'a PointReport) -> impl Serialize + 'a {
    PointWithTarget {
        target: point.target.as_ref().map(TargetEntry::from),
        point: PointEntry::new(run, point),
    }
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
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<SequenceEntry>,
    running_req: RangeEntry,
    cuda_graph: GraphEntry,
    queue_req: QueueEntry,
    gen_throughput_tps: ThroughputEntry,
    server: ServerEntry<'a>,
    injected: Vec<InjectedEntry<'a>>,
    margin: MarginEntry,
    line: LineEntry,
    mechanism: MechanismEntry<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pooled: Option<PooledEntry>,
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
    out_of_scope: u64,
}

#[derive(Debug, Serialize)]
struct RankEntry {
    tags: BTreeMap<String, u32>,
    lines: u64,
    accept_len: Option<f64>,
    max_running_req: Option<u32>,
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
struct SequenceEntry {
    log10_e_value: Option<f64>,
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

/// A setting of the simulation, and the line that shows it.
#[derive(Debug, Serialize)]
struct InjectedEntry<'a> {
    name: &'a str,
    value: &'a str,
    evidence: PlaceEntry<'a>,
}

/// How far the mean may lie from the target: as a share of it where it was given as one, in tokens where they are known.
#[derive(Debug, Serialize)]
struct MarginEntry {
    share: Option<f64>,
    tokens: Option<f64>,
    is_default: bool,
}

/// What one decode line stands for, and what it shows under the target.
#[derive(Debug, Serialize)]
struct LineEntry {
    interval: u32,
    interval_source: &'static str,
    sd: Option<f64>,
    low95: Option<f64>,
    high95: Option<f64>,
    lo: Option<u32>,
    hi: Option<u32>,
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
            source: source_of_target(target),
            curve: cell.map(|cell| cell.curve.as_str()),
            thinking: cell.map(|cell| cell.thinking.key()),
            draft_length: cell.map(|cell| cell.draft_length),
            accept_length: target.accept_length().get(),
            max_accept_length: target.max_accept_length(),
        }
    }
}

impl<'a> PointEntry<'a> {
    fn new(run: &AuditRun<'a>, point: &'a PointReport) -> Self {
        Self {
            name: &point.name,
            files: point.files.iter().filter_map(|file| run.file(*file)).collect(),
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
                out_of_scope: point.skipped.out_of_scope,
            },
            steps: point.steps,
            independent_steps: tidy(point.independent_steps),
            rank_correlation: point.rank_correlation.map(tidy),
            ranks: point
                .ranks
                .iter()
                .map(|rank| RankEntry {
                    tags: rank.tags.iter().map(|tag| (tag.name(), tag.rank())).collect(),
                    lines: rank.lines,
                    accept_len: rank.accept_len.map(tidy),
                    max_running_req: rank.max_running_req,
                })
                .collect(),
            accept_len: point.accept_len.as_ref().map(AcceptLenEntry::from).unwrap_or_default(),
            sequence: point.sequence.map(|sequence| SequenceEntry {
                log10_e_value: Some(tidy(sequence.ln_e / std::f64::consts::LN_10)).filter(|e| e.is_finite()),
            }),
            running_req: RangeEntry {
                min: point.running_req.map(|(min, _)| min),
                max: point.running_req.map(|(_, max)| max),
            },
            cuda_graph: GraphEntry { r#true: point.graphs.0, r#false: point.graphs.1 },
            queue_req: QueueEntry { max: point.max_queue_req },
            gen_throughput_tps: ThroughputEntry {
                median: point.median_tps.map(tidy),
                steady_mean: point.steady_mean_tps.map(tidy),
            },
            server: point.server.as_ref().map(ServerEntry::from).unwrap_or_default(),
            injected: point.injected.iter().map(|setting| InjectedEntry::new(run, setting)).collect(),
            margin: MarginEntry::of(point),
            line: LineEntry::of(point),
            mechanism: MechanismEntry::of(point),
            pooled: point.pooled.as_ref().map(PooledEntry::of),
            replay: point.replay.as_ref().map(|replay| ReplayEntry::new(replay, run.files)),
            findings: point.findings.iter().map(|finding| FindingEntry::new(run, finding)).collect(),
            verdict: point.verdict.name(),
            reason: point.reason.to_string(),
        }
    }
}

impl From<&AcceptLenReport> for AcceptLenEntry {
    fn from(report: &AcceptLenReport) -> Self {
        Self {
            mean: Some(tidy(report.mean)),
            weighted: Some(tidy(report.weighted)),
            min: Some(report.min),
            max: Some(report.max),
            ci_low: report.interval.map(|interval| tidy(interval.low)),
            ci_high: report.interval.map(|interval| tidy(interval.high)),
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
        let finite = |value: f64| value.is_finite().then(|| tidy(value));
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
                d: tidy(scatter.d),
                lines: scatter.lines,
                lower_tail: tidy(scatter.lower_tail),
                upper_tail: tidy(scatter.upper_tail),
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
    fn new(run: &AuditRun<'a>, finding: &'a Finding) -> Self {
        Self {
            code: finding.code.name(),
            severity: finding.severity.to_string(),
            message: &finding.message,
            evidence: finding.evidence.map(|place| PlaceEntry::new(run, place)),
        }
    }
}

impl<'a> PlaceEntry<'a> {
    fn new(run: &AuditRun<'a>, place: Place) -> Self {
        Self { file: run.file(place.file), line: place.line }
    }
}

impl<'a> InjectedEntry<'a> {
    fn new(run: &AuditRun<'a>, setting: &'a InjectedSetting) -> Self {
        let evidence = PlaceEntry::new(run, setting.place);
        Self { name: &setting.name, value: &setting.value, evidence }
    }
}

impl MarginEntry {
    fn of(point: &PointReport) -> Self {
        let margin = point.margin;
        let share = match margin {
            Margin::Share(share) => Some(share),
            Margin::Tokens(_) => None,
        };
        let tokens = match (margin, &point.target) {
            (Margin::Tokens(tokens), _) => Some(tokens),
            (Margin::Share(_), Some(target)) => Some(tidy(margin.tokens(target.accept_length().get()))),
            (Margin::Share(_), None) => None,
        };
        Self { share, tokens, is_default: margin == Margin::default() }
    }
}

impl LineEntry {
    fn of(point: &PointReport) -> Self {
        let expected = point.expected_line;
        let number = |of: fn(ExpectedLine) -> f64| expected.map(|line| tidy(of(line)));
        Self {
            interval: point.interval.steps,
            interval_source: point.interval.source.name(),
            sd: number(|line| line.sd),
            low95: number(|line| line.low95),
            high95: number(|line| line.high95),
            lo: expected.map(|line| line.lo),
            hi: expected.map(|line| line.hi),
        }
    }
}
