//! The settings of an srt-slurm recipe, as far as they decide how its servers accept.
//!
//! Read are the role environments, the global environment that is applied after them, and the speculative arguments, of
//! both schemas. Of a recipe with variants the base is read and the others are named. Everything else in a recipe is
//! passed over; a shape that is not understood is refused.

use crate::engine::{Drafter, Engine};
use crate::yaml::{Mapping, Node, Scalar, parse};

use super::error::{FoundError, FoundErrorKind};
use super::role::Role;
use super::spec::{Argument, wrong};

/// What a recipe says.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// Its roles that have arguments or an environment.
    pub roles: Vec<Role>,
    /// Variants beside the base, which are not read.
    pub unread: Vec<String>,
}

/// Role, environment of schema 1, arguments of schema 1.
const ROLES: [(&str, &str, &str); 3] = [
    ("agg", "aggregated_environment", "aggregated"),
    ("prefill", "prefill_environment", "prefill"),
    ("decode", "decode_environment", "decode"),
];

/// Reads the text of one recipe.
pub fn parse_recipe(text: &str) -> Result<Recipe, FoundError> {
    let root = parse(text).map_err(|error| FoundErrorKind::Yaml(error).somewhere())?;
    let root = mapping("the recipe", &root)?;
    let (recipe, unread) = match root.get("base") {
        None => (root, Vec::new()),
        Some(base) => {
            let others = root.entries.iter().map(|entry| &*entry.key.text);
            let others = others.filter(|key| key.contains("override_")).map(str::to_owned).collect();
            (mapping("base", base)?, others)
        }
    };
    let roles = match (recipe.get("roles"), recipe.get("backend")) {
        (Some(roles), None) => schema_two(mapping("roles", roles)?)?,
        (None, Some(backend)) => schema_one(mapping("backend", backend)?)?,
        (None, None) => {
            return Err(no_recipe("it has neither backend (schema 1) nor roles (schema 2)"));
        }
        (Some(_), Some(_)) => return Err(no_recipe("it has both backend (schema 1) and roles (schema 2)")),
    };
    let mut roles = roles;
    for role in &mut roles {
        // Applied after the role's own: what stands here wins.
        if let Some(global) = recipe.get("environment") {
            environment(role, mapping("environment", global)?)?;
        }
    }
    Ok(Recipe { roles, unread })
}

fn schema_two(roles: &Mapping) -> Result<Vec<Role>, FoundError> {
    let mut found = Vec::new();
    for (name, _, _) in ROLES {
        let Some(node) = roles.get(name) else { continue };
        let role = mapping(name, node)?;
        let engine = engine_of("engine", role.get("engine"))?;
        found.push(read(name, engine, role.get("env"), role.get("args"))?);
    }
    Ok(found)
}

fn schema_one(backend: &Mapping) -> Result<Vec<Role>, FoundError> {
    let engine = engine_of("backend.type", backend.get("type"))?;
    let config = match backend.get(&format!("{}_config", engine.name())) {
        Some(config) if !is_null(config) => Some(mapping("the engine's configuration", config)?),
        _ => None,
    };
    let mut found = Vec::new();
    for (name, environment, arguments) in ROLES {
        let arguments = config.and_then(|config| config.get(arguments));
        let environment = backend.get(environment);
        if environment.is_some() || arguments.is_some() {
            found.push(read(name, engine, environment, arguments)?);
        }
    }
    Ok(found)
}

fn read(name: &str, engine: Engine, env: Option<&Node>, args: Option<&Node>) -> Result<Role, FoundError> {
    let mut role = Role { name: Some(name.to_owned()), engine: Some(engine), ..Role::default() };
    if let Some(args) = args.filter(|args| !is_null(args)) {
        arguments(&mut role, mapping("arguments", args)?)?;
    }
    if let Some(env) = env.filter(|env| !is_null(env)) {
        environment(&mut role, mapping("environment", env)?)?;
    }
    Ok(role)
}

pub(super) fn environment(role: &mut Role, environment: &Mapping) -> Result<(), FoundError> {
    for entry in &environment.entries {
        if let Node::Scalar(value) = &entry.value {
            let value_of_null = if value.is_null() { "" } else { &*value.text };
            role.variable(&entry.key.text, value_of_null, entry.key.at.line)?;
        }
    }
    Ok(())
}

pub(super) fn arguments(role: &mut Role, arguments: &Mapping) -> Result<(), FoundError> {
    for entry in &arguments.entries {
        let line = entry.key.at.line;
        let name = entry.key.text.replace('_', "-");
        match &entry.value {
            Node::Scalar(value) if !value.is_null() => {
                role.argument(Argument { name: &name, value: &value.text, line })?;
                tilert(role, &name, value, line)?;
            }
            Node::Mapping(config) if name == "speculative-config" => {
                if role.engine == Some(Engine::Vllm) {
                    let json = serde_json::Value::Object(json_of(config)?);
                    role.vllm_config(&json.to_string(), line)?;
                } else {
                    trtllm(role, config)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// TensorRT-LLM: `decoding_type`, and drafts under one of two names.
fn trtllm(role: &mut Role, config: &Mapping) -> Result<(), FoundError> {
    for entry in &config.entries {
        let (line, Node::Scalar(value)) = (entry.key.at.line, &entry.value) else { continue };
        match &*entry.key.text {
            "decoding_type" => {
                role.drafter = match &*value.text {
                    "Eagle" => Some(Drafter::Eagle),
                    "NGram" => Some(Drafter::Ngram),
                    other => other.parse().ok(),
                };
            }
            "max_draft_len" | "num_nextn_predict_layers" => {
                role.drafts = Some(number(&entry.key.text, value, line)?);
            }
            _ => {}
        }
    }
    Ok(())
}

/// TileRT: `with-mtp`, `num-mtp`.
fn tilert(role: &mut Role, name: &str, value: &Scalar, line: usize) -> Result<(), FoundError> {
    if role.engine == Some(Engine::Tilert) {
        match name {
            "with-mtp" if &*value.text == "true" => role.drafter = Some(Drafter::Mtp),
            "num-mtp" => role.drafts = Some(number(name, value, line)?),
            _ => {}
        }
    }
    Ok(())
}

fn number(name: &str, value: &Scalar, line: usize) -> Result<u32, FoundError> {
    value.text.trim().parse().map_err(|_| wrong(name, &value.text, "a whole number").at(line))
}

/// vLLM's configuration written as YAML in place of JSON: numbers and words of one level, and the list of rates.
fn json_of(config: &Mapping) -> Result<serde_json::Map<String, serde_json::Value>, FoundError> {
    let scalar = |scalar: &Scalar| -> serde_json::Value {
        let number = scalar.is_plain().then(|| serde_json::from_str(&scalar.text).ok()).flatten();
        number.unwrap_or_else(|| serde_json::Value::String(scalar.text.to_string()))
    };
    let mut object = serde_json::Map::new();
    for entry in &config.entries {
        let value = match &entry.value {
            Node::Scalar(value) => scalar(value),
            Node::Sequence(list) => {
                let item =
                    |node: &Node| match node {
                        Node::Scalar(value) => Ok(scalar(value)),
                        other => Err(wrong(&entry.key.text, other.kind().name(), "a list of numbers")
                            .at(other.at().line)),
                    };
                serde_json::Value::Array(list.items.iter().map(item).collect::<Result<_, _>>()?)
            }
            // Nothing of ours has a level below.
            Node::Mapping(_) => continue,
        };
        object.insert(entry.key.text.to_string(), value);
    }
    Ok(object)
}

fn engine_of(name: &'static str, node: Option<&Node>) -> Result<Engine, FoundError> {
    let (found, line) = match node {
        Some(Node::Scalar(scalar)) => (scalar.text.to_string(), Some(scalar.at.line)),
        Some(other) => (other.kind().name().to_owned(), Some(other.at().line)),
        None => ("absent".to_owned(), None),
    };
    found.parse().map_err(|_| FoundError { line, kind: FoundErrorKind::Engine { name, found } })
}

fn mapping<'a>(name: &str, node: &'a Node) -> Result<&'a Mapping, FoundError> {
    match node {
        Node::Mapping(mapping) => Ok(mapping),
        other => {
            let kind = FoundErrorKind::Type {
                name: name.to_owned(),
                found: other.kind().name().to_owned(),
                expected: "a mapping",
            };
            Err(kind.at(other.at().line))
        }
    }
}

fn is_null(node: &Node) -> bool {
    matches!(node, Node::Scalar(scalar) if scalar.is_null())
}

fn no_recipe(why: &str) -> FoundError {
    FoundErrorKind::NoRecipe(why.to_owned()).somewhere()
}

#[cfg(test)]
mod tests;
