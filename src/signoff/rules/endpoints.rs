//! What clients called.

use std::collections::BTreeMap;

use super::settings::need_points;
use crate::signoff::facts::Run;
use crate::signoff::item::{Evidence, Outcome, Weighing};
use crate::signoff::profile::check::Endpoints;

pub(in crate::signoff) fn endpoints(run: &Run, rule: &Endpoints) -> Outcome {
    let mut weighing = Weighing::default();
    need_points(run, &mut weighing);
    let (mut allowed, mut harness) = (BTreeMap::new(), BTreeMap::new());
    for point in &run.points {
        let label = point.label();
        let mut called = false;
        for (call, seen) in &point.facts.access.calls {
            let evidence = Evidence::at(run, seen.first, call.clone());
            if rule.allow.contains(call) {
                called = true;
                *allowed.entry(call.as_str()).or_insert(0_u64) += seen.count;
                weighing.show(evidence);
            } else if rule.harness.contains(call) {
                *harness.entry(call.as_str()).or_insert(0_u64) += seen.count;
            } else {
                weighing.fail(format!("{label}: {call} called {} times", seen.count), [evidence]);
            }
        }
        if let Some((count, first)) = point.facts.access.others {
            let evidence = Evidence::at(run, first, "one of very many other paths");
            weighing.fail(format!("{label}: {count} calls of further paths"), [evidence]);
        }
        if !called && !weighing.has_failed() {
            weighing.miss(format!(
                "{label}: no access line of a request (\"POST ... HTTP/1.1\" 200); give the log of the server or of its \
                 frontend"
            ));
        }
    }
    let listed = |calls: &BTreeMap<&str, u64>| {
        let calls: Vec<String> = calls.iter().map(|(call, count)| format!("{call} {count}")).collect();
        calls.join(", ")
    };
    let own =
        if harness.is_empty() { String::new() } else { format!("; the harness's own: {}", listed(&harness)) };
    weighing.conclude(format!("{}{own}", listed(&allowed)))
}
