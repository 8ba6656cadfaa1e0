//! Findings of a script's several ways, held against each other.

use crate::golden::Severity;
use crate::recipe::model::Document;
use crate::recipe::resolve::{Pin, pin_of, speculation_of};
use crate::recipe::{Finding, FindingCode};

/// A server that is pinned on one way through a script and not on another: the condition is the operator's, and a warning
/// says so. A pin on a way without drafting is none that matters where the other way drafts.
pub(super) fn of_paths(document: &Document, findings: &mut Vec<Finding>) {
    let runs = || {
        document.variants.iter().filter(|variant| !variant.evaluation).flat_map(|variant| &variant.launches)
    };
    let is_pinned = |at| {
        runs()
            .filter(|launch| launch.at == at)
            .any(|launch| launch.engine.is_some_and(|(engine, _)| pin_of(launch, engine, None) != Pin::None))
    };
    let drafts = |at| {
        runs().filter(|launch| launch.at == at).any(|launch| {
            launch.engine.is_some_and(|(engine, _)| !matches!(speculation_of(launch, engine), Ok(None)))
        })
    };
    let server = |finding: &Finding| {
        let evidence = finding.evidence.iter().find(|evidence| evidence.part == "server");
        evidence.map_or(finding.at, |evidence| evidence.at)
    };
    findings
        .retain(|finding| finding.code != FindingCode::AlOnNonspeculativeRole || !drafts(server(finding)));
    for finding in findings.iter_mut().filter(|finding| finding.code == FindingCode::AlMissing) {
        let at = server(finding);
        if is_pinned(at) {
            finding.severity = Severity::Warning;
            let conditions: Vec<&str> = runs()
                .filter(|launch| launch.at == at)
                .filter_map(|launch| launch.condition.as_deref())
                .collect();
            if let Some(condition) = conditions.first() {
                finding.message = format!("{}; whether it has one hangs on {condition}", finding.message);
            }
        }
    }
}
