//! Several kinds of evidence for one run: they have to show the same accept length.

use crate::evidence::Place;
use crate::law::float;

use super::super::decision::{Reason, Verdict};
use super::super::finding::{Finding, FindingCode, Severity};
use super::evidence::{PooledEvidence, PooledSource};

/// Standard errors beyond which two means differ: 99.9 %.
const ERRORS: f64 = 3.29;

/// Share of the steps by which two times of counting may differ at their ends.
const ENDS: f64 = 0.02;

/// What rounding and windows at the ends may take, in tokens.
const ROUNDING: f64 = 0.01;

/// Adds the disagreements to the findings; a verdict that agrees with one kind of evidence alone is none.
pub(in crate::audit) fn compare(
    evidence: &[PooledEvidence],
    lines: Option<(f64, f64)>,
    (verdict, reason): (Verdict, Reason),
    findings: &mut Vec<Finding>,
) -> (Verdict, Reason) {
    let found = disagreement(evidence, lines);
    let is_undecided = !found.is_empty() && verdict == Verdict::Consistent;
    findings.extend(found);
    if is_undecided { (Verdict::Insufficient, Reason::EvidenceDisagrees) } else { (verdict, reason) }
}

/// A finding for every pair that disagrees. `lines` is the mean that lines of SGLang show, and its independent steps.
fn disagreement(evidence: &[PooledEvidence], lines: Option<(f64, f64)>) -> Vec<Finding> {
    let mut shown: Vec<Shown> = Vec::new();
    shown.extend(lines.map(|(mean, steps)| Shown {
        name: PooledSource::Log.name().to_owned(),
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
            shown.push(Shown { name: evidence.name(), mean, steps, is_counted, place: evidence.first });
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
                        "the {} shows {:.4} over {} steps, the {} {:.4} over {}: they are not of one run, or one of them \
                         misses a part of it; check which server and which time each is from",
                        one.name,
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

/// What one kind of evidence shows.
struct Shown {
    name: String,
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
