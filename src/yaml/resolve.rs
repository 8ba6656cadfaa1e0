//! Second step: the arena as a tree. Aliases are expanded against a budget, merge keys applied, duplicates refused.

use std::collections::BTreeMap;

use super::key::KeyIdentity;
use super::raw::{Arena, Raw};
use super::{Entry, Limits, Mapping, Node, Position, Scalar, Sequence, YamlError, YamlErrorKind};

/// The tree below the root of `arena`, `None` when it has no root.
pub(super) fn resolve(arena: &Arena, limits: &Limits) -> Result<Option<Node>, YamlError> {
    let mut resolver = Resolver { arena, limits, spent: 0 };
    arena.root.map(|root| resolver.node(root, 0)).transpose()
}

struct Resolver<'a> {
    arena: &'a Arena,
    limits: &'a Limits,
    /// Nodes built so far.
    spent: usize,
}

/// What one key of a mapping brings in.
enum Slot {
    Local(Entry),
    /// Entries behind `<<`, the strongest first.
    Merged(Vec<Entry>),
}

impl Resolver<'_> {
    /// Recursion is bounded: `depth` grows with every container and has a limit.
    fn node(&mut self, index: usize, depth: usize) -> Result<Node, YamlError> {
        let mut index = index;
        loop {
            match self.arena.nodes.get(index) {
                // Targets stand before their aliases, so this ends.
                Some(Raw::Alias { target }) => index = *target,
                Some(Raw::Scalar(scalar)) => {
                    self.spend(scalar.at)?;
                    return Ok(Node::Scalar(scalar.clone()));
                }
                Some(Raw::Sequence { at, items }) => {
                    self.enter(*at, depth)?;
                    let items =
                        items.iter().map(|item| self.node(*item, depth + 1)).collect::<Result<_, _>>()?;
                    return Ok(Node::Sequence(Sequence { at: *at, items }));
                }
                Some(Raw::Mapping { at, items }) => {
                    self.enter(*at, depth)?;
                    return self.mapping(*at, items, depth).map(Node::Mapping);
                }
                // Indices come from the arena itself; an unknown one would be an empty value.
                None => return Ok(super::parse::empty()),
            }
        }
    }

    fn mapping(&mut self, at: Position, items: &[usize], depth: usize) -> Result<Mapping, YamlError> {
        let mut seen = BTreeMap::new();
        let mut slots = Vec::with_capacity(items.len() / 2);
        for pair in items.chunks_exact(2) {
            let [key, value] = pair else { continue };
            let key = match self.node(*key, depth + 1)? {
                Node::Scalar(key) => key,
                other => {
                    return Err(YamlError {
                        at: other.at(),
                        kind: YamlErrorKind::KeyNotScalar(other.kind()),
                    });
                }
            };
            if let Some(first) = seen.insert(KeyIdentity::of(&key.text), key.at) {
                let kind = YamlErrorKind::DuplicateKey { key: key.text.to_string(), first };
                return Err(YamlError { at: key.at, kind });
            }
            let value = self.node(*value, depth + 1)?;
            if is_merge(&key) {
                slots.push(Slot::Merged(merged(value)?));
            } else {
                slots.push(Slot::Local(Entry { key, value }));
            }
        }
        let mut entries = Vec::with_capacity(slots.len());
        for slot in slots {
            match slot {
                Slot::Local(entry) => entries.push(entry),
                // A local key wins wherever it stands, then the earlier source.
                Slot::Merged(from) => {
                    for entry in from {
                        if seen.insert(KeyIdentity::of(&entry.key.text), entry.key.at).is_none() {
                            entries.push(entry);
                        }
                    }
                }
            }
        }
        Ok(Mapping { at, entries })
    }

    fn enter(&mut self, at: Position, depth: usize) -> Result<(), YamlError> {
        if depth >= self.limits.depth {
            return Err(YamlError { at, kind: YamlErrorKind::TooDeep { limit: self.limits.depth } });
        }
        self.spend(at)
    }

    fn spend(&mut self, at: Position) -> Result<(), YamlError> {
        if self.spent >= self.limits.nodes {
            return Err(YamlError { at, kind: YamlErrorKind::TooManyNodes { limit: self.limits.nodes } });
        }
        self.spent += 1;
        Ok(())
    }
}

/// `<<` in quotes is a key like any other.
fn is_merge(key: &Scalar) -> bool {
    key.is_plain() && &*key.text == "<<"
}

fn merged(value: Node) -> Result<Vec<Entry>, YamlError> {
    match value {
        Node::Mapping(mapping) => Ok(mapping.entries),
        Node::Sequence(sources) => {
            let mut entries = Vec::new();
            for source in sources.items {
                match source {
                    Node::Mapping(mapping) => entries.extend(mapping.entries),
                    other => return Err(not_mapping(&other)),
                }
            }
            Ok(entries)
        }
        Node::Scalar(_) => Err(not_mapping(&value)),
    }
}

fn not_mapping(found: &Node) -> YamlError {
    YamlError { at: found.at(), kind: YamlErrorKind::MergeNotMapping(found.kind()) }
}
