//! `$(command)`.

use tree_sitter::Node;

use crate::yaml::Position;

use super::exec::Machine;
use super::state::State;
use super::word::{Word, unresolved};

impl<'t> Machine<'t> {
    /// `$(cat <<EOF`, `$(echo ..)`; what another program prints is open.
    pub(super) fn substitution(&mut self, node: Node<'t>, at: Position, state: &mut State) -> Word {
        let open = Word::new(unresolved(self.source_of(node)), at);
        let mut cursor = node.walk();
        let mut children = node.named_children(&mut cursor);
        let (Some(only), None) = (children.next(), children.next()) else { return open };
        match only.kind() {
            "command" => {
                let words = self.command_words(only, state);
                let Some((name, arguments)) = words.split_first() else { return open };
                match name.text.as_str() {
                    "echo" => {
                        let arguments =
                            arguments.iter().filter(|word| !matches!(word.text.as_str(), "-n" | "-e"));
                        joined_by_space(arguments, at)
                    }
                    "printf" => match arguments
                        .split_first()
                        .and_then(|(format, values)| super::builtin::printed(&format.text, values))
                    {
                        // One value alone keeps its place and its default.
                        Some(text) => match arguments {
                            [_, value] if value.text == text.trim_end_matches('\n') => {
                                Word { at, ..value.clone() }
                            }
                            _ => Word::new(text.trim_end_matches('\n'), at),
                        },
                        None => open,
                    },
                    _ => open,
                }
            }
            "redirected_statement" => {
                let is_cat = self.source_of(only).trim_start().starts_with("cat");
                match self.heredoc_of(only, state).filter(|_| is_cat) {
                    Some(mut word) => {
                        let end = word.text.trim_end_matches('\n').len();
                        word.text.truncate(end);
                        word
                    }
                    None => open,
                }
            }
            _ => open,
        }
    }
}

fn joined_by_space<'w>(words: impl Iterator<Item = &'w Word>, at: Position) -> Word {
    let texts: Vec<&str> = words.map(|word| word.text.as_str()).collect();
    Word::new(texts.join(" "), at)
}
