//! Where in the file the changes of the variants go.

use crate::recipe::ReadError;
use crate::recipe::merge::zip_length;
use crate::recipe::source::Source;
use crate::yaml::{Entry, Mapping, Node, Position, Scalar, ScalarStyle, Sequence};

use super::change::Change;
use super::edit::{Edit, Missing, insert, insert_below_empty, list_end, replace};
use super::plan::{Wanted, at, entry};
use super::removal::{self, Removal};
use super::scalar::{in_style, range};
use super::{InjectError, json};

/// Paths with what stands there.
type Changes = Vec<(Vec<String>, Change)>;

/// A part of the file that holds one or several variants: the whole, `base`, an override, a zip.
pub(super) struct Section<'a> {
    node: &'a Mapping,
    /// Paths with what each member must have: a zip has several members, all else one; none where one is not selected.
    changes: Vec<(Vec<String>, Vec<Option<Change>>)>,
    /// What the base gives once it is changed, and the base as it is; none for what has no base.
    base: Option<(Changes, &'a Node)>,
}

/// The sections of a recipe with their changes.
pub(super) fn sections<'a>(
    document: &'a Mapping,
    wanted: &[Wanted],
) -> Result<Vec<Section<'a>>, InjectError> {
    let only = |wanted: &Wanted| {
        wanted
            .desired
            .iter()
            .map(|desired| (desired.path.clone(), vec![Some(desired.change.clone())]))
            .collect()
    };
    let Some(base) = document.get("base") else {
        return Ok(wanted
            .iter()
            .map(|wanted| Section { node: document, changes: only(wanted), base: None })
            .collect());
    };
    let find = |name: &str| wanted.iter().find(|wanted| wanted.name.as_deref() == Some(name));
    let mut all = Vec::new();
    let mut of_base = Vec::new();
    if let (Some(wanted), Node::Mapping(node)) = (find("base"), base) {
        of_base =
            wanted.desired.iter().map(|desired| (desired.path.clone(), desired.change.clone())).collect();
        all.push(Section { node, changes: only(wanted), base: None });
    }
    for entry in &document.entries {
        let name = &*entry.key.text;
        let is_zip = name.starts_with("zip_override_");
        let Node::Mapping(node) = &entry.value else { continue };
        if !is_zip && !name.starts_with("override_") {
            continue;
        }
        let members = if is_zip {
            zip_length(&entry.value).map_err(|error| ReadError::Variants(error.to_string()))?
        } else {
            1
        };
        let member = |index: usize| find(&if is_zip { format!("{name}[{index}]") } else { name.to_owned() });
        let mut paths: Vec<&Vec<String>> = Vec::new();
        for desired in (0..members).filter_map(member).flat_map(|wanted| &wanted.desired) {
            if !paths.contains(&&desired.path) {
                paths.push(&desired.path);
            }
        }
        let change = |path: &Vec<String>, index: usize| {
            let desired = member(index)?.desired.iter().find(|desired| desired.path == *path)?;
            Some(desired.change.clone())
        };
        let changes = paths
            .into_iter()
            .map(|path| (path.clone(), (0..members).map(|index| change(path, index)).collect()))
            .collect();
        all.push(Section { node, changes, base: Some((of_base.clone(), base)) });
    }
    Ok(all)
}

/// Entries to take away and paths to insert, by the mapping that they concern.
#[derive(Default)]
pub(super) struct Sites<'a> {
    removals: Vec<Removal<'a>>,
    insertions: Vec<(Below<'a>, Vec<Missing>)>,
}

/// Where something is inserted.
#[derive(Clone, Copy)]
enum Below<'a> {
    Mapping(&'a Mapping),
    /// A key without a value.
    Empty(&'a Entry),
}

impl Below<'_> {
    fn place(self) -> Position {
        match self {
            Self::Mapping(map) => map.at,
            Self::Empty(entry) => entry.key.at,
        }
    }
}

/// What stands at a path.
enum Held<'a> {
    Entry {
        mapping: &'a Mapping,
        entry: &'a Entry,
        /// Each mapping on the way with the entry that leads on; the last is the entry itself.
        way: Vec<(&'a Mapping, &'a Entry)>,
    },
    /// Nothing: the deepest mapping on the way, and the rest of the path.
    Missing { below: Below<'a>, rest: Vec<String> },
}

fn held<'a>(root: &'a Mapping, path: &[String]) -> Option<Held<'a>> {
    let mut mapping = root;
    let mut way: Vec<(&Mapping, &Entry)> = Vec::new();
    for (index, key) in path.iter().enumerate() {
        let rest = || path.get(index..).unwrap_or_default().to_vec();
        let Some(found) = entry(mapping, key) else {
            return Some(Held::Missing { below: Below::Mapping(mapping), rest: rest() });
        };
        way.push((mapping, found));
        if index + 1 == path.len() {
            return Some(Held::Entry { mapping, entry: found, way });
        }
        match &found.value {
            Node::Mapping(inner) => mapping = inner,
            Node::Scalar(text) if text.is_null() => {
                let rest = path.get(index + 1..).unwrap_or_default().to_vec();
                return Some(Held::Missing { below: Below::Empty(found), rest });
            }
            Node::Scalar(_) | Node::Sequence(_) => return None,
        }
    }
    None
}

impl<'a> Section<'a> {
    /// The edits of values that exist; what must go or come is left to `sites`.
    pub(super) fn edits(
        &self,
        source: &Source<'_>,
        edits: &mut Vec<Edit>,
        sites: &mut Sites<'a>,
    ) -> Result<(), InjectError> {
        for (path, changes) in &self.changes {
            self.one(path, changes, source, edits, sites)?;
        }
        Ok(())
    }

    fn one(
        &self,
        path: &[String],
        changes: &[Option<Change>],
        source: &Source<'_>,
        edits: &mut Vec<Edit>,
        sites: &mut Sites<'a>,
    ) -> Result<(), InjectError> {
        let found = held(self.node, path);
        let place = |at: Position, why: &str| InjectError::Place { at, why: why.to_owned() };
        match found {
            Some(Held::Entry { mapping, entry, way }) => match &entry.value {
                Node::Scalar(old) => {
                    let merged = entry.key.at < mapping.at;
                    match single(changes) {
                        Some(Change::Gone) if old.is_null() => {}
                        Some(Change::Gone) if self.base_has(path) => {
                            // Away here would be the base's again.
                            let range =
                                range(source, old).ok_or_else(|| place(old.at, "this value spans lines"))?;
                            edits.push(Edit { range, new: "null".to_owned() });
                        }
                        Some(Change::Gone) => sites.removals.push(Removal::new(way)),
                        Some(change) if merged && !is_satisfied(&entry.value, change) => {
                            let key = vec![entry.key.text.to_string()];
                            let text = written(source, change, Some(&entry.value), mapping)
                                .map_err(|why| place(old.at, &why))?;
                            sites.insert(Below::Mapping(mapping), Missing { path: key, text });
                        }
                        Some(change) if old.is_null() => {
                            let text =
                                written(source, change, None, mapping).map_err(|why| place(old.at, &why))?;
                            let range =
                                range(source, old).ok_or_else(|| place(old.at, "this value is empty"))?;
                            edits.push(Edit { range, new: text });
                        }
                        Some(change) => edits.extend(replace(source, old, change)?),
                        None => edits.extend(zipped(source, old, changes)?),
                    }
                }
                Node::Sequence(list)
                    if single(changes) == Some(&Change::Gone) && self.may_lose(list, changes.len()) =>
                {
                    if self.base_has(path) {
                        let start = source.byte(list.at);
                        let end = list_end(source, list);
                        let (Some(start), Some(end)) = (start, end) else {
                            return Err(place(list.at, "the end of this list cannot be found"));
                        };
                        edits.push(Edit { range: start..end, new: "null".to_owned() });
                    } else {
                        sites.removals.push(Removal::new(way));
                    }
                }
                Node::Sequence(list) => {
                    if list.items.len() != changes.len() {
                        return Err(place(list.at, "this list of one entry holds for several variants"));
                    }
                    for (item, change) in list.items.iter().zip(changes) {
                        let (Node::Scalar(old), Some(change)) = (item, change) else { continue };
                        if *change == Change::Gone {
                            if !old.is_null() {
                                let range = range(source, old)
                                    .ok_or_else(|| place(old.at, "this value spans lines"))?;
                                edits.push(Edit { range, new: "null".to_owned() });
                            }
                        } else {
                            edits.extend(replace(source, old, change)?);
                        }
                    }
                }
                Node::Mapping(object) => self.object(path, object, changes, source, edits, sites)?,
            },
            Some(Held::Missing { below, rest }) => {
                let unmet = |change: &&Change| !self.is_inherited(path, change);
                if changes.iter().flatten().filter(unmet).count() == 0 {
                    return Ok(());
                }
                let inherited = self.base.as_ref().and_then(|(_, base)| at(base, path));
                let siblings = match below {
                    Below::Mapping(map) => map,
                    Below::Empty(_) => self.node,
                };
                let text = match single(changes) {
                    Some(change) => written(source, change, inherited, siblings),
                    None => changes
                        .iter()
                        .map(|change| match change {
                            Some(change) => written(source, change, inherited, siblings),
                            None => Ok(inherited
                                .map_or_else(|| "null".to_owned(), |node| text_of(source, node, siblings))),
                        })
                        .collect::<Result<Vec<_>, _>>()
                        .map(|items| format!("[{}]", items.join(", "))),
                };
                let text = text.map_err(|why| place(below.place(), &why))?;
                sites.insert(below, Missing { path: rest, text });
            }
            None => {
                if changes.iter().flatten().any(|change| *change != Change::Gone) {
                    return Err(place(self.node.at, &format!("{} cannot be reached here", path.join("."))));
                }
            }
        }
        Ok(())
    }

    /// vLLM's configuration as a mapping: key by key.
    fn object(
        &self,
        path: &[String],
        object: &Mapping,
        changes: &[Option<Change>],
        source: &Source<'_>,
        edits: &mut Vec<Edit>,
        sites: &mut Sites<'a>,
    ) -> Result<(), InjectError> {
        let Some(Change::Json { set, unset }) = single(changes) else {
            let why = "its variants need different values".to_owned();
            return Err(InjectError::Place { at: object.at, why });
        };
        let below = |key: &str| path.iter().cloned().chain([key.to_owned()]).collect::<Vec<_>>();
        for (key, value) in set {
            let change = Some(Change::Bare(value.trim_matches('"').to_owned()));
            self.one(&below(key), &vec![change; changes.len()], source, edits, sites)?;
        }
        for key in unset.iter().filter(|key| object.get(key).is_some()) {
            self.one(&below(key), &vec![Some(Change::Gone); changes.len()], source, edits, sites)?;
        }
        Ok(())
    }

    /// Whether a zip has as many variants without a list: another list of as many entries stays.
    fn may_lose(&self, list: &Sequence, members: usize) -> bool {
        let mut going = vec![list.at];
        for (path, changes) in &self.changes {
            if single(changes) == Some(&Change::Gone)
                && let Some(Held::Entry { entry, .. }) = held(self.node, path)
            {
                going.push(entry.value.at());
            }
        }
        members == 1 || has_list(self.node, members, &going)
    }

    /// Whether the base, once changed, has something at a path.
    fn base_has(&self, path: &[String]) -> bool {
        let Some((changes, base)) = &self.base else { return false };
        match changes.iter().find(|(other, _)| other == path) {
            Some((_, change)) => *change != Change::Gone,
            None => at(base, path).is_some(),
        }
    }

    /// Whether the base gives what is wanted.
    fn is_inherited(&self, path: &[String], wanted: &Change) -> bool {
        let Some((changes, base)) = &self.base else { return *wanted == Change::Gone };
        if let Some((_, change)) = changes.iter().find(|(other, _)| other == path) {
            return change == wanted;
        }
        match at(base, path) {
            Some(node) => is_satisfied(node, wanted),
            None => *wanted == Change::Gone,
        }
    }
}

/// Whether a list of so many entries stands somewhere in a mapping, but not at one of some places.
fn has_list(map: &Mapping, members: usize, but: &[Position]) -> bool {
    map.entries.iter().any(|entry| match &entry.value {
        Node::Sequence(list) => list.items.len() == members && !but.contains(&list.at),
        Node::Mapping(inner) => has_list(inner, members, but),
        Node::Scalar(_) => false,
    })
}

/// The one change of all members; none where they differ, or one is left as it is.
fn single(changes: &[Option<Change>]) -> Option<&Change> {
    let first = changes.first()?.as_ref()?;
    changes.iter().all(|change| change.as_ref() == Some(first)).then_some(first)
}

/// Whether a value is what is wanted already.
fn is_satisfied(node: &Node, wanted: &Change) -> bool {
    let Node::Scalar(held) = node else { return false };
    match wanted {
        Change::Gone => held.is_null(),
        Change::Text(value) | Change::Bare(value) => {
            match (crate::recipe::number::decimal(&held.text), value.parse::<f64>()) {
                (Some(held), Ok(value)) => held.total_cmp(&value).is_eq(),
                _ => *held.text == **value,
            }
        }
        Change::Json { set, unset } => {
            json::edited(&held.text, set, unset).is_ok_and(|new| *new == *held.text)
        }
    }
}

/// A new value as YAML, in the quotes of its neighbours.
fn written(
    source: &Source<'_>,
    change: &Change,
    inherited: Option<&Node>,
    siblings: &Mapping,
) -> Result<String, String> {
    match change {
        Change::Gone => Ok("null".to_owned()),
        Change::Bare(value) => Ok(value.clone()),
        Change::Text(value) => {
            let is_number = crate::recipe::number::decimal(value).is_some();
            Ok(match quote(source, siblings, is_number) {
                Some(mark) => in_style(mark, value),
                None if is_number => in_style("\"", value),
                None => value.clone(),
            })
        }
        Change::Json { set, unset } => match inherited {
            Some(Node::Scalar(old)) => json::edited(&old.text, set, unset).map(|new| in_style("'", &new)),
            _ => Err("there is no JSON to change".to_owned()),
        },
    }
}

/// A value of the base as YAML.
fn text_of(source: &Source<'_>, node: &Node, siblings: &Mapping) -> String {
    match node {
        Node::Scalar(scalar) if scalar.is_plain() => scalar.text.to_string(),
        Node::Scalar(scalar) => in_style(quote(source, siblings, true).unwrap_or("\""), &scalar.text),
        Node::Sequence(_) | Node::Mapping(_) => "null".to_owned(),
    }
}

/// The quotes that the last neighbour of its kind has.
fn quote(source: &Source<'_>, siblings: &Mapping, is_number: bool) -> Option<&'static str> {
    let kin = siblings.entries.iter().rev().filter_map(|entry| match &entry.value {
        Node::Scalar(value) if !value.is_null() => Some(value),
        _ => None,
    });
    let mut kin = kin.filter(|value| crate::recipe::number::decimal(&value.text).is_some() == is_number);
    let last = kin.next().filter(|value| value.style == ScalarStyle::Quoted)?;
    if source.from(last.at).is_some_and(|rest| rest.starts_with('\'')) { Some("'") } else { Some("\"") }
}

/// One value for all members of a zip becomes a list.
fn zipped(
    source: &Source<'_>,
    old: &Scalar,
    changes: &[Option<Change>],
) -> Result<Option<Edit>, InjectError> {
    let place = |why: &str| InjectError::Place { at: old.at, why: why.to_owned() };
    let range = range(source, old).ok_or_else(|| place("this value spans lines"))?;
    let mark = source.text.get(range.clone()).unwrap_or_default();
    let mut items = Vec::with_capacity(changes.len());
    for change in changes {
        items.push(match change {
            None => mark.to_owned(),
            Some(Change::Gone) => "null".to_owned(),
            Some(Change::Text(value) | Change::Bare(value)) => in_style(mark, value),
            Some(Change::Json { set, unset }) => {
                let new = json::edited(&old.text, set, unset).map_err(|why| place(&why))?;
                in_style(mark, &new)
            }
        });
    }
    let is_one = items.iter().all(|item| item == mark);
    Ok((!is_one).then(|| Edit { range, new: format!("[{}]", items.join(", ")) }))
}

impl<'a> Sites<'a> {
    fn insert(&mut self, below: Below<'a>, missing: Missing) {
        match self.insertions.iter_mut().find(|(other, _)| other.place() == below.place()) {
            Some((_, all)) => {
                if !all.iter().any(|held| held.path == missing.path && held.text == missing.text) {
                    all.push(missing);
                }
            }
            None => self.insertions.push((below, vec![missing])),
        }
    }

    /// The edits of all removals and insertions.
    pub(super) fn edits(self, source: &Source<'_>, edits: &mut Vec<Edit>) -> Result<(), InjectError> {
        let kept: Vec<Position> = self.insertions.iter().map(|(below, _)| below.place()).collect();
        edits.extend(removal::edits(source, &self.removals, &kept)?);
        for (below, missing) in &self.insertions {
            edits.push(match below {
                Below::Mapping(mapping) => insert(source, mapping, missing)?,
                Below::Empty(entry) => insert_below_empty(source, &entry.key, missing)?,
            });
        }
        Ok(())
    }
}
