//! ATOM's argument.

use super::super::doubt::doubts;
use super::super::settings::startable;
use super::super::{
    Doubt, Engine, Removal, Server, Setting, SettingKind, SettingValue, SettingsError, Warning, WarningCode,
};
use super::facts;
use crate::golden::Target;

pub(crate) const LENGTH: &str = "--spec-decode-acceptance-length";
pub(crate) const RATE: &str = "--spec-decode-acceptance-rate";

/// Either argument may carry the setting.
pub(crate) const UNSET: [Removal; 2] = [
    Removal { kind: SettingKind::Arg, name: LENGTH, instead: None },
    Removal { kind: SettingKind::Arg, name: RATE, instead: None },
];

/// The argument; a length above K + 1 is refused, as the engine does at start.
pub(crate) fn settings(
    server: &Server,
    target: &Target,
) -> Result<(Vec<Setting>, Vec<Warning>), SettingsError> {
    let accept_length = startable(Engine::Atom, target)?;
    let settings =
        vec![Setting { kind: SettingKind::Arg, name: LENGTH, value: SettingValue::number(accept_length) }];
    Ok((settings, doubts(server, accept_length)))
}

/// A version that may lie before the change that brought the argument.
pub(crate) fn doubt(server: &Server) -> Option<Warning> {
    let version = server.version.as_ref()?;
    let Some(Doubt::Undated(change)) = facts::at(Some(version)).forcing.doubt else { return None };
    Some(Warning::new(
        WarningCode::VersionNotPlaced,
        format!(
            "whether ATOM {version} has {LENGTH} is not known here: it came with {change}; a build before has {RATE} \
             alone, with a geometric law"
        ),
    ))
}
