//! What a way through a branch says of variables: `if [ "$X" = v ]` and `case "$X" in v)` hold where X is v.

use tree_sitter::Node;

use crate::recipe::model::Taken;
use crate::recipe::number::{UNRESOLVED, shown};
use crate::yaml::Position;

use super::assign::is_name;
use super::exec::Machine;
use super::state::{State, Value};
use super::word::Word;

/// Variables whose value the caller of a check may know.
const GIVEN: [&str; 2] = ["MODEL_PREFIX", "THINKING_MODE"];

impl State {
    /// Takes in that an unresolved word is a value, or is not.
    pub(super) fn learn(&mut self, open: &Word, value: &str, at: Position, is_so: bool) {
        let mut pieces = open.text.split(UNRESOLVED);
        let is_one_piece = pieces.next() == Some("") && pieces.nth(1) == Some("") && pieces.next().is_none();
        if !is_one_piece || value.is_empty() {
            return;
        }
        let source = shown(&open.text);
        let name = source.strip_prefix('$').unwrap_or_default();
        let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
        if GIVEN.contains(&name) {
            let taken = Taken { name: name.to_owned(), value: value.to_owned(), is_so };
            if self.taken.get(&taken).is_none() {
                self.taken.push(taken, ());
            }
        }
        if !is_so {
            return;
        }
        let same: Vec<String> = self
            .vars
            .iter()
            .filter(|(_, var)| matches!(&var.value, Value::Scalar(word) if word.text == open.text))
            .map(|(name, _)| name.clone())
            .collect();
        for name in same {
            self.set(&name, Value::Scalar(Word::new(value, at)), false);
        }
        if is_name(name) && self.get(name).is_none() {
            self.set(name, Value::Scalar(Word::new(value, at)), false);
            self.learnt.insert(name.to_owned(), ());
        }
    }
}

impl<'t> Machine<'t> {
    /// Takes in what a test that only the run decides says of variables where it holds, or does not.
    pub(super) fn learn(&mut self, test: Node<'t>, holds: bool, state: &mut State) {
        if self.deeper() {
            return;
        }
        // What a test says of a variable is held against all others.
        self.copied(state.vars.len(), 0);
        self.learn_of(test, holds, state);
        self.depth -= 1;
    }

    fn learn_of(&mut self, test: Node<'t>, holds: bool, state: &mut State) {
        match test.kind() {
            "test_command" | "parenthesized_expression" | "compound_statement"
                if test.named_child_count() == 1 =>
            {
                if let Some(inner) = test.named_child(0) {
                    self.learn(inner, holds, state);
                }
            }
            "negated_command" => {
                if let Some(inner) = test.named_child(0) {
                    self.learn(inner, !holds, state);
                }
            }
            "unary_expression" if self.operator(test) == Some("!") => {
                if let Some(inner) = test.named_child(0) {
                    self.learn(inner, !holds, state);
                }
            }
            "list" | "binary_expression" => self.learn_pair(test, holds, state),
            "command" => {
                let words = self.command_words(test, state);
                if let [name, left, operator, right] = words.as_slice()
                    && name.text == "test"
                {
                    compared(&operator.text, left, right, holds, state);
                }
            }
            _ => {}
        }
    }

    fn learn_pair(&mut self, test: Node<'t>, holds: bool, state: &mut State) {
        let (Some(left), Some(right), Some(operator)) =
            (test.named_child(0), last_named(test), self.operator(test))
        else {
            return;
        };
        match operator {
            "&&" | "-a" | "||" | "-o" => {
                if matches!(operator, "&&" | "-a") == holds {
                    self.learn(left, holds, state);
                    self.learn(right, holds, state);
                }
            }
            _ => {
                let (left, right) = (self.word(left, state), self.word(right, state));
                compared(operator, &left, &right, holds, state);
            }
        }
    }
}

fn compared(operator: &str, left: &Word, right: &Word, holds: bool, state: &mut State) {
    let is_equal = match operator {
        "=" | "==" | "-eq" => holds,
        "!=" | "-ne" => !holds,
        _ => return,
    };
    let (open, value) = if left.is_resolved() { (right, left) } else { (left, right) };
    if value.is_resolved() && is_literal(&value.text) {
        state.learn(open, &value.text, value.at, is_equal);
    }
}

/// Whether a pattern is a plain text.
pub(super) fn is_literal(pattern: &str) -> bool {
    !pattern.contains(['*', '?', '[', '('])
}

fn last_named(node: Node<'_>) -> Option<Node<'_>> {
    let count = u32::try_from(node.named_child_count()).ok()?;
    node.named_child(count.checked_sub(1)?)
}
