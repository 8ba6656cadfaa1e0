//! `case`: the arm that holds, or every arm that may.

use tree_sitter::Node;

use crate::recipe::selector::is_match;

use super::exec::Machine;
use super::learn::is_literal;
use super::state::State;
use super::word::Word;

impl<'t> Machine<'t> {
    pub(super) fn case(&mut self, node: Node<'t>, states: Vec<State>) -> Vec<State> {
        let Some(subject) = node.child_by_field_name("value") else { return states };
        let mut cursor = node.walk();
        let arms: Vec<Node<'t>> =
            node.named_children(&mut cursor).filter(|child| child.kind() == "case_item").collect();
        let mut after = Vec::new();
        for mut state in states {
            let word = self.word(subject, &mut state);
            if !word.is_resolved() {
                after.extend(self.every_arm(subject, &word, &arms, &state));
                continue;
            }
            match arms.iter().find(|arm| self.holds(**arm, &word.text, &mut state)) {
                Some(arm) => after.extend(self.arm(*arm, vec![state])),
                None => after.push(state),
            }
        }
        self.bounded(after)
    }

    /// Only the run knows the subject: each arm is a way of its own, and so is none of them. In an arm of plain texts the
    /// subject is one of them.
    fn every_arm(&mut self, subject: Node<'t>, open: &Word, arms: &[Node<'t>], state: &State) -> Vec<State> {
        let mut after = Vec::new();
        let mut has_default = false;
        // What the subject is not where no arm before holds.
        let mut otherwise = state.clone();
        for arm in arms {
            let label = arm.child_by_field_name("value").map_or("", |value| self.source_of(value));
            has_default |= label == "*";
            let mut taken = otherwise.clone();
            taken.decided.push(format!("{} in {label}", self.source_of(subject)), true);
            match self.literals(*arm, &mut taken) {
                Some(values) => {
                    let mut ways = Vec::with_capacity(values.len());
                    for value in values {
                        let mut way = taken.clone();
                        self.copied(way.vars.len(), 0);
                        way.learn(open, &value.text, value.at, true);
                        otherwise.learn(open, &value.text, value.at, false);
                        ways.push(way);
                    }
                    after.extend(self.arm(*arm, ways));
                }
                None => after.extend(self.arm(*arm, vec![taken])),
            }
        }
        if !has_default {
            after.push(otherwise);
        }
        after
    }

    /// The patterns of an arm where all are plain texts, and few.
    fn literals(&mut self, arm: Node<'t>, state: &mut State) -> Option<Vec<Word>> {
        const MOST: usize = 8;
        let mut cursor = arm.walk();
        let values: Vec<Node<'t>> = arm.children_by_field_name("value", &mut cursor).collect();
        let words: Vec<Word> =
            values.into_iter().take(MOST + 1).map(|value| self.word(value, state)).collect();
        let is_plain = |word: &Word| word.is_resolved() && is_literal(&word.text);
        (words.len() <= MOST && words.iter().all(is_plain)).then_some(words)
    }

    fn holds(&mut self, arm: Node<'t>, subject: &str, state: &mut State) -> bool {
        let mut cursor = arm.walk();
        let values: Vec<Node<'t>> = arm.children_by_field_name("value", &mut cursor).collect();
        values.into_iter().any(|value| {
            let pattern = self.word(value, state);
            pattern.is_resolved() && is_match(pattern.text.as_bytes(), subject.as_bytes())
        })
    }

    fn arm(&mut self, arm: Node<'t>, states: Vec<State>) -> Vec<State> {
        let mut cursor = arm.walk();
        let mut body: Vec<Node<'t>> = Vec::new();
        let mut is_body = false;
        for child in arm.children(&mut cursor) {
            if is_body && child.is_named() {
                body.push(child);
            }
            is_body |= child.kind() == ")";
        }
        self.sequence(&body, states)
    }
}
