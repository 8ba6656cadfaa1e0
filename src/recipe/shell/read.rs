//! A script as variants: one for each way that leads to a server, and those of an evaluation.

use std::collections::BTreeMap;

use crate::recipe::model::{Document, Kind, Launch, Variable, Variant};
use crate::recipe::number::UNRESOLVED;
use crate::recipe::resolve::{Pin, pin_variable};
use crate::recipe::srt::{is_true, launched_models};
use crate::recipe::unique::Unique;
use crate::yaml::{Position, Scalar};

use super::exec::Machine;
use super::server::{Started, exported, launch};
use super::state::{State, Value};
use super::word::Word;

/// What is said where a bound was met.
const EXHAUSTED: &str =
    "this script nests or branches too much to follow all of it: what its servers get cannot be decided";

/// Reads a script; none where the grammar gives it up, or it holds a character that no script has.
pub(crate) fn read(text: &str) -> Option<Document> {
    if text.contains(UNRESOLVED) {
        return None;
    }
    let tree = super::parse::tree(text)?;
    let mut document = Document::new(Kind::Launcher, Vec::new());
    // An evaluation is another run of the same script, where it asks for one.
    let worlds: &[bool] = if text.contains("EVAL_ONLY") { &[false, true] } else { &[false] };
    let mut held: Unique<Variant> = Unique::new();
    for is_evaluation in worlds {
        let mut machine = Machine::new(text, None, 0);
        let mut state = State::new();
        let preset = |text: &str| Value::Scalar(Word::new(text, Position::START));
        state.set("IS_AGENTIC", preset("1"), true);
        if let Some((at, list)) = sbatch_export(text) {
            state.set("SLURM_EXPORT_ENV", Value::Scalar(Word::new(list, at)), true);
        }
        if *is_evaluation {
            state.set("EVAL_ONLY", preset("true"), true);
        }
        let ends = machine.statement(tree.root_node(), vec![state]);
        if machine.exhausted {
            document.undecided.push((Position::START, EXHAUSTED.to_owned()));
        }
        document.undecided.append(&mut machine.undecided);
        for (at, file) in machine.sourced.drain(..) {
            let message = format!(
                "{} is sourced here and is not read: which variables it sets cannot be resolved",
                crate::yaml::quoted(&file)
            );
            document.notes.push((at, message));
        }
        let mut variants: Vec<Variant> = machine.started.iter().map(of_server).collect();
        if variants.is_empty() {
            document.undecided.append(&mut machine.unknown);
            variants.extend(ends.iter().filter_map(of_rest));
        }
        let defaults = Defaults::of(&machine.started);
        for mut variant in variants {
            variant.evaluation = *is_evaluation;
            if let Some(variant) = held.push(variant) {
                document.notes.extend(defaults.notes(variant));
            }
        }
    }
    document.variants = held.into_all();
    if tree.root_node().has_error() && document.variants.is_empty() {
        document
            .undecided
            .push((Position::START, "parts of this script could not be read as shell".to_owned()));
    }
    document.undecided.sort();
    document.undecided.dedup();
    document.notes.dedup();
    Some(document)
}

/// `#SBATCH --export=NONE`: what `srun` passes on where it is not told otherwise.
fn sbatch_export(text: &str) -> Option<(Position, String)> {
    text.lines().enumerate().find_map(|(index, line)| {
        let rest = line.strip_prefix("#SBATCH")?.trim();
        let list = rest.strip_prefix("--export").and_then(|rest| rest.strip_prefix(['=', ' ']))?;
        let list = list.split_whitespace().next().unwrap_or_default();
        // A list of names is what the script gets; `srun` passes on what the script then has.
        let is_none = list.eq_ignore_ascii_case("NONE") || list.eq_ignore_ascii_case("NIL");
        is_none.then(|| (Position { line: index + 1, column: 1 }, list.to_owned()))
    })
}

fn of_server(started: &Started) -> Variant {
    let (launch, models) = started.launch();
    let mut names: Vec<Scalar> = launched_models(&launch);
    names.extend(models.iter().map(Word::scalar));
    variant(launch, names, &started.state)
}

fn variant(launch: Launch, mut models: Vec<Scalar>, state: &State) -> Variant {
    let known = |name: &str| state.said(name).map(Word::scalar);
    models.extend(known("MODEL"));
    models.extend(known("MODEL_PATH"));
    let agentic =
        known("IS_AGENTIC").filter(|value| !is_true(&value.text) && !value.text.contains(UNRESOLVED));
    Variant {
        launches: vec![launch],
        models,
        prefix: known("MODEL_PREFIX"),
        agentic: agentic.map(|_| false),
        client: known("THINKING_MODE")
            .map(|mode| Variable::of_text("THINKING_MODE", mode))
            .into_iter()
            .collect(),
        taken: state.taken.keys().cloned().collect(),
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

/// Where the words of servers stand that a default gave, and the variable that each stands for.
struct Defaults<'a> {
    /// With the number of the word: of several the first counts.
    by_place: BTreeMap<Position, (usize, &'a str)>,
}

impl<'a> Defaults<'a> {
    fn of(started: &'a [Started]) -> Self {
        let words = started.iter().flat_map(|started| &started.words);
        let mut by_place = BTreeMap::new();
        for (number, word) in words.enumerate() {
            if let Some(name) = word.defaulted.as_deref() {
                by_place.entry(word.at).or_insert((number, name));
            }
        }
        Self { by_place }
    }

    /// Draft lengths and pins that hold only as long as the environment does not set a variable.
    fn notes(&self, variant: &Variant) -> Vec<(Position, String)> {
        const LENGTHS: [&str; 4] = [
            "speculative-num-steps",
            "speculative-dspark-block-size",
            "num-speculative-tokens",
            "speculative-config",
        ];
        let mut notes = Vec::new();
        for launch in &variant.launches {
            for argument in LENGTHS.iter().filter_map(|name| launch.arg(name)) {
                let places = [argument.at, argument.value.at()];
                let held = places.iter().filter_map(|place| self.by_place.get(place)).min();
                if let Some((_, name)) = held {
                    let note = format!("{name} may come from the environment; judged at its default");
                    notes.push((argument.at, note));
                }
            }
        }
        notes
    }
}

/// What a script inside of another file starts, with the environment that it is given; behind it what cannot be decided.
pub(crate) fn script(text: &str, env: &[Variable], at: Position) -> (Vec<Variant>, Vec<(Position, String)>) {
    let undecided = |why: &str| vec![(at, why.to_owned())];
    let Some(tree) = super::parse::tree(text) else {
        return (Vec::new(), undecided("this script cannot be read"));
    };
    let mut machine = Machine::new(text, Some(at), 1);
    let mut state = State::new();
    for variable in env {
        let word = Word::new(variable.value.text.to_string(), variable.value.at);
        state.set(&variable.name, Value::Scalar(word), true);
    }
    machine.statement(tree.root_node(), vec![state]);
    let mut variants: Unique<Variant> = Unique::new();
    variants.extend(machine.started.iter().map(of_server));
    if machine.exhausted {
        machine.undecided.push((at, EXHAUSTED.to_owned()));
    }
    (variants.into_all(), machine.undecided)
}
