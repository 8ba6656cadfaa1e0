//! What clients called.

use std::collections::BTreeMap;

use super::settings::need_points;
use crate::signoff::facts::{Access, Run};
use crate::signoff::item::{Evidence, Outcome, Weighing, counted};
use crate::signoff::profile::check::Endpoints;
use crate::signoff::read::is_any;

pub(in crate::signoff) fn endpoints(run: &Run, rule: &Endpoints) -> Outcome {
    let mut weighing = Weighing::default();
    need_points(run, &mut weighing);
    let (mut allowed, mut harness) = (BTreeMap::new(), BTreeMap::new());
    // The log of a frontend may lie above the folders of the points that it served.
    let mut see = |label: &str, access: &Access, weighing: &mut Weighing| {
        let mut called = false;
        for (call, seen) in &access.calls {
            let evidence = Evidence::at(run, seen.first, call.clone());
            if rule.allow.contains(call) {
                called = true;
                *allowed.entry(call.clone()).or_insert(0_u64) += seen.count;
                weighing.show(evidence);
            } else if is_any(&rule.harness, call) {
                *harness.entry(call.clone()).or_insert(0_u64) += seen.count;
            } else {
                weighing.fail(format!("{label}: {call} called {}", counted(seen.count, "time")), [evidence]);
            }
        }
        if let Some((count, first)) = access.others {
            let evidence = Evidence::at(run, first, "one of very many other paths");
            weighing.fail(format!("{label}: {} of further paths", counted(count, "call")), [evidence]);
        }
        called
    };
    let is_called = see("the run", &run.shared.access, &mut weighing);
    for point in &run.points {
        let label = point.label();
        let called = see(&label, &point.facts.access, &mut weighing);
        if !called && !is_called && !weighing.has_failed() {
            weighing.miss(format!(
                "{label}: no access line of a request (\"POST ... HTTP/1.1\" 200); give the log of the server or of its \
                 frontend"
            ));
        }
    }
    let listed = |calls: &BTreeMap<String, u64>| {
        let calls: Vec<String> = calls.iter().map(|(call, count)| format!("{call} {count}")).collect();
        calls.join(", ")
    };
    let own =
        if harness.is_empty() { String::new() } else { format!("; the harness's own: {}", listed(&harness)) };
    weighing.conclude(format!("{}{own}", listed(&allowed)))
}
