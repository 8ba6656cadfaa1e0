//! Dockerfiles: what the image's server gets.

use std::sync::Arc;

use crate::yaml::{Position, Scalar, ScalarStyle};

use super::compose::{interpolate_with, started};
use super::model::{Document, Kind, Variable, variable};
use super::shell::Word;

/// One instruction with its continued lines.
struct Instruction<'a> {
    name: &'a str,
    rest: String,
    line: usize,
}

pub(crate) fn read(text: &str) -> Document {
    let mut document = Document::new(Kind::Dockerfile, Vec::new());
    let (mut known, mut env): (Vec<Variable>, Vec<Variable>) = (Vec::new(), Vec::new());
    let mut entrypoint: (Vec<Word>, usize) = (Vec::new(), 1);
    let mut command: (Vec<Word>, usize) = (Vec::new(), 1);
    for instruction in instructions(text) {
        let at = Position { line: instruction.line, column: 1 };
        let resolved = interpolate_with(&instruction.rest, &|name| {
            variable(&known, name).map(|value| value.text.to_string())
        });
        match instruction.name.to_ascii_uppercase().as_str() {
            // A new stage begins with nothing of the former.
            "FROM" => {
                env.clear();
                known.clear();
                entrypoint.0.clear();
                command.0.clear();
            }
            "ARG" => known.extend(pairs(&resolved, at)),
            "ENV" => {
                let pairs = pairs(&resolved, at);
                known.extend(pairs.iter().cloned());
                env.extend(pairs);
            }
            "ENTRYPOINT" => entrypoint = (words(&resolved, at), instruction.line),
            "CMD" => command = (words(&resolved, at), instruction.line),
            _ => {}
        }
    }
    let line = if entrypoint.0.is_empty() { command.1 } else { entrypoint.1 };
    let mut all = entrypoint.0;
    all.extend(command.0);
    (document.variants, document.undecided) = started(&all, &env, Position { line, column: 1 });
    document
}

fn instructions(text: &str) -> Vec<Instruction<'_>> {
    let mut found: Vec<Instruction<'_>> = Vec::new();
    let mut continues = false;
    for (index, line) in text.lines().enumerate() {
        let body = line.trim();
        if body.starts_with('#') || (body.is_empty() && !continues) {
            continue;
        }
        let (part, goes_on) = match body.strip_suffix('\\') {
            Some(part) => (part, true),
            None => (body, false),
        };
        if let Some(last) = found.last_mut().filter(|_| continues) {
            last.rest.push(' ');
            last.rest.push_str(part);
        } else {
            let (name, rest) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
            found.push(Instruction { name, rest: rest.trim().to_owned(), line: index + 1 });
        }
        continues = goes_on;
    }
    found
}

/// `NAME=value NAME2="other value"`, or `NAME value`.
fn pairs(text: &str, at: Position) -> Vec<Variable> {
    let value = |text: &str| Scalar { at, text: Arc::from(text), style: ScalarStyle::Plain };
    let words = shlex::split(text).unwrap_or_default();
    if let Some(first) = words.first()
        && !first.contains('=')
        && words.len() > 1
    {
        let rest = text.trim_start().strip_prefix(first.as_str()).unwrap_or_default().trim();
        return vec![Variable { name: first.clone(), value: value(rest.trim_matches('"')) }];
    }
    let pair = |word: &String| {
        let (name, text) = word.split_once('=')?;
        Some(Variable::of_text(name, value(text)))
    };
    words.iter().filter_map(pair).collect()
}

/// The words of a command: a JSON list, or a text for a shell.
fn words(text: &str, at: Position) -> Vec<Word> {
    let list: Option<Vec<String>> =
        if text.starts_with('[') { serde_json::from_str(text).ok() } else { None };
    let words = list.or_else(|| shlex::split(text)).unwrap_or_default();
    words.into_iter().map(|word| Word::new(word, at)).collect()
}
