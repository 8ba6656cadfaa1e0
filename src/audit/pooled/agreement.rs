//! Several kinds of evidence for one run: they have to show the same accept length.

use crate::law::float;

use super::super::decision::{Reason, Verdict};
use super::super::finding::{Finding, FindingCode, Severity};
use super::evidence::PooledEvidence;

/// Standard errors beyond which two means differ: 99.9 %.
const ERRORS: f64 = 3.29;

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
    let mut shown: Vec<(&str, f64, f64, Option<crate::evidence::Place>)> = Vec::new();
    shown.extend(lines.map(|(mean, steps)| ("log", mean, steps, None)));
    for evidence in evidence {
        let total = evidence.total();
        if let Some(mean) = total.accept_len() {
            let steps = evidence.independent_steps.unwrap_or_else(|| total.steps());
            shown.push((evidence.source.name(), mean, steps, evidence.first));
        }
    }
    let mut findings = Vec::new();
    for (index, (name, mean, steps, place)) in shown.iter().enumerate() {
        for (other, other_mean, other_steps, other_place) in shown.iter().skip(index + 1) {
            // Of two samples the smaller one scatters; its variance is at most about that of judged drafts.
            let variance = (mean - 1.0).max(0.25) * (other_mean - 1.0).max(0.25);
            let error = (variance / steps.max(1.0) + variance / other_steps.max(1.0)).sqrt();
            if (mean - other_mean).abs() > ERRORS * error + ROUNDING {
                findings.push(Finding {
                    code: FindingCode::EvidenceDisagrees,
                    severity: Severity::Error,
                    message: format!(
                        "the {name} shows {mean:.4} over {} steps, the {other} {other_mean:.4} over {}: they are not of \
                         one run, or one of them misses a part of it; check which server and which time each is from",
                        float(crate::law::whole(*steps)),
                        float(crate::law::whole(*other_steps)),
                    ),
                    evidence: place.or(*other_place),
                });
            }
        }
    }
    findings
}
