//! `env --json`: an engine's settings for a target.

use std::io::{self, Write};

use serde::Serialize;

use crate::engine::{Removal, Setting, Settings, Warning};
use crate::golden::Target;

/// Writes the settings as one JSON document, ended by a line feed.
pub fn write_env(settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    let document = Document::from(settings);
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    engine: &'static str,
    engine_version: Option<String>,
    target: TargetEntry<'a>,
    settings: Vec<SettingEntry<'a>>,
    unset: Vec<RemovalEntry>,
    warnings: Vec<WarningEntry<'a>>,
}

/// As `curves lookup` prints it; an explicit target has no curve and says so.
#[derive(Serialize)]
struct TargetEntry<'a> {
    golden: bool,
    curve: Option<&'a str>,
    model: Option<&'a str>,
    method: Option<&'a str>,
    thinking: Option<&'static str>,
    draft_length: Option<u32>,
    accept_length: f64,
    max_accept_length: u32,
    source: &'a str,
}

#[derive(Serialize)]
struct SettingEntry<'a> {
    kind: &'static str,
    name: &'static str,
    value: &'a str,
}

#[derive(Serialize)]
struct RemovalEntry {
    kind: &'static str,
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instead: Option<&'static str>,
}

#[derive(Serialize)]
struct WarningEntry<'a> {
    code: &'static str,
    message: &'a str,
}

impl<'a> From<&'a Settings> for Document<'a> {
    fn from(settings: &'a Settings) -> Self {
        Self {
            schema_version: 1,
            engine: settings.server.engine.name(),
            engine_version: settings.server.version.as_ref().map(ToString::to_string),
            target: TargetEntry::from(&settings.target),
            settings: settings.settings.iter().map(SettingEntry::from).collect(),
            unset: settings.unset.iter().map(RemovalEntry::from).collect(),
            warnings: settings.warnings.iter().map(WarningEntry::from).collect(),
        }
    }
}

impl<'a> From<&'a Target> for TargetEntry<'a> {
    fn from(target: &'a Target) -> Self {
        let cell = target.cell();
        Self {
            golden: cell.is_some(),
            curve: cell.map(|cell| cell.curve.as_str()),
            model: cell.map(|cell| cell.model.as_str()),
            method: cell.map(|cell| cell.method.as_str()),
            thinking: cell.map(|cell| cell.thinking.key()),
            draft_length: cell.map(|cell| cell.draft_length),
            accept_length: target.accept_length().get(),
            max_accept_length: target.max_accept_length(),
            source: cell.map_or("explicit", |cell| cell.source.as_str()),
        }
    }
}

impl<'a> From<&'a Setting> for SettingEntry<'a> {
    fn from(setting: &'a Setting) -> Self {
        Self { kind: setting.kind.name(), name: setting.name, value: setting.value.text() }
    }
}

impl From<&Removal> for RemovalEntry {
    fn from(removal: &Removal) -> Self {
        Self { kind: removal.kind.name(), name: removal.name, instead: removal.instead }
    }
}

impl<'a> From<&'a Warning> for WarningEntry<'a> {
    fn from(warning: &'a Warning) -> Self {
        Self { code: warning.code.name(), message: &warning.message }
    }
}
