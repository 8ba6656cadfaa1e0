//! TileRT's variables.

use super::super::{Engine, Removal, Setting, SettingKind, SettingValue, SettingsError, Warning};
use crate::golden::Target;

pub(crate) const LENGTH: &str = "TILERT_SIMULATE_ACC_LEN";
pub(crate) const METHOD: &str = "TILERT_SIMULATE_ACC_METHOD";

/// Both variables.
pub(crate) const UNSET: [Removal; 2] = [
    Removal { kind: SettingKind::Env, name: LENGTH, instead: None },
    Removal { kind: SettingKind::Env, name: METHOD, instead: None },
];

/// The two variables. What TileRT does above K + 1 is not known and nothing can hold such a length: refused.
pub(crate) fn settings(target: &Target) -> Result<(Vec<Setting>, Vec<Warning>), SettingsError> {
    let accept_length = target.accept_length().get();
    if target.is_above_max() {
        let max = target.max_accept_length();
        return Err(SettingsError::AboveMax { engine: Engine::Tilert, accept_length, max });
    }
    let settings = vec![
        Setting { kind: SettingKind::Env, name: LENGTH, value: SettingValue::number(accept_length) },
        Setting { kind: SettingKind::Env, name: METHOD, value: SettingValue::Word("match-expected") },
    ];
    Ok((settings, Vec::new()))
}
