//! A file of settings: JSON by its first character, else lines of a shell, else YAML.

use serde_json::{Map, Value};

use crate::engine::{Engine, SettingKind};

use super::error::{FoundError, FoundErrorKind};
use super::knobs::knob;
use super::mapping;
use super::role::{FoundSetting, NearMiss, Role};
use super::shell;
use super::spec::{Argument, wrong};

/// The server that a file of settings describes: an env file or dump, a shell's exports or `set -x` trace, the document
/// of `accsim env --json`, an object of environment variables, vLLM's speculative configuration, YAML with the same
/// names: whatever `accsim env` prints. A text with no setting and no server is refused.
///
/// ```
/// use accsim::engine::Engine;
/// use accsim::simulate::found::parse_env;
///
/// let role = parse_env("+ export SGLANG_SIMULATE_ACC_LEN=3.51\n+ python3 -m sglang.launch_server --speculative-num-steps 5\n")?;
/// assert_eq!(role.engine, Some(Engine::Sglang));
/// assert_eq!(role.settings[0].value, "3.51");
/// assert_eq!(role.max_accept_length(), Some(6));
/// # Ok::<(), accsim::simulate::found::FoundError>(())
/// ```
pub fn parse_env(text: &str) -> Result<Role, FoundError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !text.trim_start().starts_with('{') {
        return lines(text);
    }
    let value: Value = serde_json::from_str(text).map_err(|error| FoundError {
        line: Some(error.line()),
        kind: FoundErrorKind::NoJson(error.to_string()),
    })?;
    let Value::Object(object) = value else { return Err(FoundErrorKind::OtherJson.somewhere()) };
    let mut role = Role::default();
    if let Some(Value::Array(settings)) = object.get("settings") {
        printed_by_env(&mut role, &object, settings)?;
    } else if object
        .keys()
        .any(|key| key == "num_speculative_tokens" || knob(SettingKind::Json, key).is_some())
    {
        role.vllm_config(text, 1)?;
    } else {
        server_info(&mut role, &object)?;
        role.guess_engine();
        if !role.is_recognised() {
            return Err(unrecognised(&role, FoundErrorKind::OtherJson));
        }
    }
    Ok(role)
}

/// Variables by name; and the arguments and `internal_states[i].env_vars` of SGLang's `/server_info`.
fn server_info(role: &mut Role, object: &Map<String, Value>) -> Result<(), FoundError> {
    for (name, value) in object {
        let Some(value) = scalar(value) else { continue };
        role.variable(name, &value, 1)?;
        if name.starts_with("speculative_") {
            let name = name.replace('_', "-");
            role.argument(Argument { name: &name, value: &value, line: 1 })?;
        }
    }
    let states = object.get("internal_states").and_then(Value::as_array);
    for variables in states.into_iter().flatten().filter_map(|state| state.get("env_vars")?.as_object()) {
        for (name, value) in variables {
            if let Some(value) = scalar(value) {
                role.variable(name, &value, 1)?;
            }
        }
    }
    Ok(())
}

/// Lines of a shell, else YAML; an environment as the kernel keeps it parts its variables by NUL.
fn lines(text: &str) -> Result<Role, FoundError> {
    let read = if text.contains('\0') { kernel(text) } else { shell::read(text) };
    if read.as_ref().is_ok_and(Role::is_recognised) {
        return read;
    }
    if let Some(role) = mapping::read(text)?.filter(Role::is_recognised) {
        return Ok(role);
    }
    let role = read?;
    Err(unrecognised(&role, FoundErrorKind::NoSetting { lines: text.lines().count() }))
}

/// `/proc/PID/environ`.
fn kernel(text: &str) -> Result<Role, FoundError> {
    let mut role = Role::default();
    for (name, value) in text.split('\0').filter_map(|entry| entry.split_once('=')) {
        role.variable(name, value, 1)?;
    }
    role.guess_engine();
    Ok(role)
}

/// Why a file says nothing: a name that is nearly a setting tells more than that there is none.
fn unrecognised(role: &Role, else_kind: FoundErrorKind) -> FoundError {
    match &role.near_miss {
        Some(NearMiss { found, meant, line }) => {
            FoundErrorKind::NearMiss { found: found.clone(), meant }.at(*line)
        }
        None => else_kind.somewhere(),
    }
}

/// The document of `accsim env --json`.
fn printed_by_env(
    role: &mut Role,
    object: &Map<String, Value>,
    settings: &[Value],
) -> Result<(), FoundError> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let engine = text(object.get("engine")).unwrap_or_default();
    role.engine = Some(
        engine
            .parse::<Engine>()
            .map_err(|_| FoundErrorKind::Engine { name: "engine", found: engine.clone() }.somewhere())?,
    );
    if let Some(version) = text(object.get("engine_version")) {
        let expected = "a version like 0.5.18";
        role.version =
            Some(version.parse().map_err(|_| wrong("engine_version", &version, expected).somewhere())?);
    }
    let target = object.get("target");
    let of_target = |key: &str| target.and_then(|target| target.get(key));
    role.max = of_target("max_accept_length").and_then(Value::as_u64).and_then(|max| u32::try_from(max).ok());
    role.drafter = text(of_target("method")).and_then(|method| method.parse().ok());
    for setting in settings {
        let kind = match setting.get("kind").and_then(Value::as_str) {
            Some("env") => SettingKind::Env,
            Some("arg") => SettingKind::Arg,
            Some("json") => SettingKind::Json,
            other => {
                let found = other.unwrap_or("absent");
                return Err(wrong("kind", found, "env, arg or json").somewhere());
            }
        };
        let name = setting.get("name").and_then(Value::as_str).unwrap_or_default();
        if let (Some((name, _)), Some(value)) = (knob(kind, name), setting.get("value").and_then(scalar)) {
            role.set(FoundSetting { kind, name, value, line: 1 });
        }
    }
    Ok(())
}

/// The text of a value that is no list and no object.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests;
