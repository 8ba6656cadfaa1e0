//! From the nodes of the grammar to the words that a command gets.

use tree_sitter::Node;

use crate::yaml::Position;

use super::arithmetic;
use super::exec::Machine;
use super::parameter::variable;
use super::quote::{ansi, unescaped, unquoted};
use super::state::{State, Value};
use super::word::{Word, unresolved};

/// Names that the launcher's environment settles for certain, so that a test of them is decided.
pub(super) const SETTLED: [&str; 1] = ["EVAL_ONLY"];

/// Longest text that an expansion may grow to.
const MOST_BYTES: usize = 1 << 18;

impl<'t> Machine<'t> {
    pub(super) fn source_of(&self, node: Node<'t>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    pub(super) fn at(&self, node: Node<'t>) -> Position {
        self.fixed.unwrap_or_else(|| self.source.position(node.start_byte()))
    }

    /// The words of a node outside of quotes: none, one or several.
    pub(super) fn words(&mut self, node: Node<'t>, state: &mut State) -> Vec<Word> {
        match node.kind() {
            "string" => match self.lone_array(node, state) {
                Some(words) => words,
                None => vec![self.word(node, state)],
            },
            "expansion" | "simple_expansion" => {
                if let Some(words) = self.array_of(node, state) {
                    return words;
                }
                let word = self.word(node, state);
                split(&word)
            }
            "command_substitution" => {
                let word = self.word(node, state);
                split(&word)
            }
            _ => vec![self.word(node, state)],
        }
    }

    /// `"${args[@]}"` and nothing else.
    fn lone_array(&mut self, node: Node<'t>, state: &mut State) -> Option<Vec<Word>> {
        let mut cursor = node.walk();
        let mut inner = node.named_children(&mut cursor);
        let only = inner.next()?;
        if inner.next().is_some() {
            return None;
        }
        let is_whole = self.source_of(node).len() == self.source_of(only).len() + 2;
        is_whole.then(|| self.array_of(only, state)).flatten()
    }

    /// The items of `${args[@]}`, `${args[*]}`, `$@`.
    fn array_of(&self, node: Node<'t>, state: &State) -> Option<Vec<Word>> {
        let text = self.source_of(node);
        let inner = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        let inner = inner.or_else(|| text.strip_prefix('$'))?;
        if matches!(inner, "@" | "*") {
            return Some(state.positional.to_vec());
        }
        let is_prefix = |rest: &&str| super::assign::is_name(rest);
        let prefix = inner.strip_prefix('!').and_then(|rest| rest.strip_suffix(['@', '*'])).filter(is_prefix);
        if let Some(prefix) = prefix {
            // `${!PREFIX@}`: the names that begin so.
            let is_set = |(name, var): &(&String, &super::state::Var)| {
                name.starts_with(prefix) && var.value != Value::Unset
            };
            let names = state.vars.iter().filter(is_set);
            return Some(names.map(|(name, _)| Word::new(name.clone(), self.at(node))).collect());
        }
        let name = inner.strip_suffix("[@]").or_else(|| inner.strip_suffix("[*]"))?;
        match state.get(name) {
            Some(Value::Array(words)) => Some(words.clone()),
            Some(Value::Scalar(word)) => Some(vec![word.clone()]),
            Some(Value::Unset) => Some(Vec::new()),
            None => None,
        }
    }

    /// The node as one word.
    pub(super) fn word(&mut self, node: Node<'t>, state: &mut State) -> Word {
        let at = self.at(node);
        if self.deeper() {
            return Word::new(unresolved(self.source_of(node)), at);
        }
        let word = self.word_at(node, at, state);
        self.copied(0, word.text.len());
        self.depth -= 1;
        word
    }

    fn word_at(&mut self, node: Node<'t>, at: Position, state: &mut State) -> Word {
        let text = self.source_of(node);
        match node.kind() {
            "word" | "extglob_pattern" => Word::new(unescaped(text), at),
            "number" | "variable_name" | "test_operator" | "special_variable_name" | "regex" => {
                // A number may hold an expansion: `10#$x`.
                if node.named_child_count() > 0 {
                    self.region(node, 0, 0, at, false, state)
                } else {
                    Word::new(text, at)
                }
            }
            "raw_string" => {
                let inner = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap_or(text);
                let mut word = Word::new(inner, at);
                word.verbatim = self.behind(node, 1);
                word
            }
            "ansi_c_string" => Word::new(ansi(text), at),
            "string" => {
                let mut word = self.region(node, 1, 1, at, true, state);
                if node.named_child_count() <= 1
                    && text.get(1..text.len().saturating_sub(1)) == Some(&*word.text)
                {
                    word.verbatim = self.behind(node, 1);
                }
                word
            }
            "translated_string" | "concatenation" => self.joined(node, at, state),
            "simple_expansion" => variable(text.strip_prefix('$').unwrap_or(text), at, text, state),
            "expansion" => self.expansion(node, at, state),
            "arithmetic_expansion" => {
                let inner = self.region(node, 3, 2, at, false, state);
                let inner = with_bare_names(&inner.text, state);
                let value = arithmetic::value(&inner).map(|value| value.to_string());
                Word::new(value.unwrap_or_else(|| unresolved(text)), at)
            }
            "command_substitution" => self.substitution(node, at, state),
            "process_substitution" | "brace_expression" => Word::new(unresolved(text), at),
            _ => Word::new(text, at),
        }
    }

    /// The place behind the opening quote.
    fn behind(&self, node: Node<'t>, bytes: usize) -> Option<Position> {
        self.fixed.is_none().then(|| self.source.position(node.start_byte() + bytes))
    }

    /// Parts of a word one behind the other; the value of a variable keeps its own place if it is all.
    fn joined(&mut self, node: Node<'t>, at: Position, state: &mut State) -> Word {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
        let mut all = Word::new("", at);
        for child in children {
            let part = self.word(child, state);
            self.push(&mut all, &part);
        }
        all
    }

    fn push(&mut self, all: &mut Word, part: &Word) {
        if all.text.len().saturating_add(part.text.len()) > MOST_BYTES {
            self.exhausted = true;
            return;
        }
        all.text.push_str(&part.text);
        if all.defaulted.is_none() {
            all.defaulted.clone_from(&part.defaulted);
        }
    }

    /// The text of a node without `head` and `tail` bytes, its expansions in it resolved.
    pub(super) fn region(
        &mut self,
        node: Node<'t>,
        head: usize,
        tail: usize,
        at: Position,
        is_quoted: bool,
        state: &mut State,
    ) -> Word {
        let (from, to) = (node.start_byte() + head, node.end_byte().saturating_sub(tail));
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        self.between(&children, from, to, at, is_quoted, state)
    }

    /// The text from one byte to another, the expansions among `children` resolved.
    pub(super) fn between(
        &mut self,
        children: &[Node<'t>],
        from: usize,
        to: usize,
        at: Position,
        is_quoted: bool,
        state: &mut State,
    ) -> Word {
        let mut all = Word::new("", at);
        let mut place = None;
        let mut byte = from;
        let mut parts = 0;
        for child in children {
            if child.start_byte() < byte || child.end_byte() > to || !is_expansion(*child) {
                continue;
            }
            let before = self.text.get(byte..child.start_byte()).unwrap_or_default();
            if !before.is_empty() {
                parts += 1;
                let literal = Word::new(if is_quoted { unquoted(before) } else { before.to_owned() }, at);
                self.push(&mut all, &literal);
            }
            let part = self.word(*child, state);
            place = Some(part.at);
            parts += 1;
            self.push(&mut all, &part);
            byte = child.end_byte();
        }
        let rest = self.text.get(byte..to).unwrap_or_default();
        if !rest.is_empty() {
            parts += 1;
            let literal = Word::new(if is_quoted { unquoted(rest) } else { rest.to_owned() }, at);
            self.push(&mut all, &literal);
        }
        if let Some(place) = place.filter(|_| parts == 1) {
            all.at = place;
        }
        all
    }

    /// The text of a here-document.
    pub(super) fn heredoc(&mut self, body: Node<'t>, is_raw: bool, state: &mut State) -> Word {
        let at = self.at(body);
        if is_raw {
            return Word::new(self.source_of(body), at);
        }
        self.region(body, 0, 0, at, true, state)
    }
}

/// Whether a node is something to resolve inside other text.
pub(super) fn is_expansion(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "simple_expansion"
            | "expansion"
            | "command_substitution"
            | "arithmetic_expansion"
            | "process_substitution"
    )
}

/// The expansions anywhere in a node, in order; what is inside of one belongs to it.
pub(super) fn expansions_in(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
    children
        .into_iter()
        .flat_map(|child| if is_expansion(child) { vec![child] } else { Vec::new() })
        .collect()
}

/// Fields of a word outside of quotes.
fn split(word: &Word) -> Vec<Word> {
    if !word.is_resolved() {
        return vec![word.clone()];
    }
    word.text
        .split_whitespace()
        .map(|field| Word { text: field.to_owned(), verbatim: None, ..word.clone() })
        .collect()
}

/// In an arithmetic expression a name needs no `$`.
pub(super) fn with_bare_names(text: &str, state: &State) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_alphabetic() || letter == '_') {
        let (before, tail) = rest.split_at(start);
        out.push_str(before);
        let end = tail
            .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
            .unwrap_or(tail.len());
        let (name, tail) = tail.split_at(end);
        match state.get(name) {
            Some(Value::Scalar(word)) => out.push_str(&word.text),
            _ => out.push_str(name),
        }
        rest = tail;
    }
    out.push_str(rest);
    out
}
