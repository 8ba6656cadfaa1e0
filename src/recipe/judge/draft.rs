//! Findings of a script's several ways, held against each other.

use std::collections::BTreeMap;

use crate::golden::Severity;
use crate::recipe::model::Document;
use crate::recipe::resolve::{Pin, pin_of, speculation_of};
use crate::recipe::{Finding, FindingCode};
use crate::yaml::Position;

/// What some way has at one place that starts a server.
#[derive(Default)]
struct Ways<'a> {
    is_pinned: bool,
    drafts: bool,
    /// The first condition that led there.
    condition: Option<&'a str>,
}

/// A server that is pinned on one way through a script and not on another: the condition is the operator's, and a warning
/// says so. A pin on a way without drafting is none that matters where the other way drafts.
pub(super) fn of_paths(document: &Document, findings: &mut Vec<Finding>) {
    let is_about = |finding: &Finding| {
        matches!(finding.code, FindingCode::AlOnNonspeculativeRole | FindingCode::AlMissing)
    };
    if !findings.iter().any(is_about) {
        return;
    }
    let places = by_place(document);
    let ways = |finding: &Finding| {
        let evidence = finding.evidence.iter().find(|evidence| evidence.part == "server");
        places.get(&evidence.map_or(finding.at, |evidence| evidence.at))
    };
    findings.retain(|finding| {
        finding.code != FindingCode::AlOnNonspeculativeRole || !ways(finding).is_some_and(|ways| ways.drafts)
    });
    for finding in findings.iter_mut().filter(|finding| finding.code == FindingCode::AlMissing) {
        if let Some(ways) = ways(finding).filter(|ways| ways.is_pinned) {
            finding.severity = Severity::Warning;
            if let Some(condition) = ways.condition {
                finding.message = format!("{}; whether it has one hangs on {condition}", finding.message);
            }
        }
    }
}

/// The places that start servers, but for those of evaluations.
fn by_place(document: &Document) -> BTreeMap<Position, Ways<'_>> {
    let runs = document.variants.iter().filter(|variant| !variant.evaluation);
    let mut places: BTreeMap<Position, Ways<'_>> = BTreeMap::new();
    for launch in runs.flat_map(|variant| &variant.launches) {
        let ways = places.entry(launch.at).or_default();
        if let Some((engine, _)) = launch.engine {
            ways.is_pinned = ways.is_pinned || pin_of(launch, engine, None) != Pin::None;
            ways.drafts = ways.drafts || !matches!(speculation_of(launch, engine), Ok(None));
        }
        ways.condition = ways.condition.or(launch.condition.as_deref());
    }
    places
}
