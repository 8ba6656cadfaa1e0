//! srt-slurm recipes, both schemas.

use crate::yaml::{Mapping, Node, Position, Scalar, ScalarStyle};

use super::dotted::{argument_name, fold_dotted};
use super::json;
use super::launch::engine_of_framework;
use super::model::{Argument, Document, Kind, Launch, Role, Variable, Variant};
use super::source::Source;
use super::variants::{VariantsError, variants};

/// Role, environment of schema 1, arguments of schema 1.
pub(crate) const ROLES: [(Role, &str, &str); 3] = [
    (Role::Agg, "aggregated_environment", "aggregated"),
    (Role::Prefill, "prefill_environment", "prefill"),
    (Role::Decode, "decode_environment", "decode"),
];

/// Arguments whose text is JSON.
const JSON_ARGUMENTS: [&str; 2] = ["speculative-config", "default-chat-template-kwargs"];

/// Whether a document is a recipe: it, or its `base`, says which engine its servers are.
pub(crate) fn is_recipe(root: &Mapping) -> bool {
    let recipe = match root.get("base") {
        Some(Node::Mapping(base)) => base,
        _ => root,
    };
    let has_roles = map(recipe.get("roles")).is_some_and(|roles| {
        ROLES.iter().any(|(role, ..)| matches!(roles.get(role.name()), Some(Node::Mapping(_))))
    });
    has_roles || map(recipe.get("backend")).is_some_and(|backend| backend.get("type").is_some())
}

/// The version that a recipe says it has, where it is none that is known here.
pub(crate) fn unknown_schema(root: &Mapping) -> Option<(Position, String)> {
    let of_base = map(root.get("base")).and_then(|base| base.get("schema"));
    let node = root
        .get("schema")
        .or(of_base)
        .filter(|node| !matches!(node, Node::Scalar(text) if text.is_null()))?;
    let text = as_text(node);
    let is_known = matches!(node, Node::Scalar(_)) && matches!(text.text.trim(), "1" | "2");
    (!is_known).then(|| (text.at, text.text.to_string()))
}

/// Reads a recipe. `file` is its name: an evaluation may say so there.
pub(crate) fn read(root: &Node, source: &Source<'_>, file: &str) -> Result<Document, VariantsError> {
    let found = variants(root)?;
    let read = found.into_iter().map(|(name, recipe)| variant(name, &recipe, source, file)).collect();
    Ok(Document::new(Kind::Recipe, read))
}

fn variant(name: Option<String>, recipe: &Node, source: &Source<'_>, file: &str) -> Variant {
    let Node::Mapping(recipe) = recipe else { return Variant { name, ..Variant::default() } };
    let mut launches = Vec::new();
    match (map(recipe.get("roles")), map(recipe.get("backend"))) {
        (Some(roles), _) => schema_two(roles, source, &mut launches),
        (None, Some(backend)) => schema_one(backend, source, &mut launches),
        (None, None) => {}
    }
    let benchmark = map(recipe.get("benchmark"));
    let client = benchmark.map_or_else(Vec::new, |benchmark| variables(benchmark.get("env")));
    let command = benchmark.and_then(|benchmark| text(benchmark.get("command")));
    let flag = |name: &str| super::model::variable(&client, name).is_some_and(|value| is_true(&value.text));
    let is_agentic = command.is_some_and(|command| names_agentic(&command.text)) || flag("IS_AGENTIC");
    let is_named_eval = [Some(file), text(recipe.get("name")).map(|name| &*name.text)]
        .into_iter()
        .flatten()
        .any(has_word_eval);
    Variant {
        taken: Vec::new(),
        models: models(recipe, &launches),
        prefix: super::model::variable(&client, "MODEL_PREFIX").cloned(),
        global: variables(recipe.get("environment")),
        agentic: Some(is_agentic),
        evaluation: is_named_eval || flag("EVAL_ONLY"),
        name,
        launches,
        client,
    }
}

fn schema_two(roles: &Mapping, source: &Source<'_>, launches: &mut Vec<Launch>) {
    for (role, ..) in ROLES {
        let Some(Node::Mapping(block)) = roles.get(role.name()) else { continue };
        let mut launch = Launch::new(role, block.at);
        engine(&mut launch, block.get("engine"));
        launch.args = arguments(block.get("args"), source);
        launch.env = variables(block.get("env"));
        launches.push(launch);
    }
}

fn schema_one(backend: &Mapping, source: &Source<'_>, launches: &mut Vec<Launch>) {
    let kind = backend.get("type");
    let config = text(kind).map(|kind| format!("{}_config", kind.text));
    let config = config.and_then(|name| map(backend.get(&name)));
    for (role, environment, arguments_of) in ROLES {
        let block = config.and_then(|config| config.get(arguments_of));
        let environment = backend.get(environment);
        let Some(at) = block.or(environment).map(Node::at) else { continue };
        let mut launch = Launch::new(role, at);
        engine(&mut launch, kind);
        launch.args = arguments(block, source);
        launch.env = variables(environment);
        launches.push(launch);
    }
}

fn engine(launch: &mut Launch, node: Option<&Node>) {
    let Some(name) = text(node) else { return };
    match engine_of_framework(&name.text) {
        Some(engine) => launch.engine = Some((engine, name.at)),
        None => launch.unknown_engine = Some(name.clone()),
    }
}

fn arguments(node: Option<&Node>, source: &Source<'_>) -> Vec<Argument> {
    let Some(map) = map(node) else { return Vec::new() };
    let argument = |entry: &crate::yaml::Entry| {
        let name = argument_name(entry.key.text.trim_start_matches('-'));
        let value = match &entry.value {
            Node::Scalar(text) if JSON_ARGUMENTS.contains(&name.as_str()) && !text.is_null() => {
                json::tree(&text.text, text.at, source.verbatim(text)).unwrap_or_else(|_| entry.value.clone())
            }
            value => value.clone(),
        };
        Argument { name, value, at: entry.key.at }
    };
    let mut all = map.entries.iter().map(argument).collect();
    fold_dotted(&mut all);
    all
}

/// The variables of an environment block: a mapping, or a list of `NAME=value`.
pub(crate) fn variables(node: Option<&Node>) -> Vec<Variable> {
    match node {
        Some(Node::Mapping(map)) => map
            .entries
            .iter()
            .map(|entry| Variable { name: entry.key.text.to_string(), value: as_text(&entry.value) })
            .collect(),
        Some(Node::Sequence(list)) => list
            .items
            .iter()
            .filter_map(|item| match item {
                Node::Scalar(word) => {
                    let (name, value) = word.text.split_once('=')?;
                    let value = Scalar { text: value.into(), ..word.clone() };
                    Some(Variable::of_text(name.trim(), value))
                }
                Node::Sequence(_) | Node::Mapping(_) => None,
            })
            .collect(),
        Some(Node::Scalar(_)) | None => Vec::new(),
    }
}

/// A value as a text: what is no text is shown as it would be written, and is no number.
fn as_text(node: &Node) -> Scalar {
    match node {
        Node::Scalar(text) => text.clone(),
        Node::Sequence(list) => {
            let items: Vec<String> = list.items.iter().map(|item| as_text(item).text.to_string()).collect();
            let text = format!("[{}]", items.join(", "));
            Scalar { at: list.at, text: text.into(), style: ScalarStyle::Quoted }
        }
        Node::Mapping(map) => {
            let entries: Vec<String> = map
                .entries
                .iter()
                .map(|entry| format!("{}: {}", entry.key.text, as_text(&entry.value).text))
                .collect();
            let text = format!("{{{}}}", entries.join(", "));
            Scalar { at: map.at, text: text.into(), style: ScalarStyle::Quoted }
        }
    }
}

/// Names that may tell the model: the path, the repository, and what the servers are given.
fn models(recipe: &Mapping, launches: &[Launch]) -> Vec<Scalar> {
    let at = |path: &[&str]| -> Option<&Scalar> {
        let (last, folders) = path.split_last()?;
        let mut map = recipe;
        for folder in folders {
            map = self::map(map.get(folder))?;
        }
        text(map.get(last))
    };
    let mut found: Vec<Scalar> =
        [at(&["model", "path"]), at(&["identity", "model", "repo"])].into_iter().flatten().cloned().collect();
    found.extend(launches.iter().flat_map(launched_models));
    found
}

/// The model names among a server's arguments.
pub(crate) fn launched_models(launch: &Launch) -> Vec<Scalar> {
    let names = ["served-model-name", "model-path", "model"];
    let value = |name: &&str| match launch.arg(name).map(|argument| &argument.value) {
        Some(Node::Scalar(text)) => Some(text.clone()),
        _ => None,
    };
    names.iter().filter_map(value).collect()
}

/// Whether a command names an agentic script.
pub(crate) fn names_agentic(command: &str) -> bool {
    command.to_ascii_lowercase().contains("agentic")
}

/// `1` or `true`.
pub(crate) fn is_true(text: &str) -> bool {
    let text = text.trim();
    text == "1" || text.eq_ignore_ascii_case("true")
}

/// Whether `eval` is one of the words of a name.
pub(crate) fn has_word_eval(name: &str) -> bool {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| word.eq_ignore_ascii_case("eval"))
}

pub(crate) fn map(node: Option<&Node>) -> Option<&Mapping> {
    match node {
        Some(Node::Mapping(map)) => Some(map),
        _ => None,
    }
}

pub(crate) fn text(node: Option<&Node>) -> Option<&Scalar> {
    match node {
        Some(Node::Scalar(text)) if !text.is_null() => Some(text),
        _ => None,
    }
}
