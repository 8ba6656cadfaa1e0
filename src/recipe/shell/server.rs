//! From a command that starts a server to a launch.

use crate::recipe::json;
use crate::recipe::launch::{guessed, started};
use crate::recipe::model::{Argument, Launch, Role, Variable};
use crate::yaml::{Node, Position, parse};

use super::state::{State, Value};
use super::word::Word;

/// A server that was started on one way through a script.
#[derive(Clone, Debug)]
pub(super) struct Started {
    pub(super) words: Vec<Word>,
    pub(super) state: State,
    pub(super) at: Position,
}

/// Arguments whose text is JSON.
const JSON_ARGUMENTS: [&str; 2] = ["speculative-config", "default-chat-template-kwargs"];

/// Arguments that name a file of further arguments, TensorRT-LLM's.
const FILE_ARGUMENTS: [&str; 3] = ["extra-llm-api-options", "config", "extra-engine-args"];

/// Whether the words run something in a container, which gets no variable but those that it is given.
pub(super) fn is_container(words: &[Word]) -> bool {
    let name = |word: &Word| word.text.rsplit('/').next().unwrap_or_default().to_owned();
    let index = words.iter().position(|word| matches!(name(word).as_str(), "docker" | "podman" | "nerdctl"));
    index.is_some_and(|index| {
        words.iter().skip(index + 1).take(3).any(|word| word.text == "run" || word.text == "exec")
    })
}

/// Variables among the words in front of the server: `env A=b`, `-e A=b`, `--env=A=b`, `srun --export=ALL,A=b`.
pub(super) fn given(words: &[Word], state: &State) -> Vec<(String, Word)> {
    let end = started(words.iter().map(|word| word.text.as_str())).map_or(words.len(), |(_, index)| index);
    let mut found = Vec::new();
    let mut rest = words.iter().take(end).peekable();
    while let Some(word) = rest.next() {
        if let Some(list) = word.text.strip_prefix("--export=") {
            for part in list.split(',') {
                found.extend(assignment(part, word));
            }
            continue;
        }
        let pair = match word.text.as_str() {
            "-e" | "--env" => rest.next(),
            text => match text.strip_prefix("--env=") {
                Some(pair) => {
                    found.extend(assignment(pair, word));
                    continue;
                }
                None => Some(word),
            },
        };
        let Some(pair) = pair else { continue };
        match assignment(&pair.text, pair) {
            Some(assignment) => found.push(assignment),
            // `-e NAME` passes a variable on.
            None if matches!(word.text.as_str(), "-e" | "--env") => {
                if let Some(Value::Scalar(value)) = state.get(&pair.text) {
                    found.push((pair.text.clone(), value.clone()));
                }
            }
            None => {}
        }
    }
    found
}

fn assignment(text: &str, word: &Word) -> Option<(String, Word)> {
    let (name, value) = text.split_once('=')?;
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    is_name.then(|| (name.to_owned(), Word { text: value.to_owned(), verbatim: None, ..word.clone() }))
}

impl Started {
    /// The launch, and the words behind the server's name that are no options: models.
    pub(super) fn launch(&self) -> (Launch, Vec<Word>) {
        let mut env = exported(&self.state);
        if is_container(&self.words) {
            env.clear();
        }
        env.extend(
            given(&self.words, &self.state)
                .into_iter()
                .map(|(name, value)| Variable { name, value: value.scalar() }),
        );
        let (mut launch, models) = launch(&self.words, env, self.at);
        self.files(&mut launch);
        launch.condition = self.state.condition();
        (launch, models)
    }

    /// Takes in what stands in files that here-documents wrote.
    fn files(&self, launch: &mut Launch) {
        let named: Vec<String> = launch
            .args
            .iter()
            .filter(|argument| FILE_ARGUMENTS.contains(&argument.name.as_str()))
            .filter_map(|argument| match &argument.value {
                Node::Scalar(file) => Some(file.text.to_string()),
                _ => None,
            })
            .collect();
        for file in named {
            let Some(written) = self.state.files.get(&file) else { continue };
            let Ok(Node::Mapping(root)) = parse(&written.text) else { continue };
            for entry in root.entries {
                let Node::Mapping(shifted) = json::shifted(
                    Node::Mapping(crate::yaml::Mapping { at: entry.key.at, entries: vec![entry] }),
                    written.at,
                ) else {
                    continue;
                };
                launch.args.extend(shifted.entries.into_iter().map(|entry| Argument {
                    name: entry.key.text.replace('_', "-"),
                    value: entry.value,
                    at: entry.key.at,
                }));
            }
        }
    }
}

/// The variables that a command started here inherits.
pub(super) fn exported(state: &State) -> Vec<Variable> {
    let exported = state.vars.iter().filter(|(_, var)| var.is_exported);
    exported
        .filter_map(|(name, var)| match &var.value {
            Value::Scalar(word) => Some(Variable { name: name.clone(), value: word.scalar() }),
            Value::Array(_) | Value::Unset => None,
        })
        .collect()
}

/// The launch that a command's words make, with the words that may name its model.
pub(crate) fn launch(words: &[Word], env: Vec<Variable>, at: Position) -> (Launch, Vec<Word>) {
    let mut launch = Launch::new(Role::Agg, at);
    launch.env = env;
    let server = started(words.iter().map(|word| word.text.as_str()));
    let behind = server.map_or(0, |(_, index)| index + 1);
    let mut models = Vec::new();
    launch.words = words.iter().skip(behind).map(|word| word.text.clone()).collect();
    let mut rest = words.iter().skip(behind).peekable();
    let mut is_first = server.is_some();
    while let Some(word) = rest.next() {
        let Some(flag) = word.text.strip_prefix("--").filter(|flag| !flag.is_empty()) else {
            if is_first {
                models.push(word.clone());
                is_first = false;
            }
            continue;
        };
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) => (name, Word { text: value.to_owned(), verbatim: None, ..word.clone() }),
            None => match rest.peek() {
                Some(next) if !next.text.starts_with("--") => (flag, (*next).clone()),
                _ => (flag, Word { text: "true".to_owned(), verbatim: None, ..word.clone() }),
            },
        };
        // The value of an option is no model.
        if !flag.contains('=') && rest.peek().is_some_and(|next| !next.text.starts_with("--")) {
            rest.next();
        }
        let name = name.replace('_', "-");
        let scalar = value.scalar();
        let value = if JSON_ARGUMENTS.contains(&name.as_str()) {
            json::tree(&value.text, value.at, value.verbatim).unwrap_or(Node::Scalar(scalar))
        } else {
            Node::Scalar(scalar)
        };
        launch.args.push(Argument { name, value, at: word.at });
    }
    launch.engine = server.map(|(engine, index)| (engine, words.get(index).map_or(at, |word| word.at)));
    if launch.engine.is_none() {
        let names = launch.args.iter().map(|argument| argument.name.as_str());
        let names = names.chain(launch.env.iter().map(|variable| variable.name.as_str()));
        launch.engine = guessed(names).map(|engine| (engine, at));
    }
    (launch, models)
}
