//! `env --json`: an engine's settings for a target.

use serde::Serialize;

use crate::engine::{Removal, Setting, Settings, Warning};
use crate::golden::{LookupWarning, Target};

use super::curves::TargetDocument;

/// The settings of one engine for one target.
#[derive(Debug, Serialize)]
pub struct EnvDocument<'a> {
    engine: &'static str,
    engine_version: Option<String>,
    target: TargetEntry<'a>,
    settings: Vec<SettingEntry<'a>>,
    unset: Vec<RemovalEntry>,
    warnings: Vec<WarningEntry>,
}

/// As `curves lookup` prints it; an explicit target has no curve and says so.
#[derive(Debug, Serialize)]
struct TargetEntry<'a> {
    golden: bool,
    #[serde(flatten)]
    target: TargetDocument<'a>,
}

#[derive(Debug, Serialize)]
struct SettingEntry<'a> {
    kind: &'static str,
    name: &'static str,
    value: &'a str,
}

#[derive(Debug, Serialize)]
struct RemovalEntry {
    kind: &'static str,
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instead: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct WarningEntry {
    code: &'static str,
    message: String,
}

impl<'a> EnvDocument<'a> {
    /// The settings, with what the user of a golden cell should know.
    #[must_use]
    pub fn new(settings: &'a Settings, about_cell: &[LookupWarning]) -> Self {
        let warnings = about_cell.iter().map(WarningEntry::from);
        Self {
            engine: settings.server.engine.name(),
            engine_version: settings.server.version.as_ref().map(ToString::to_string),
            target: TargetEntry::from(&settings.target),
            settings: settings.settings.iter().map(SettingEntry::from).collect(),
            unset: settings.unset.iter().map(RemovalEntry::from).collect(),
            warnings: warnings.chain(settings.warnings.iter().map(WarningEntry::from)).collect(),
        }
    }
}

impl<'a> From<&'a Target> for TargetEntry<'a> {
    fn from(target: &'a Target) -> Self {
        Self { golden: target.cell().is_some(), target: TargetDocument::new(target) }
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

impl From<&Warning> for WarningEntry {
    fn from(warning: &Warning) -> Self {
        Self { code: warning.code.name(), message: warning.message.clone() }
    }
}

impl From<&LookupWarning> for WarningEntry {
    fn from(warning: &LookupWarning) -> Self {
        Self { code: warning.code(), message: warning.to_string() }
    }
}
