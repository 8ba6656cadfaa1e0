//! Entries that go, and the blocks of which nothing is left.

use std::collections::HashSet;

use crate::recipe::source::Source;
use crate::yaml::{Entry, Mapping, Node, Position};

use super::InjectError;
use super::edit::{Edit, flow_range, is_comma, is_flow, line_end, line_start, remove};

/// An entry that goes: the way to it, each mapping with the entry that leads on; the last is the entry itself.
#[derive(Clone)]
pub(super) struct Removal<'a> {
    way: Vec<(&'a Mapping, &'a Entry)>,
}

impl<'a> Removal<'a> {
    pub(super) fn new(way: Vec<(&'a Mapping, &'a Entry)>) -> Self {
        Self { way }
    }
}

/// The edits of all removals. A block of which nothing is left goes with its key, and so on above it: a key without a value
/// in an override would take away what the base has there. Comments keep a block, and `kept` holds the places of mappings
/// into which something is inserted.
pub(super) fn edits(
    source: &Source<'_>,
    removals: &[Removal<'_>],
    kept: &[Position],
) -> Result<Vec<Edit>, InjectError> {
    let mut gone: HashSet<Position> = HashSet::new();
    let mut all: Vec<Edit> = Vec::new();
    let mut in_braces: Vec<Edit> = Vec::new();
    for removal in removals {
        if let Some((mapping, entry)) = removal.way.last()
            && gone.insert(entry.key.at)
        {
            let edit = remove(source, entry, mapping)?;
            if is_flow(source, mapping.at) { in_braces.push(edit) } else { all.push(edit) }
        }
    }
    all.extend(with_commas(source, in_braces));
    let deepest = removals.iter().map(|removal| removal.way.len()).max().unwrap_or_default();
    for level in (1..deepest).rev() {
        for removal in removals {
            let (Some((_, parent)), Some((mapping, _))) =
                (removal.way.get(level - 1), removal.way.get(level))
            else {
                continue;
            };
            let is_empty = mapping.entries.iter().all(|entry| gone.contains(&entry.key.at));
            if !is_empty || kept.contains(&mapping.at) || gone.contains(&parent.key.at) {
                continue;
            }
            if let Some(block) = block(source, parent, mapping, &all) {
                let inside =
                    |edit: &Edit| edit.range.start >= block.range.start && edit.range.end <= block.range.end;
                all.retain(|edit| !inside(edit));
                all.push(block);
                gone.insert(parent.key.at);
            }
        }
    }
    Ok(all)
}

/// Entries in braces with their commas: those one behind the other go as one.
fn with_commas(source: &Source<'_>, mut entries: Vec<Edit>) -> Vec<Edit> {
    entries.sort_by_key(|edit| edit.range.start);
    let mut runs: Vec<Edit> = Vec::with_capacity(entries.len());
    for edit in entries {
        match runs.last_mut() {
            Some(run) if is_comma(source.text, run.range.end..edit.range.start) => {
                run.range.end = edit.range.end;
            }
            _ => runs.push(edit),
        }
    }
    for run in &mut runs {
        run.range = flow_range(source.text, run.range.start, run.range.end);
    }
    runs
}

/// A key with its block, if the edits take every line of it.
fn block(source: &Source<'_>, parent: &Entry, mapping: &Mapping, edits: &[Edit]) -> Option<Edit> {
    if is_flow(source, mapping.at) || !matches!(parent.value, Node::Mapping(_)) {
        return None;
    }
    let key = source.byte(parent.key.at)?;
    let start = line_start(source.text, key);
    let is_first = source.text.get(start..key)?.trim().is_empty();
    let mut byte = line_end(source.text, key);
    let mut ranges: Vec<_> =
        edits.iter().map(|edit| edit.range.clone()).filter(|range| range.start >= byte).collect();
    ranges.sort_by_key(|range| range.start);
    let mut count = 0;
    for range in ranges {
        if range.start != byte || count == mapping.entries.len() {
            break;
        }
        byte = range.end;
        count += 1;
    }
    (is_first && count == mapping.entries.len()).then(|| Edit { range: start..byte, new: String::new() })
}
