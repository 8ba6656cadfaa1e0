//! Simple commands: builtins, functions, scripts inside of words, servers.

use std::sync::Arc;

use tree_sitter::Node;

use crate::recipe::launch::{drafts_as, started};
use crate::recipe::number::UNRESOLVED;
use crate::yaml::Position;

use super::exec::Machine;
use super::inner::{Inner, inner_script, is_runner, script_file};
use super::server::Started;
use super::state::{Flow, State};
use super::word::Word;
use super::wrap::{passed, program, simulates};

/// Scripts inside of words inside of words.
const MOST_NESTING: usize = 3;

/// Words of one command, and of one array.
pub(super) const MOST_WORDS: usize = 4096;

/// Commands that speak of servers and start none.
const NO_SERVERS: [&str; 19] = [
    ":", "true", "false", "test", "[", "echo", "printf", "log", "cat", "grep", "pkill", "pgrep", "ps",
    "kill", "killall", "which", "sed", "awk", "logger",
];

impl<'t> Machine<'t> {
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
            if words.len() > MOST_WORDS {
                self.exhausted = true;
                words.truncate(MOST_WORDS);
            }
        }
        self.copied(words.len(), 0);
        words
    }

    /// The state with the assignments in front of a command.
    pub(super) fn with_assignments(&mut self, node: Node<'t>, state: &State) -> State {
        let mut inline = state.clone();
        let mut cursor = node.walk();
        let assignments: Vec<Node<'t>> =
            node.named_children(&mut cursor).filter(|child| child.kind() == "variable_assignment").collect();
        for assignment in assignments {
            self.assign(assignment, &mut inline, true);
        }
        inline
    }

    /// The states with what the assignments in front of a command set as it was before.
    fn without_assignments(&self, node: Node<'t>, before: &State, mut after: Vec<State>) -> Vec<State> {
        let mut cursor = node.walk();
        for assignment in node.named_children(&mut cursor) {
            if assignment.kind() != "variable_assignment" {
                continue;
            }
            let Some(name) = assignment.child_by_field_name("name") else { continue };
            for state in &mut after {
                state.put_back(self.source_of(name), before);
            }
        }
        after
    }

    pub(super) fn command(&mut self, node: Node<'t>, mut state: State) -> Vec<State> {
        let words = self.command_words(node, &mut state);
        let inline = self.with_assignments(node, &state);
        let Some(name) = words.first().map(|word| word.text.clone()) else {
            // Assignments alone hold on.
            return vec![inline];
        };
        // What stands in front holds while a builtin or a function runs, and no longer.
        let mut given = inline.clone();
        if let Some(after) = self.builtin(&words, node, &mut given) {
            return self.without_assignments(node, &state, after);
        }
        if let Some(body) = self.functions.get(name.as_str()).copied() {
            let after = self.call(body, &words, given);
            return self.without_assignments(node, &state, after);
        }
        self.launched(&words, self.at(node), &inline);
        vec![state]
    }

    /// What a command that is no builtin runs: a script in one of its words or in a file written here, or a server.
    fn launched(&mut self, words: &[Word], at: Position, state: &State) {
        if NO_SERVERS.contains(&words.first().map_or("", program)) {
            return;
        }
        if let Some(inner) = inner_script(words) {
            self.inner(&inner, words, state);
            return;
        }
        if let Some((end, file)) = script_file(words)
            && let Some(written) = state.file(&file)
        {
            let arguments = words.get(end + 1..).unwrap_or_default().to_vec();
            let script = Word::new(written.text.clone(), written.at);
            self.inner(&Inner { end, script, arguments, is_typed: false }, words, state);
            return;
        }
        let server = started(words.iter().map(|word| word.text.as_str())).map(|(_, index)| index);
        // `$LAUNCH --speculative-algorithm ..`: only the run knows what it starts.
        let is_front = |word: &&Word| !word.text.starts_with("--") || word.text.contains('=');
        let front = words.iter().take_while(is_front).count();
        let open = words.iter().take(front).find(|word| !word.is_resolved() && !word.text.starts_with('-'));
        let flags = words.iter().filter_map(|word| word.text.strip_prefix("--"));
        let unknown = match server {
            None if drafts_as(flags).is_some() => open.cloned(),
            _ => None,
        };
        let Some(end) = server.or_else(|| unknown.as_ref().map(|_| front)) else {
            let is_front = |word: &&Word| {
                let text = word.text.as_str();
                is_runner(program(word))
                    || text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
                    || text.contains('=')
            };
            if let Some(command) = words.iter().find(|word| !is_front(word))
                && command.text.starts_with(UNRESOLVED)
                && self.is_simulating(state)
            {
                let shown = crate::recipe::number::shown(&command.text);
                let message = format!(
                    "the command is {shown}, which only the run resolves: whether it is the server that this script pins, and \
                     how that drafts, cannot be told"
                );
                self.unknown.push((at, message));
            }
            return;
        };
        let state = passed(words.get(..end).unwrap_or_default(), state);
        if let Some(unknown) = unknown {
            let shown = crate::recipe::number::shown(&unknown.text);
            let message = format!(
                "the command is {shown}, which only the run resolves: its arguments are those of a server that drafts, and \
                 whether it starts one, and with which variables, cannot be told"
            );
            self.undecided.push((at, message));
        }
        let unread = state.unread.iter().map(|unread| unread.what.len()).sum::<usize>();
        let text = words.iter().map(|word| word.text.len()).sum::<usize>();
        // A launch of its own: what it holds takes room.
        let held = state.vars.len() + state.taken.len() + words.len();
        self.copied(16 * held, unread + text);
        self.started.push(Started { words: words.to_vec(), state, at });
    }

    /// Whether a command that starts here is given simulated acceptance.
    fn is_simulating(&mut self, state: &State) -> bool {
        self.copied(state.vars.len(), 0);
        simulates(state)
    }

    pub(super) fn call(&mut self, body: Node<'t>, words: &[Word], mut state: State) -> Vec<State> {
        let outer = std::mem::replace(&mut state.positional, words.get(1..).unwrap_or_default().into());
        let refs = state.refs.clone();
        let mut after = self.statement(body, vec![state]);
        for state in &mut after {
            state.positional = Arc::clone(&outer);
            state.refs = refs.clone();
            if state.flow == Flow::Return {
                state.flow = Flow::Run;
            }
        }
        after
    }

    /// `bash -c "..."`: a script of its own; what it sets is lost, what it starts is started.
    pub(super) fn inner(&mut self, inner: &Inner, words: &[Word], state: &State) {
        let mut state = passed(words.get(..inner.end).unwrap_or_default(), state);
        state.keep_exported();
        state.positional = inner.arguments.as_slice().into();
        self.copied(4 * state.vars.len() + inner.arguments.len(), 0);
        if inner.is_typed {
            let what = crate::recipe::number::shown(words.first().map_or("", |word| &word.text));
            state.not_followed(inner.script.at, &format!("the shell that {what} types into"), false);
        }
        self.run_text(&inner.script.text, inner.script.at, state);
    }

    /// A script inside of a word, run from a state: what it starts is started.
    pub(super) fn run_text(&mut self, text: &str, at: Position, state: State) -> Vec<State> {
        if self.nesting >= MOST_NESTING {
            self.exhausted = true;
            return vec![state];
        }
        let Some(tree) = super::parse::tree(text) else {
            self.exhausted = true;
            return vec![state];
        };
        let mut machine = Machine::new(text, Some(at), self.nesting + 1);
        machine.steps = self.steps;
        let after = machine.statement(tree.root_node(), vec![state]);
        self.steps = machine.steps;
        self.exhausted |= machine.exhausted;
        self.started.append(&mut machine.started);
        self.sourced.append(&mut machine.sourced);
        self.unknown.append(&mut machine.unknown);
        self.undecided.append(&mut machine.undecided);
        after
    }
}
