//! Overrides laid over a base, as srt-slurm does it.

use crate::yaml::{Mapping, Node, Position};

/// `over` laid over `base`: mappings are merged key by key, everything else is replaced.
pub(crate) fn deep(base: &Node, over: &Node) -> Node {
    let (Node::Mapping(under), Node::Mapping(upper)) = (base, over) else { return over.clone() };
    let mut entries = under.entries.clone();
    for entry in &upper.entries {
        match entries.iter_mut().find(|held| held.key.text == entry.key.text) {
            Some(held) => {
                let value = deep(&held.value, &entry.value);
                held.key = entry.key.clone();
                held.value = value;
            }
            None => entries.push(entry.clone()),
        }
    }
    Node::Mapping(Mapping { at: under.at, entries })
}

/// A list of a zip that is too short for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{at}: this list has {found} entries and another of the same zip has {expected}; index {found} is out of range"
)]
pub(crate) struct ZipError {
    /// The shorter list.
    pub(crate) at: Position,
    /// Its entries.
    pub(crate) found: usize,
    /// Entries of the longest.
    pub(crate) expected: usize,
}

/// How many variants a zip has; at least one.
pub(crate) fn zip_length(zip: &Node) -> Result<usize, ZipError> {
    let mut lists = Vec::new();
    collect(zip, &mut lists);
    let expected = lists.iter().map(|(_, length)| *length).max().unwrap_or(1).max(1);
    match lists.iter().find(|(_, length)| *length != 1 && *length != expected) {
        Some((at, found)) => Err(ZipError { at: *at, found: *found, expected }),
        None => Ok(expected),
    }
}

fn collect(node: &Node, lists: &mut Vec<(Position, usize)>) {
    match node {
        Node::Scalar(_) => {}
        Node::Sequence(list) => lists.push((list.at, list.items.len())),
        Node::Mapping(mapping) => mapping.entries.iter().for_each(|entry| collect(&entry.value, lists)),
    }
}

/// The `index`-th member of a zip: lists give their item, all else is broadcast.
pub(crate) fn zip_member(zip: &Node, index: usize) -> Node {
    match zip {
        Node::Scalar(_) => zip.clone(),
        Node::Sequence(list) => {
            let item = if list.items.len() == 1 { list.items.first() } else { list.items.get(index) };
            item.unwrap_or(zip).clone()
        }
        Node::Mapping(mapping) => {
            let mut member = mapping.clone();
            for entry in &mut member.entries {
                entry.value = zip_member(&entry.value, index);
            }
            Node::Mapping(member)
        }
    }
}
