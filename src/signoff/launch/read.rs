//! Launches in any of their forms: a command, a script, a recipe, a server's log, JSON.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::flags::flags;
use super::names::canonical;
use super::value::LaunchValue;
use crate::engine::Engine;
use crate::evidence::server_arguments;
use crate::recipe::{self, Selector, engine_of_framework};
use crate::yaml::Node;

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
    if let Some(launch) = of_server_args(text) {
        return Ok(Launches { launches: vec![launch], notes: Vec::new() });
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

/// The first `server_args` line.
fn of_server_args(text: &str) -> Option<Launch> {
    let (line, arguments) = (1..)
        .zip(text.lines())
        .find_map(|(number, line)| Some((number, server_arguments(line.as_bytes())?)))?;
    let engine = Some(Engine::Sglang);
    let arguments = arguments.map(|(name, value)| {
        let [name, value] = [name, value].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        (canonical(engine, &name), Setting { value: LaunchValue::of(&value), line })
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
            for (name, value) in environment.and_then(Value::as_object).into_iter().flatten() {
                variable(&mut launch, name, value);
            }
        }
        _ => return None,
    }
    launch.has_no_environment = launch.environment.is_empty();
    (!launch.arguments.is_empty()).then_some(launch)
}

fn of_command(command: &str, environment: Option<&Value>) -> Option<Launch> {
    let mut launch = read_launches("command.sh", command, None).ok()?.launches.into_iter().next()?;
    for (name, value) in environment.and_then(Value::as_object).into_iter().flatten() {
        variable(&mut launch, name, value);
    }
    Some(launch)
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
        let setting = Setting { value: LaunchValue::json(value), line: 1 };
        launch.arguments.insert(canonical(launch.engine, name), setting);
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
    let quoted: Vec<String> = words?
        .iter()
        .map(|word| shlex::try_quote(word).map_or_else(|_| word.clone(), std::borrow::Cow::into_owned))
        .collect();
    let found = read_launches("command.sh", &quoted.join(" "), None).ok()?.launches.into_iter().next()?;
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
    let mut notes = Vec::new();
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
                let setting = Setting { value: of_node(&argument.value), line: line(argument.at.line) };
                launch.arguments.insert(canonical(engine, &argument.name), setting);
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
