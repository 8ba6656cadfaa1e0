//! What a shell knows at one point of one way through a script.

use std::collections::BTreeMap;

use crate::yaml::Position;

use super::word::Word;

/// The value of a variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Scalar(Word),
    /// An array, indexed from 0, or by `[key]=` in front of its items.
    Array(Vec<Word>),
    /// Unset for certain.
    Unset,
}

/// A variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Var {
    pub(super) value: Value,
    pub(super) is_exported: bool,
}

/// Whether a way still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    Run,
    Return,
    Exit,
}

/// A file that a here-document wrote.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) at: Position,
}

/// One way through a script, up to here.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) vars: BTreeMap<String, Var>,
    pub(super) files: BTreeMap<String, Written>,
    /// Conditions that only the run decides, as this way took them.
    pub(super) decided: Vec<(String, bool)>,
    pub(super) positional: Vec<Word>,
    pub(super) flow: Flow,
    /// `set -a`.
    pub(super) exports_all: bool,
}

impl State {
    pub(super) fn new() -> Self {
        Self {
            vars: BTreeMap::new(),
            files: BTreeMap::new(),
            decided: Vec::new(),
            positional: Vec::new(),
            flow: Flow::Run,
            exports_all: false,
        }
    }

    pub(super) fn runs(&self) -> bool {
        self.flow == Flow::Run
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.vars.get(name).map(|var| &var.value)
    }

    pub(super) fn set(&mut self, name: &str, value: Value, export: bool) {
        let was = self.vars.get(name).is_some_and(|var| var.is_exported);
        let is_exported = export || was || self.exports_all;
        self.vars.insert(name.to_owned(), Var { value, is_exported });
    }

    pub(super) fn export(&mut self, name: &str) {
        if let Some(var) = self.vars.get_mut(name) {
            var.is_exported = true;
        }
    }

    /// How this way took a condition, in words; none where every condition could be decided.
    pub(super) fn condition(&self) -> Option<String> {
        let (text, holds) = self.decided.last()?;
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(format!("{}{}", if *holds { "" } else { "the failing of " }, crate::yaml::quoted(&text)))
    }

    /// One state for several: what they agree on; the rest is unresolved.
    pub(super) fn merged(states: Vec<Self>) -> Option<Self> {
        let mut states = states.into_iter();
        let mut merged = states.next()?;
        for other in states {
            let names: Vec<String> = merged.vars.keys().chain(other.vars.keys()).cloned().collect();
            for name in names {
                if merged.get(&name) == other.get(&name) {
                    continue;
                }
                let at = [&other, &merged].iter().find_map(|state| match state.get(&name) {
                    Some(Value::Scalar(word)) => Some(word.at),
                    Some(Value::Array(words)) => words.first().map(|word| word.at),
                    Some(Value::Unset) | None => None,
                });
                let text = super::word::unresolved(&format!("${name}"));
                let value = Value::Scalar(Word::new(text, at.unwrap_or(Position::START)));
                let is_exported = [&other, &merged]
                    .iter()
                    .any(|state| state.vars.get(&name).is_some_and(|var| var.is_exported));
                merged.vars.insert(name, Var { value, is_exported });
            }
            merged.files.retain(|name, file| other.files.get(name) == Some(file));
            merged.decided.retain(|decided| other.decided.contains(decided));
        }
        Some(merged)
    }
}
