//! What a variant is about: model, thinking mode, and the golden cell of its generation role.

use crate::engine::Engine;
use crate::golden::{Catalogue, LookupError, Query, Thinking, resolve};

use super::model::{Launch, Role, Variant};
use super::prefix;
use super::resolve::Speculation;

/// A launch, resolved.
#[derive(Clone, Debug)]
pub(crate) struct Resolved<'a> {
    pub(crate) launch: &'a Launch,
    pub(crate) engine: Option<Engine>,
    pub(crate) speculation: Result<Option<Speculation>, super::resolve::Fault>,
}

impl<'a> Resolved<'a> {
    pub(crate) fn new(launch: &'a Launch) -> Self {
        let engine = launch.engine.map(|(engine, _)| engine);
        let speculation = engine.map_or(Ok(None), |engine| super::resolve::speculation_of(launch, engine));
        Self { launch, engine, speculation }
    }

    pub(crate) fn speculation(&self) -> Option<&Speculation> {
        self.speculation.as_ref().ok().and_then(Option::as_ref)
    }

    pub(crate) fn draft_length(&self) -> Option<u32> {
        self.speculation()?.draft_length.known()
    }
}

/// The role whose cell every speculative role gets: `decode` where there is one, else `agg`.
pub(crate) fn generation<'r, 'a>(roles: &'r [Resolved<'a>]) -> Option<&'r Resolved<'a>> {
    let of = |role: Role| roles.iter().find(move |found| found.launch.role == role);
    let with_args = |role: Role| of(role).filter(|found| !found.launch.args.is_empty());
    with_args(Role::Decode)
        .or_else(|| with_args(Role::Agg))
        .or_else(|| of(Role::Decode))
        .or_else(|| of(Role::Agg))
        .or_else(|| roles.first())
}

/// The model prefix: what the caller says, what the file says, what the model's name says.
pub(crate) fn model_prefix(variant: &Variant, given: Option<&str>) -> Option<String> {
    if let Some(given) = given {
        return Some(given.to_owned());
    }
    let stated = variant.prefix.as_ref().map(|prefix| prefix.text.trim());
    stated
        .filter(|prefix| !prefix.is_empty() && !super::number::is_unresolved(prefix))
        .map(str::to_owned)
        .or_else(|| variant.models.iter().find_map(|name| prefix::of_name(&name.text)).map(str::to_owned))
}

/// Whether two prefixes are of one model: DeepSeek-V4-Pro has one for each drafter.
pub(crate) fn same_model(left: &str, right: &str) -> bool {
    const PRO: [&str; 3] = ["dsv4", "dsv4dspark", "dsv4dsparkprob"];
    left == right || (PRO.contains(&left) && PRO.contains(&right))
}

/// The golden value for a role, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Golden {
    /// The curve; none where no rule leads to one that exists.
    pub(crate) curve: Option<String>,
    /// The cell.
    pub(crate) value: Option<f64>,
    /// The cell of the other thinking mode.
    pub(crate) other: Option<f64>,
    /// Why there is no cell.
    pub(crate) missing: Option<String>,
    /// What there is to know about the cell.
    pub(crate) warnings: Vec<String>,
}

/// Looks the cell of the generation role up. `None` without a model prefix or a speculative generation role.
pub(crate) fn golden(
    catalogue: &Catalogue,
    prefix: Option<&str>,
    role: &Resolved<'_>,
    thinking: Thinking,
) -> Option<Golden> {
    let (prefix, engine, speculation) = (prefix?, role.engine?, role.speculation()?);
    let sampler = speculation
        .sampler
        .as_ref()
        .map(|sampler| &*sampler.text)
        .or_else(|| engine.default_draft_sample_method());
    let draft_model = speculation.draft_model.as_ref().map(|model| &*model.text);
    let curve = resolve(prefix, &speculation.method.text, draft_model, sampler)
        .ok()
        .map(|resolved| resolved.curve)
        .filter(|name| catalogue.get(name).is_some());
    let Some(draft_length) = speculation.draft_length.known() else {
        let missing = Some("the draft length is not known".to_owned());
        return Some(Golden { curve, value: None, other: None, missing, warnings: Vec::new() });
    };
    let query = |thinking| Query {
        prefix,
        method: &speculation.method.text,
        draft_length,
        thinking,
        draft_model,
        draft_sample_method: sampler,
    };
    let found = catalogue.lookup(&query(thinking));
    let value = |found: Result<crate::golden::Lookup, LookupError>| {
        found.ok().map(|lookup| lookup.target.accept_length().get())
    };
    let opposite = if thinking == Thinking::Off { Thinking::On } else { Thinking::Off };
    let other = value(catalogue.lookup(&query(opposite)));
    let (missing, warnings) = match &found {
        Ok(lookup) => (None, lookup.warnings.iter().map(ToString::to_string).collect()),
        Err(error) => (Some(error.to_string()), Vec::new()),
    };
    Some(Golden { curve, value: value(found), other, missing, warnings })
}
