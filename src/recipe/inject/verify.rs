//! The new text, read back: every variant that was meant has what it must have, and nothing else differs.

use std::collections::BTreeMap;

use crate::recipe::variants::variants;
use crate::yaml::{Node, parse};

use super::change::Change;
use super::plan::Wanted;
use super::{InjectError, json};

/// A tree without places, quotes and order; what has no value is not there.
#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Text(String),
    List(Vec<Self>),
    Map(BTreeMap<String, Self>),
}

fn shape(node: &Node) -> Option<Shape> {
    match node {
        Node::Scalar(text) => (!text.is_null()).then(|| Shape::Text(text.text.to_string())),
        Node::Sequence(list) => Some(Shape::List(
            list.items.iter().map(|item| shape(item).unwrap_or(Shape::Text(String::new()))).collect(),
        )),
        Node::Mapping(map) => {
            let inner = map
                .entries
                .iter()
                .filter_map(|entry| Some((entry.key.text.to_string(), shape(&entry.value)?)));
            let inner: BTreeMap<String, Shape> = inner.collect();
            (!inner.is_empty()).then_some(Shape::Map(inner))
        }
    }
}

/// Refuses a new text that says something else than was meant.
pub(super) fn check(file: &str, old: &str, new: &str, wanted: &[Wanted]) -> Result<(), InjectError> {
    if old == new && wanted.is_empty() {
        return Ok(());
    }
    let not = |why: String| {
        InjectError::NotAsMeant(format!(
            "{file}: {why}; an anchor or a merge shares the place: change it by hand"
        ))
    };
    let read =
        |text: &str| parse(text).map_err(|error| not(format!("the new text would be no YAML ({error})")));
    let before = variants(&read(old)?).map_err(|error| not(error.to_string()))?;
    let after = variants(&read(new)?).map_err(|error| not(error.to_string()))?;
    if before.len() != after.len() {
        return Err(not("the new text would have other variants".to_owned()));
    }
    for ((name, before), (_, after)) in before.iter().zip(&after) {
        let mut expected = shape(before).unwrap_or(Shape::Map(BTreeMap::new()));
        if let Some(wanted) = wanted.iter().find(|wanted| wanted.name == *name) {
            for desired in &wanted.desired {
                change(&mut expected, &desired.path, &desired.change);
            }
            prune(&mut expected);
        }
        if Some(&expected) != shape(after).as_ref() {
            let variant = name.as_deref().map_or_else(String::new, |name| format!(" in {name}"));
            return Err(not(format!("more or less than the pins would change{variant}")));
        }
    }
    Ok(())
}

fn change(shape: &mut Shape, path: &[String], wanted: &Change) {
    let (Shape::Map(map), Some((key, rest))) = (shape, path.split_first()) else { return };
    let spelled = map.keys().find(|held| *held == key || held.replace('_', "-") == *key).cloned();
    let key = spelled.unwrap_or_else(|| key.clone());
    if !rest.is_empty() {
        if *wanted == Change::Gone && !map.contains_key(&key) {
            return;
        }
        change(map.entry(key).or_insert_with(|| Shape::Map(BTreeMap::new())), rest, wanted);
        return;
    }
    match wanted {
        Change::Gone => {
            map.remove(&key);
        }
        Change::Text(value) | Change::Bare(value) => {
            let number = crate::recipe::number::decimal;
            let is_same = matches!(map.get(&key), Some(Shape::Text(held)) if number(held).is_some() && number(held) == number(value));
            if !is_same {
                map.insert(key, Shape::Text(value.clone()));
            }
        }
        Change::Json { set, unset } => match map.get_mut(&key) {
            Some(Shape::Text(text)) => {
                if let Ok(new) = json::edited(text, set, unset) {
                    *text = new;
                }
            }
            Some(object @ Shape::Map(_)) => {
                for (key, value) in set {
                    change(object, &[(*key).to_owned()], &Change::Bare(value.trim_matches('"').to_owned()));
                }
                for key in unset {
                    change(object, &[(*key).to_owned()], &Change::Gone);
                }
            }
            Some(Shape::List(_)) | None => {}
        },
    }
}

/// Mappings of which nothing is left are not there.
fn prune(shape: &mut Shape) {
    if let Shape::Map(map) = shape {
        map.values_mut().for_each(prune);
        map.retain(|_, value| !matches!(value, Shape::Map(inner) if inner.is_empty()));
    }
}
