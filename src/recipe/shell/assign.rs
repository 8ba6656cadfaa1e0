//! Assignments, `declare` and `unset`.

use tree_sitter::Node;

use super::command::MOST_WORDS;
use super::exec::Machine;
use super::state::{State, Value};
use super::word::Word;

impl<'t> Machine<'t> {
    /// `name=value`, `name+=value`, `name=(..)`, `name[key]=value`.
    pub(super) fn assign(&mut self, node: Node<'t>, state: &mut State, export: bool) {
        let Some(target) = node.child_by_field_name("name") else { return };
        let appends = self
            .source_of(node)
            .get(self.source_of(target).len()..)
            .is_some_and(|rest| rest.starts_with("+="));
        let value = node.child_by_field_name("value");
        if target.kind() == "subscript" {
            self.assign_item(target, value, state);
            return;
        }
        let name = self.source_of(target);
        let at = self.at(node);
        let new = match value {
            Some(value) if value.kind() == "array" => {
                let mut cursor = value.walk();
                let items: Vec<Node<'t>> = value.named_children(&mut cursor).collect();
                let words = items.into_iter().filter(|item| item.kind() != "comment");
                let mut words: Vec<Word> = words.flat_map(|item| self.words(item, state)).collect();
                if let Some(Value::Array(held)) = state.get(name).filter(|_| appends) {
                    self.copied(held.len(), 0);
                    words.splice(0..0, held.iter().cloned());
                }
                if words.len() > MOST_WORDS {
                    self.exhausted = true;
                    words.truncate(MOST_WORDS);
                }
                Value::Array(words)
            }
            Some(value) => Value::Scalar(self.word(value, state)),
            None => Value::Scalar(Word::new("", at)),
        };
        let new = match (new, state.get(name)) {
            (Value::Scalar(word), Some(Value::Scalar(held))) if appends => {
                self.copied(0, held.text.len());
                Value::Scalar(Word { text: format!("{}{}", held.text, word.text), verbatim: None, ..word })
            }
            (new, _) => new,
        };
        state.set(name, new, export);
    }

    fn assign_item(&mut self, target: Node<'t>, value: Option<Node<'t>>, state: &mut State) {
        let (Some(name), Some(index)) =
            (target.child_by_field_name("name"), target.child_by_field_name("index"))
        else {
            return;
        };
        let key = self.word(index, state);
        let at = self.at(target);
        let word = value.map_or_else(|| Word::new("", at), |value| self.word(value, state));
        let item = Word { text: format!("[{}]={}", key.text, word.text), ..word };
        let name = self.source_of(name);
        let mut words = match state.get(name) {
            Some(Value::Array(words)) => {
                self.copied(words.len(), 0);
                words.clone()
            }
            _ => Vec::new(),
        };
        words.insert(0, item);
        state.set(name, Value::Array(words), false);
    }

    /// `export`, `declare`, `local`, `readonly`, `typeset`.
    pub(super) fn declare(&mut self, node: Node<'t>, state: &mut State) {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
        let word = children.first().map_or("", |first| self.source_of(*first));
        let flags: Vec<&str> = children
            .iter()
            .map(|child| self.source_of(*child))
            .filter(|text| text.starts_with('-'))
            .collect();
        let exports = word == "export" || flags.iter().any(|flag| flag.contains('x'));
        let is_n = flags.iter().any(|flag| flag.contains('n'));
        let (takes_back, refers) = (is_n && word == "export", is_n && word != "export");
        for child in children {
            match child.kind() {
                "variable_assignment" if refers => self.refer(child, state),
                "variable_assignment" => self.assign(child, state, exports),
                "variable_name" if takes_back => state.export_no_more(self.source_of(child)),
                "variable_name" if exports => state.export(self.source_of(child)),
                // `export $NAMES`, `export "A=b"`, `export $(cat file)`
                "word"
                | "string"
                | "raw_string"
                | "concatenation"
                | "simple_expansion"
                | "expansion"
                | "command_substitution"
                    if !self.source_of(child).starts_with('-') =>
                {
                    for word in self.words(child, state) {
                        declare_word(&word, exports, takes_back, state);
                    }
                }
                _ => {}
            }
        }
    }

    /// `declare -n name=target`.
    fn refer(&mut self, node: Node<'t>, state: &mut State) {
        let (Some(name), Some(target)) =
            (node.child_by_field_name("name"), node.child_by_field_name("value"))
        else {
            return;
        };
        let target = self.word(target, state);
        if is_name(&target.text) {
            state.refs.insert(self.source_of(name).to_owned(), target.text);
        } else {
            state.not_followed(self.at(node), self.source_of(node), false);
        }
    }

    pub(super) fn unset(&mut self, node: Node<'t>, state: &mut State) {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        for child in children {
            let names = match child.kind() {
                "variable_name" => vec![Word::new(self.source_of(child), self.at(child))],
                _ => self.words(child, state),
            };
            for name in names.iter().filter(|name| !name.text.starts_with('-')) {
                if name.is_resolved() {
                    state.unset(&name.text);
                } else {
                    state.not_followed(name.at, self.source_of(node), false);
                }
            }
        }
    }
}

/// `NAME=value` or `NAME` as a word: what it is called may be known only to the run.
fn declare_word(word: &Word, exports: bool, takes_back: bool, state: &mut State) {
    let (name, value) = match word.text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word.text.as_str(), None),
    };
    if !is_name(name) {
        if !word.is_resolved() {
            let what = format!("the setting of {}", crate::recipe::number::shown(&word.text));
            state.not_followed(word.at, &what, false);
        }
        return;
    }
    match value {
        Some(value) => {
            let value = Word { text: value.to_owned(), verbatim: None, ..word.clone() };
            state.set(name, Value::Scalar(value), exports);
        }
        None if takes_back => state.export_no_more(name),
        None if exports => state.export(name),
        None => {}
    }
}

/// Whether a text can be a variable's name.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
