//! Checks over the cells of a whole curve.

use std::collections::BTreeMap;

use super::super::{Cells, CounterLine, Curve, CurveIssue, Header, IssueKind, Provenance, Thinking};

/// Notes where a longer draft has a smaller value. Absent draft lengths are passed over.
pub(super) fn falls(modes: &BTreeMap<Thinking, Cells>, issues: &mut Vec<CurveIssue>) {
    for (mode, cells) in modes {
        let mut before = None;
        for (draft_length, cell) in cells {
            let Some(value) = cell.accept_length() else { continue };
            if let Some((from, from_value)) = before
                && value < from_value
            {
                let kind =
                    IssueKind::Falls { mode: *mode, from, from_value, to: *draft_length, to_value: value };
                issues.push(CurveIssue { at: Some(cell.at), kind });
            }
            before = Some((*draft_length, value));
        }
    }
}

/// Compares the header's counters with the cells: the cell is 1 + accepted / drafts, rounded to two decimals.
pub(super) fn counters(header: &Header, modes: &BTreeMap<Thinking, Cells>, issues: &mut Vec<CurveIssue>) {
    for line in &header.counters {
        let CounterLine { thinking: mode, draft_length, accepted, drafts } = *line;
        let cell = modes.get(&mode).and_then(|cells| cells.get(&draft_length));
        let (Some(cell), Some(counted)) = (cell, line.accept_length()) else { continue };
        let Some(value) = cell.accept_length() else { continue };
        // Half a hundredth of rounding, and the doubles' own.
        if (counted - value.get()).abs() > 0.005 + 1e-9 {
            let kind =
                IssueKind::CountersDisagree { mode, draft_length, accepted, drafts, counted, cell: value };
            issues.push(CurveIssue { at: Some(cell.at), kind });
        }
    }
}

/// What a provenance says against the curve of its name.
pub(super) fn provenance(name: &str, read: &Provenance, curve: Option<&Curve>) -> Vec<CurveIssue> {
    let mut issues = Vec::new();
    let mut compare = |field, found: &str, expected: &str| {
        if found != expected {
            let (found, expected) = (found.to_owned(), expected.to_owned());
            issues.push(CurveIssue {
                at: None,
                kind: IssueKind::ProvenanceDisagrees { field, found, expected },
            });
        }
    };
    compare("curve", &read.curve, name);
    let Some(curve) = curve else { return issues };
    compare("model", &read.model, &curve.model);
    if let Some(method) = super::file::method_in(name) {
        compare("method", &read.method, &method);
    }
    if let (Some(found), Some(run)) = (&read.source.source_run, &curve.header.source_run) {
        compare("source_run", found, &run.id);
    }
    for (mode, draft_lengths) in &read.attestation.cells {
        for draft_length in draft_lengths {
            if !curve.modes.get(mode).is_some_and(|cells| cells.contains_key(draft_length)) {
                let kind = IssueKind::AttestedCellAbsent { mode: *mode, draft_length: *draft_length };
                issues.push(CurveIssue { at: None, kind });
            }
        }
    }
    issues
}
