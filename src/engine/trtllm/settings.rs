//! TensorRT-LLM's variable.

use super::super::doubt::doubts;
use super::super::{
    Doubt, General, Models, Removal, Server, Setting, SettingKind, SettingValue, Warning, WarningCode,
};
use super::facts::{self, Reader};
use crate::golden::Target;

pub(crate) const VARIABLE: &str = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS";

/// The one variable.
pub(crate) const UNSET: [Removal; 1] = [Removal { kind: SettingKind::Env, name: VARIABLE, instead: None }];

/// The variable: accepted drafts, so the accept length minus 1. Nothing where that would mean "off".
pub(crate) fn settings(server: &Server, target: &Target) -> (Vec<Setting>, Vec<Warning>) {
    let mut warnings = Vec::new();
    let length = target.accept_length().get();
    let value = SettingValue::number(length - 1.0);
    if value.text() == "0" {
        warnings.push(Warning::new(
            WarningCode::CannotForceOne,
            format!(
                "TensorRT-LLM cannot be forced to an accept length of 1: {VARIABLE} counts accepted drafts, and 0 of them \
                 means real acceptance; nothing is set"
            ),
        ));
        return (Vec::new(), warnings);
    }
    let is_fraction = is_fraction(&value);
    let reader = facts::at(server.version.as_ref()).reader(server.models);
    match reader.behaviour() {
        Reader::Integer if is_fraction => {
            let path = if server.models == Some(Models::Two) { "the two-model path of " } else { "" };
            warnings.push(Warning::new(
                WarningCode::FractionIgnored,
                format!(
                    "{path}TensorRT-LLM reads an integer: given {} it warns and accepts for real; nothing is set",
                    value.text()
                ),
            ));
            return (Vec::new(), warnings);
        }
        _ => warnings.extend(doubts(server, length)),
    }
    if target.is_above_max() {
        warnings.push(Warning::new(
            WarningCode::ClampedToMax,
            format!(
                "TensorRT-LLM cuts {} to {}, the most tokens that a step emits, without a word",
                General(length),
                target.max_accept_length()
            ),
        ));
    }
    (vec![Setting { kind: SettingKind::Env, name: VARIABLE, value }], warnings)
}

/// Whether an integer reader would refuse the text.
fn is_fraction(value: &SettingValue) -> bool {
    value.text().contains(['.', 'e'])
}

/// A version that may lie before the change that made fractions readable.
pub(crate) fn doubt(server: &Server, accept_length: f64) -> Option<Warning> {
    let version = server.version.as_ref()?;
    let value = SettingValue::number(accept_length - 1.0);
    let reader = facts::at(Some(version)).reader(server.models);
    let Some(Doubt::Undated(change)) = reader.doubt.filter(|_| is_fraction(&value)) else { return None };
    Some(Warning::new(
        WarningCode::FractionIgnored,
        format!(
            "whether TensorRT-LLM {version} reads a fraction is not known here: that came with {change}, on the \
             one-model path; a build before it logs \"must be a valid integer, got '{}'\" and accepts for real",
            value.text()
        ),
    ))
}
