//! A script as variants: one for each way that leads to a server, and those of an evaluation.

use crate::recipe::model::{Document, Kind, Launch, Variable, Variant};
use crate::recipe::number::UNRESOLVED;
use crate::recipe::resolve::{Pin, pin_variable};
use crate::recipe::srt::{is_true, launched_models};
use crate::yaml::{Node, Position, Scalar};

use super::exec::Machine;
use super::server::{Started, exported, launch};
use super::state::{State, Value};
use super::word::Word;

/// Reads a script; none where the grammar gives it up, or it holds a character that no script has.
pub(crate) fn read(text: &str) -> Option<Document> {
    if text.contains(UNRESOLVED) {
        return None;
    }
    let tree = super::parse::tree(text)?;
    let mut document = Document::new(Kind::Launcher, Vec::new());
    // An evaluation is another run of the same script, where it asks for one.
    let worlds: &[bool] = if text.contains("EVAL_ONLY") { &[false, true] } else { &[false] };
    for is_evaluation in worlds {
        let mut machine = Machine::new(text, None, 0);
        let mut state = State::new();
        let preset = |text: &str| Value::Scalar(Word::new(text, Position::START));
        state.set("IS_AGENTIC", preset("1"), true);
        if *is_evaluation {
            state.set("EVAL_ONLY", preset("true"), true);
        }
        let ends = machine.statement(tree.root_node(), vec![state]);
        if machine.exhausted {
            document
                .notes
                .push((Position::START, "this script has too many ways to follow them all".to_owned()));
        }
        for (at, file) in machine.sourced.drain(..) {
            document
                .notes
                .push((at, format!("{} is sourced here and is not read", crate::yaml::quoted(&file))));
        }
        let mut variants: Vec<Variant> = machine.started.iter().map(of_server).collect();
        if variants.is_empty() {
            variants.extend(ends.iter().filter_map(of_rest));
        }
        for mut variant in variants {
            variant.evaluation = *is_evaluation;
            if !document.variants.contains(&variant) {
                document.notes.extend(defaults(&variant, &machine.started));
                document.variants.push(variant);
            }
        }
    }
    if tree.root_node().has_error() && document.variants.is_empty() {
        document.notes.push((Position::START, "parts of this script could not be read as shell".to_owned()));
    }
    document.notes.dedup();
    Some(document)
}

fn of_server(started: &Started) -> Variant {
    let (launch, models) = started.launch();
    let mut names: Vec<Scalar> = launched_models(&launch);
    names.extend(models.iter().map(Word::scalar));
    variant(launch, names, &started.state)
}

fn variant(launch: Launch, mut models: Vec<Scalar>, state: &State) -> Variant {
    let known = |name: &str| match state.get(name) {
        Some(Value::Scalar(word)) => Some(word.scalar()),
        _ => None,
    };
    models.extend(known("MODEL"));
    models.extend(known("MODEL_PATH"));
    let agentic =
        known("IS_AGENTIC").filter(|value| !is_true(&value.text) && !value.text.contains(UNRESOLVED));
    Variant {
        launches: vec![launch],
        models,
        prefix: known("MODEL_PREFIX"),
        agentic: agentic.map(|_| false),
        ..Variant::default()
    }
}

/// A script that starts no server of its own and is sourced or prepares one: what it exports and collects in arrays.
fn of_rest(state: &State) -> Option<Variant> {
    with_words(&collected(state), exported(state), Position::START).map(|launch| {
        let models = launched_models(&launch);
        variant(launch, models, state)
    })
}

/// Words that a script collects for a command elsewhere: its arrays, and texts that begin like arguments.
pub(super) fn collected(state: &State) -> Vec<Word> {
    let mut words = Vec::new();
    for var in state.vars.values() {
        match &var.value {
            Value::Array(items) => words.extend(items.iter().cloned()),
            Value::Scalar(word) if word.text.starts_with("--") => {
                words.extend(
                    word.text.split_whitespace().map(|text| Word { text: text.to_owned(), ..word.clone() }),
                );
            }
            Value::Scalar(_) | Value::Unset => {}
        }
    }
    words
}

/// A launch without a command: arguments and variables that only an engine known here reads.
pub(crate) fn with_words(words: &[Word], env: Vec<Variable>, at: Position) -> Option<Launch> {
    let (mut launch, _) = launch(words, env, at);
    let (engine, _) = launch.engine?;
    let has_pin = crate::recipe::resolve::pin_of(&launch, engine, None) != Pin::None;
    let drafts = !matches!(crate::recipe::resolve::speculation_of(&launch, engine), Ok(None));
    launch.is_bare = !drafts;
    let name = pin_variable(engine);
    let first = launch
        .env
        .iter()
        .find(|variable| name == Some(variable.name.as_str()))
        .map(|variable| variable.value.at);
    let argument =
        launch.args.iter().find(|argument| argument.name.starts_with("spec")).map(|argument| argument.at);
    launch.at = argument.or(first).unwrap_or(at);
    (has_pin || drafts).then_some(launch)
}

/// Draft lengths and pins that hold only as long as the environment does not set a variable.
fn defaults(variant: &Variant, started: &[Started]) -> Vec<(Position, String)> {
    let mut notes = Vec::new();
    for launch in &variant.launches {
        let lengths = [
            "speculative-num-steps",
            "speculative-dspark-block-size",
            "num-speculative-tokens",
            "speculative-config",
        ];
        let values =
            lengths.iter().filter_map(|name| launch.arg(name)).map(|argument| (argument.at, &argument.value));
        for (at, value) in values {
            let text = match value {
                Node::Scalar(text) => text.text.to_string(),
                _ => String::new(),
            };
            let word = started.iter().flat_map(|started| &started.words).find(|word| {
                word.defaulted.is_some()
                    && (word.at == at
                        || word.at == value.at()
                        || (!text.is_empty() && word.text == text && word.at == value.at()))
            });
            if let Some(name) = word.and_then(|word| word.defaulted.as_deref()) {
                notes.push((at, format!("{name} may come from the environment; judged at its default")));
            }
        }
    }
    notes
}

/// The servers that a script inside of another file starts, with the environment that it is given.
pub(crate) fn script(text: &str, env: &[Variable], at: Position) -> Vec<Variant> {
    let Some(tree) = super::parse::tree(text) else { return Vec::new() };
    let mut machine = Machine::new(text, Some(at), 1);
    let mut state = State::new();
    for variable in env {
        let word = Word::new(variable.value.text.to_string(), variable.value.at);
        state.set(&variable.name, Value::Scalar(word), true);
    }
    machine.statement(tree.root_node(), vec![state]);
    let mut variants: Vec<Variant> = Vec::new();
    for variant in machine.started.iter().map(of_server) {
        if !variants.contains(&variant) {
            variants.push(variant);
        }
    }
    variants
}
