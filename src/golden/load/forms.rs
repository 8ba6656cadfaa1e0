//! The forms that a model's value can take: modes with cells, a plain map of cells, a list of cells.

use std::collections::BTreeMap;

use crate::yaml::{Entry, Mapping, Node, NodeKind, Position, Scalar};

use super::super::{Cell, CellFault, CellValue, IssueKind, Thinking, number};
use super::file::Loader;

impl Loader {
    pub(super) fn model(&mut self, value: &Node) {
        match value {
            Node::Mapping(mapping) if !mapping.entries.is_empty() => self.mapping(mapping),
            Node::Sequence(sequence) if !sequence.items.is_empty() => {
                self.modes.entry(Thinking::Unstated).or_default();
                let mut seen = BTreeMap::new();
                for item in &sequence.items {
                    match item {
                        Node::Mapping(cells) => self.list_item(cells, &mut seen),
                        other => self.report(other.at(), IssueKind::ListItemNotMapping(other.kind())),
                    }
                }
            }
            other => self.report(other.at(), IssueKind::NoModes(other.kind())),
        }
    }

    /// Modes, or draft lengths of the older plain map, or both.
    fn mapping(&mut self, mapping: &Mapping) {
        let mut unstated = Vec::new();
        for entry in &mapping.entries {
            let mode = match &*entry.key.text {
                "thinking_on" => Thinking::On,
                "thinking_off" => Thinking::Off,
                _ if is_cell(entry) => {
                    unstated.push(entry);
                    continue;
                }
                other => {
                    self.report(entry.key.at, IssueKind::UnknownMode(other.to_owned()));
                    continue;
                }
            };
            self.modes.entry(mode).or_default();
            match &entry.value {
                Node::Mapping(cells) if !cells.entries.is_empty() => {
                    self.cells(mode, cells.entries.iter());
                }
                Node::Mapping(_) => self.report(entry.key.at, IssueKind::EmptyMode(mode)),
                Node::Scalar(nothing) if nothing.is_null() => {
                    self.report(entry.key.at, IssueKind::EmptyMode(mode));
                }
                other => {
                    self.report(other.at(), IssueKind::ModeNotMapping { mode, found: other.kind() });
                }
            }
        }
        if !unstated.is_empty() {
            self.cells(Thinking::Unstated, unstated.into_iter());
        }
    }

    /// `{1: 1.90}`: the parser sees duplicates inside one entry, not between two.
    fn list_item(&mut self, cells: &Mapping, seen: &mut BTreeMap<u32, Position>) {
        let mut fresh = Vec::new();
        for entry in &cells.entries {
            let draft_length = number::draft_length(&entry.key);
            match draft_length.and_then(|draft_length| Some((draft_length, *seen.get(&draft_length)?))) {
                Some((draft_length, first)) => {
                    self.report(entry.key.at, IssueKind::DuplicateDraftLength { draft_length, first });
                    self.refuse(draft_length, entry);
                }
                None => fresh.push(entry),
            }
            if let Some(draft_length) = draft_length {
                seen.entry(draft_length).or_insert(entry.key.at);
            }
        }
        self.cells(Thinking::Unstated, fresh.into_iter());
    }

    /// Of two values for one draft length neither is the golden one.
    fn refuse(&mut self, draft_length: u32, second: &Entry) {
        let found = match &second.value {
            Node::Scalar(scalar) => scalar.text.to_string(),
            other => other.kind().name().to_owned(),
        };
        if let Some(cell) = self.modes.entry(Thinking::Unstated).or_default().get_mut(&draft_length) {
            cell.value = CellValue::Refused(CellFault::Duplicate(found));
        }
    }

    fn cells<'a>(&mut self, mode: Thinking, entries: impl Iterator<Item = &'a Entry>) {
        let mut before: Option<&Entry> = None;
        for entry in entries {
            self.cell(mode, entry, before);
            before = Some(entry);
        }
    }

    fn cell(&mut self, mode: Thinking, entry: &Entry, before: Option<&Entry>) {
        let key = &entry.key;
        let Some(draft_length) = number::draft_length(key) else {
            self.report(key.at, IssueKind::DraftLength(key.text.to_string()));
            return;
        };
        if !key.is_plain() {
            self.report(key.at, IssueKind::Quoted { mode, draft_length, found: key.text.to_string() });
        }
        let value = match &entry.value {
            Node::Scalar(value) => self.value(mode, draft_length, value),
            other => CellValue::Refused(CellFault::NotScalar(other.kind())),
        };
        if value == CellValue::Unmeasured
            && let Some((before, found)) = before.and_then(|before| split_by_comma(before, entry))
        {
            self.comma(mode, before, found);
            return;
        }
        match &value {
            CellValue::Measured(_) => {}
            CellValue::Unmeasured => {
                self.report(entry.value.at(), IssueKind::Unmeasured { mode, draft_length });
            }
            CellValue::Refused(fault) => {
                let fault = fault.clone();
                self.report(entry.value.at(), IssueKind::Cell { mode, draft_length, fault });
            }
        }
        self.modes.entry(mode).or_default().insert(draft_length, Cell { at: entry.value.at(), value });
    }

    fn value(&mut self, mode: Thinking, draft_length: u32, scalar: &Scalar) -> CellValue {
        let value = number::cell_value(scalar, draft_length);
        if let CellValue::Measured(number) = value {
            let found = scalar.text.to_string();
            if number::has_more_than_two_decimals(number) {
                let found = found.clone();
                self.report(scalar.at, IssueKind::ManyDecimals { mode, draft_length, found });
            }
            if !scalar.is_plain() {
                self.report(scalar.at, IssueKind::Quoted { mode, draft_length, found });
            }
        }
        value
    }

    /// Takes the value back that a decimal comma cut in two.
    fn comma(&mut self, mode: Thinking, before: u32, found: String) {
        if let Some(cell) = self.modes.entry(mode).or_default().get_mut(&before) {
            let fault = CellFault::NotANumber(found);
            cell.value = CellValue::Refused(fault.clone());
            let at = cell.at;
            self.report(at, IssueKind::Cell { mode, draft_length: before, fault });
        }
    }
}

/// Whether an entry below the model key is meant as a cell of the older plain map and not as a mode.
fn is_cell(entry: &Entry) -> bool {
    let key = &*entry.key.text;
    let numeric = key.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '+' | '.'));
    numeric || entry.value.kind() == NodeKind::Scalar
}

/// In flow form `{1: 1,78}` reads as `1: 1` and a key `78` without a value: the draft length and `1,78`.
fn split_by_comma(before: &Entry, after: &Entry) -> Option<(u32, String)> {
    let Node::Scalar(whole) = &before.value else { return None };
    let ends = whole.at.column + whole.text.chars().count();
    let adjacent = whole.at.line == after.key.at.line && after.key.at.column == ends + 1;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !adjacent || !whole.is_plain() || !digits(&whole.text) || !digits(&after.key.text) {
        return None;
    }
    Some((number::draft_length(&before.key)?, format!("{},{}", whole.text, after.key.text)))
}
