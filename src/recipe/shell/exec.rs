//! Statements.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher as _, RandomState};

use tree_sitter::Node;

use crate::recipe::source::Source;
use crate::yaml::Position;

use super::server::Started;
use super::state::State;

/// Ways through a script that are kept apart; beyond, they are made one.
const MOST_WAYS: usize = 32;
/// Statements and words, over all ways.
const MOST_STEPS: usize = 400_000;
/// Nesting of statements, words and functions.
const MOST_DEPTH: usize = 150;

/// A shell that walks one script.
pub(super) struct Machine<'t> {
    pub(super) text: &'t str,
    pub(super) source: Source<'t>,
    /// Where everything stands, for a script inside of a word.
    pub(super) fixed: Option<Position>,
    pub(super) functions: BTreeMap<&'t str, Node<'t>>,
    pub(super) steps: usize,
    pub(super) depth: usize,
    /// Scripts inside of words around this one.
    pub(super) nesting: usize,
    /// A bound was met: what is said about the script may not be all.
    pub(super) exhausted: bool,
    pub(super) started: Vec<Started>,
    pub(super) sourced: Vec<(Position, String)>,
    /// Commands that only the run knows, each run with simulated acceptance: one of them may be the server.
    pub(super) unknown: Vec<(Position, String)>,
    /// What cannot be decided, and why.
    pub(super) undecided: Vec<(Position, String)>,
}

impl<'t> Machine<'t> {
    pub(super) fn new(text: &'t str, fixed: Option<Position>, nesting: usize) -> Self {
        Self {
            text,
            source: Source::new(text),
            fixed,
            functions: BTreeMap::new(),
            steps: 0,
            depth: 0,
            nesting,
            exhausted: false,
            started: Vec::new(),
            sourced: Vec::new(),
            unknown: Vec::new(),
            undecided: Vec::new(),
        }
    }

    /// Counts as steps what is copied or looked through: so many things, and so many bytes of text.
    pub(super) fn copied(&mut self, things: usize, bytes: usize) {
        self.steps += things / 64 + bytes / 128;
    }

    /// Enters a level; true where there is no more room, and then it is not entered.
    pub(super) fn deeper(&mut self) -> bool {
        self.steps += 1;
        if self.steps > MOST_STEPS || self.depth >= MOST_DEPTH {
            self.exhausted = true;
            return true;
        }
        self.depth += 1;
        false
    }

    pub(super) fn statement(&mut self, node: Node<'t>, states: Vec<State>) -> Vec<State> {
        if states.is_empty() || self.deeper() {
            return states;
        }
        let (running, mut after): (Vec<State>, Vec<State>) = states.into_iter().partition(State::runs);
        after.extend(self.run(node, running));
        self.depth -= 1;
        self.bounded(after)
    }

    fn run(&mut self, node: Node<'t>, mut states: Vec<State>) -> Vec<State> {
        match node.kind() {
            "comment" | "heredoc_body" | "test_command" => states,
            "variable_assignment" => {
                for state in &mut states {
                    self.assign(node, state, false);
                }
                states
            }
            "declaration_command" => {
                for state in &mut states {
                    self.declare(node, state);
                }
                states
            }
            "unset_command" => {
                for state in &mut states {
                    self.unset(node, state);
                }
                states
            }
            "command" => states.into_iter().flat_map(|state| self.command(node, state)).collect(),
            "redirected_statement" => self.redirected(node, states),
            "function_definition" => {
                if let (Some(name), Some(body)) =
                    (node.child_by_field_name("name"), node.child_by_field_name("body"))
                {
                    self.functions.insert(self.source_of(name), body);
                }
                states
            }
            "list" => self.list(node, states),
            "if_statement" => self.conditional(node, states),
            "case_statement" => self.case(node, states),
            "for_statement" => self.for_each(node, states),
            "while_statement" | "c_style_for_statement" => self.repeated(node, states),
            "subshell" | "pipeline" => {
                // What is set inside is lost outside; what is started is started.
                for state in &states {
                    self.children(node, vec![state.clone()]);
                }
                states
            }
            // Sequences, negations, and what the grammar could not read: what stands inside.
            _ => self.children(node, states),
        }
    }

    fn children(&mut self, node: Node<'t>, states: Vec<State>) -> Vec<State> {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        self.sequence(&children, states)
    }

    pub(super) fn sequence(&mut self, nodes: &[Node<'t>], mut states: Vec<State>) -> Vec<State> {
        for node in nodes {
            states = self.statement(*node, states);
        }
        states
    }

    /// At most so many ways: beyond, those that still run become one, open where they differ.
    pub(super) fn bounded(&mut self, states: Vec<State>) -> Vec<State> {
        if states.len() <= 1 {
            return states;
        }
        // Keeping ways apart costs what they know; half of all steps spent, they are one from here on.
        self.steps += states.iter().map(|state| (state.vars.len() + state.files.len()) / 8).sum::<usize>();
        let most = if self.steps > MOST_STEPS / 2 { 1 } else { MOST_WAYS };
        let kept = distinct(states);
        if kept.len() <= most {
            return kept;
        }
        // What the first took is looked up in all others.
        let first = kept.first().map_or(0, |state| state.taken.len() + state.decided.len());
        self.copied(kept.len() * first, 0);
        let (running, ended): (Vec<State>, Vec<State>) = kept.into_iter().partition(State::runs);
        State::merged(running).into_iter().chain(State::merged(ended)).collect()
    }
}

/// The ways that differ, of equal ones the first.
fn distinct(states: Vec<State>) -> Vec<State> {
    // So few are held against each other at once; more are sorted by what they know.
    const FEW: usize = 2 * MOST_WAYS;
    let is_same = |held: &State, state: &State| {
        held.flow == state.flow
            && held.vars == state.vars
            && held.files == state.files
            && held.unread == state.unread
    };
    let is_many = states.len() > FEW;
    let mut kept: Vec<State> = Vec::new();
    let (mut by_hash, hasher): (HashMap<u64, Vec<usize>>, _) = (HashMap::new(), RandomState::new());
    for state in states {
        if !is_many {
            if !kept.iter().any(|held| is_same(held, &state)) {
                kept.push(state);
            }
            continue;
        }
        let known = (state.flow, &state.vars, &state.files, &state.unread);
        let alike = by_hash.entry(hasher.hash_one(known)).or_default();
        if !alike.iter().any(|index| kept.get(*index).is_some_and(|held| is_same(held, &state))) {
            alike.push(kept.len());
            kept.push(state);
        }
    }
    kept
}
