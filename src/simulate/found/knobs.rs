//! The names that matter, and whose they are.

use crate::engine::{Engine, SettingKind};

/// Environment variables of simulated acceptance, with the engine that reads them.
const VARIABLES: [(&str, Engine); 10] = [
    ("SGLANG_SIMULATE_ACC_LEN", Engine::Sglang),
    ("SGLANG_SIMULATE_ACC_METHOD", Engine::Sglang),
    ("SGLANG_SIMULATE_ACC_TOKEN_MODE", Engine::Sglang),
    ("SGLANG_RAGGED_VERIFY_MODE", Engine::Sglang),
    ("SIMULATE_ACC_LEN", Engine::Sglang),
    ("SIMULATE_ACC_METHOD", Engine::Sglang),
    ("SIMULATE_ACC_TOKEN_MODE", Engine::Sglang),
    ("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS", Engine::Trtllm),
    ("TILERT_SIMULATE_ACC_LEN", Engine::Tilert),
    ("TILERT_SIMULATE_ACC_METHOD", Engine::Tilert),
];

const ARGUMENTS: [(&str, Engine); 2] =
    [("--spec-decode-acceptance-length", Engine::Atom), ("--spec-decode-acceptance-rate", Engine::Atom)];

const KEYS: [(&str, Engine); 4] = [
    ("rejection_sample_method", Engine::Vllm),
    ("synthetic_acceptance_length", Engine::Vllm),
    ("synthetic_acceptance_rates", Engine::Vllm),
    ("synthetic_acceptance_rate", Engine::Vllm),
];

/// The engine that reads a setting, and the setting's name; none for a name that has nothing to do with it.
pub(super) fn knob(kind: SettingKind, name: &str) -> Option<(&'static str, Engine)> {
    let known: &[(&'static str, Engine)] = match kind {
        SettingKind::Env => &VARIABLES,
        SettingKind::Arg => &ARGUMENTS,
        SettingKind::Json => &KEYS,
    };
    known.iter().find(|(known, _)| *known == name).copied()
}

/// The variable among a text's words, if there is one.
pub(super) fn variable_in(text: &str) -> Option<&'static str> {
    VARIABLES.iter().map(|(name, _)| *name).find(|name| text.contains(name))
}
