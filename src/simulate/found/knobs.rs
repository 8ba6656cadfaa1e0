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

/// The engine that reads the setting of this name.
pub(super) fn owner(name: &str) -> Option<Engine> {
    let known = VARIABLES.iter().chain(&ARGUMENTS).chain(&KEYS);
    known.into_iter().find(|(known, _)| *known == name).map(|(_, engine)| *engine)
}

/// The variable that a name resembles which is none.
pub(super) fn similar(name: &str) -> Option<&'static str> {
    /// Another variable of these engines is less alike: `SGLANG_SIMULATE_ACC_LENGTH` is 0.98 like the one that is meant.
    const LEAST_SIMILARITY: f64 = 0.95;
    // The measure is quadratic; nobody means a name of this length.
    if name.len() > 64 {
        return None;
    }
    let upper = name.to_ascii_uppercase();
    let rated = VARIABLES.iter().map(|(known, _)| (strsim::jaro_winkler(&upper, known), *known));
    let best = rated.max_by(|left, right| left.0.total_cmp(&right.0))?;
    (best.0 >= LEAST_SIMILARITY).then_some(best.1)
}

/// The variable among a text's words, if there is one.
pub(super) fn variable_in(text: &str) -> Option<&'static str> {
    VARIABLES.iter().map(|(name, _)| *name).find(|name| text.contains(name))
}
