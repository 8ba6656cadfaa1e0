//! Which engine is meant.

use crate::engine::Engine;

/// Names of frameworks in recipes, master configurations and launchers.
const FRAMEWORKS: [(&str, Engine); 15] = [
    ("sglang", Engine::Sglang),
    ("sglang-disagg", Engine::Sglang),
    ("dynamo-sglang", Engine::Sglang),
    ("mori-sglang", Engine::Sglang),
    ("vllm", Engine::Vllm),
    ("vllm-disagg", Engine::Vllm),
    ("dynamo-vllm", Engine::Vllm),
    ("trt", Engine::Trtllm),
    ("trtllm", Engine::Trtllm),
    ("tensorrt-llm", Engine::Trtllm),
    ("dynamo-trt", Engine::Trtllm),
    ("dynamo-trtllm", Engine::Trtllm),
    ("atom", Engine::Atom),
    ("atom-disagg", Engine::Atom),
    ("tilert", Engine::Tilert),
];

/// The engine behind a framework's name; none for one that is not known, which gets no injection.
///
/// ```
/// use accsim::engine::Engine;
/// use accsim::recipe::engine_of_framework;
///
/// assert_eq!(engine_of_framework("dynamo-trt"), Some(Engine::Trtllm));
/// assert_eq!(engine_of_framework("llama.cpp"), None);
/// ```
#[must_use]
pub fn engine_of_framework(name: &str) -> Option<Engine> {
    let name = name.to_ascii_lowercase();
    FRAMEWORKS.iter().find(|(known, _)| *known == name).map(|(_, engine)| *engine)
}

/// What starts a server of which engine.
const SERVERS: [(&str, Engine); 8] = [
    ("sglang.launch_server", Engine::Sglang),
    ("sglang_router.launch_server", Engine::Sglang),
    ("vllm.entrypoints.openai.api_server", Engine::Vllm),
    ("trtllm-serve", Engine::Trtllm),
    ("atom.entrypoints.openai_server", Engine::Atom),
    ("dynamo.sglang", Engine::Sglang),
    ("dynamo.vllm", Engine::Vllm),
    ("dynamo.trtllm", Engine::Trtllm),
];

/// The engine that a command starts, and where among its words the server's name stands.
pub(crate) fn started<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<(Engine, usize)> {
    let mut before = "";
    for (index, word) in words.into_iter().enumerate() {
        let program = word.rsplit('/').next().unwrap_or(word);
        if let Some((_, engine)) = SERVERS.iter().find(|(name, _)| program == *name) {
            return Some((*engine, index));
        }
        if word == "serve" {
            match before.rsplit('/').next().unwrap_or(before) {
                "vllm" => return Some((Engine::Vllm, index)),
                "sglang" => return Some((Engine::Sglang, index)),
                _ => {}
            }
        }
        if program == "launch_server.py" && word.contains("sglang") {
            return Some((Engine::Sglang, index));
        }
        before = word;
    }
    None
}

/// The engine whose arguments of drafting these are; none where there is none, or of several engines.
pub(crate) fn drafts_as<'a>(flags: impl IntoIterator<Item = &'a str>) -> Option<Engine> {
    let names: Vec<String> = flags
        .into_iter()
        .filter_map(|flag| flag.split(['=', '.', ' ']).next())
        .map(|name| name.replace('_', "-"))
        .collect();
    guessed(names.iter().map(String::as_str))
}

/// The engine whose arguments or variables these are, where nothing else tells.
pub(crate) fn guessed<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Engine> {
    const NAMES: [(&str, Engine); 10] = [
        ("SGLANG_SIMULATE_ACC_", Engine::Sglang),
        ("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS", Engine::Trtllm),
        ("TILERT_SIMULATE_ACC_", Engine::Tilert),
        ("speculative-algo", Engine::Sglang),
        ("speculative-num-steps", Engine::Sglang),
        ("speculative-dspark-block-size", Engine::Sglang),
        ("speculative-config", Engine::Vllm),
        ("spec-decode-acceptance-", Engine::Atom),
        ("num-speculative-tokens", Engine::Atom),
        ("with-mtp", Engine::Tilert),
    ];
    let mut found = None;
    for name in names {
        let Some((_, engine)) = NAMES.iter().find(|(start, _)| name.starts_with(start)) else { continue };
        match found {
            None => found = Some(*engine),
            Some(other) if other != *engine => return None,
            Some(_) => {}
        }
    }
    found
}
