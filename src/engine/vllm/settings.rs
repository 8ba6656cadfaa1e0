//! vLLM's two keys of `--speculative-config`.

use super::super::doubt::doubts;
use super::super::settings::startable;
use super::super::{
    Doubt, Engine, Removal, Server, Setting, SettingKind, SettingValue, SettingsError, Warning, WarningCode,
};
use super::facts;
use crate::golden::Target;

pub(crate) const METHOD: &str = "rejection_sample_method";
pub(crate) const LENGTH: &str = "synthetic_acceptance_length";
pub(crate) const RATES: &str = "synthetic_acceptance_rates";

/// An evaluation run rejects by `block` and has neither of the synthetic keys.
pub(crate) const UNSET: [Removal; 3] = [
    Removal { kind: SettingKind::Json, name: METHOD, instead: Some("block") },
    Removal { kind: SettingKind::Json, name: LENGTH, instead: None },
    Removal { kind: SettingKind::Json, name: RATES, instead: None },
];

/// The two keys; a length above K + 1 is refused, as the engine does at start.
pub(crate) fn settings(
    server: &Server,
    target: &Target,
) -> Result<(Vec<Setting>, Vec<Warning>), SettingsError> {
    let accept_length = startable(Engine::Vllm, target)?;
    let settings = vec![
        Setting { kind: SettingKind::Json, name: METHOD, value: SettingValue::Word("synthetic") },
        Setting { kind: SettingKind::Json, name: LENGTH, value: SettingValue::number(accept_length) },
    ];
    Ok((settings, doubts(server, accept_length)))
}

/// A version that may lie before the change that brought the keys.
pub(crate) fn doubt(server: &Server) -> Option<Warning> {
    let version = server.version.as_ref()?;
    let Some(Doubt::Undated(change)) = facts::at(Some(version)).synthetic.doubt else { return None };
    Some(Warning::new(
        WarningCode::VersionNotPlaced,
        format!(
            "whether vLLM {version} reads {LENGTH} is not known here: it came with {change}; a build shortly before has \
             the scalar synthetic_acceptance_rate instead, which is another law"
        ),
    ))
}
