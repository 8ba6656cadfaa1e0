//! The formats, and which engine has which.

use std::fmt;
use std::io::{self, Write};

use crate::engine::{Engine, Setting, SettingKind};

use super::{args, docker, dotenv, export, yaml};

/// A text format of settings. What an evaluation run must clear has its own: [`write_unset`](super::write_unset).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SettingsFormat {
    /// `export NAME=value`, for a shell.
    Export,
    /// `NAME=value`, for an env file.
    Dotenv,
    /// `-e NAME=value`, for `docker run`.
    Docker,
    /// Keys and values for a recipe.
    Yaml,
    /// Arguments of the server's command line.
    Args,
}

/// A format that an engine's settings do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{engine} {}", self.reason())]
pub struct FormatRefused {
    /// The engine.
    pub engine: Engine,
    /// The format.
    pub format: SettingsFormat,
}

impl SettingsFormat {
    /// The format that an engine's settings are printed in unless another is asked for.
    #[must_use]
    pub fn default_for(engine: Engine) -> Self {
        match engine.reads() {
            SettingKind::Env => Self::Export,
            SettingKind::Arg | SettingKind::Json => Self::Args,
        }
    }

    /// Checks that an engine's settings have this format: variables are no arguments, and the other way round.
    pub fn check(self, engine: Engine) -> Result<(), FormatRefused> {
        let fits = match self {
            Self::Yaml => true,
            Self::Export | Self::Dotenv | Self::Docker => engine.reads() == SettingKind::Env,
            Self::Args => engine.reads() != SettingKind::Env,
        };
        if fits { Ok(()) } else { Err(FormatRefused { engine, format: self }) }
    }

    /// Writes settings. Of a format that the engine does not have (see [`check`](Self::check)) nothing is written.
    pub fn write(self, settings: &[Setting], out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Export => export::write(settings, out),
            Self::Dotenv => dotenv::write(settings, out),
            Self::Docker => docker::write(settings, out),
            Self::Yaml => yaml::write(settings, out),
            Self::Args => args::write(settings, out),
        }
    }
}

impl fmt::Display for SettingsFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Export => "export",
            Self::Dotenv => "dotenv",
            Self::Docker => "docker",
            Self::Yaml => "yaml",
            Self::Args => "args",
        })
    }
}

impl FormatRefused {
    fn reason(self) -> String {
        let format = self.format;
        match self.engine.reads() {
            SettingKind::Env => format!(
                "reads its settings from environment variables and has no argument for them, so there is no '{format}' \
                 format; it has export, dotenv, docker, yaml, json, unset"
            ),
            SettingKind::Arg => format!(
                "reads its setting from the command line and no environment variable, so there is no '{format}' format; \
                 it has args, yaml, json, unset"
            ),
            SettingKind::Json => format!(
                "reads its settings from --speculative-config and no environment variable, so there is no '{format}' \
                 format; it has args, yaml, json, unset"
            ),
        }
    }
}

/// The settings of one kind as name and text.
pub(super) fn of_kind(settings: &[Setting], kind: SettingKind) -> impl Iterator<Item = (&'static str, &str)> {
    settings
        .iter()
        .filter(move |setting| setting.kind == kind)
        .map(|setting| (setting.name, setting.value.text()))
}

/// A word that a POSIX shell reads as `text`.
pub(super) fn quoted(text: &str) -> io::Result<std::borrow::Cow<'_, str>> {
    shlex::try_quote(text).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
}
