//! Redirections and here-documents.

use tree_sitter::Node;

use super::exec::Machine;
use super::inner::{Inner, reads_script};
use super::state::{State, Written};
use super::word::Word;

impl<'t> Machine<'t> {
    /// A statement with `>`, `<` and here-documents.
    pub(super) fn redirected(&mut self, node: Node<'t>, mut states: Vec<State>) -> Vec<State> {
        for state in &mut states {
            let Some(word) = self.heredoc_of(node, state) else { continue };
            let at = word.at;
            let Some(file) = self.destination(node, state) else {
                self.script_in(node, word, state);
                continue;
            };
            state.files.insert(file, Written { text: word.text, at });
        }
        match node.child_by_field_name("body") {
            Some(body) => self.statement(body, states),
            None => states,
        }
    }

    /// `bash <<EOF`, `ssh host <<EOF`: the here-document is the script.
    fn script_in(&mut self, node: Node<'t>, script: Word, state: &mut State) {
        let Some(body) = node.child_by_field_name("body").filter(|body| body.kind() == "command") else {
            return;
        };
        let words = self.command_words(body, state);
        if reads_script(&words) {
            let end = words.len();
            let state = &self.with_assignments(body, state);
            self.inner(&Inner { end, script, arguments: Vec::new(), is_typed: false }, &words, state);
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
}
