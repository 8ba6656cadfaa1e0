//! From a command that starts a server to a launch.

use crate::engine::Engine;
use crate::recipe::dotted::{argument_name, fold_dotted};
use crate::recipe::json;
use crate::recipe::launch::{guessed, started};
use crate::recipe::model::{Argument, Launch, Role, Unread, Variable};
use crate::recipe::number::{UNRESOLVED, shown};
use crate::yaml::{Node, Position, parse};

use super::state::{State, Value};
use super::word::Word;

/// A server that was started on one way through a script.
#[derive(Clone, Debug)]
pub(super) struct Started {
    pub(super) words: Vec<Word>,
    /// As the server gets it.
    pub(super) state: State,
    pub(super) at: Position,
}

/// Arguments whose text is JSON.
const JSON_ARGUMENTS: [&str; 2] = ["speculative-config", "default-chat-template-kwargs"];

/// Arguments that name a file of further arguments, TensorRT-LLM's.
const FILE_ARGUMENTS: [&str; 3] = ["extra-llm-api-options", "config", "extra-engine-args"];

impl Started {
    /// The launch, and the words behind the server's name that are no options: models.
    pub(super) fn launch(&self) -> (Launch, Vec<Word>) {
        let (mut launch, models) = launch(&self.words, exported(&self.state), self.at);
        self.files(&mut launch);
        launch.condition = self.state.condition();
        launch.unread.clone_from(&self.state.unread);
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
            let Some(written) = self.state.file(&file) else { continue };
            let Ok(Node::Mapping(root)) = parse(&written.text) else { continue };
            launch.open.retain(|open| !open.is_file || open.what != file);
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
            Value::Scalar(word) => Some(Variable::of_text(name, word.scalar())),
            Value::Array(_) | Value::Unset => None,
        })
        .collect()
}

/// As [`launch`], with what programs in front of the server (`env -u`, `srun --export`) do to the environment.
pub(crate) fn launch_behind(words: &[Word], env: &[Variable], at: Position) -> (Launch, Vec<Word>) {
    let mut state = State::new();
    for variable in env {
        let word = Word::new(variable.value.text.to_string(), variable.value.at);
        state.set(&variable.name, Value::Scalar(word), true);
    }
    let end = started(words.iter().map(|word| word.text.as_str())).map_or(0, |(_, index)| index);
    let state = super::wrap::passed(words.get(..end).unwrap_or_default(), &state);
    let (mut launch, models) = launch(words, exported(&state), at);
    launch.unread.clone_from(&state.unread);
    (launch, models)
}

/// Whether a word begins with a piece that only the run has: it may be several words, or none.
fn is_open(word: &Word) -> bool {
    word.text.starts_with(UNRESOLVED)
}

fn open_words(word: &Word) -> Unread {
    Unread { at: word.at, what: shown(&word.text), is_file: false }
}

/// Whether a flag takes no value, so that the word behind it is one of its own.
fn is_switch(flag: &str) -> bool {
    let flag = flag.replace('_', "-");
    flag == "trust-remote-code" || ["enable-", "disable-", "no-"].iter().any(|start| flag.starts_with(start))
}

/// vLLM's `-sc`, alone, with `=value` or `.key`, as the long flag without its dashes.
fn short_flag(text: &str, engine: Option<Engine>) -> Option<String> {
    let rest = text.strip_prefix("-sc")?;
    let is_flag = rest.is_empty() || rest.starts_with(['=', '.']);
    let is_vllm = engine.is_none_or(|engine| engine == Engine::Vllm);
    (is_flag && is_vllm).then(|| format!("speculative-config{rest}"))
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
    // `sglang.launch_server $ARGUMENTS`: this one takes its model behind a flag.
    let takes_model = !server
        .is_some_and(|(_, index)| words.get(index).is_some_and(|word| word.text.contains("launch_server")));
    while let Some(word) = rest.next() {
        let short = short_flag(&word.text, server.map(|(engine, _)| engine));
        let long = word.text.strip_prefix("--").filter(|flag| !flag.is_empty());
        let Some(flag) = short.as_deref().or(long) else {
            if is_first && takes_model && !word.text.starts_with('-') {
                models.push(word.clone());
            } else if is_open(word) {
                launch.open.push(open_words(word));
            }
            is_first &= word.text.starts_with('-');
            continue;
        };
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) => (name, Word { text: value.to_owned(), verbatim: None, ..word.clone() }),
            None => match rest.peek() {
                Some(next) if !next.text.starts_with("--") => (flag, (*next).clone()),
                _ => (flag, Word { text: "true".to_owned(), verbatim: None, ..word.clone() }),
            },
        };
        if is_switch(flag) && is_open(&value) {
            launch.open.push(open_words(&value));
        }
        // The value of an option is no model.
        if !flag.contains('=') && rest.peek().is_some_and(|next| !next.text.starts_with("--")) {
            rest.next();
        }
        let name = argument_name(name);
        let scalar = value.scalar();
        if FILE_ARGUMENTS.contains(&name.as_str()) {
            launch.open.push(Unread { at: word.at, what: value.text.clone(), is_file: true });
        }
        let value = if JSON_ARGUMENTS.contains(&name.as_str()) {
            json::tree(&value.text, value.at, value.verbatim).unwrap_or(Node::Scalar(scalar))
        } else {
            Node::Scalar(scalar)
        };
        launch.args.push(Argument { name, value, at: word.at });
    }
    fold_dotted(&mut launch.args);
    launch.engine = server.map(|(engine, index)| (engine, words.get(index).map_or(at, |word| word.at)));
    if launch.engine.is_none() {
        let names = launch.args.iter().map(|argument| argument.name.as_str());
        let names = names.chain(launch.env.iter().map(|variable| variable.name.as_str()));
        launch.engine = guessed(names).map(|engine| (engine, at));
    }
    (launch, models)
}
