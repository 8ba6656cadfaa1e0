//! Lists, conditions and loops.

use std::sync::Arc;

use tree_sitter::Node;

use super::exec::Machine;
use super::state::{State, Value};
use super::word::Word;

/// Turns of a loop over known words.
const MOST_TURNS: usize = 16;

impl<'t> Machine<'t> {
    /// `a && b`, `a || b`. A command is taken to succeed.
    pub(super) fn list(&mut self, node: Node<'t>, states: Vec<State>) -> Vec<State> {
        let (Some(left), Some(right)) = (node.named_child(0), node.named_child(1)) else { return states };
        let mut cursor = node.walk();
        let is_and = node.children(&mut cursor).any(|child| child.kind() == "&&");
        let mut after = Vec::new();
        for state in self.statement(left, states) {
            if !state.runs() {
                after.push(state);
                continue;
            }
            for (state, holds) in self.decide(left, state) {
                if holds == is_and {
                    after.extend(self.statement(right, vec![state]));
                } else {
                    after.push(state);
                }
            }
        }
        after
    }

    /// The ways that a condition splits a state into. What is no test succeeds.
    fn decide(&mut self, test: Node<'t>, mut state: State) -> Vec<(State, bool)> {
        if let Some(holds) = self.test(test, &mut state) {
            return vec![(state, holds)];
        }
        if matches!(
            test.kind(),
            "command" | "redirected_statement" | "variable_assignment" | "declaration_command" | "pipeline"
        ) && !self.source_of(test).starts_with("test ")
            && !self.is_predicate(test)
        {
            return vec![(state, true)];
        }
        self.both_ways(test, state)
    }

    /// A call of a function that is one test in brackets.
    fn is_predicate(&self, command: Node<'t>) -> bool {
        let name = self.source_of(command).split_whitespace().next().unwrap_or_default();
        self.predicate(name).is_some_and(|test| test.kind() == "test_command")
    }

    /// A condition that only the run decides, both ways, with what each says of variables.
    fn both_ways(&mut self, test: Node<'t>, state: State) -> Vec<(State, bool)> {
        let mut ways = both_ways(self.source_of(test), state);
        for (state, holds) in &mut ways {
            self.learn(test, *holds, state);
        }
        ways
    }

    pub(super) fn conditional(&mut self, node: Node<'t>, states: Vec<State>) -> Vec<State> {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
        self.branches(&children, states)
    }

    /// The children of `if` or `elif`, up to `then` the condition, behind it the body, then further branches.
    fn branches(&mut self, children: &[Node<'t>], states: Vec<State>) -> Vec<State> {
        let then = children.iter().position(|child| child.kind() == "then").unwrap_or(children.len());
        let (before, behind) = children.split_at(then);
        let conditions: Vec<Node<'t>> = before.iter().filter(|child| child.is_named()).copied().collect();
        let is_further = |child: &&Node<'t>| matches!(child.kind(), "elif_clause" | "else_clause");
        let body: Vec<Node<'t>> =
            behind.iter().filter(|child| child.is_named() && !is_further(child)).copied().collect();
        let further: Vec<Node<'t>> = behind.iter().filter(is_further).copied().collect();
        let Some((last, earlier)) = conditions.split_last() else { return states };
        let mut after = Vec::new();
        let mut otherwise = Vec::new();
        let states = self.sequence(earlier, states);
        for state in self.statement(*last, states) {
            if !state.runs() {
                after.push(state);
                continue;
            }
            let mut state = state;
            let ways = match self.test(*last, &mut state) {
                Some(holds) => vec![(state, holds)],
                None => self.both_ways(*last, state),
            };
            for (state, holds) in ways {
                if holds {
                    after.extend(self.sequence(&body, vec![state]));
                } else {
                    otherwise.push(state);
                }
            }
        }
        after.extend(self.further(&further, otherwise));
        after
    }

    fn further(&mut self, clauses: &[Node<'t>], states: Vec<State>) -> Vec<State> {
        let Some((first, rest)) = clauses.split_first() else { return states };
        if states.is_empty() || self.deeper() {
            return states;
        }
        let mut cursor = first.walk();
        let mut children: Vec<Node<'t>> = first.children(&mut cursor).collect();
        let after = if first.kind() == "else_clause" {
            children.retain(Node::is_named);
            self.sequence(&children, states)
        } else {
            children.extend(rest);
            self.branches(&children, states)
        };
        self.depth -= 1;
        after
    }

    /// A loop over words that are known runs for each; another may run.
    pub(super) fn for_each(&mut self, node: Node<'t>, states: Vec<State>) -> Vec<State> {
        let (Some(variable), Some(body)) =
            (node.child_by_field_name("variable"), node.child_by_field_name("body"))
        else {
            return states;
        };
        let name = self.source_of(variable);
        let mut cursor = node.walk();
        let values: Vec<Node<'t>> = node.children_by_field_name("value", &mut cursor).collect();
        let mut after = Vec::new();
        for mut state in states {
            let words: Vec<Word> = values.iter().flat_map(|value| self.words(*value, &mut state)).collect();
            let is_known =
                words.iter().all(Word::is_resolved) && words.len() <= MOST_TURNS && !words.is_empty();
            if !is_known {
                let open = Word::new(super::word::unresolved(&format!("${name}")), self.at(node));
                let mut turned = state.clone();
                turned.set(name, Value::Scalar(open), false);
                after.extend(self.statement(body, vec![turned]));
                after.push(state);
                continue;
            }
            let mut ways = vec![state];
            for word in words {
                for state in &mut ways {
                    state.set(name, Value::Scalar(word.clone()), false);
                }
                ways = self.statement(body, ways);
            }
            after.extend(ways);
        }
        after
    }

    /// `while` and `until`: the condition runs, the body may. What the condition reads holds in the body and behind it.
    pub(super) fn repeated(&mut self, node: Node<'t>, mut states: Vec<State>) -> Vec<State> {
        let Some(body) = node.child_by_field_name("body") else { return states };
        let mut cursor = node.walk();
        let conditions: Vec<Node<'t>> = node.children_by_field_name("condition", &mut cursor).collect();
        if node.kind() == "while_statement" {
            states = self.sequence(&conditions, states);
        }
        let mut after = states.clone();
        after.extend(self.statement(body, states));
        after
    }
}

/// A condition that only the run decides: as this way has taken it already, or both ways.
fn both_ways(key: &str, state: State) -> Vec<(State, bool)> {
    if let Some(holds) = state.decided.get(key) {
        return vec![(state, holds)];
    }
    let mut other = state.clone();
    let mut state = state;
    let key: Arc<str> = Arc::from(key);
    state.decided.push(Arc::clone(&key), true);
    other.decided.push(key, false);
    vec![(state, true), (other, false)]
}
