//! Several kinds of evidence for one run: they have to show the same accept length.

use crate::evidence::{Place, Span};
use crate::law::float;

use super::super::decision::{MIN_STEPS, Reason, Verdict};
use super::super::explain::error;
use super::super::finding::{Finding, FindingCode, Severity};
use super::super::mechanism::Mechanism;
use super::evidence::{PooledEvidence, PooledSource};
use super::mark::Mark;

/// Standard errors beyond which two means differ: 99.9 %.
const ERRORS: f64 = 3.29;

/// Share of the steps by which two times of counting may differ at their ends.
const ENDS: f64 = 0.02;

/// How many times the steps of one kind of evidence may be those of another one of the same run: a warm-up, a late scrape.
const GROSS: f64 = 3.0;

/// What rounding and windows at the ends may take, in tokens.
const ROUNDING: f64 = 0.01;

/// Adds the disagreements to the findings; a verdict that agrees with one kind of evidence alone is none. `is_whole` says
/// that no part of the log was left out, so that its total can be held against others.
pub(in crate::audit) fn compare(
    evidence: &[PooledEvidence],
    lines: Option<(f64, f64)>,
    laws: Laws,
    is_whole: bool,
    (verdict, reason): (Verdict, Reason),
    findings: &mut Vec<Finding>,
) -> (Verdict, Reason) {
    let simulated = |evidence: &&PooledEvidence| shows_simulation(evidence) == Some(true);
    if let Some(simulated) = evidence.iter().find(simulated).filter(|_| laws.expect_real)
        && verdict != Verdict::Inconsistent
    {
        findings.push(error(
            FindingCode::SimulationInEval,
            simulated.first,
            format!(
                "the {} {} the two neighbouring lengths of a forced accept length: drafts of this evaluation were not \
                 judged",
                simulated.name(),
                shows(simulated.is_plural())
            ),
        ));
        return (Verdict::Inconsistent, Reason::SimulatedEvaluation(Mechanism::MatchExpected));
    }
    let mut found = disagreement(evidence, lines);
    found.extend(laws.disagreement(evidence));
    if is_whole {
        found.extend(totals(evidence));
    }
    let is_undecided =
        found.iter().any(|finding| finding.severity == Severity::Error) && verdict == Verdict::Consistent;
    findings.extend(found);
    if is_undecided { (Verdict::Insufficient, Reason::EvidenceDisagrees) } else { (verdict, reason) }
}

/// What lines of SGLang say about how drafts were accepted, and what is asked of the run.
#[derive(Clone, Copy, Debug)]
pub(in crate::audit) struct Laws {
    /// Whether the lines were simulated, where they tell.
    pub(in crate::audit) lines: Option<bool>,
    /// An evaluation run.
    pub(in crate::audit) expect_real: bool,
}

impl Laws {
    /// A finding where one kind of evidence was simulated and another one was not.
    fn disagreement(self, evidence: &[PooledEvidence]) -> Option<Finding> {
        let lines =
            self.lines.map(|is_simulated| (PooledSource::Log.name().to_owned(), false, None, is_simulated));
        let told = evidence.iter().filter_map(|evidence| {
            Some((evidence.name(), evidence.is_plural(), evidence.first, shows_simulation(evidence)?))
        });
        let known: Vec<(String, bool, Option<Place>, bool)> = lines.into_iter().chain(told).collect();
        let (forced, are_forced, ..) = known.iter().find(|(.., is_simulated)| *is_simulated)?;
        let (other, are_others, place, _) = known.iter().find(|(.., is_simulated)| !is_simulated)?;
        Some(error(
            FindingCode::EvidenceDisagrees,
            *place,
            format!(
                "the {forced} {} a forced accept length, the {other} {} not: {} steps are not of two neighbouring \
                 lengths; they are not of one run, or a part of it was not simulated",
                shows(*are_forced),
                if *are_others { "do" } else { "does" },
                if *are_others { "their" } else { "its" },
            ),
        ))
    }
}

/// Whether steps that are told apart are those of a forced length; `None` where they do not tell.
fn shows_simulation(evidence: &PooledEvidence) -> Option<bool> {
    let total = evidence.total();
    if total.steps() < MIN_STEPS || (total.whole_histogram().is_none() && total.positions.is_empty()) {
        return None;
    }
    match Mark::of(&total) {
        mark if mark.is_simulated() => Some(true),
        Mark::Falling | Mark::Broken => Some(false),
        _ => None,
    }
}

/// A finding for every pair that disagrees. `lines` is the mean that lines of SGLang show, and its independent steps.
fn disagreement(evidence: &[PooledEvidence], lines: Option<(f64, f64)>) -> Vec<Finding> {
    let mut shown: Vec<Shown> = Vec::new();
    shown.extend(lines.map(|(mean, steps)| Shown {
        name: PooledSource::Log.name().to_owned(),
        is_plural: false,
        mean,
        steps,
        is_counted: false,
        place: None,
    }));
    for evidence in evidence {
        let total = evidence.total();
        if let Some(mean) = total.accept_len() {
            let steps = evidence.independent_steps.unwrap_or_else(|| total.steps());
            let is_counted = matches!(
                evidence.source,
                PooledSource::Counters | PooledSource::Export | PooledSource::Iterations
            );
            shown.push(Shown {
                name: evidence.name(),
                is_plural: evidence.is_plural(),
                mean,
                steps,
                is_counted,
                place: evidence.first,
            });
        }
    }
    let mut findings = Vec::new();
    for (index, one) in shown.iter().enumerate() {
        for other in shown.iter().skip(index + 1) {
            if one.differs(other) {
                findings.push(Finding {
                    code: FindingCode::EvidenceDisagrees,
                    severity: Severity::Error,
                    message: format!(
                        "the {} {} {:.4} over {} steps, the {} {:.4} over {}: they are not of one run, or one of them \
                         misses a part of it; check which server and which time each is from",
                        one.name,
                        shows(one.is_plural),
                        one.mean,
                        float(crate::law::whole(one.steps)),
                        other.name,
                        other.mean,
                        float(crate::law::whole(other.steps)),
                    ),
                    evidence: one.place.or(other.place),
                });
            }
        }
    }
    findings
}

/// A finding for every pair of totals that cannot be of one run, or differs grossly. The units are request-steps everywhere
/// but in lines of SGLang, which take no part.
fn totals(evidence: &[PooledEvidence]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, one) in evidence.iter().enumerate() {
        for other in evidence.iter().skip(index + 1).filter(|other| other.engine == one.engine) {
            findings.extend(total(one, other).or_else(|| total(other, one)));
        }
    }
    findings
}

/// The finding where `part` has more steps than `whole` can have had, or far more.
fn total(part: &PooledEvidence, whole: &PooledEvidence) -> Option<Finding> {
    let (few, many) = (whole.total().steps(), part.total().steps());
    if few < MIN_STEPS.min(many / GROSS) || many <= few {
        return None;
    }
    let is_life = whole.source == PooledSource::Counters && whole.span == Some(Span::Lifetime);
    let is_log_or_request =
        |source: PooledSource| matches!(source, PooledSource::Log | PooledSource::Requests);
    // Counters since the start have counted every step of the server: what it logged and answered is a part of them.
    let is_impossible = is_life && is_log_or_request(part.source) && many > few * (1.0 + ENDS) + MIN_STEPS;
    // Requests and drained records may be a few of all, and a log may be an excerpt of a long life.
    let may_be_less = matches!(whole.source, PooledSource::Requests | PooledSource::Iterations)
        || (whole.source == PooledSource::Log && part.span == Some(Span::Lifetime));
    let is_gross = !may_be_less && many > few * GROSS;
    let whole_of = |steps: f64| crate::law::whole(steps);
    let message = if is_impossible {
        format!(
            "the {} {} {} verify steps, and the {} since the server's start only {}: they are not of one server; check \
             which endpoint was scraped",
            part.name(),
            shows(part.is_plural()),
            whole_of(many),
            whole.name(),
            whole_of(few)
        )
    } else {
        format!(
            "the {} {} {} verify steps, the {} only {}: they do not cover the same time, or are not of one server; check \
             when and where the {} were taken",
            part.name(),
            shows(part.is_plural()),
            whole_of(many),
            whole.name(),
            whole_of(few),
            if whole.source == PooledSource::Log { part.name() } else { whole.name() }
        )
    };
    let severity = if is_impossible { Severity::Error } else { Severity::Warning };
    (is_impossible || is_gross).then(|| Finding {
        code: FindingCode::EvidenceDisagrees,
        severity,
        message,
        evidence: part.first.or(whole.first),
    })
}

/// The verb for what one kind of evidence shows.
fn shows(is_plural: bool) -> &'static str {
    if is_plural { "show" } else { "shows" }
}

/// What one kind of evidence shows.
struct Shown {
    name: String,
    is_plural: bool,
    mean: f64,
    /// Independent ones.
    steps: f64,
    /// Counters, which count every step of their time.
    is_counted: bool,
    place: Option<Place>,
}

impl Shown {
    fn differs(&self, other: &Self) -> bool {
        // Of two samples the smaller one scatters; its variance is at most about that of judged drafts.
        let variance = (self.mean - 1.0).max(0.25) * (other.mean - 1.0).max(0.25);
        let (one, two) = (1.0 / self.steps.max(1.0), 1.0 / other.steps.max(1.0));
        // Counters of one server are a part of each other: what both have counted differs in neither.
        let scatter = if self.is_counted && other.is_counted {
            (one - two).abs() + ENDS * one.max(two)
        } else {
            one + two
        };
        (self.mean - other.mean).abs() > ERRORS * (variance * scatter).sqrt() + ROUNDING
    }
}

#[cfg(test)]
mod tests {
    use super::super::evidence::PooledRank;
    use super::*;
    use crate::engine::Engine;
    use crate::evidence::{Pool, Window};

    fn evidence(source: PooledSource, span: Option<Span>, steps: u64) -> PooledEvidence {
        let mut pool = Pool::default();
        pool.add(&Window::counted(2 * steps, steps));
        let rank = PooledRank { lines: 1, pool, ..PooledRank::default() };
        PooledEvidence { span, ..PooledEvidence::new(Engine::Vllm, source).with_rank(rank) }
    }

    #[test]
    fn a_part_of_more_steps_than_the_whole_is_found() {
        let log = |steps| evidence(PooledSource::Log, None, steps);
        // Of the counters of a whole life what a log says is a part, but for its ends.
        let life = evidence(PooledSource::Counters, Some(Span::Lifetime), 100_000);
        assert!(total(&log(101_500), &life).is_none());
        assert!(total(&log(110_000), &life).is_some());
        // Of another span it may be twice as much.
        let run = evidence(PooledSource::Counters, None, 100_000);
        assert!(total(&log(200_000), &run).is_none());
        assert!(total(&log(310_000), &run).is_some());
    }

    /// 10,000 steps of each: two times of counting may differ by 200 steps at their ends, which is 0.012 tokens and the rounding.
    #[test]
    fn counters_may_differ_at_the_ends_of_their_times() {
        let shown = |mean: f64, is_counted: bool| Shown {
            name: String::new(),
            is_plural: false,
            mean,
            steps: 10_000.0,
            is_counted,
            place: None,
        };
        assert!(!shown(3.5, true).differs(&shown(3.52, true)));
        assert!(shown(3.5, true).differs(&shown(3.53, true)));
        // Samples of as many steps scatter more.
        assert!(!shown(3.5, false).differs(&shown(3.53, true)));
        assert!(shown(3.5, false).differs(&shown(3.65, true)));
    }
}
