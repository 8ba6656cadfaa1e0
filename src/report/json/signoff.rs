//! `accsim signoff --json`: see docs/schema/signoff.schema.json.

use serde::Serialize;

use crate::report::SignoffRun;
use crate::signoff::{Evidence, Item, Status};

/// All items with their evidence.
#[derive(Debug, Serialize)]
pub struct SignoffDocument<'a> {
    profile: &'a str,
    status: &'static str,
    holds: usize,
    fails: usize,
    cannot_decide: usize,
    items: Vec<ItemDocument<'a>>,
    points: &'a [String],
    evaluations: &'a [String],
    errors: &'a [String],
    notes: &'a [String],
}

#[derive(Debug, Serialize)]
struct ItemDocument<'a> {
    id: &'a str,
    title: &'a str,
    status: &'static str,
    message: &'a str,
    evidence: Vec<EvidenceDocument<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<TableDocument<'a>>,
}

#[derive(Debug, Serialize)]
struct EvidenceDocument<'a> {
    file: &'a str,
    line: Option<u64>,
    value: &'a str,
}

#[derive(Debug, Serialize)]
struct TableDocument<'a> {
    columns: &'a [String],
    rows: &'a [Vec<String>],
}

impl<'a> SignoffDocument<'a> {
    /// The document.
    #[must_use]
    pub fn new(run: &SignoffRun<'a>) -> Self {
        let signoff = run.signoff;
        Self {
            profile: &signoff.profile,
            status: signoff.status().name(),
            holds: signoff.count(Status::Holds),
            fails: signoff.count(Status::Fails),
            cannot_decide: signoff.count(Status::CannotDecide),
            items: signoff.items.iter().map(ItemDocument::new).collect(),
            points: &signoff.points,
            evaluations: &signoff.evaluations,
            errors: run.errors,
            notes: run.notes,
        }
    }
}

impl<'a> ItemDocument<'a> {
    fn new(item: &'a Item) -> Self {
        Self {
            id: &item.id,
            title: &item.title,
            status: item.status.name(),
            message: &item.message,
            evidence: item.evidence.iter().map(EvidenceDocument::new).collect(),
            table: item.table.split_first().map(|(columns, rows)| TableDocument { columns, rows }),
        }
    }
}

impl<'a> EvidenceDocument<'a> {
    fn new(evidence: &'a Evidence) -> Self {
        Self { file: &evidence.file, line: evidence.line, value: &evidence.value }
    }
}
