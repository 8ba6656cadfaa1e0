//! Parameters: `${name}`, `${name[index]}`, `${name:-default}` and their like.

use tree_sitter::Node;

use crate::yaml::Position;

use super::exec::Machine;
use super::expand::{SETTLED, expansions_in, is_expansion};
use super::state::{State, Value};
use super::word::{Word, unresolved};

impl<'t> Machine<'t> {
    /// `${name}`, `${name[index]}`, and what may follow.
    pub(super) fn expansion(&mut self, node: Node<'t>, at: Position, state: &mut State) -> Word {
        let source = self.source_of(node);
        let inner = source.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
        let open = || Word::new(unresolved(source), at);
        let end = inner
            .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
            .unwrap_or(inner.len());
        let (name, mut rest) = inner.split_at(end);
        if name.is_empty() {
            return open();
        }
        let mut value = variable(name, at, source, state);
        let mut is_set = state.get(name).is_some_and(|value| *value != Value::Unset)
            || name.parse::<usize>().is_ok_and(|index| index > 0 && index <= state.positional.len());
        let is_known = is_set || state.get(name) == Some(&Value::Unset) || SETTLED.contains(&name);
        if rest.starts_with('[') {
            let Some(close) = matching_bracket(rest) else { return open() };
            let index = rest.get(1..close).unwrap_or_default();
            rest = rest.get(close + 1..).unwrap_or_default();
            let index = self.subscript(node, index, state);
            match item(state.get(name), &index) {
                Found::Item(word) => value = word,
                Found::Missing => {
                    is_set = false;
                    value = Word::new("", at);
                }
                Found::Unknown => return open(),
            }
        }
        if rest.is_empty() {
            return value;
        }
        let (colon, rest) = match rest.strip_prefix(':') {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let Some(operator) = rest.chars().next() else { return open() };
        let operand_from = node.end_byte().saturating_sub(rest.len());
        let is_empty = !is_set || (colon && value.text.is_empty());
        match operator {
            '-' | '=' => {
                if !is_empty {
                    return value;
                }
                let mut word = self.operand(node, operand_from, state);
                if !is_known {
                    word.defaulted = Some(name.to_owned());
                }
                if operator == '=' {
                    state.set(name, Value::Scalar(word.clone()), false);
                }
                word
            }
            '+' if is_known || is_set => {
                if is_empty {
                    Word::new("", at)
                } else {
                    self.operand(node, operand_from, state)
                }
            }
            '?' if is_set => value,
            '#' | '%' | '/' | '^' | ',' if !colon && value.is_resolved() && is_known => {
                edited(&value, rest).unwrap_or_else(open)
            }
            _ => open(),
        }
    }

    /// What stands behind the operator of `${name:-operand}`.
    fn operand(&mut self, node: Node<'t>, from: usize, state: &mut State) -> Word {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        let to = node.end_byte().saturating_sub(1);
        let at = self.fixed.unwrap_or_else(|| self.source.position(from));
        // A string as the whole operand loses its quotes.
        if let Some(only) = children.iter().find(|child| child.start_byte() == from && child.end_byte() == to)
        {
            return self.word(*only, state);
        }
        let inner: Vec<Node<'t>> = children
            .into_iter()
            .filter(|child| child.start_byte() >= from)
            .flat_map(|child| if is_expansion(child) { vec![child] } else { expansions_in(child) })
            .collect();
        self.between(&inner, from, to, at, true, state)
    }

    fn subscript(&mut self, node: Node<'t>, index: &str, state: &mut State) -> Word {
        let mut cursor = node.walk();
        let found = node.named_children(&mut cursor).find(|child| child.kind() == "subscript");
        match found.and_then(|subscript| subscript.child_by_field_name("index")) {
            Some(index) => self.word(index, state),
            None => Word::new(index, self.at(node)),
        }
    }
}

/// The value of a variable as one word.
pub(super) fn variable(name: &str, at: Position, source: &str, state: &State) -> Word {
    if let Ok(index) = name.parse::<usize>() {
        let given = index.checked_sub(1).and_then(|index| state.positional.get(index));
        return given.cloned().unwrap_or_else(|| Word::new(unresolved(source), at));
    }
    match state.get(name) {
        Some(Value::Scalar(word)) => word.clone(),
        Some(Value::Array(words)) => words.first().cloned().unwrap_or_else(|| Word::new("", at)),
        Some(Value::Unset) => Word::new("", at),
        None if SETTLED.contains(&name) => Word::new("", at),
        None => Word::new(unresolved(source), at),
    }
}

enum Found {
    Item(Word),
    Missing,
    Unknown,
}

/// An item of an array, by number or by key.
fn item(value: Option<&Value>, index: &Word) -> Found {
    let (Some(Value::Array(words)), true) = (value, index.is_resolved()) else { return Found::Unknown };
    let key = index.text.trim_matches(['"', '\'']);
    let start = format!("[{key}]=");
    if let Some(word) = words.iter().find(|word| word.text.starts_with(&start)) {
        let text = word.text.get(start.len()..).unwrap_or_default();
        return Found::Item(Word { text: text.to_owned(), ..word.clone() });
    }
    let is_keyed = words.iter().any(|word| word.text.starts_with('[') && word.text.contains("]="));
    match key.parse::<usize>() {
        Ok(number) if !is_keyed => words.get(number).cloned().map_or(Found::Missing, Found::Item),
        _ => Found::Missing,
    }
}

/// The bracket that closes the first one.
fn matching_bracket(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

/// `${x#a}`, `${x%a}`, `${x/a/b}`, `${x,,}` with plain patterns and `*` at an end; none for others.
fn edited(value: &Word, operation: &str) -> Option<Word> {
    let text = value.text.as_str();
    let is_plain = |pattern: &str| !pattern.contains(['*', '?', '[', '$', '`', '"', '\'', '\\']);
    let new = match operation {
        ",," => text.to_lowercase(),
        "^^" => text.to_uppercase(),
        "##*/" => text.rsplit('/').next().unwrap_or(text).to_owned(),
        _ if operation.starts_with("//") => {
            let (from, to) = operation.get(2..)?.split_once('/').unwrap_or((operation.get(2..)?, ""));
            (is_plain(from) && is_plain(to) && !from.is_empty()).then(|| text.replace(from, to))?
        }
        _ if operation.starts_with('/') => {
            let (from, to) = operation.get(1..)?.split_once('/').unwrap_or((operation.get(1..)?, ""));
            (is_plain(from) && is_plain(to) && !from.is_empty()).then(|| text.replacen(from, to, 1))?
        }
        _ => {
            let (start, pattern) = match operation.chars().next()? {
                '#' => (true, operation.trim_start_matches('#')),
                '%' => (false, operation.trim_start_matches('%')),
                _ => return None,
            };
            if !is_plain(pattern) {
                return None;
            }
            let cut = if start { text.strip_prefix(pattern) } else { text.strip_suffix(pattern) };
            cut.unwrap_or(text).to_owned()
        }
    };
    Some(Word { text: new, verbatim: None, ..value.clone() })
}
