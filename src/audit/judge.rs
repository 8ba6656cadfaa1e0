//! From what one run showed to a report with a verdict.

use crate::engine::Engine;
use crate::golden::Target;
use crate::law::{AcceptanceLaw, Setting, TwoPoint, float, usual_intervals};
use crate::replay::{DrawMethod, Replay, ReplayStatus};

use super::decision::{Case, Reason, Verdict, other_server};
use super::dispersion::{Dispersion, LatticeCheck, serial_correlation};
use super::estimate::Estimate;
use super::evaluation;
use super::explain;
use super::finding::FindingCode;
use super::hypotheses::Hypotheses;
use super::injection;
use super::interval::{DecodeInterval, IntervalSource, Intervals};
use super::mechanism::{Mechanisms, Other};
use super::observed::Observed;
use super::options::{Confidence, Options};
use super::pooled;
use super::replay;
use super::report::{AcceptLenReport, ExpectedLine, PointReport, RankReport};
use super::sample::Sample;
use super::sequential::{Look, Sequence};
use super::speed::SpeedSummary;
use super::summed::Summed;

/// Judges one point against a target; without one, reports what was measured and which kind of law fits. Evaluation
/// runs have no target.
///
/// ```
/// use accsim::audit::{FindingCode, Options, PointBuilder, Verdict, judge};
/// use accsim::evidence::{Input, Reader};
/// use accsim::golden::Target;
///
/// // A server of SGLang 0.5.16 that rounded 3.51 once.
/// let log = std::path::Path::new("tests/data/h200/dspark_k5_al351.log");
/// let mut point = PointBuilder::new("dspark");
/// let errors = Reader::default().read(&Input::from(log), &mut |place, record| point.add(place, record));
/// assert!(errors.is_empty());
/// let report = judge(&point.finish(), Some(&Target::explicit(3.51, 6)?), &Options::default());
/// assert_eq!(report.verdict, Verdict::Inconsistent);
/// assert!(report.findings.iter().any(|finding| finding.code == FindingCode::TargetRounded));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn judge(seen: &Observed, target: Option<&Target>, options: &Options) -> PointReport {
    judge_by(seen, target, options, Looks::One)
}

/// The same for a log that grows and is judged again and again: the mean is judged by a test that may be looked at after
/// every line, and the interval is that of a confidence sequence. The first verdict that
/// [`is_settled`](PointReport::is_settled) is the last.
///
/// Of an evaluation run ([`Options::expect_real`]) it knows no more than [`judge`].
#[must_use]
pub fn judge_growing(seen: &Observed, target: Option<&Target>, options: &Options) -> PointReport {
    judge_by(seen, target, options, Looks::Many)
}

/// How often the lines of a point are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looks {
    /// When all are there.
    One,
    /// While they come.
    Many,
}

#[expect(clippy::too_many_lines, reason = "one field after the other")]
fn judge_by(seen: &Observed, target: Option<&Target>, options: &Options, looks: Looks) -> PointReport {
    let target = target.filter(|_| !options.expect_real);
    if seen.is_pooled() {
        return pooled::judge(seen, target, options, looks == Looks::Many);
    }
    let sample = Sample::new(seen);
    let logged = seen.servers.first().and_then(|server| server.decode_log_interval);
    let Intervals { chosen: interval, others } = Intervals::of(&sample, options.decode_log_interval, logged);
    let max = seen.max_accept_length();
    let analysis = Analysis::new(&sample, interval, target, max, options);
    let speeds: Vec<SpeedSummary> = seen.ranks.iter().map(|rank| rank.speed.summary()).collect();

    let mut findings = explain::about_server(seen, target);
    if !options.expect_real {
        findings.extend(injection::conflicts(seen, target, analysis.as_ref().map(|_| sample.mean())));
    }
    let decide = |analysis: &Option<Analysis>, interval: DecodeInterval| match (analysis, target) {
        _ if options.expect_real && injection::first_length(&seen.injected).is_some() => {
            (Verdict::Inconsistent, Reason::SimulationSet, None)
        }
        (Some(analysis), _) if options.expect_real => {
            let decided =
                evaluation::decide(&sample, &analysis.mechanisms, interval.steps, max, &options.cells);
            // No sums rule out that some of the lines were simulated.
            match decided.0 {
                Verdict::Consistent if sample.is_summed => at_once((Verdict::Insufficient, Reason::OnlySums)),
                _ => at_once(decided),
            }
        }
        (Some(analysis), Some(target)) => {
            match analysis.case(&sample, target, options, interval.steps, &findings, seen) {
                None => at_once(without_lines(seen, None, &findings)),
                Some(case) if looks == Looks::One => at_once(case.decide()),
                Some(case) => {
                    let look = Look::new(&case);
                    let (verdict, reason) = look.decide();
                    (verdict, reason, Some(look.sequence()))
                }
            }
        }
        _ => at_once(without_lines(seen, target, &findings)),
    };
    let as_inferred = decide(&analysis, interval);
    // Where nobody says how many steps a line stands for, a verdict stands that holds for every number that it may be.
    let may_differ = match as_inferred.0 {
        Verdict::Inconsistent => analysis.is_some() && other_server(&findings).is_none(),
        // A whole length is drawn at every step: lines show it however many steps they stand for.
        Verdict::Consistent => !target.is_some_and(|target| target.accept_length().get().fract() == 0.0),
        Verdict::Insufficient | Verdict::Unauditable => false,
    };
    // Where nobody knows which lines are steady, a lattice that most of them stand on may be an accident of how batches
    // changed.
    let is_unseen = sample.is_blind && target.is_some() && interval.source.is_guess();
    let is_unseen = is_unseen && as_inferred.0 == Verdict::Inconsistent;
    let unseen =
        usual_intervals().filter(|steps| is_unseen && *steps != interval.steps && !others.contains(steps));
    let other = others.iter().copied().chain(unseen).filter(|_| may_differ).find_map(|steps| {
        if target.is_some_and(|target| is_ruled_out(&sample, steps, target)) {
            return None;
        }
        let interval = DecodeInterval { steps, source: IntervalSource::Inferred };
        let analysis = Analysis::new(&sample, interval, target, max, options);
        let (verdict, _, sequence) = decide(&analysis, interval);
        let is_another = match verdict {
            // Lines that speak against the target for a number of steps speak against that number as well.
            Verdict::Inconsistent => target.is_none() && as_inferred.0 != verdict,
            _ => as_inferred.0 != verdict,
        };
        is_another.then_some((analysis, interval, sequence))
    });
    let (mut analysis, interval, verdict, reason, sequence) = if let Some((analysis, other, sequence)) = other
    {
        let (inferred, possible) = (interval.steps, other.steps);
        let reason = Reason::UnknownInterval { inferred, possible, verdict: as_inferred.0 };
        (analysis, other, Verdict::Insufficient, reason, sequence)
    } else {
        let (verdict, reason, sequence) = as_inferred;
        (analysis, interval, verdict, reason, sequence)
    };
    let mut reason = (verdict, reason);
    let replay =
        seen.replay.as_ref().map(|evidence| replay::conclude(evidence, target, reason.0, seen.spec_lines()));
    if let Some(replay) = &replay {
        reason = replay::decide(replay, reason, target, options, seen.servers.change().is_some());
        if let Some(analysis) = &mut analysis {
            replay::identify(replay, &mut analysis.mechanisms);
        }
    }
    let (verdict, reason) = without_cap(seen, target, reason);
    findings.extend(explain::about_lines(seen, &sample, &speeds, target));
    findings.extend(explain::about_interval(seen, options.decode_log_interval));
    if let Some(analysis) = &analysis {
        let is_open = looks == Looks::Many && matches!(reason, Reason::ShortRun(_));
        let law = explain::about_mechanism(seen, target, &analysis.mechanisms);
        findings.extend(law.map(|law| if is_open { explain::while_growing(law) } else { law }));
        if matches!(reason, Reason::WithinMargin { .. }) {
            findings.extend(target.and_then(|target| {
                explain::real_or_simulated(target, &analysis.mechanisms, sample.lines(), interval.steps)
            }));
        }
    }
    if let Some(finding) =
        replay.as_ref().and_then(|replay| explain::about_replay(replay, target, &options.cells))
    {
        // A proof says the same with more right.
        findings.retain(|other| other.code != finding.code || other.code == FindingCode::OtherTarget);
        findings.push(finding);
    }
    let lines = analysis.as_ref().map(|_| (sample.mean(), independent_steps(&sample, interval.steps)));
    let law = analysis.as_ref().and_then(|analysis| analysis.mechanisms.best);
    let laws = pooled::Laws {
        lines: law.map(|law| law != super::mechanism::Mechanism::Real),
        expect_real: options.expect_real,
    };
    let (verdict, reason) =
        pooled::compare(&seen.pooled, lines, laws, seen.is_whole(), (verdict, reason), &mut findings);
    if analysis.is_some() {
        findings.extend(pooled::others(seen, Engine::Sglang));
    }
    let shown = other_value(replay.as_ref(), analysis.as_ref(), target);
    findings.extend(shown.and_then(|shown| explain::one_off_too(seen.first_line, target, &findings, shown)));
    findings.extend(seen.figure_findings.iter().cloned().chain(explain::about_verdict(seen, &reason)));
    findings.extend(explain::unexplained(seen, verdict, &reason, &findings));
    findings.sort_by(|left, right| right.severity.cmp(&left.severity).then(left.code.cmp(&right.code)));

    let steps = seen.spec_lines().saturating_mul(u64::from(interval.steps));
    let rho = sample.correlation.as_ref().map(|correlation| correlation.rho);
    let total = |of: fn(&SpeedSummary) -> Option<f64>| {
        if seen.beside().is_some() {
            return None;
        }
        let known: Vec<f64> = speeds.iter().filter_map(of).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    };
    PointReport {
        name: seen.name.clone(),
        files: seen.files.clone(),
        engine: (seen.decode_lines() > 0 || seen.servers.count() > 0).then_some(Engine::Sglang),
        server: seen.servers.first().cloned(),
        target: target.cloned(),
        margin: options.margin,
        confidence: options.confidence,
        injected: seen.injected.clone(),
        decode_lines: seen.decode_lines(),
        spec_lines: seen.spec_lines(),
        skipped: seen.skipped.counts,
        interval,
        steps,
        independent_steps: independent_steps(&sample, interval.steps),
        rank_correlation: rho,
        ranks: rank_reports(seen),
        accept_len: analysis.as_ref().and_then(|analysis| analysis.accept_len(&sample, options)).map(
            |accept_len| AcceptLenReport {
                interval: sequence.map(|sequence| sequence.interval).or(accept_len.interval),
                ..accept_len
            },
        ),
        sequence,
        running_req: seen.batch,
        graphs: (seen.graphs_on, seen.graphs_off),
        max_queue_req: seen.max_queue,
        median_tps: total(|speed| speed.median_tps),
        steady_mean_tps: total(|speed| speed.steady_mean_tps),
        lattice: analysis.as_ref().map(|analysis| analysis.lattice),
        pooled: None,
        pooled_from: None,
        mechanisms: analysis.map(|analysis| analysis.mechanisms),
        expected_line: target.and_then(|target| ExpectedLine::of(target, interval.steps)),
        replay,
        series: seen.series.clone(),
        findings,
        verdict,
        reason,
    }
}

/// A verdict that rests on no confidence sequence.
fn at_once((verdict, reason): (Verdict, Reason)) -> (Verdict, Reason, Option<Sequence>) {
    (verdict, reason, None)
}

/// Verify steps that count as draws of their own: those of all ranks, less what the ranks share (Kish 1965).
fn independent_steps(sample: &Sample<'_>, steps: u32) -> f64 {
    let rho = sample.correlation.as_ref().map_or(0.0, |correlation| correlation.rho);
    let extra_ranks = float(u64::try_from(sample.ranks.len()).unwrap_or(1)) - 1.0;
    let kappa = sample.ranks.iter().map(|rank| rank.sums.kappa()).fold(0.0, |sum, kappa| sum + kappa);
    f64::from(steps) * kappa / (1.0 + extra_ranks.max(0.0) * rho)
}

/// The statistics of a point that has accept lengths.
struct Analysis {
    mechanisms: Mechanisms,
    lattice: LatticeCheck,
    estimate: Estimate,
    range: (u32, u32),
    /// See [`Summed::is_untested`].
    is_untested: bool,
}

impl Analysis {
    fn new(
        sample: &Sample<'_>,
        interval: DecodeInterval,
        target: Option<&Target>,
        max: Option<u32>,
        options: &Options,
    ) -> Option<Self> {
        let range = sample.range()?;
        let law = target.and_then(two_point);
        let lattice = LatticeCheck::new(interval.steps, sample);
        let hypotheses = Hypotheses::new(sample, interval.steps, lattice);
        let mut mechanisms = match target {
            Some(target) => hypotheses.against(target, &options.cells),
            None => hypotheses.without_target(max),
        }?;
        let summed = law
            .filter(|_| sample.is_summed)
            .map(|law| Summed::new(sample.courses, law, interval.steps, sample.ranks.len(), sample.is_blind));
        if let Some(summed) = &summed {
            summed.correct(&mut mechanisms);
        }
        let lattice = summed.and_then(|summed| summed.lattice).unwrap_or(lattice);
        let scatter = summed.and_then(|summed| summed.scatter);
        let is_binomial = is_binomial(lattice, interval.steps, sample)
            && !scatter.is_some_and(|scatter| scatter.is_too_wide());
        let floor = binomial_floor(law, range).filter(|_| is_binomial);
        let is_untested = summed.is_some_and(|summed| summed.is_untested);
        let estimate = Estimate::new(sample, interval.steps, floor);
        Some(Self { mechanisms, lattice, estimate, range, is_untested })
    }

    /// What the rules look at.
    fn case<'a>(
        &'a self,
        sample: &Sample<'_>,
        target: &'a Target,
        options: &'a Options,
        interval: u32,
        findings: &'a [super::Finding],
        seen: &Observed,
    ) -> Option<Case<'a>> {
        let law = two_point(target)?;
        Some(Case {
            target,
            options,
            interval,
            findings,
            mechanisms: &self.mechanisms,
            lattice: self.lattice,
            estimate: &self.estimate,
            outside: sample.outside(law.lo(), law.hi()),
            law,
            is_mixed: seen.servers.change().is_some(),
            is_untested: self.is_untested,
            is_summed: sample.is_summed,
        })
    }

    fn accept_len(&self, sample: &Sample<'_>, options: &Options) -> Option<AcceptLenReport> {
        let mean = ratio(
            sample.ranks.iter().map(|rank| rank.hundredths).sum(),
            sample.ranks.iter().map(|rank| u128::from(rank.spec_lines)).sum(),
        )?;
        let weighted = ratio(
            sample.ranks.iter().map(|rank| rank.batch_hundredths).sum(),
            sample.ranks.iter().map(|rank| rank.batches).sum(),
        )?;
        Some(AcceptLenReport {
            mean,
            weighted,
            min: f64::from(self.range.0) / 100.0,
            max: f64::from(self.range.1) / 100.0,
            interval: self.estimate.interval(options.confidence),
            confidence: options.confidence,
        })
    }
}

/// Whether lines of so many steps are none of the target's law, whatever else there is to say: they would stand elsewhere,
/// or scatter otherwise.
fn is_ruled_out(sample: &Sample<'_>, steps: u32, target: &Target) -> bool {
    let law = Setting::new(target.accept_length().get(), target.max_accept_length()).ok();
    let law = law.map(AcceptanceLaw::match_expected);
    let scatter = law.and_then(|law| Dispersion::about(&law, steps, sample, false));
    LatticeCheck::new(steps, sample).rejects() || scatter.is_some_and(|scatter| scatter.rejects())
}

/// The two lengths between which a simulation of the target draws.
fn two_point(target: &Target) -> Option<TwoPoint> {
    let setting = Setting::new(target.accept_length().get(), target.max_accept_length()).ok()?;
    Some(TwoPoint::new(setting))
}

/// The floor of the two neighbouring lengths that hold every line: the target's, or else that of the lines.
fn binomial_floor(law: Option<TwoPoint>, (low, high): (u32, u32)) -> Option<u32> {
    [law.map(|law| law.lo()), Some(low / 100)]
        .into_iter()
        .flatten()
        .find(|lo| low >= lo.saturating_mul(100) && high <= lo.saturating_add(1).saturating_mul(100))
}

/// Whether the lines bear out that every step drew one of two neighbouring lengths for the whole batch, whatever the
/// odds: on the lattice, no wider than such draws scatter, and each line on its own.
fn is_binomial(lattice: LatticeCheck, interval: u32, sample: &Sample<'_>) -> bool {
    let scatter = Setting::new(sample.mean(), u32::MAX).ok().and_then(|setting| {
        Dispersion::about(&AcceptanceLaw::match_expected(setting), interval, sample, true)
    });
    !lattice.rejects()
        && !scatter.is_some_and(|scatter| scatter.is_too_wide())
        && serial_correlation(sample).is_none()
}

/// The accept length that was simulated in place of the target: as the draws prove it, or as the lines look.
/// Where the lines do not tell a golden cell from the target plus or minus one, it is the latter.
fn other_value(replay: Option<&Replay>, analysis: Option<&Analysis>, target: Option<&Target>) -> Option<f64> {
    if let Some(replay) = replay.filter(|replay| replay.status == ReplayStatus::OtherTarget) {
        let law = replay.law.filter(|law| law.method() == DrawMethod::MatchExpected);
        return law.map(|law| law.accept_length());
    }
    match analysis?.mechanisms.other.as_ref()? {
        Other::Cell(cell) => {
            let length = target?.accept_length().get();
            let interval = analysis.and_then(|analysis| analysis.estimate.interval(Confidence::default()));
            let is_shown =
                |value: &f64| interval.is_some_and(|interval| (interval.low..=interval.high).contains(value));
            [length - 1.0, length + 1.0].into_iter().find(is_shown).or(Some(cell.accept_length.get()))
        }
        Other::OneOff(value) => Some(*value),
    }
}

/// A server that does not verify every draft cannot simulate an accept length above 1, whatever its lines look like.
fn without_cap(
    seen: &Observed,
    target: Option<&Target>,
    (verdict, reason): (Verdict, Reason),
) -> (Verdict, Reason) {
    let is_above_one = target.is_some_and(|target| target.accept_length().get() > 1.0);
    if seen.capped_lines > 0 && is_above_one && verdict != Verdict::Inconsistent {
        return (Verdict::Inconsistent, Reason::OtherServer(FindingCode::NotVerifyAll));
    }
    (verdict, reason)
}

fn without_lines(seen: &Observed, target: Option<&Target>, findings: &[super::Finding]) -> (Verdict, Reason) {
    if let (Some(code), Some(_)) = (other_server(findings), target) {
        (Verdict::Inconsistent, Reason::OtherServer(code))
    } else if seen.decode_lines() == 0 && seen.skipped.counts.out_of_scope > 0 {
        (Verdict::Insufficient, Reason::NoneInScope(seen.skipped.counts.out_of_scope))
    } else if seen.decode_lines() == 0 {
        (Verdict::Insufficient, Reason::NoDecodeLines)
    } else if seen.spec_lines() == 0 {
        (Verdict::Unauditable, Reason::NoAcceptLengths)
    } else {
        (Verdict::Insufficient, Reason::NoTarget)
    }
}

fn rank_reports(seen: &Observed) -> Vec<RankReport> {
    seen.ranks
        .iter()
        .map(|rank| RankReport {
            tags: rank.tags,
            lines: rank.decode_lines,
            accept_len: ratio(rank.hundredths, u128::from(rank.spec_lines)),
            // Lines without an accept length are not kept apart: they count where the rank is the only one.
            max_running_req: match seen.batch {
                Some((_, max)) if seen.ranks.len() == 1 => Some(max),
                _ => rank.max_batch.filter(|_| rank.decode_lines == rank.spec_lines),
            },
        })
        .collect()
}

/// Hundredths over a count, in tokens.
fn ratio(hundredths: u128, count: u128) -> Option<f64> {
    let whole = u64::try_from(hundredths.checked_div(count)?).ok()?;
    let rest = u64::try_from(hundredths % count).ok()?;
    Some((float(whole) + float(rest) / float(u64::try_from(count).ok()?)) / 100.0)
}
