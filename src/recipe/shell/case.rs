//! `case`: the arm that holds, or every arm that may.

use tree_sitter::Node;

use crate::recipe::selector::is_match;

use super::exec::Machine;
use super::state::State;

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
                after.extend(self.every_arm(subject, &arms, &state));
                continue;
            }
            match arms.iter().find(|arm| self.holds(**arm, &word.text, &mut state)) {
                Some(arm) => after.extend(self.arm(*arm, vec![state])),
                None => after.push(state),
            }
        }
        self.bounded(after)
    }

    /// Only the run knows the subject: each arm is a way of its own, and so is none of them.
    fn every_arm(&mut self, subject: Node<'t>, arms: &[Node<'t>], state: &State) -> Vec<State> {
        let mut after = Vec::new();
        let mut has_default = false;
        for arm in arms {
            let label = arm.child_by_field_name("value").map_or("", |value| self.source_of(value));
            has_default |= label == "*";
            let mut taken = state.clone();
            taken.decided.push((format!("{} in {label}", self.source_of(subject)), true));
            after.extend(self.arm(*arm, vec![taken]));
        }
        if !has_default {
            after.push(state.clone());
        }
        after
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
