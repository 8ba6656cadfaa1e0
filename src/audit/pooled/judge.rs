//! From sums to a report with a verdict.

use crate::engine::Engine;
use crate::evidence::{Place, Pool};
use crate::golden::Target;
use crate::law::{float, whole, whole32};
use crate::replay::{Replay, ReplayReason};

use super::super::decision::{MIN_LINES, MIN_STEPS, Reason, Shortfall, Verdict, other_server};
use super::super::estimate::lines_needed;
use super::super::finding::Finding;
use super::super::injection::{self, InjectedSetting};
use super::super::interval::{DecodeInterval, IntervalSource};
use super::super::mechanism::{Mechanism, Mechanisms};
use super::super::observed::Observed;
use super::super::options::{Confidence, Options};
use super::super::replay;
use super::super::report::{AcceptLenReport, ExpectedLine, PointReport, RankReport};
use super::super::sequential::{Sequence, pooled_sequence};
use super::agreement::Laws;
use super::estimate::Estimate;
use super::evidence::{PooledEvidence, PooledSource};
use super::explain;
use super::law::{Weighed, missing_drafts};
use super::mark::Mark;
use super::tolerance::{least_margin, lockstep, replicas_share, slack};

/// The e-value that decides while a log grows.
const PROOF: f64 = 1000.0;

/// The statistics of a point.
pub(super) struct Analysis {
    pub(super) engine: Engine,
    pub(super) source: PooledSource,
    pub(super) pool: Pool,
    pub(super) mark: Mark,
    pub(super) estimate: Estimate,
    pub(super) mechanisms: Mechanisms,
    /// Where the evidence begins.
    pub(super) first: Option<Place>,
    /// Windows of several settings.
    pub(super) is_shifted: bool,
    /// Drafts that an average step lacks, where the draft length varied.
    pub(super) missing: f64,
    /// The server's configuration is known.
    pub(super) is_configured: bool,
    /// What chance cannot explain, in tokens.
    slack: f64,
}

/// Judges a point of an engine whose evidence comes as sums.
pub(in crate::audit) fn judge(
    seen: &Observed,
    target: Option<&Target>,
    options: &Options,
    is_growing: bool,
) -> PointReport {
    let engine = seen.engine_hint();
    let evidence = sharpest(&seen.pooled);
    let analysis = evidence.and_then(|evidence| analyse(seen, evidence, target, options));
    let mut findings = Vec::new();
    if !options.expect_real {
        let shown = analysis.as_ref().map(|analysis| analysis.estimate.mean);
        findings.extend(injection::conflicts(seen, target, shown));
        findings.extend(injection::refused(&seen.injected));
    }
    if let Some(analysis) = &analysis {
        findings.extend(explain::about_length(analysis, target));
        findings.extend(explain::about_told_rates(seen, analysis));
    }
    let is_mixed = evidence.is_some_and(|evidence| is_mixed(seen, evidence));
    let mut sequence = None;
    let (mut verdict, mut reason) = match (&analysis, target) {
        _ if options.expect_real && injection::first_length(&seen.injected).is_some() => {
            (Verdict::Inconsistent, Reason::SimulationSet)
        }
        (Some(_), _) if options.expect_real && is_mixed => {
            (Verdict::Insufficient, Reason::EvaluationUndecided)
        }
        (Some(analysis), _) if options.expect_real => analysis.evaluate(&seen.injected),
        (Some(_), Some(_)) if is_mixed => (Verdict::Insufficient, Reason::MixedServers),
        (Some(analysis), Some(target)) => {
            if is_growing {
                sequence = analysis.sequence(target, options);
            }
            analysis.decide(target, options, &findings, sequence)
        }
        (Some(_), None) => (Verdict::Insufficient, Reason::NoTarget),
        (None, _) => without(seen, engine),
    };
    if options.expect_real && target.is_none() && analysis.is_none() && verdict == Verdict::Insufficient {
        reason = Reason::NoDecodeLines;
    }
    let is_shifted = analysis.as_ref().is_some_and(|analysis| analysis.is_shifted);
    let may_be_shifted = verdict == Verdict::Consistent || matches!(reason, Reason::ShortRun(_));
    if is_shifted && may_be_shifted && !options.expect_real {
        (verdict, reason) = (Verdict::Insufficient, Reason::MixedServers);
    }
    let replay = seen.replay.as_ref().map(|evidence| evidence.unavailable(ReplayReason::OtherEvidence));
    if let Some(replay) = &replay {
        (verdict, reason) =
            replay::decide(replay, (verdict, reason), target, options, seen.servers.change().is_some());
    }
    let laws = Laws { lines: None, expect_real: options.expect_real };
    (verdict, reason) =
        super::compare(&seen.pooled, None, laws, seen.is_whole(), (verdict, reason), &mut findings);
    if reason == Reason::LooksReal {
        findings.push(explain::about_rates(analysis.as_ref()));
    }
    findings.extend(analysis.as_ref().filter(|_| !is_mixed).and_then(explain::about_shift));
    findings.extend(analysis.iter().flat_map(|analysis| explain::others(seen, analysis.engine)));
    findings.extend(seen.line_log.servers.finding());
    findings.extend(evidence.and_then(explain::about_scraped));
    findings.extend(explain::about_lines(seen, analysis.as_ref(), engine));
    if let Some(analysis) = analysis.as_ref().filter(|_| !is_mixed && !is_shifted) {
        findings.extend(explain::about_mechanism(analysis, target));
    }
    findings.extend(seen.figure_findings.iter().cloned());
    findings.extend(explain::about_outcome(seen, analysis.as_ref(), &reason));
    findings.extend(super::super::explain::unexplained(seen, verdict, &reason, &findings));
    findings.sort_by(|left, right| right.severity.cmp(&left.severity).then(left.code.cmp(&right.code)));
    report(seen, engine, evidence, analysis, target, options, sequence, replay, findings, verdict, reason)
}

/// The statistics of the sums that are judged.
fn analyse(
    seen: &Observed,
    evidence: &PooledEvidence,
    target: Option<&Target>,
    options: &Options,
) -> Option<Analysis> {
    let pool = evidence.total();
    let mark = Mark::of(&pool);
    let estimate = Estimate::new(&pool, mark, independent(evidence))?;
    let engine = evidence.engine;
    let rates = injection::rates(&seen.injected);
    let missing = missing_drafts(evidence, &pool);
    let weighed = Weighed {
        engine,
        pool: &pool,
        mark,
        estimate: &estimate,
        rates: rates.as_deref(),
        has_older_rate: injection::has_older_rate(&seen.injected),
        is_told: injection::first_length(&seen.injected).is_some(),
        missing,
        options,
    };
    let mut mechanisms = weighed.mechanisms(target);
    let is_shifted = is_shifted(seen, evidence, &pool, mark, &estimate);
    if is_shifted || is_mixed(seen, evidence) {
        // What two servers show together is the law of neither.
        mechanisms.best = None;
    }
    Some(Analysis {
        engine,
        source: evidence.source,
        pool,
        mark,
        estimate,
        mechanisms,
        first: evidence.first,
        is_shifted,
        missing,
        is_configured: !seen.injected.is_empty(),
        slack: slack(engine),
    })
}

#[expect(clippy::too_many_arguments, reason = "all that came together")]
fn report(
    seen: &Observed,
    engine: Option<Engine>,
    evidence: Option<&PooledEvidence>,
    analysis: Option<Analysis>,
    target: Option<&Target>,
    options: &Options,
    sequence: Option<Sequence>,
    replay: Option<Replay>,
    findings: Vec<Finding>,
    verdict: Verdict,
    reason: Reason,
) -> PointReport {
    let steps = analysis.as_ref().map_or(0, |analysis| analysis.pool.whole_steps());
    let windows = analysis.as_ref().map_or(1, |analysis| analysis.pool.windows.max(1));
    let per_line = whole32((float(steps) / float(windows)).round().max(1.0));
    let (median_tps, steady_mean_tps) = seen.line_log.speed();
    let accept_len = analysis.as_ref().map(|analysis| {
        let estimate = &analysis.estimate;
        let (min, max) = analysis.pool.range.unwrap_or((estimate.mean, estimate.mean));
        let hundredth = |value: f64| (value * 100.0).round() / 100.0;
        AcceptLenReport {
            mean: estimate.mean,
            weighted: estimate.mean,
            min: hundredth(min),
            max: hundredth(max),
            interval: sequence
                .map(|sequence| sequence.interval)
                .or_else(|| estimate.interval(options.confidence)),
            confidence: options.confidence,
        }
    });
    let ranks = evidence.map_or_else(Vec::new, |evidence| {
        evidence
            .ranks
            .iter()
            .map(|rank| RankReport {
                tags: rank.tags,
                lines: rank.lines,
                accept_len: rank.pool.accept_len(),
                max_running_req: rank.max_running_req,
            })
            .collect()
    });
    PointReport {
        name: seen.name.clone(),
        files: seen.files.clone(),
        engine,
        server: None,
        series: None,
        target: target.cloned(),
        margin: options.margin,
        confidence: options.confidence,
        injected: seen.injected.clone(),
        decode_lines: seen.line_log.lines,
        spec_lines: seen.line_log.spec_lines,
        skipped: seen.skipped.counts,
        interval: DecodeInterval { steps: per_line, source: IntervalSource::Windows },
        steps,
        independent_steps: analysis.as_ref().map_or(0.0, |analysis| analysis.estimate.steps),
        rank_correlation: None,
        ranks,
        accept_len,
        sequence,
        running_req: seen.line_log.running,
        graphs: (0, 0),
        max_queue_req: seen.line_log.max_queue,
        median_tps,
        steady_mean_tps,
        expected_line: target
            .filter(|_| analysis.is_some())
            .and_then(|target| ExpectedLine::of(target, per_line)),
        lattice: None,
        pooled: analysis.as_ref().map(|analysis| analysis.pool.clone()),
        pooled_from: analysis.as_ref().map(|analysis| analysis.source),
        mechanisms: analysis.map(|analysis| analysis.mechanisms),
        replay,
        findings,
        verdict,
        reason,
    }
}

/// The evidence that is judged: that with a histogram, else that which tells how its steps scatter, else that with the most
/// steps.
fn sharpest(evidence: &[PooledEvidence]) -> Option<&PooledEvidence> {
    let known = evidence.iter().filter(|evidence| evidence.total().steps() > 0.0);
    known.max_by(|left, right| {
        let has_bins = |evidence: &PooledEvidence| {
            let total = evidence.total();
            total.whole_histogram().is_some() && total.steps() >= MIN_STEPS
        };
        let tells = |evidence: &PooledEvidence| {
            let total = evidence.total();
            let is_enough = total.windows >= MIN_LINES && total.steps() >= MIN_STEPS;
            (has_bins(evidence), is_enough)
        };
        tells(left).cmp(&tells(right)).then(left.total().steps().total_cmp(&right.total().steps()))
    })
}

/// Whether the judged sums are of servers with different draft lengths.
fn is_mixed(seen: &Observed, evidence: &PooledEvidence) -> bool {
    match evidence.source {
        PooledSource::Log => seen.line_log.servers.is_mixed(),
        PooledSource::Counters => other_length(evidence).is_some(),
        PooledSource::Export | PooledSource::Iterations | PooledSource::Requests => false,
    }
}

/// Whether the windows of a forced length are those of several.
fn is_shifted(
    seen: &Observed,
    evidence: &PooledEvidence,
    pool: &Pool,
    mark: Mark,
    estimate: &Estimate,
) -> bool {
    if evidence.source != PooledSource::Log || !matches!(mark, Mark::TwoPoint { .. }) {
        return false;
    }
    let batch = evidence.ranks.iter().map(|rank| rank.max_running_req).collect::<Option<Vec<u32>>>();
    let batch = batch.and_then(|batch| batch.into_iter().max()).or(lockstep(evidence.engine));
    let freedom = float(pool.spread.windows.saturating_sub(1).max(1));
    let variance = pool.spread.squares_about(estimate.mean - 1.0) / freedom;
    estimate.is_mixed(&seen.line_log.succession, variance, batch)
}

/// The draft lengths of two scraped servers, where they are not the same.
pub(super) fn other_length(evidence: &PooledEvidence) -> Option<(u32, u32)> {
    // TensorRT-LLM may shorten a step's drafts, and few steps may divide by chance.
    let lengths = || {
        let told = evidence.ranks.iter().filter(|rank| rank.pool.steps() >= MIN_STEPS);
        told.filter_map(|rank| rank.pool.draft_length()).filter(|_| evidence.engine != Engine::Trtllm)
    };
    let first = lengths().next()?;
    lengths().find(|length| *length != first).map(|other| (first, other))
}

/// Draws of their own, where ranks or requests share them.
fn independent(evidence: &PooledEvidence) -> Option<f64> {
    let largest = || evidence.ranks.iter().map(|rank| rank.pool.steps()).fold(0.0, f64::max);
    let is_shared = replicas_share(evidence.engine) && evidence.ranks.len() > 1;
    evidence.independent_steps.or_else(|| is_shared.then(largest))
}

/// No sums at all.
fn without(seen: &Observed, engine: Option<Engine>) -> (Verdict, Reason) {
    match engine {
        Some(engine @ (Engine::Trtllm | Engine::Tilert)) if !seen.shows_no_drafts() => {
            (Verdict::Unauditable, Reason::NoExport(engine))
        }
        _ if seen.line_log.lines == 0 && seen.shows_no_drafts() => {
            (Verdict::Unauditable, Reason::NothingDrafted)
        }
        _ if seen.line_log.lines == 0 => (Verdict::Insufficient, Reason::NoDecodeLines),
        _ => (Verdict::Unauditable, Reason::NoAcceptLengths),
    }
}

impl Analysis {
    fn is_enough(&self) -> bool {
        self.estimate.windows >= MIN_LINES || self.pool.whole_histogram().is_some()
    }

    /// Counters without positions, whose sums stay as few however long the run is: nothing tells how single steps scatter.
    fn is_one_sum(&self) -> bool {
        matches!(self.source, PooledSource::Counters | PooledSource::Export)
            && !self.is_enough()
            && self.pool.positions.is_empty()
            && self.pool.steps() >= MIN_STEPS
    }

    /// Whether an evaluation stays undecided however long it runs.
    pub(super) fn is_blind(&self) -> bool {
        self.pool.steps() >= MIN_STEPS
            && self.mark == Mark::Unknown
            && (self.pool.draft_length() == Some(1) || self.pool.positions.is_empty())
    }

    fn decide(
        &self,
        target: &Target,
        options: &Options,
        findings: &[Finding],
        sequence: Option<Sequence>,
    ) -> (Verdict, Reason) {
        if let Some(code) = other_server(findings) {
            return (Verdict::Inconsistent, Reason::OtherServer(code));
        }
        let length = target.accept_length().get();
        let proof = self.estimate.interval(Confidence::proof());
        // While a log grows the mean is judged by the e-value, and other laws only once they are certain.
        let may_reject = sequence.is_none_or(|sequence| {
            sequence.ln_e >= PROOF.ln() && (self.estimate.mean - length).abs() > self.slack
        });
        if may_reject {
            if let Some(mechanism) = self.mechanisms.best.filter(|best| is_other(*best)) {
                let (constant, other) = (self.mechanisms.constant, self.mechanisms.other.clone());
                let engine = self.engine;
                return (
                    Verdict::Inconsistent,
                    Reason::OtherMechanism { engine, mechanism, constant, other },
                );
            }
            if let Some(proof) = proof.filter(|proof| proof.is_outside(length, self.slack)) {
                return (Verdict::Inconsistent, Reason::WrongMean(proof));
            }
        }
        let interval =
            sequence.map(|sequence| sequence.interval).or_else(|| self.estimate.interval(options.confidence));
        let margin = options.margin.tokens(length).max(least_margin(self.engine));
        let is_enough = self.is_enough() && self.estimate.steps >= MIN_STEPS;
        match interval {
            Some(interval) if is_enough && interval.is_within(length, margin) => {
                (Verdict::Consistent, Reason::WithinMargin { interval, margin })
            }
            _ if self.is_one_sum() => (Verdict::Insufficient, Reason::NoScatter(self.engine)),
            _ => (Verdict::Insufficient, Reason::ShortRun(self.shortfall(length, margin, interval, options))),
        }
    }

    fn sequence(&self, target: &Target, options: &Options) -> Option<Sequence> {
        let (lo, hits, trials) = self.estimate.draws()?;
        Some(pooled_sequence(hits, trials, lo, target.accept_length().get(), options.confidence))
    }

    fn shortfall(
        &self,
        length: f64,
        margin: f64,
        interval: Option<super::super::estimate::MeanInterval>,
        options: &Options,
    ) -> Shortfall {
        let room = margin - (self.estimate.mean - length).abs();
        let per_line = (self.estimate.steps / float(self.estimate.windows.max(1))).max(1.0);
        let have = float(self.estimate.windows);
        let needed = float(lines_needed(length, margin, options.confidence, whole32(per_line).max(1)));
        let more_lines = (room > 0.0).then(|| {
            let reach = interval.map_or(0.0, |interval| {
                (interval.high - self.estimate.mean).max(self.estimate.mean - interval.low)
            });
            let by_steps = (MIN_STEPS / per_line).ceil();
            let lines = needed.max(have * (reach / room).powi(2)).max(float(MIN_LINES)).max(by_steps) - have;
            whole(lines.ceil()).max(1)
        });
        Shortfall { interval, margin, more_lines }
    }

    /// An evaluation run.
    fn evaluate(&self, settings: &[InjectedSetting]) -> (Verdict, Reason) {
        let is_enough = self.is_enough() && self.pool.steps() >= MIN_STEPS;
        match self.mark {
            Mark::Constant(1) if is_enough => (Verdict::Consistent, Reason::NothingAccepted),
            Mark::Constant(1) => (Verdict::Insufficient, Reason::EvaluationUndecided),
            Mark::Constant(_) => (Verdict::Inconsistent, Reason::SimulatedEvaluation(Mechanism::Constant)),
            mark if mark.is_simulated() => {
                (Verdict::Inconsistent, Reason::SimulatedEvaluation(Mechanism::MatchExpected))
            }
            Mark::Falling if is_enough && self.engine == Engine::Vllm && settings.is_empty() => {
                (Verdict::Consistent, Reason::LooksReal)
            }
            Mark::Falling if is_enough => (Verdict::Consistent, Reason::RealAsExpected),
            _ => (Verdict::Insufficient, Reason::EvaluationUndecided),
        }
    }
}

/// Whether a law is not one that an engine simulates the target by.
fn is_other(mechanism: Mechanism) -> bool {
    !matches!(mechanism, Mechanism::MatchExpected | Mechanism::PerPosition | Mechanism::Geometric)
}
