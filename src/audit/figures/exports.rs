//! What a client exported of the servers that it scraped: one measurement may be there in several forms.

use std::collections::{BTreeMap, BTreeSet};

use super::{Evidence, Figures};
use crate::audit::pooled::{PooledEvidence, PooledSource};
use crate::evidence::{Counts, Exporter, Form, ModelCounts, Place};

/// Exports that are known, so that a copy is told.
const MOST_KNOWN: usize = 10_000;

/// Exports of one form, over all files of the point.
#[derive(Clone, Debug, Default)]
pub(super) struct Exports {
    by_form: BTreeMap<(Exporter, Form), Export>,
}

#[derive(Clone, Debug, Default)]
struct Export {
    evidence: Evidence,
    endpoints: BTreeSet<String>,
    known: Vec<(Option<String>, Vec<String>, Counts)>,
}

impl Figures {
    /// Takes an export.
    pub(super) fn export(&mut self, place: Place, counters: &ModelCounts) {
        if self.is_idle(place, counters.exporter, &counters.counts) {
            return;
        }
        let Some(window) = self.window(place, &counters.counts) else { return };
        let export = self.exports.by_form.entry((counters.exporter, counters.form)).or_default();
        let key = (counters.model.clone(), counters.endpoint_urls.clone(), counters.counts.clone());
        if export.known.contains(&key) {
            return;
        }
        if export.known.len() < MOST_KNOWN {
            export.known.push(key);
        }
        export.endpoints.extend(counters.endpoint_urls.iter().cloned());
        export.evidence.add(place, &window);
    }
}

impl Exports {
    /// The evidence: forms of other servers are added up, forms of the same ones are one measurement each, to be compared.
    pub(super) fn finish(self) -> Vec<PooledEvidence> {
        let mut measured: Vec<(Exporter, Form, Export)> = Vec::new();
        for ((exporter, form), export) in self.by_form {
            if export.evidence.pool.windows == 0 {
                continue;
            }
            let others = measured.iter_mut().find(|(of, _, known)| {
                let is_told = !known.endpoints.is_empty() && !export.endpoints.is_empty();
                *of == exporter && is_told && known.endpoints.is_disjoint(&export.endpoints)
            });
            if let Some((_, _, known)) = others {
                known.endpoints.extend(export.endpoints);
                known.evidence.pieces += export.evidence.pieces;
                known.evidence.pool.merge(&export.evidence.pool);
            } else {
                measured.push((exporter, form, export));
            }
        }
        let finish = |(exporter, form, export): (Exporter, Form, Export)| {
            let evidence = export.evidence.of(exporter.engine(), PooledSource::Export);
            PooledEvidence { form: Some(form.name()), ..evidence }
        };
        measured.into_iter().map(finish).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Window;

    /// Exports of one client, one a form, each of ten steps of these servers.
    fn finished(exports: &[(Form, &[&str])]) -> Vec<(Option<&'static str>, u64)> {
        let mut all = Exports::default();
        for (form, endpoints) in exports {
            let export = all.by_form.entry((Exporter::Vllm, *form)).or_default();
            export.evidence.add(Place { file: 0, line: 1 }, &Window::counted(25, 10));
            export.endpoints = endpoints.iter().map(|&url| url.to_owned()).collect();
        }
        let steps = |found: &PooledEvidence| found.ranks.iter().map(|rank| rank.pool.steps_low).sum();
        all.finish().iter().map(|found| (found.form, steps(found))).collect()
    }

    #[test]
    fn only_forms_that_tell_other_servers_are_added_up() {
        let (json, text) = (Form::Json.name(), Form::Text.name());
        let other = finished(&[(Form::Json, &["a", "b"]), (Form::Text, &["c"])]);
        assert_eq!(other, [(Some(json), 20)]);
        for endpoints in [[&["a"][..], &["a", "c"]], [&["a"], &[]], [&[], &["c"]], [&[], &[]]] {
            let [first, second] = endpoints;
            let same = finished(&[(Form::Json, first), (Form::Text, second)]);
            assert_eq!(same, [(Some(json), 10), (Some(text), 10)], "{endpoints:?}");
        }
    }
}
