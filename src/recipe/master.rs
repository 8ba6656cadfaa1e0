//! Master configurations: settings that are given to a recipe when it is launched.

use std::sync::Arc;

use crate::yaml::{Mapping, Node, Position, Scalar, YamlError, parse};

use super::Selector;
use super::number::decimal;
use super::srt::{is_true, map, text};

/// A master configuration, as far as it pins.
#[derive(Clone, Debug, PartialEq)]
pub struct Master {
    /// Its file.
    pub file: Arc<str>,
    /// Its pins.
    pub pins: Vec<MasterPin>,
}

/// A pin of a master configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct MasterPin {
    /// The recipe's path as written, without its selector.
    pub recipe: String,
    /// The variants that it is for; none means all.
    pub selector: Option<Selector>,
    /// The accept length for every engine; none means the golden value.
    pub accept_length: Option<f64>,
    /// A length that is no number.
    pub unreadable: Option<String>,
    /// The model prefix of the entry.
    pub model_prefix: Option<String>,
    /// Where the length, or the recipe, is named.
    pub at: Position,
}

/// Why a master configuration is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MasterError {
    /// No YAML.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// No entry with `scenarios`.
    #[error("not a master configuration: no entry has scenarios")]
    NoScenarios,
}

impl Master {
    /// Whether one of its entries is about a recipe.
    #[must_use]
    pub fn names(&self, file: &str) -> bool {
        !pins_for(std::slice::from_ref(self), file).is_empty()
    }
}

/// Whether a document is a master configuration.
pub(crate) fn is_master(root: &Mapping) -> bool {
    root.entries
        .iter()
        .any(|entry| map(Some(&entry.value)).is_some_and(|config| config.get("scenarios").is_some()))
}

/// Reads a master configuration.
///
/// ```
/// use accsim::recipe::parse_master;
///
/// let refused = parse_master("master.yaml", "name: something else\n");
/// assert_eq!(refused.unwrap_err().to_string(), "not a master configuration: no entry has scenarios");
/// ```
pub fn parse_master(file: &str, content: &str) -> Result<Master, MasterError> {
    let Node::Mapping(root) = parse(content)? else { return Err(MasterError::NoScenarios) };
    if !is_master(&root) {
        return Err(MasterError::NoScenarios);
    }
    let mut pins = Vec::new();
    for entry in &root.entries {
        let Some(config) = map(Some(&entry.value)) else { continue };
        let prefix = text(config.get("model-prefix")).map(|prefix| prefix.text.to_string());
        for scenario in ["agentic-coding", "fixed-seq-len"] {
            let scenarios = map(config.get("scenarios"));
            if let Some(node) = scenarios.and_then(|scenarios| scenarios.get(scenario)) {
                walk(node, prefix.as_deref(), &mut pins);
            }
        }
    }
    Ok(Master { file: Arc::from(file), pins })
}

/// Finds `prefill` and `decode` with `additional-settings`, at whatever level. Depth is that of the document, which is
/// bounded.
fn walk(node: &Node, prefix: Option<&str>, pins: &mut Vec<MasterPin>) {
    match node {
        Node::Scalar(_) => {}
        Node::Sequence(list) => list.items.iter().for_each(|item| walk(item, prefix, pins)),
        Node::Mapping(entry) => {
            let settings = ["prefill", "decode"]
                .iter()
                .filter_map(|role| map(entry.get(role))?.get("additional-settings"))
                .filter_map(|settings| match settings {
                    Node::Sequence(list) => Some(&list.items),
                    _ => None,
                })
                .flatten()
                .filter_map(|item| text(Some(item)));
            pins.extend(pin(settings, prefix));
            entry.entries.iter().for_each(|inner| walk(&inner.value, prefix, pins));
        }
    }
}

/// The pin in a list of `NAME=value`, in any order; the first of a name holds.
fn pin<'a>(settings: impl Iterator<Item = &'a Scalar>, prefix: Option<&str>) -> Option<MasterPin> {
    let (mut is_synthetic, mut length, mut recipe) = (false, None, None);
    for setting in settings {
        let Some((name, value)) = setting.text.split_once('=') else { continue };
        let value = value.trim();
        match name.trim() {
            "SYNTHETIC_ACCEPTANCE" => is_synthetic = is_true(value),
            "SYNTHETIC_ACCEPTANCE_LENGTH" if length.is_none() => length = Some((value, setting.at)),
            "CONFIG_FILE" if recipe.is_none() => recipe = Some((value, setting.at)),
            _ => {}
        }
    }
    let (recipe, at) = recipe.filter(|_| is_synthetic)?;
    let (recipe, selector) = Selector::split(recipe);
    let number = length.and_then(|(text, _)| decimal(text));
    Some(MasterPin {
        recipe: recipe.to_owned(),
        selector,
        accept_length: number,
        unreadable: length.filter(|_| number.is_none()).map(|(text, _)| text.to_owned()),
        model_prefix: prefix.map(str::to_owned),
        at: length.map_or(at, |(_, at)| at),
    })
}

/// Pins of several master configurations for one recipe: by path suffix, else by file name.
pub(crate) fn pins_for<'a>(masters: &'a [Master], file: &str) -> Vec<(&'a Master, &'a MasterPin)> {
    let path = file.replace('\\', "/");
    let all = || masters.iter().flat_map(|master| master.pins.iter().map(move |pin| (master, pin)));
    let by_path: Vec<_> = all().filter(|(_, pin)| is_suffix(&path, &pin.recipe)).collect();
    if !by_path.is_empty() {
        return by_path;
    }
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    all().filter(|(_, pin)| name(&pin.recipe) == name(&path)).collect()
}

/// Whether a path ends with the other, from a folder on; `recipes/` in front is the launcher's own folder.
fn is_suffix(path: &str, recipe: &str) -> bool {
    let tail = recipe.strip_prefix("recipes/").unwrap_or(recipe);
    tail.contains('/')
        && path.strip_suffix(tail).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}
