//! Statements.

use std::collections::BTreeMap;

use tree_sitter::Node;

use crate::recipe::launch::started;
use crate::recipe::source::Source;
use crate::yaml::Position;

use super::server::Started;
use super::state::{Flow, State, Value, Written};
use super::word::Word;

/// Ways through a script that are kept apart; beyond, they are made one.
const MOST_WAYS: usize = 32;
/// Statements and words, over all ways.
const MOST_STEPS: usize = 400_000;
/// Nesting of statements, words and functions.
const MOST_DEPTH: usize = 150;
/// Turns of a loop over known words.
const MOST_TURNS: usize = 16;

/// Commands that speak of servers and start none.
const NO_SERVERS: [&str; 14] = [
    "echo", "printf", "log", "cat", "grep", "pkill", "pgrep", "ps", "kill", "killall", "which", "sed", "awk",
    "logger",
];

/// A shell that walks one script.
pub(super) struct Machine<'t> {
    pub(super) text: &'t str,
    pub(super) source: Source<'t>,
    /// Where everything stands, for a script inside of a word.
    pub(super) fixed: Option<Position>,
    functions: BTreeMap<&'t str, Node<'t>>,
    steps: usize,
    pub(super) depth: usize,
    /// Scripts inside of words around this one.
    pub(super) nesting: usize,
    /// A bound was met: what is said about the script may not be all.
    pub(super) exhausted: bool,
    pub(super) started: Vec<Started>,
    pub(super) sourced: Vec<(Position, String)>,
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
        }
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
            "while_statement" | "c_style_for_statement" => {
                let body = node.child_by_field_name("body");
                match body {
                    Some(body) => self.maybe(body, states),
                    None => states,
                }
            }
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
        self.steps += states.iter().map(|state| state.vars.len() / 8).sum::<usize>();
        let most = if self.steps > MOST_STEPS / 2 { 1 } else { MOST_WAYS };
        let mut kept: Vec<State> = Vec::with_capacity(states.len());
        for state in states {
            let is_same = |held: &State| {
                held.flow == state.flow && held.vars == state.vars && held.files == state.files
            };
            if !kept.iter().any(is_same) {
                kept.push(state);
            }
        }
        if kept.len() <= most {
            return kept;
        }
        let (running, ended): (Vec<State>, Vec<State>) = kept.into_iter().partition(State::runs);
        State::merged(running).into_iter().chain(State::merged(ended)).collect()
    }

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
                    words.splice(0..0, held.iter().cloned());
                }
                if words.len() > 4096 {
                    self.exhausted = true;
                    words.truncate(4096);
                }
                Value::Array(words)
            }
            Some(value) => Value::Scalar(self.word(value, state)),
            None => Value::Scalar(Word::new("", at)),
        };
        let new = match (new, state.get(name)) {
            (Value::Scalar(word), Some(Value::Scalar(held))) if appends => {
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
            Some(Value::Array(words)) => words.clone(),
            _ => Vec::new(),
        };
        words.insert(0, item);
        state.set(name, Value::Array(words), false);
    }

    /// `export`, `declare`, `local`, `readonly`, `typeset`.
    fn declare(&mut self, node: Node<'t>, state: &mut State) {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
        let word = children.first().map_or("", |first| self.source_of(*first));
        let flags: Vec<&str> = children
            .iter()
            .map(|child| self.source_of(*child))
            .filter(|text| text.starts_with('-'))
            .collect();
        let exports = word == "export" || flags.iter().any(|flag| flag.contains('x'));
        let takes_back = word == "export" && flags.iter().any(|flag| flag.contains('n'));
        for child in children {
            match child.kind() {
                "variable_assignment" => self.assign(child, state, exports),
                "variable_name" if takes_back => {
                    if let Some(var) = state.vars.get_mut(self.source_of(child)) {
                        var.is_exported = false;
                    }
                }
                "variable_name" if exports => state.export(self.source_of(child)),
                // `export $NAMES`, `export "A=b"`
                "word" | "string" | "raw_string" | "concatenation"
                    if !self.source_of(child).starts_with('-') =>
                {
                    let word = self.word(child, state);
                    if let Some((name, value)) = word.text.split_once('=') {
                        let value = Word { text: value.to_owned(), verbatim: None, ..word.clone() };
                        state.set(name, Value::Scalar(value), exports);
                    } else if exports {
                        state.export(&word.text);
                    }
                }
                _ => {}
            }
        }
    }

    fn unset(&mut self, node: Node<'t>, state: &mut State) {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        for child in children {
            let names = match child.kind() {
                "variable_name" => vec![Word::new(self.source_of(child), self.at(child))],
                _ => self.words(child, state),
            };
            for name in names.iter().filter(|name| !name.text.starts_with('-')) {
                state.set(&name.text, Value::Unset, false);
            }
        }
    }

    /// The words of a command, its name first; assignments in front are not among them.
    pub(super) fn command_words(&mut self, node: Node<'t>, state: &mut State) -> Vec<Word> {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        let mut words = Vec::new();
        for child in children {
            match child.kind() {
                "variable_assignment"
                | "file_redirect"
                | "heredoc_redirect"
                | "herestring_redirect"
                | "comment" => {}
                "command_name" => match child.named_child(0) {
                    Some(name) => words.extend(self.words(name, state)),
                    None => words.push(Word::new(self.source_of(child), self.at(child))),
                },
                _ => words.extend(self.words(child, state)),
            }
        }
        words
    }

    fn command(&mut self, node: Node<'t>, mut state: State) -> Vec<State> {
        let words = self.command_words(node, &mut state);
        let mut inline = state.clone();
        let mut cursor = node.walk();
        let assignments: Vec<Node<'t>> =
            node.named_children(&mut cursor).filter(|child| child.kind() == "variable_assignment").collect();
        for assignment in assignments {
            self.assign(assignment, &mut inline, true);
        }
        let Some(name) = words.first().map(|word| word.text.clone()) else {
            // Assignments alone hold on.
            return vec![inline];
        };
        match name.as_str() {
            "exit" => {
                state.flow = Flow::Exit;
                return vec![state];
            }
            "return" => {
                state.flow = Flow::Return;
                return vec![state];
            }
            "set" => {
                let is_all = |word: &&Word| matches!(word.text.as_str(), "-a" | "allexport");
                if let Some(flag) = words.iter().skip(1).find(is_all) {
                    let turns_off =
                        words.iter().take_while(|word| *word != flag).any(|word| word.text == "+o");
                    state.exports_all = !turns_off;
                } else if words.iter().any(|word| word.text == "+a") {
                    state.exports_all = false;
                }
                return vec![state];
            }
            "read" | "mapfile" | "readarray" => {
                let at = self.at(node);
                for name in words.iter().skip(1).filter(|word| !word.text.starts_with('-')) {
                    let open = Word::new(super::word::unresolved(&format!("${}", name.text)), at);
                    state.set(&name.text, Value::Scalar(open), false);
                }
                return vec![state];
            }
            "source" | "." => {
                let at = self.at(node);
                let file = words.get(1).map_or("", |word| word.text.as_str());
                self.sourced.push((at, crate::recipe::number::shown(file)));
                return vec![state];
            }
            _ => {}
        }
        if let Some(body) = self.functions.get(name.as_str()).copied() {
            return self.call(body, &words, state);
        }
        if let Some(script) = inner_script(&words)
            && self.nesting < 3
        {
            let at = script.at;
            let text = script.text.clone();
            self.inner(&text, at, &words, &inline);
        }
        if !NO_SERVERS.contains(&name.as_str())
            && started(words.iter().map(|word| word.text.as_str())).is_some()
        {
            let at = self.at(node);
            self.started.push(Started { words, state: inline, at });
        }
        vec![state]
    }

    fn call(&mut self, body: Node<'t>, words: &[Word], mut state: State) -> Vec<State> {
        let outer = std::mem::replace(&mut state.positional, words.get(1..).unwrap_or_default().to_vec());
        let mut after = self.statement(body, vec![state]);
        for state in &mut after {
            state.positional.clone_from(&outer);
            if state.flow == Flow::Return {
                state.flow = Flow::Run;
            }
        }
        after
    }

    /// `bash -c "..."`: a script of its own; what it sets is lost, what it starts is started.
    fn inner(&mut self, text: &str, at: Position, words: &[Word], state: &State) {
        let Some(tree) = super::parse::tree(text) else { return };
        let mut state = state.clone();
        state.positional.clear();
        let is_container = super::server::is_container(words);
        if is_container {
            state.vars.values_mut().for_each(|var| var.is_exported = false);
        }
        for (name, value) in super::server::given(words, &state) {
            state.set(&name, Value::Scalar(value), true);
        }
        let mut machine = Machine::new(text, Some(at), self.nesting + 1);
        machine.steps = self.steps;
        machine.statement(tree.root_node(), vec![state]);
        self.steps = machine.steps;
        self.exhausted |= machine.exhausted;
        self.started.append(&mut machine.started);
        self.sourced.append(&mut machine.sourced);
    }

    /// A statement with `>`, `<` and here-documents.
    fn redirected(&mut self, node: Node<'t>, mut states: Vec<State>) -> Vec<State> {
        for state in &mut states {
            let Some(word) = self.heredoc_of(node, state) else { continue };
            let Some(file) = self.destination(node, state) else { continue };
            let at = word.at;
            state.files.insert(file, Written { text: word.text, at });
        }
        match node.child_by_field_name("body") {
            Some(body) => self.statement(body, states),
            None => states,
        }
    }

    /// The here-document of a statement.
    pub(super) fn heredoc_of(&mut self, node: Node<'t>, state: &mut State) -> Option<Word> {
        let mut cursor = node.walk();
        let redirect = node.named_children(&mut cursor).find(|child| child.kind() == "heredoc_redirect")?;
        let mut inner = redirect.walk();
        let parts: Vec<Node<'t>> = redirect.named_children(&mut inner).collect();
        let start = parts.iter().find(|part| part.kind() == "heredoc_start")?;
        let body = parts.iter().find(|part| part.kind() == "heredoc_body")?;
        let is_raw = self.source_of(*start).contains(['\'', '"', '\\']);
        Some(self.heredoc(*body, is_raw, state))
    }

    /// The file that `> file`, or `tee file`, writes.
    fn destination(&mut self, node: Node<'t>, state: &mut State) -> Option<String> {
        let mut cursor = node.walk();
        let direct: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        let mut redirects: Vec<Node<'t>> = Vec::new();
        for child in &direct {
            let mut inner = child.walk();
            redirects.push(*child);
            if child.kind() == "heredoc_redirect" {
                redirects.extend(child.named_children(&mut inner));
            }
        }
        for redirect in redirects.into_iter().filter(|child| child.kind() == "file_redirect") {
            let is_out = self
                .source_of(redirect)
                .trim_start_matches(|letter: char| letter.is_ascii_digit())
                .starts_with('>');
            if let Some(file) = redirect.child_by_field_name("destination").filter(|_| is_out) {
                let file = self.word(file, state);
                return file.is_resolved().then_some(file.text);
            }
        }
        let body = node.child_by_field_name("body").filter(|body| body.kind() == "command")?;
        let words = self.command_words(body, state);
        match words.as_slice() {
            [tee, .., file] if tee.text == "tee" && file.is_resolved() => Some(file.text.clone()),
            _ => None,
        }
    }

    /// `a && b`, `a || b`. A command is taken to succeed.
    fn list(&mut self, node: Node<'t>, states: Vec<State>) -> Vec<State> {
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
        {
            return vec![(state, true)];
        }
        both_ways(self.source_of(test), state)
    }

    fn conditional(&mut self, node: Node<'t>, states: Vec<State>) -> Vec<State> {
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
                None => both_ways(self.source_of(*last), state),
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
    fn for_each(&mut self, node: Node<'t>, states: Vec<State>) -> Vec<State> {
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

    /// A body that runs or does not.
    fn maybe(&mut self, body: Node<'t>, states: Vec<State>) -> Vec<State> {
        let mut after = states.clone();
        after.extend(self.statement(body, states));
        after
    }
}

/// A condition that only the run decides: as this way has taken it already, or both ways.
fn both_ways(key: &str, state: State) -> Vec<(State, bool)> {
    if let Some((_, holds)) = state.decided.iter().find(|(text, _)| text == key) {
        let holds = *holds;
        return vec![(state, holds)];
    }
    let mut other = state.clone();
    let mut state = state;
    state.decided.push((key.to_owned(), true));
    other.decided.push((key.to_owned(), false));
    vec![(state, true), (other, false)]
}

/// The script of `bash -c script`, `eval script`, whatever stands in front of it.
fn inner_script(words: &[Word]) -> Option<&Word> {
    if words.first().is_some_and(|word| word.text == "eval") {
        return words.get(1).filter(|_| words.len() == 2);
    }
    let shell =
        words.iter().position(|word| matches!(word.text.rsplit('/').next(), Some("bash" | "sh" | "zsh")))?;
    let rest = words.get(shell + 1..)?;
    let flag = rest.iter().position(|word| {
        word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with('c')
    })?;
    rest.get(flag + 1)
}
