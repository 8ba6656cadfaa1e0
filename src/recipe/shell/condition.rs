//! Tests: true, false, or for the run to say.

use tree_sitter::Node;

use crate::recipe::selector::is_match;

use super::arithmetic;
use super::exec::Machine;
use super::expand::with_bare_names;
use super::state::State;
use super::word::Word;

impl<'t> Machine<'t> {
    /// Whether a test holds; none where only the run can tell. Commands that are no tests are for the run to say.
    pub(super) fn test(&mut self, node: Node<'t>, state: &mut State) -> Option<bool> {
        if self.deeper() {
            return None;
        }
        let result = self.test_of(node, state);
        self.depth -= 1;
        result
    }

    fn test_of(&mut self, node: Node<'t>, state: &mut State) -> Option<bool> {
        match node.kind() {
            "test_command" | "compound_statement" if self.source_of(node).starts_with("((") => {
                let text = self.region(node, 2, 2, self.at(node), false, state);
                arithmetic::holds(&with_bare_names(&text.text, state))
            }
            "test_command" | "parenthesized_expression" => {
                let inner = first_named(node)?;
                self.expression(inner, state)
            }
            "negated_command" => Some(!self.test(first_named(node)?, state)?),
            "list" => {
                let (left, right) = (node.named_child(0)?, node.named_child(1)?);
                let is_and = self.operator(node) == Some("&&");
                both(is_and, self.test(left, state), self.test(right, state))
            }
            "compound_statement" | "subshell" => {
                let count = u32::try_from(node.named_child_count()).ok()?;
                self.test(node.named_child(count.checked_sub(1)?)?, state)
            }
            "redirected_statement" => self.test(node.child_by_field_name("body")?, state),
            "command" => {
                let words = self.command_words(node, state);
                let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
                match texts.as_slice() {
                    ["true" | ":"] => Some(true),
                    ["false"] => Some(false),
                    ["test", ..] => test_words(words.get(1..)?),
                    [name, ..] => {
                        let body = self.predicate(name)?;
                        let given = words.get(1..).unwrap_or_default().into();
                        let outer = std::mem::replace(&mut state.positional, given);
                        let holds = self.test(body, state);
                        state.positional = outer;
                        holds
                    }
                    [] => None,
                }
            }
            _ => None,
        }
    }

    /// What a function that is one test tests.
    pub(super) fn predicate(&self, name: &str) -> Option<Node<'t>> {
        let body = self.functions.get(name).copied()?;
        let mut cursor = body.walk();
        let mut inner = body.named_children(&mut cursor).filter(|child| child.kind() != "comment");
        let only = if body.kind() == "compound_statement" { inner.next()? } else { return Some(body) };
        let is_test = matches!(only.kind(), "test_command" | "negated_command" | "list" | "command");
        (is_test && inner.next().is_none()).then_some(only)
    }

    fn expression(&mut self, node: Node<'t>, state: &mut State) -> Option<bool> {
        if self.deeper() {
            return None;
        }
        let result = match node.kind() {
            "binary_expression" => self.binary(node, state),
            "unary_expression" => self.unary(node, state),
            "parenthesized_expression" => first_named(node).and_then(|inner| self.expression(inner, state)),
            _ => {
                let word = self.word(node, state);
                word.is_resolved().then_some(!word.text.is_empty())
            }
        };
        self.depth -= 1;
        result
    }

    fn unary(&mut self, node: Node<'t>, state: &mut State) -> Option<bool> {
        let operator = self.operator(node)?;
        let operand = last_named(node)?;
        if operator == "!" {
            return Some(!self.expression(operand, state)?);
        }
        let word = self.word(operand, state);
        unary_holds(operator, &word)
    }

    fn binary(&mut self, node: Node<'t>, state: &mut State) -> Option<bool> {
        let operator = self.operator(node)?;
        let (left, right) = (node.child_by_field_name("left")?, node.child_by_field_name("right")?);
        if matches!(operator, "&&" | "-a" | "||" | "-o") {
            let (left, right) = (self.expression(left, state), self.expression(right, state));
            return both(matches!(operator, "&&" | "-a"), left, right);
        }
        let (left, pattern) = (self.word(left, state), self.word(right, state));
        let is_pattern = matches!(right.kind(), "extglob_pattern" | "word" | "concatenation")
            && pattern.text.contains(['*', '?']);
        compare(operator, &left, &pattern, is_pattern)
    }

    /// The operator of a node, by its field or as a child without a name.
    pub(super) fn operator(&self, node: Node<'t>) -> Option<&'t str> {
        if let Some(operator) = node.child_by_field_name("operator") {
            return Some(self.source_of(operator));
        }
        let mut cursor = node.walk();
        let found = node.children(&mut cursor).find(|child| !child.is_named());
        found.map(|child| self.source_of(child))
    }
}

/// `test a = b` in words.
fn test_words(words: &[Word]) -> Option<bool> {
    match words {
        [not, rest @ ..] if not.text == "!" => Some(!test_words(rest)?),
        [left, operator, right] => compare(&operator.text, left, right, false),
        [operator, word] => unary_holds(&operator.text, word),
        [word] => word.is_resolved().then_some(!word.text.is_empty()),
        _ => None,
    }
}

fn unary_holds(operator: &str, word: &Word) -> Option<bool> {
    if !word.is_resolved() {
        return None;
    }
    let is_empty = word.text.is_empty();
    match operator {
        "-n" => Some(!is_empty),
        "-z" => Some(is_empty),
        _ => None,
    }
}

fn compare(operator: &str, left: &Word, right: &Word, is_pattern: bool) -> Option<bool> {
    if !left.is_resolved() || !right.is_resolved() {
        return None;
    }
    let number = |word: &Word| word.text.trim().parse::<i64>().ok();
    match operator {
        "==" | "=" if is_pattern => Some(is_match(right.text.as_bytes(), left.text.as_bytes())),
        "!=" if is_pattern => Some(!is_match(right.text.as_bytes(), left.text.as_bytes())),
        "==" | "=" => Some(left.text == right.text),
        "!=" => Some(left.text != right.text),
        "-eq" => Some(number(left)? == number(right)?),
        "-ne" => Some(number(left)? != number(right)?),
        "-lt" => Some(number(left)? < number(right)?),
        "-le" => Some(number(left)? <= number(right)?),
        "-gt" => Some(number(left)? > number(right)?),
        "-ge" => Some(number(left)? >= number(right)?),
        _ => None,
    }
}

fn both(is_and: bool, left: Option<bool>, right: Option<bool>) -> Option<bool> {
    // What decides alone, on either side.
    let decisive = !is_and;
    if left == Some(decisive) || right == Some(decisive) {
        return Some(decisive);
    }
    left.and(right).map(|_| is_and)
}

fn first_named(node: Node<'_>) -> Option<Node<'_>> {
    node.named_child(0)
}

fn last_named(node: Node<'_>) -> Option<Node<'_>> {
    let count = u32::try_from(node.named_child_count()).ok()?;
    node.named_child(count.checked_sub(1)?)
}
