//! From a target to what an engine must be told.

use super::{Engine, EngineVersion, General, Server, atom, sglang, tilert, trtllm, vllm};
use crate::golden::Target;

/// What makes an engine hold a target, and what it would do wrong all the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The server that they are for.
    pub server: Server,
    /// What it shall hold.
    pub target: Target,
    /// The settings, in the order to write them. Empty when nothing makes this server hold the target: a warning says
    /// why.
    pub settings: Vec<Setting>,
    /// What an evaluation run must not have.
    pub unset: Vec<Removal>,
    /// What the engine would do wrong with these settings.
    pub warnings: Vec<Warning>,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Where it goes.
    pub kind: SettingKind,
    /// Its name; an argument's with its dashes.
    pub name: &'static str,
    /// Its value.
    pub value: SettingValue,
}

/// Where an engine reads a setting from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SettingKind {
    /// An environment variable of the server's process.
    Env,
    /// An argument of the server's command line.
    Arg,
    /// A key of the JSON object that vLLM's `--speculative-config` takes.
    Json,
}

impl SettingKind {
    /// The name that JSON uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Env => "env",
            Self::Arg => "arg",
            Self::Json => "json",
        }
    }
}

/// A setting's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// A number, as `%g` writes it.
    Number(String),
    /// A word of the engine's own.
    Word(&'static str),
}

impl SettingValue {
    pub(crate) fn number(value: f64) -> Self {
        Self::Number(General(value).to_string())
    }

    /// The text to write.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Number(text) => text,
            Self::Word(word) => word,
        }
    }
}

/// A setting that an evaluation run must not have: simulated acceptance makes wrong text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removal {
    /// Where it may be.
    pub kind: SettingKind,
    /// Its name; an argument's with its dashes.
    pub name: &'static str,
    /// What to put in its place, where taking it away is not enough.
    pub instead: Option<&'static str>,
}

/// Something that an engine would do wrong with the settings, or cannot do at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Which.
    pub code: WarningCode,
    /// What happens and what to do about it.
    pub message: String,
}

impl Warning {
    pub(crate) fn new(code: WarningCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// The kinds of [`Warning`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WarningCode {
    /// This version and algorithm accept for real whatever is set.
    SimulationIgnored,
    /// The version reads names without the `SGLANG_` prefix.
    LegacyVariableNames,
    /// The version draws the rounded normal called `multinomial` and cannot be told otherwise.
    MethodDefaultMultinomial,
    /// Real draft tokens cannot be had.
    TokenModeUnsupported,
    /// The version rounds a DSPARK target to whole tokens.
    DsparkRoundsTarget,
    /// The target lies above what a step can emit, and the engine cuts it in silence.
    ClampedToMax,
    /// A TensorRT-LLM that reads an integer takes a fraction for "off".
    FractionIgnored,
    /// TensorRT-LLM takes an accept length of 1 (no accepted draft) for "off".
    CannotForceOne,
    /// The facts are known by date or for the final release only: this version may still differ.
    VersionNotPlaced,
}

impl WarningCode {
    /// The name that JSON and messages use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SimulationIgnored => "simulation-ignored",
            Self::LegacyVariableNames => "legacy-variable-names",
            Self::MethodDefaultMultinomial => "method-default-multinomial",
            Self::TokenModeUnsupported => "token-mode-unsupported",
            Self::DsparkRoundsTarget => "dspark-rounds-target",
            Self::ClampedToMax => "clamped-to-max",
            Self::FractionIgnored => "fraction-ignored",
            Self::CannotForceOne => "cannot-force-one",
            Self::VersionNotPlaced => "version-not-placed",
        }
    }
}

/// Why a target has no settings.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingsError {
    /// The engine refuses to start with it.
    #[error(
        "{engine} refuses to start with an accept length of {}: a step emits 1 to {max} tokens",
        General(*accept_length)
    )]
    RefusedByEngine {
        /// The engine.
        engine: Engine,
        /// The target, in tokens per verify step.
        accept_length: f64,
        /// The most tokens that one step can emit.
        max: u32,
    },
    /// What the engine does with it is not known, and no engine can hold it.
    #[error(
        "an accept length of {} is above {max}, the most tokens that a step emits; what {engine} does then is not known",
        General(*accept_length)
    )]
    AboveMax {
        /// The engine.
        engine: Engine,
        /// The target, in tokens per verify step.
        accept_length: f64,
        /// The most tokens that one step can emit.
        max: u32,
    },
}

/// The accept length of a target for an engine that refuses to start with one above the most that a step emits.
pub(super) fn startable(engine: Engine, target: &Target) -> Result<f64, SettingsError> {
    let accept_length = target.accept_length().get();
    if target.is_above_max() {
        return Err(SettingsError::RefusedByEngine {
            engine,
            accept_length,
            max: target.max_accept_length(),
        });
    }
    Ok(accept_length)
}

/// The settings that make `server` hold `target`.
///
/// When it is certain that nothing does (the version ignores simulation, TensorRT-LLM and a target of 1), the list is
/// empty and a [`Warning`] says why: a setting without effect is never handed out.
///
/// ```
/// use accsim::engine::{Engine, Server, settings};
/// use accsim::golden::Target;
///
/// let target = Target::explicit(3.51, 6)?;
/// let trtllm = settings(&Server::new(Engine::Trtllm), &target)?;
/// assert_eq!(trtllm.settings[0].value.text(), "2.51"); // counts drafts
/// assert!(settings(&Server::new(Engine::Vllm), &Target::explicit(6.5, 6)?).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn settings(server: &Server, target: &Target) -> Result<Settings, SettingsError> {
    let (settings, warnings) = match server.engine {
        Engine::Sglang => sglang::settings(server, target),
        Engine::Vllm => vllm::settings(server, target)?,
        Engine::Trtllm => trtllm::settings(server, target),
        Engine::Atom => atom::settings(server, target)?,
        Engine::Tilert => tilert::settings(target)?,
    };
    Ok(Settings {
        server: server.clone(),
        target: target.clone(),
        settings,
        unset: unset(server.engine, server.version.as_ref()),
        warnings,
    })
}

/// What an evaluation run on `engine` must not have, whatever its target; the newest release known holds without a
/// version.
///
/// ```
/// use accsim::engine::{Engine, unset};
///
/// let names: Vec<&str> = unset(Engine::Trtllm, None).iter().map(|removal| removal.name).collect();
/// assert_eq!(names, ["TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"]);
/// ```
#[must_use]
pub fn unset(engine: Engine, version: Option<&EngineVersion>) -> Vec<Removal> {
    match engine {
        Engine::Sglang => sglang::unset(version),
        Engine::Vllm => vllm::UNSET.to_vec(),
        Engine::Trtllm => trtllm::UNSET.to_vec(),
        Engine::Atom => atom::UNSET.to_vec(),
        Engine::Tilert => tilert::UNSET.to_vec(),
    }
}

#[cfg(test)]
mod tests;
