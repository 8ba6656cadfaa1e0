//! docker-compose files: each service that starts a server.

use crate::yaml::{Mapping, Node, Position, Scalar, quoted};

use super::model::{Document, Kind, Variable, Variant};
use super::shell::{self, Word};
use super::srt::{launched_models, variables};

pub(crate) fn is_compose(root: &Mapping) -> bool {
    matches!(root.get("services"), Some(Node::Mapping(_)))
}

pub(crate) fn read(root: &Mapping) -> Document {
    let mut document = Document::new(Kind::Compose, Vec::new());
    let Some(Node::Mapping(services)) = root.get("services") else { return document };
    for service in &services.entries {
        let Node::Mapping(block) = &service.value else { continue };
        let before = document.variants.len();
        let env: Vec<Variable> = variables(block.get("environment")).into_iter().map(interpolated).collect();
        let mut words = words_of(block.get("entrypoint"));
        words.extend(words_of(block.get("command")));
        let (variants, undecided) = started(&words, &env, service.key.at);
        document.variants.extend(variants);
        document.undecided.extend(undecided);
        if document.variants.len() > before
            && let Some(file) = block.get("env_file")
        {
            let message = format!("service {}: env_file is not read", quoted(&service.key.text));
            document.notes.push((file.at(), message));
        }
    }
    document
}

/// What a command with its environment starts, without a server what it pins; behind it what cannot be decided.
pub(crate) fn started(
    words: &[Word],
    env: &[Variable],
    at: Position,
) -> (Vec<Variant>, Vec<(Position, String)>) {
    let script = words.iter().position(|word| {
        matches!(word.text.as_str(), "-c" | "-lc" | "-ec" | "-xc")
            && words.first().is_some_and(|shell| shell.text.ends_with("sh") || shell.text.ends_with("env"))
    });
    if let Some(script) = script.and_then(|flag| words.get(flag + 1)) {
        return shell::script(&script.text, env, script.at);
    }
    let (is_server, launch, models) =
        if super::launch::started(words.iter().map(|word| word.text.as_str())).is_some() {
            let (launch, models) = shell::launch_behind(words, env, at);
            (true, Some(launch), models)
        } else {
            (false, shell::with_words(words, env.to_vec(), at), Vec::new())
        };
    let Some(launch) = launch.filter(|launch| is_server || !launch.args.is_empty() || launch.is_bare) else {
        return (Vec::new(), Vec::new());
    };
    let mut names: Vec<Scalar> = launched_models(&launch);
    names.extend(models.iter().map(Word::scalar));
    let prefix = super::model::variable(env, "MODEL_PREFIX").cloned();
    (vec![Variant { launches: vec![launch], models: names, prefix, ..Variant::default() }], Vec::new())
}

/// The words of `command` or `entrypoint`: a list as it is, a text as a shell parts it.
fn words_of(node: Option<&Node>) -> Vec<Word> {
    match node {
        Some(Node::Scalar(text)) if !text.is_null() => {
            let resolved = interpolate(&text.text);
            let words = shlex::split(&resolved).unwrap_or_default();
            words.into_iter().map(|word| Word::new(word, text.at)).collect()
        }
        Some(Node::Sequence(list)) => list
            .items
            .iter()
            .filter_map(|item| match item {
                Node::Scalar(text) => Some(Word::new(interpolate(&text.text), text.at)),
                Node::Sequence(_) | Node::Mapping(_) => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn interpolated(variable: Variable) -> Variable {
    let value = Scalar { text: interpolate(&variable.value.text).into(), ..variable.value.clone() };
    let is_null = variable.value.is_null();
    if is_null { variable } else { Variable::of_text(&variable.name, value) }
}

/// `${NAME:-default}` is its default, another variable open, `$$` a dollar sign.
pub(crate) fn interpolate(text: &str) -> String {
    interpolate_with(text, &|_| None)
}

/// As [`interpolate`], with variables that are known.
#[expect(clippy::single_match_else, reason = "the two forms of a variable, side by side")]
pub(crate) fn interpolate_with(text: &str, known: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let tail = tail.get(1..).unwrap_or_default();
        if let Some(behind) = tail.strip_prefix('$') {
            out.push('$');
            rest = behind;
            continue;
        }
        let (inner, behind, source) = match tail.strip_prefix('{') {
            Some(inner) => match inner.find('}') {
                Some(end) => (
                    inner.get(..end).unwrap_or_default(),
                    inner.get(end + 1..).unwrap_or_default(),
                    rest.get(at..at + end + 3).unwrap_or_default(),
                ),
                None => {
                    out.push('$');
                    rest = tail;
                    continue;
                }
            },
            None => {
                let end = tail
                    .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
                    .unwrap_or(tail.len());
                if end == 0 {
                    out.push('$');
                    rest = tail;
                    continue;
                }
                let (name, behind) = tail.split_at(end);
                (name, behind, rest.get(at..at + end + 1).unwrap_or_default())
            }
        };
        let end = inner
            .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
            .unwrap_or(inner.len());
        let (name, operation) = inner.split_at(end);
        let default = operation.strip_prefix(":-").or_else(|| operation.strip_prefix('-'));
        match (known(name), default) {
            (Some(value), _) => out.push_str(&value),
            (None, Some(default)) => out.push_str(default),
            // The run of a benchmark is no evaluation unless it says so.
            (None, None) if name == "EVAL_ONLY" => {}
            (None, None) => out.push_str(&shell::unresolved(source)),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}
