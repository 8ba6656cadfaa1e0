//! All changes of one file, planned before one is made.

use crate::engine::Engine;
use crate::golden::{Catalogue, Thinking};
use crate::recipe::model::Variant;
use crate::recipe::source::Source;
use crate::recipe::variants::variants;
use crate::recipe::{ReadError, Selector, SelectorError, engine_of_framework, srt};
use crate::yaml::{Entry, Mapping, Node, Position, parse};

use super::change::{Change, Desired, Override};
use super::desired::desired;
use super::edit::apply;
use super::section::{Sites, sections};
use super::{InjectError, json, verify};

/// What to inject.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The framework's name, as launchers have it.
    pub framework: &'a str,
    /// The model prefix; needed unless everything is taken away.
    pub model: Option<&'a str>,
    /// The thinking mode; else what the recipe declares, else `on`.
    pub thinking: Option<Thinking>,
    /// Whether to take every knob away, as an evaluation run needs it.
    pub eval_only: bool,
    /// The variants; none means all.
    pub selector: Option<&'a Selector>,
    /// Paths that the caller takes away by itself.
    pub unset: &'a [String],
}

/// What would be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The whole new text.
    pub text: String,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// Variants with their arguments for `srtctl apply`.
    overrides: Vec<(Option<String>, Vec<Override>)>,
}

impl Plan {
    /// The arguments for `srtctl apply`, where all variants need the same.
    pub fn overrides(&self) -> Result<&[Override], InjectError> {
        let Some((_, first)) = self.overrides.first() else { return Ok(&[]) };
        if self.overrides.iter().any(|(_, other)| other != first) {
            let names = self.overrides.iter().filter_map(|(name, _)| name.clone()).collect();
            return Err(InjectError::VariantsDiffer(names));
        }
        Ok(first)
    }
}

/// One variant with what it must have.
pub(super) struct Wanted {
    pub(super) name: Option<String>,
    /// The whole recipe that it is.
    pub(super) recipe: Node,
    pub(super) desired: Vec<Desired>,
}

/// Plans the injection into one recipe.
///
/// ```
/// use accsim::golden::Catalogue;
/// use accsim::recipe::inject::{Request, plan};
///
/// let recipe = "schema: 2\nroles:\n  agg:\n    engine: sglang\n    env:\n      A: '1'  # kept\n    args:\n      \
///               speculative-algorithm: DSPARK\n      speculative-dspark-block-size: 5\n";
/// let request = Request {
///     framework: "sglang",
///     model: Some("dsv41flash"),
///     thinking: None,
///     eval_only: false,
///     selector: None,
///     unset: &[],
/// };
/// let plan = plan("a.yaml", recipe, &Catalogue::builtin(), &request)?;
/// assert!(plan.text.contains("      A: '1'  # kept\n      SGLANG_SIMULATE_ACC_LEN: '3.51'\n"));
/// # Ok::<(), accsim::recipe::inject::InjectError>(())
/// ```
pub fn plan(
    file: &str,
    text: &str,
    catalogue: &Catalogue,
    request: &Request<'_>,
) -> Result<Plan, InjectError> {
    let engine = engine_of_framework(request.framework)
        .ok_or_else(|| InjectError::Framework(request.framework.to_owned()))?;
    if text.len() > crate::recipe::MOST_BYTES {
        return Err(ReadError::TooLarge { found: text.len() }.into());
    }
    let root = parse(text).map_err(ReadError::Yaml)?;
    let Node::Mapping(document) = &root else { return Err(InjectError::NoRecipe) };
    if !srt::is_recipe(document) {
        return Err(InjectError::NoRecipe);
    }
    if let Some((at, found)) = srt::unknown_schema(document) {
        return Err(ReadError::Schema { at, found }.into());
    }
    let source = Source::new(text);
    let read = srt::read(&root, &source, file).map_err(|error| ReadError::Variants(error.to_string()))?;
    let whole = variants(&root).map_err(|error| ReadError::Variants(error.to_string()))?;
    let mut warnings = Vec::new();
    let mut wanted = Vec::new();
    for (variant, (name, recipe)) in read.variants.iter().zip(whole) {
        if is_selected(request.selector, name.as_deref())? {
            let desired = wanted_of(variant, &recipe, engine, catalogue, request, &mut warnings)?;
            wanted.push(Wanted { name, recipe, desired });
        }
    }
    if let (Some(selector), true) = (request.selector, wanted.is_empty()) {
        let known = read.variant_names();
        return Err(SelectorError::NoMatch { selector: selector.to_string(), known }.into());
    }
    callers_unset(&wanted, request)?;
    let mut edits = Vec::new();
    let mut sites = Sites::default();
    for section in sections(document, &wanted)? {
        section.edits(&source, &mut edits, &mut sites)?;
    }
    sites.edits(&source, &mut edits)?;
    let new = apply(&source, edits)?;
    verify::check(file, text, &new, &wanted)?;
    warnings.sort();
    warnings.dedup();
    let overrides = wanted
        .iter()
        .map(|wanted| Ok((wanted.name.clone(), overrides(wanted)?)))
        .collect::<Result<_, InjectError>>()?;
    Ok(Plan { text: new, warnings, overrides })
}

fn is_selected(selector: Option<&Selector>, name: Option<&str>) -> Result<bool, InjectError> {
    match (selector, name) {
        (None, _) => Ok(true),
        (Some(selector), Some(name)) => Ok(selector.matches(name)),
        (Some(selector), None) => Err(SelectorError::NoBase(selector.to_string()).into()),
    }
}

fn wanted_of(
    variant: &Variant,
    recipe: &Node,
    engine: Engine,
    catalogue: &Catalogue,
    request: &Request<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<Desired>, InjectError> {
    let mut all = desired(variant, recipe, engine, catalogue, request, warnings)?;
    if let Some(dotted) = all.iter().find_map(|desired| dotted_key(recipe, desired)) {
        let why = format!("{} is written in dotted keys, into which nothing is injected", dotted.0);
        return Err(InjectError::Place { at: dotted.1, why });
    }
    // A role without the argument has no JSON to change, nor does an evaluation that simulates nothing.
    all.retain(|desired| match &desired.change {
        Change::Json { set, .. } => match at(recipe, &desired.path) {
            Some(Node::Scalar(text)) if text.is_null() => false,
            Some(node) => set.iter().any(|(_, value)| value != "\"block\"") || says_synthetic(node),
            None => false,
        },
        _ => true,
    });
    Ok(all)
}

/// The first key of a JSON argument that is written with dots: `speculative-config.method`.
fn dotted_key(recipe: &Node, desired: &Desired) -> Option<(String, Position)> {
    let (Change::Json { .. }, Some((name, block))) = (&desired.change, desired.path.split_last()) else {
        return None;
    };
    let Some(Node::Mapping(block)) = at(recipe, block) else { return None };
    let key = block.entries.iter().map(|entry| &entry.key).find(|key| {
        let written = key.text.trim_start_matches('-').split_once('.');
        written.is_some_and(|(written, _)| written.replace('_', "-") == *name)
    })?;
    Some((name.clone(), key.at))
}

/// Whether a configuration of vLLM's simulates acceptance.
fn says_synthetic(node: &Node) -> bool {
    match node {
        Node::Mapping(object) => crate::recipe::resolve::is_synthetic(object),
        Node::Scalar(text) => match crate::recipe::json::tree(&text.text, text.at, None) {
            Ok(Node::Mapping(object)) => crate::recipe::resolve::is_synthetic(&object),
            _ => false,
        },
        Node::Sequence(_) => false,
    }
}

fn callers_unset(wanted: &[Wanted], request: &Request<'_>) -> Result<(), InjectError> {
    for path in request.unset {
        let removes = |desired: &Desired| {
            let whole = desired.path.join(".");
            desired.change != Change::Gone
                && (whole == *path
                    || whole.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('.')))
        };
        if wanted.iter().flat_map(|wanted| &wanted.desired).any(removes) {
            return Err(InjectError::CallersUnset(path.clone()));
        }
    }
    Ok(())
}

/// The node at a path; argument names match with dashes or underscores.
pub(super) fn at<'n>(root: &'n Node, path: &[String]) -> Option<&'n Node> {
    let mut node = root;
    for key in path {
        let Node::Mapping(map) = node else { return None };
        node = &entry(map, key)?.value;
    }
    Some(node)
}

/// The entry of a key, spelled with dashes or underscores.
pub(super) fn entry<'n>(map: &'n Mapping, key: &str) -> Option<&'n Entry> {
    let same = |entry: &&Entry| *entry.key.text == *key || entry.key.text.replace('_', "-") == key;
    map.entries.iter().find(same)
}

/// The arguments that make one variant so.
fn overrides(wanted: &Wanted) -> Result<Vec<Override>, InjectError> {
    let mut all = Vec::new();
    for desired in &wanted.desired {
        let held = at(&wanted.recipe, &desired.path)
            .filter(|node| !matches!(node, Node::Scalar(text) if text.is_null()));
        let path = desired.path.join(".");
        match &desired.change {
            Change::Text(value) => {
                let value = serde_json::Value::from(value.as_str()).to_string();
                all.push(Override::Set { path, value });
            }
            Change::Bare(value) => all.push(Override::Set { path, value: value.clone() }),
            Change::Gone if held.is_some() => all.push(Override::Unset { path }),
            Change::Gone => {}
            Change::Json { set, unset } => match held {
                Some(Node::Scalar(text)) => {
                    let new = json::edited(&text.text, set, unset)
                        .map_err(|why| InjectError::Place { at: text.at, why })?;
                    all.push(Override::Set { path, value: serde_json::Value::from(new).to_string() });
                }
                Some(Node::Mapping(object)) => {
                    for (key, value) in set {
                        all.push(Override::Set { path: format!("{path}.{key}"), value: value.clone() });
                    }
                    for key in unset.iter().filter(|key| object.get(key).is_some()) {
                        all.push(Override::Unset { path: format!("{path}.{key}") });
                    }
                }
                Some(Node::Sequence(_)) | None => {}
            },
        }
    }
    Ok(all)
}
