//! What the roles of one variant must have.

use crate::engine::{Engine, Server, SettingKind, settings, unset};
use crate::golden::{Catalogue, Query, Thinking};
use crate::recipe::context::{Resolved, generation, model_prefix, same_model};
use crate::recipe::model::{Role, Variant};
use crate::recipe::resolve::DraftLength;
use crate::recipe::srt::{ROLES, map};
use crate::recipe::thinking::declared;
use crate::yaml::{Mapping, Node};

use super::change::{Change, Desired};
use super::{InjectError, Request};

/// The changes for one variant, in the order of roles; the global environment last. Warnings go to `warnings`.
pub(super) fn desired(
    variant: &Variant,
    recipe: &Node,
    engine: Engine,
    catalogue: &Catalogue,
    request: &Request<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<Desired>, InjectError> {
    let name = || variant.name.clone();
    let roles: Vec<Resolved<'_>> = variant.launches.iter().map(Resolved::new).collect();
    for role in &roles {
        check_engine(role, engine)?;
        if let Err(fault) = &role.speculation {
            return Err(InjectError::Drafting {
                variant: name(),
                at: fault.at,
                message: fault.message.clone(),
            });
        }
    }
    if variant.evaluation && !request.eval_only {
        return Err(InjectError::Evaluation { variant: name() });
    }
    let set = if request.eval_only {
        Vec::new()
    } else {
        golden(variant, &roles, engine, catalogue, request, warnings)?
    };
    let paths = Paths::of(recipe, engine);
    let mut all = Vec::new();
    for role in &roles {
        let is_target = role.speculation().is_some()
            && !request.eval_only
            // TileRT simulates in its decode server alone.
            && (engine != Engine::Tilert || role.launch.role != Role::Prefill);
        role_changes(&paths, role.launch.role, engine, if is_target { &set } else { &[] }, &mut all);
    }
    for removal in unset(engine, None).iter().filter(|removal| removal.kind == SettingKind::Env) {
        // It is applied after the roles' own and would win.
        all.push(Desired {
            path: vec!["environment".to_owned(), removal.name.to_owned()],
            change: Change::Gone,
        });
    }
    Ok(all)
}

/// A setting: kind, name, value.
type Set = (SettingKind, &'static str, String);

/// The settings of the generation role's cell.
fn golden(
    variant: &Variant,
    roles: &[Resolved<'_>],
    engine: Engine,
    catalogue: &Catalogue,
    request: &Request<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<Set>, InjectError> {
    let name = || variant.name.clone();
    let Some((role, speculation)) = generation(roles).and_then(|role| Some((role, role.speculation()?)))
    else {
        return Err(InjectError::NothingDrafts { variant: name() });
    };
    let draft_length = match &speculation.draft_length {
        DraftLength::Known(length, _) => *length,
        DraftLength::Unreadable(fault) => {
            return Err(InjectError::Drafting {
                variant: name(),
                at: fault.at,
                message: fault.message.clone(),
            });
        }
        DraftLength::Absent => {
            let message = "the draft length is not stated".to_owned();
            return Err(InjectError::Drafting { variant: name(), at: role.launch.at, message });
        }
    };
    if let (Some(given), Some(found)) = (request.model, model_prefix(variant, None))
        && !same_model(given, &found)
    {
        let variant = variant.name.as_ref().map_or_else(String::new, |name| format!("{name}: "));
        warnings.push(format!(
            "{variant}the recipe's model is {found}, and the golden value of {given} is injected"
        ));
    }
    let mode = declared(variant, Some(role.launch)).map(|declared| declared.mode);
    let sampler = speculation.sampler.as_ref().map(|sampler| sampler.text.to_string());
    let query = Query {
        prefix: request.model.ok_or(InjectError::NoModel)?,
        method: &speculation.method.text,
        draft_length,
        thinking: request.thinking.or(mode).unwrap_or(Thinking::On),
        draft_model: speculation.draft_model.as_ref().map(|model| &*model.text),
        draft_sample_method: sampler.as_deref().or_else(|| engine.default_draft_sample_method()),
    };
    let found = catalogue
        .lookup(&query)
        .map_err(|error| InjectError::Lookup { variant: name(), error: Box::new(error) })?;
    warnings.extend(found.warnings.iter().map(ToString::to_string));
    let mut server = Server::new(engine);
    server.drafter = speculation.method.text.parse().ok();
    let told = settings(&server, &found.target)
        .map_err(|error| InjectError::Engine { variant: name(), message: error.to_string() })?;
    if told.settings.is_empty() {
        let why: Vec<&str> = told.warnings.iter().map(|warning| warning.message.as_str()).collect();
        return Err(InjectError::Engine { variant: name(), message: why.join("; ") });
    }
    Ok(told
        .settings
        .into_iter()
        .map(|setting| (setting.kind, setting.name, setting.value.text().to_owned()))
        .collect())
}

fn check_engine(role: &Resolved<'_>, engine: Engine) -> Result<(), InjectError> {
    let (found, at) = match (&role.launch.engine, &role.launch.unknown_engine) {
        (Some((found, at)), _) if *found != engine => (found.name().to_owned(), *at),
        (None, Some(unknown)) => (unknown.text.to_string(), unknown.at),
        _ => return Ok(()),
    };
    Err(InjectError::OtherEngine { at, role: role.launch.role.name(), found, asked: engine.name() })
}

/// Sets what is to be set and takes away every other knob.
fn role_changes(paths: &Paths, role: Role, engine: Engine, set: &[Set], all: &mut Vec<Desired>) {
    let mut json = (Vec::new(), Vec::new());
    for (kind, name, value) in set {
        match kind {
            SettingKind::Env => {
                all.push(Desired { path: paths.env(role, name), change: Change::Text(value.clone()) });
            }
            SettingKind::Arg => {
                all.push(Desired { path: paths.arg(role, name), change: Change::Bare(value.clone()) });
            }
            SettingKind::Json => {
                let is_number = crate::recipe::number::decimal(value).is_some();
                json.0.push((*name, if is_number { value.clone() } else { format!("\"{value}\"") }));
            }
        }
    }
    for removal in unset(engine, None) {
        if set.iter().any(|(_, name, _)| *name == removal.name) {
            continue;
        }
        match removal.kind {
            SettingKind::Env => {
                all.push(Desired { path: paths.env(role, removal.name), change: Change::Gone });
            }
            SettingKind::Arg => {
                all.push(Desired { path: paths.arg(role, removal.name), change: Change::Gone });
            }
            SettingKind::Json => match removal.instead {
                Some(instead) if set.is_empty() => json.0.push((removal.name, format!("\"{instead}\""))),
                _ => json.1.push(removal.name),
            },
        }
    }
    if engine == Engine::Vllm {
        // Servers since vllm-project/vllm#40662 refuse this older key.
        json.1.push(crate::recipe::resolve::OLD_RATE);
        let change = Change::Json { set: json.0, unset: json.1 };
        all.push(Desired { path: paths.arg(role, "speculative-config"), change });
    }
}

/// Where a recipe keeps environments and arguments.
enum Paths {
    Two,
    One { config: String },
}

impl Paths {
    fn of(recipe: &Node, engine: Engine) -> Self {
        let recipe: Option<&Mapping> = map(Some(recipe));
        if recipe.is_some_and(|recipe| recipe.get("roles").is_some()) {
            return Self::Two;
        }
        let kind = map(recipe.and_then(|recipe| recipe.get("backend")))
            .and_then(|backend| crate::recipe::srt::text(backend.get("type")))
            .map_or_else(|| engine.name().to_owned(), |kind| kind.text.to_string());
        Self::One { config: format!("{kind}_config") }
    }

    fn env(&self, role: Role, name: &str) -> Vec<String> {
        let path: Vec<&str> = match self {
            Self::Two => vec!["roles", role.name(), "env", name],
            Self::One { .. } => {
                let environment = ROLES
                    .iter()
                    .find(|(known, ..)| *known == role)
                    .map_or("", |(_, environment, _)| environment);
                vec!["backend", environment, name]
            }
        };
        path.into_iter().map(str::to_owned).collect()
    }

    fn arg(&self, role: Role, name: &str) -> Vec<String> {
        let name = name.trim_start_matches('-');
        let path: Vec<&str> = match self {
            Self::Two => vec!["roles", role.name(), "args", name],
            Self::One { config } => {
                let arguments =
                    ROLES.iter().find(|(known, ..)| *known == role).map_or("", |(_, _, arguments)| arguments);
                vec!["backend", config, arguments, name]
            }
        };
        path.into_iter().map(str::to_owned).collect()
    }
}
