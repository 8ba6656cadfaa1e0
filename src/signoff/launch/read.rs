//! Launches in any of their forms: a command, a script, a recipe, a server's log, JSON.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::flags::flags;
use super::names::{canonical, canonical_value};
use super::value::LaunchValue;
use crate::engine::Engine;
use crate::evidence::server_arguments;
use crate::recipe::{self, Document, Kind, Selector, Variant, engine_of_framework};
use crate::yaml::{self, Node, Scalar};

/// Lines that a note names.
const MOST_NAMES: usize = 4;

/// The launches of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launches {
    /// One a role.
    pub launches: Vec<Launch>,
    /// What else there is to know.
    pub notes: Vec<String>,
}

/// How one server is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// `agg`, `prefill`, `decode`; none where the text has no roles.
    pub role: Option<&'static str>,
    /// The engine, where it is known.
    pub engine: Option<Engine>,
    /// Its arguments, by the name that all aliases share.
    pub arguments: BTreeMap<String, Setting>,
    /// Its environment, as far as the text gives it.
    pub environment: BTreeMap<String, Setting>,
    /// All arguments are there, those that nobody gave among them: a server printed them.
    pub is_resolved: bool,
    /// The environment is unknown, not empty.
    pub has_no_environment: bool,
}

/// A value and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The value.
    pub value: LaunchValue,
    /// Line, from 1.
    pub line: u64,
}

/// Why a text is no launch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// No server in it.
    #[error(
        "no server is started here; expected a launch command or script, a recipe, a server_args line, or JSON with arguments"
    )]
    None,
    /// No such variant.
    #[error("no variant {wanted} (there are: {known})")]
    Variant {
        /// What was asked for.
        wanted: String,
        /// What there is.
        known: String,
    },
}

/// Reads the launches of a text. `name` is its file's name; `selector` picks a variant of a recipe.
pub fn read_launches(name: &str, text: &str, selector: Option<&Selector>) -> Result<Launches, LaunchError> {
    let mut read = read_text(name, text, selector)?;
    for launch in &mut read.launches {
        launch.settle();
    }
    Ok(read)
}

fn read_text(name: &str, text: &str, selector: Option<&Selector>) -> Result<Launches, LaunchError> {
    if let Some(launches) = of_server_args(text) {
        return Ok(launches);
    }
    let body = text.trim_start_matches('\u{feff}').trim_start();
    // A recipe in flow style begins like JSON.
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    let is_yaml =
        extension.is_some_and(|extension| ["yaml", "yml"].contains(&extension.to_ascii_lowercase().as_str()));
    if body.starts_with(['{', '[']) && !is_yaml {
        let value: Value = serde_json::from_str(body)
            .map_err(|error| LaunchError::Unreadable(format!("line {}: not JSON: {error}", error.line())))?;
        return of_json(&value)
            .map(|launch| Launches { launches: vec![launch], notes: Vec::new() })
            .ok_or(LaunchError::None);
    }
    of_document(name, text, selector)
}

impl Launch {
    /// Makes one argument of its parts (`--speculative-config.method`), and one value of all its spellings.
    fn settle(&mut self) {
        let parts: Vec<String> = self.arguments.keys().filter(|name| name.contains('.')).cloned().collect();
        for name in parts {
            let Some(setting) = self.arguments.remove(&name) else { continue };
            let Some((whole, path)) = name.split_once('.') else { continue };
            let held = self.arguments.get(whole).and_then(|held| held.value.text());
            let mut object =
                held.and_then(|text| serde_json::from_str::<Value>(text).ok()).unwrap_or(Value::Null);
            if !object.is_object() {
                object = Value::Object(serde_json::Map::new());
            }
            let value = setting.value.text();
            let value = value.map(|text| serde_json::from_str(text).unwrap_or_else(|_| python(text)));
            let merged = match value {
                Some(value) => {
                    put(&mut object, path, value);
                    LaunchValue::json(&object)
                }
                None => LaunchValue::Unresolved,
            };
            let line = self.arguments.get(whole).map_or(setting.line, |held| held.line);
            self.arguments.insert(whole.to_owned(), Setting { value: merged, line });
        }
        for (name, setting) in &mut self.arguments {
            setting.value = canonical_value(name, setting.value.clone());
        }
    }
}

/// What a word of the one form is in JSON.
fn python(text: &str) -> Value {
    match text {
        "True" => Value::Bool(true),
        "False" => Value::Bool(false),
        "None" => Value::Null,
        _ => Value::String(text.to_owned()),
    }
}

/// Sets `a.b` of an object.
fn put(object: &mut Value, path: &str, value: Value) {
    const DEEPEST: usize = 16;
    let mut at = object;
    let parts: Vec<&str> = path.splitn(DEEPEST, '.').collect();
    let Some((last, folders)) = parts.split_last() else { return };
    for folder in folders {
        let Some(map) = at.as_object_mut() else { return };
        let next = map.entry((*folder).to_owned()).or_insert(Value::Null);
        if !next.is_object() {
            *next = Value::Object(serde_json::Map::new());
        }
        at = next;
    }
    if let Some(map) = at.as_object_mut() {
        map.insert((*last).to_owned(), value);
    }
}

/// The first `server_args` line; others that say something else are said.
fn of_server_args(text: &str) -> Option<Launches> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| server_arguments(line.as_bytes()).is_some());
    let (number, line) = lines.next()?;
    let launch = of_line(line, number)?;
    let mut notes = Vec::new();
    let values = |launch: &Launch| -> BTreeMap<String, LaunchValue> {
        let arguments = launch.arguments.iter();
        arguments.map(|(name, setting)| (name.clone(), setting.value.clone())).collect()
    };
    let others = lines.filter_map(|(number, line)| Some((number, of_line(line, number)?)));
    let others: Vec<String> = others
        .filter(|(_, other)| values(other) != values(&launch))
        .map(|(number, _)| number.to_string())
        .take(MOST_NAMES)
        .collect();
    if !others.is_empty() {
        notes.push(format!(
            "other servers start at line {}; the one at line {number} is compared",
            others.join(", ")
        ));
    }
    Some(Launches { launches: vec![launch], notes })
}

fn of_line(text: &str, line: u64) -> Option<Launch> {
    let arguments = server_arguments(text.as_bytes())?;
    let engine = Some(Engine::Sglang);
    let arguments = arguments.map(|(name, value)| {
        let [name, value] = [name, value].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let name = canonical(engine, &name);
        let value = LaunchValue::of_argument(&name, &value);
        (name, Setting { value, line })
    });
    // An older name of one that is there too says nothing: `cuda_graph_bs=None` beside `cuda_graph_bs_decode=[1, 2]`.
    let mut held: BTreeMap<String, Setting> = BTreeMap::new();
    for (name, setting) in arguments {
        let is_none = setting.value == LaunchValue::of("None");
        if !(is_none && held.contains_key(&name)) {
            held.insert(name, setting);
        }
    }
    Some(Launch { engine, arguments: held, is_resolved: true, has_no_environment: true, ..Launch::default() })
}

/// A list of words; `{"args": .., "env": ..}`; or arguments and variables side by side.
fn of_json(value: &Value) -> Option<Launch> {
    let mut launch = Launch::default();
    let mut shows_environment = false;
    match value {
        Value::Array(_) => words(&mut launch, value)?,
        Value::Object(object) => {
            let named = object.get("framework").or_else(|| object.get("engine")).and_then(Value::as_str);
            launch.engine = named.and_then(engine_of_framework);
            let nested = ["args", "argv", "command", "arguments"].iter().find_map(|key| object.get(*key));
            let environment = object.get("env").or_else(|| object.get("environment"));
            match nested {
                Some(Value::Object(arguments)) => {
                    launch.engine = launch.engine.or_else(|| guessed(arguments.keys()));
                    take(&mut launch, arguments.iter());
                }
                Some(list @ Value::Array(_)) => words(&mut launch, list)?,
                Some(Value::String(command)) => return of_command(command, environment),
                Some(_) => return None,
                None => {
                    launch.engine = launch.engine.or_else(|| guessed(object.keys()));
                    launch.is_resolved = object.contains_key("internal_states");
                    let is_scalar = |value: &&Value| !value.is_object();
                    let flat = object.iter().filter(|(_, value)| is_scalar(value));
                    let (variables, arguments): (Vec<_>, Vec<_>) = flat
                        .filter(|(name, _)| {
                            !matches!(name.as_str(), "engine" | "framework" | "internal_states" | "version")
                        })
                        .partition(|(name, _)| is_variable(name));
                    take(&mut launch, arguments.into_iter());
                    for (name, value) in variables {
                        variable(&mut launch, name, value);
                    }
                }
            }
            variables(&mut launch, environment);
            shows_environment = environment.is_some();
        }
        _ => return None,
    }
    launch.has_no_environment = launch.environment.is_empty() && !shows_environment;
    (!launch.arguments.is_empty()).then_some(launch)
}

fn of_command(command: &str, environment: Option<&Value>) -> Option<Launch> {
    let mut launch = read_text("command.sh", command, None).ok()?.launches.into_iter().next()?;
    variables(&mut launch, environment);
    Some(launch)
}

/// `{"A": 1}`, or a list of `A=1` and of `{"name": "A", "value": 1}`.
fn variables(launch: &mut Launch, environment: Option<&Value>) {
    match environment {
        Some(Value::Object(object)) => {
            for (name, value) in object {
                variable(launch, name, value);
            }
        }
        Some(Value::Array(items)) => {
            for item in items {
                let pair = item.as_str().and_then(|item| item.split_once('='));
                if let Some((name, value)) = pair {
                    variable(launch, name, &Value::String(value.to_owned()));
                } else if let (Some(name), Some(value)) =
                    (item.get("name").and_then(Value::as_str), item.get("value"))
                {
                    variable(launch, name, value);
                }
            }
        }
        _ => {}
    }
}

fn guessed<'a>(mut names: impl Iterator<Item = &'a String>) -> Option<Engine> {
    let is_sglang = |name: &String| {
        matches!(name.replace('-', "_").as_str(), "model_path" | "tp_size" | "speculative_algorithm")
    };
    names.any(is_sglang).then_some(Engine::Sglang)
}

fn is_variable(name: &str) -> bool {
    name.len() > 1
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

fn take<'a>(launch: &mut Launch, arguments: impl Iterator<Item = (&'a String, &'a Value)>) {
    for (name, value) in arguments {
        let name = canonical(launch.engine, name);
        let value = match value {
            Value::String(text) => LaunchValue::of_argument(&name, text),
            other => LaunchValue::json(other),
        };
        launch.arguments.insert(name, Setting { value, line: 1 });
    }
}

fn variable(launch: &mut Launch, name: &str, value: &Value) {
    launch.environment.insert(name.to_owned(), Setting { value: LaunchValue::json(value), line: 1 });
}

/// The words of a command as a list.
fn words(launch: &mut Launch, list: &Value) -> Option<()> {
    let words: Option<Vec<String>> = list
        .as_array()?
        .iter()
        .map(|word| word.as_str().map(str::to_owned).or_else(|| Some(word.as_number()?.to_string())))
        .collect();
    let words = words?;
    // Arguments alone, without the command in front of them.
    if words.first().is_some_and(|word| word.starts_with('-')) {
        let names: Vec<String> = words
            .iter()
            .filter_map(|word| Some(word.strip_prefix("--")?.split('=').next()?.to_owned()))
            .collect();
        launch.engine = launch.engine.or_else(|| guessed(names.iter()));
        for (name, value) in flags(launch.engine, &words) {
            launch.arguments.insert(name, Setting { value, line: 1 });
        }
        return Some(());
    }
    let quoted: Vec<String> = words
        .iter()
        .map(|word| shlex::try_quote(word).map_or_else(|_| word.clone(), std::borrow::Cow::into_owned))
        .collect();
    let found = read_text("command.sh", &quoted.join(" "), None).ok()?.launches.into_iter().next()?;
    *launch = Launch { engine: found.engine.or(launch.engine), ..found };
    for setting in launch.arguments.values_mut().chain(launch.environment.values_mut()) {
        setting.line = 1;
    }
    Some(())
}

/// A script, a recipe, a compose file.
fn of_document(name: &str, text: &str, selector: Option<&Selector>) -> Result<Launches, LaunchError> {
    // A text without a name of a kind is a command.
    let document = recipe::read(name, text).map_err(|error| LaunchError::Unreadable(error.to_string()))?;
    // What stands behind a quote that nobody closes is no launch to compare.
    let is_script = document.as_ref().is_none_or(|document| document.kind == Kind::Launcher);
    if let Some(line) = open_quote(text).filter(|_| is_script && !recipe::is_sound_shell(text)) {
        return Err(LaunchError::Unreadable(format!("line {line}: a quote is opened and never closed")));
    }
    let Some(document) = document else { return Err(LaunchError::None) };
    let mut variants = document.variants.iter().filter(|variant| !variant.launches.is_empty());
    let chosen = match selector {
        Some(selector) => {
            variants.find(|variant| variant.name.as_ref().is_some_and(|name| selector.matches(name)))
        }
        // The way through a script that benchmarks, not the one that evaluates.
        None => variants.clone().find(|variant| !variant.evaluation).or_else(|| variants.next()),
    };
    let Some(variant) = chosen else {
        let known = document.variant_names();
        return Err(match selector {
            Some(selector) => LaunchError::Variant {
                wanted: selector.to_string(),
                known: if known.is_empty() { "none".to_owned() } else { known.join(", ") },
            },
            None => LaunchError::None,
        });
    };
    let mut notes: Vec<String> = others(&document, variant, selector).into_iter().collect();
    let mut launches: Vec<Launch> = Vec::new();
    for found in &variant.launches {
        let role = Some(found.role.name());
        if launches.iter().any(|launch| launch.role == role) {
            notes.push(format!("another {} is started too; the first is compared", found.role.name()));
            continue;
        }
        let engine = found.engine.map(|(engine, _)| engine);
        let line = |line: usize| u64::try_from(line).unwrap_or(0);
        let mut launch = Launch { role, engine, ..Launch::default() };
        if found.words.is_empty() {
            for argument in &found.args {
                let name = canonical(engine, &argument.name);
                let value = match &argument.value {
                    Node::Scalar(scalar) => LaunchValue::of_argument(&name, &scalar.text),
                    other => of_node(other),
                };
                launch.arguments.insert(name, Setting { value, line: line(argument.at.line) });
            }
            // srt-slurm gives its servers the model of the recipe.
            let name = canonical(engine, "model");
            if let (Kind::Recipe, Some(path), false) =
                (document.kind, model_path(text), launch.arguments.contains_key(&name))
            {
                let value = LaunchValue::of_argument(&name, &path.text);
                launch.arguments.insert(name, Setting { value, line: line(path.at.line) });
            }
        } else {
            let lines: BTreeMap<String, u64> = found
                .args
                .iter()
                .map(|argument| (canonical(engine, &argument.name), line(argument.at.line)))
                .collect();
            for (name, value) in flags(engine, &found.words) {
                let line = lines.get(&name).copied().unwrap_or_else(|| line(found.at.line));
                launch.arguments.insert(name, Setting { value, line });
            }
        }
        // What a recipe sets for all its roles is applied last.
        for variable in found.env.iter().chain(&variant.global) {
            // What the reader of scripts takes for granted (IS_AGENTIC) stands nowhere in the text.
            if !text.contains(&variable.name) {
                continue;
            }
            let setting =
                Setting { value: LaunchValue::of(&variable.value.text), line: line(variable.value.at.line) };
            launch.environment.insert(variable.name.clone(), setting);
        }
        launches.push(launch);
    }
    notes.extend(document.notes.iter().map(|(at, note)| format!("{at}: {note}")));
    Ok(Launches { launches, notes })
}

/// The `model.path` of a recipe, or of its base.
fn model_path(text: &str) -> Option<Scalar> {
    let Ok(Node::Mapping(root)) = yaml::parse(text) else { return None };
    let base = match root.get("base") {
        Some(Node::Mapping(base)) => base,
        _ => &root,
    };
    let Some(Node::Mapping(model)) = base.get("model") else { return None };
    match model.get("path") {
        Some(Node::Scalar(path)) if !path.is_null() => Some(path.clone()),
        _ => None,
    }
}

/// Says what else the file starts and is not compared.
fn others(document: &Document, chosen: &Variant, selector: Option<&Selector>) -> Option<String> {
    if selector.is_some() {
        return None;
    }
    let others = document.variants.iter().filter(|other| {
        other.evaluation == chosen.evaluation
            && !other.launches.is_empty()
            && other.launches != chosen.launches
    });
    let names: Vec<String> = others
        .map(|other| match (&other.name, other.launches.first()) {
            (Some(name), _) => name.clone(),
            (None, Some(launch)) => match &launch.condition {
                Some(condition) => format!("line {} where {condition} holds", launch.at.line),
                None => format!("line {}", launch.at.line),
            },
            (None, None) => String::new(),
        })
        .collect();
    let first = names.first()?;
    let compared = match (&chosen.name, chosen.launches.first()) {
        (Some(name), _) => name.clone(),
        (None, launch) => format!("the one at line {}", launch.map_or(1, |launch| launch.at.line)),
    };
    let more = names.len() - 1;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("another launch ({first}{more}) is not compared; {compared} is"))
}

/// Line of the quote that a text opens and never closes.
pub(in crate::signoff) fn open_quote(text: &str) -> Option<usize> {
    let (mut open, mut line, mut is_word) = (None, 1, false);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        line += usize::from(letter == '\n');
        match (open, letter) {
            (None, '#') if !is_word => {
                // A comment goes up to the end of its line.
                if letters.by_ref().any(|letter| letter == '\n') {
                    line += 1;
                }
                is_word = false;
                continue;
            }
            (None | Some(('"', _)), '\\') => {
                line += usize::from(letters.next() == Some('\n'));
            }
            (None, '"' | '\'') => open = Some((letter, line)),
            (Some((quote, _)), _) if quote == letter => open = None,
            _ => {}
        }
        is_word = !letter.is_whitespace();
    }
    open.map(|(_, line)| line)
}

fn of_node(node: &Node) -> LaunchValue {
    match node {
        Node::Scalar(scalar) => LaunchValue::of(&scalar.text),
        other => json(other).map_or(LaunchValue::Unresolved, |value| LaunchValue::json(&value)),
    }
}

/// A tree as JSON, so that both compare alike.
fn json(node: &Node) -> Option<Value> {
    match node {
        Node::Scalar(scalar) => {
            LaunchValue::of(&scalar.text).text()?;
            let plain = scalar.is_plain().then(|| serde_json::from_str(&scalar.text).ok()).flatten();
            Some(plain.unwrap_or_else(|| Value::String(scalar.text.to_string())))
        }
        Node::Sequence(sequence) => {
            sequence.items.iter().map(json).collect::<Option<Vec<Value>>>().map(Value::Array)
        }
        Node::Mapping(mapping) => mapping
            .entries
            .iter()
            .map(|entry| Some((entry.key.text.to_string(), json(&entry.value)?)))
            .collect::<Option<serde_json::Map<String, Value>>>()
            .map(Value::Object),
    }
}
