//! Builtins that change what the shell knows.

use tree_sitter::Node;

use crate::recipe::number::{UNRESOLVED, shown};
use crate::yaml::Position;

use super::assign::is_name;
use super::exec::Machine;
use super::state::{Flow, State, Value};
use super::word::{Word, unresolved};

impl<'t> Machine<'t> {
    /// The states behind a builtin; none for a command that is none.
    pub(super) fn builtin(
        &mut self,
        words: &[Word],
        node: Node<'t>,
        state: &mut State,
    ) -> Option<Vec<State>> {
        let (name, arguments) = words.split_first()?;
        let at = self.at(node);
        match name.text.as_str() {
            "builtin" | "command" if arguments.first().is_some_and(|word| !word.text.starts_with('-')) => {
                return self.builtin(arguments, node, state);
            }
            "exit" => state.flow = Flow::Exit,
            "return" => state.flow = Flow::Return,
            "set" => set(words, state),
            "read" => read(arguments, &['p', 't', 'n', 'N', 'd', 'u', 'i'], at, state),
            "mapfile" | "readarray" => read(arguments, &['d', 'n', 'O', 's', 'u', 'C', 'c'], at, state),
            "printf" if arguments.first().is_some_and(|flag| flag.text.starts_with("-v")) => {
                print_into(arguments, at, state);
            }
            "eval" => return Some(self.eval(arguments, at, state.clone())),
            "source" | "." => return Some(self.source_file(arguments, at, state.clone())),
            _ => return None,
        }
        Some(vec![state.clone()])
    }

    /// `eval words`: a script that this shell runs.
    fn eval(&mut self, arguments: &[Word], at: Position, mut state: State) -> Vec<State> {
        let Some(first) = arguments.first() else { return vec![state] };
        let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
        let text = texts.join(" ");
        if has_open_command(&text) {
            state.not_followed(at, &format!("eval {}", shown(&text)), false);
        }
        let is_plain =
            !text.contains([';', '&', '|', '<', '>', '(', ')', '$', '`', '"', '\'', '\n', '\\', '#']);
        if is_plain
            && let Some(body) =
                text.split_whitespace().next().and_then(|name| self.functions.get(name)).copied()
        {
            let words: Vec<Word> = text
                .split_whitespace()
                .map(|word| Word { text: word.to_owned(), verbatim: None, ..first.clone() })
                .collect();
            return self.call(body, &words, state);
        }
        self.run_text(&text, first.at, state)
    }

    /// `source file`: what a here-document wrote is run, another file is not read.
    fn source_file(&mut self, arguments: &[Word], at: Position, mut state: State) -> Vec<State> {
        let file = arguments.first().map_or("", |word| word.text.as_str());
        if let Some(written) = state.file(file).cloned() {
            return self.run_text(&written.text, written.at, state);
        }
        state.not_followed(at, &shown(file), true);
        self.sourced.push((at, shown(file)));
        vec![state]
    }
}

/// Whether a script has a command whose name only the run knows: it may be anything.
fn has_open_command(text: &str) -> bool {
    let mut is_start = true;
    let mut is_inside = false;
    for letter in text.chars() {
        if letter == UNRESOLVED {
            if is_start && !is_inside {
                return true;
            }
            is_inside = !is_inside;
            is_start = false;
        } else if !is_inside {
            is_start = match letter {
                ';' | '&' | '|' | '\n' | '(' | '{' => true,
                ' ' | '\t' => is_start,
                _ => false,
            };
        }
    }
    false
}

/// `set -a`, `set +a`, and the parameters behind `set --`.
fn set(words: &[Word], state: &mut State) {
    let is_all = |word: &&Word| matches!(word.text.as_str(), "-a" | "allexport");
    if let Some(flag) = words.iter().skip(1).find(is_all) {
        let turns_off = words.iter().take_while(|word| *word != flag).any(|word| word.text == "+o");
        state.exports_all = !turns_off;
    } else if words.iter().any(|word| word.text == "+a") {
        state.exports_all = false;
    }
    if let Some(at) = words.iter().position(|word| word.text == "--") {
        state.positional = words.get(at + 1..).unwrap_or_default().into();
    }
}

/// `read names`, `mapfile name`: what comes in is open. `valued` are the flags whose value is no name.
fn read(arguments: &[Word], valued: &[char], at: Position, state: &mut State) {
    let mut rest = arguments.iter();
    let mut names: Vec<&Word> = Vec::new();
    while let Some(word) = rest.next() {
        match word.text.strip_prefix('-') {
            Some(flags) if flags.ends_with(valued) => {
                rest.next();
            }
            Some(_) => {}
            None => names.push(word),
        }
    }
    for name in names {
        if is_name(&name.text) {
            let open = Word::new(unresolved(&format!("${}", name.text)), at);
            state.set(&name.text, Value::Scalar(open), false);
        } else if !name.is_resolved() {
            state.not_followed(at, &format!("read {}", shown(&name.text)), false);
        }
    }
}

/// `printf -v NAME format values`.
fn print_into(arguments: &[Word], at: Position, state: &mut State) {
    let attached = arguments.first().and_then(|flag| flag.text.strip_prefix("-v")).unwrap_or_default();
    let (name, rest) = if attached.is_empty() {
        (arguments.get(1).map_or("", |word| word.text.as_str()), arguments.get(2..).unwrap_or_default())
    } else {
        (attached, arguments.get(1..).unwrap_or_default())
    };
    if !is_name(name) {
        state.not_followed(at, &format!("printf -v {}", shown(name)), false);
        return;
    }
    let text = rest.split_first().and_then(|(format, values)| printed(&format.text, values));
    let text = text.unwrap_or_else(|| unresolved(&format!("printf_-v_{name}")));
    state.set(name, Value::Scalar(Word::new(text, at)), false);
}

/// What `printf` prints, where its format is plain: text, `%s`, `%d`, `%%`, a line end.
pub(super) fn printed(format: &str, values: &[Word]) -> Option<String> {
    let mut out = String::new();
    let mut values = values.iter();
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '%' => match letters.next()? {
                '%' => out.push('%'),
                's' => out.push_str(values.next().map_or("", |word| &word.text)),
                'd' => {
                    let number = &values.next()?.text;
                    number.parse::<i64>().ok()?;
                    out.push_str(number);
                }
                _ => return None,
            },
            '\\' => match letters.next()? {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                '\\' => out.push('\\'),
                _ => return None,
            },
            letter => out.push(letter),
        }
    }
    // A format is used again for values that are left.
    values.next().is_none().then_some(out)
}
