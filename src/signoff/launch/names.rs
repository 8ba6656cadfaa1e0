//! Names of flags: one for all its aliases.

use serde_json::{Map, Value};

use super::value::LaunchValue;
use crate::engine::{Drafter, Engine};

/// SGLang's aliases, as its argument parser has them, with the name that its `server_args` line prints.
const SGLANG: [(&str, &str); 15] = [
    ("model", "model_path"),
    ("tokenizer", "tokenizer_path"),
    ("tensor_parallel_size", "tp_size"),
    ("tp", "tp_size"),
    ("pipeline_parallel_size", "pp_size"),
    ("pp", "pp_size"),
    ("data_parallel_size", "dp_size"),
    ("dp", "dp_size"),
    ("expert_parallel_size", "ep_size"),
    ("ep", "ep_size"),
    ("speculative_algo", "speculative_algorithm"),
    ("speculative_draft_model", "speculative_draft_model_path"),
    ("cuda_graph_bs", "cuda_graph_bs_decode"),
    ("cuda_graph_max_bs", "cuda_graph_max_bs_decode"),
    ("nccl_init_addr", "dist_init_addr"),
];

/// vLLM's short flags, as its argument parser has them.
const VLLM: [(&str, &str); 7] = [
    ("O", "compilation_config"),
    ("tp", "tensor_parallel_size"),
    ("pp", "pipeline_parallel_size"),
    ("dp", "data_parallel_size"),
    ("dpl", "data_parallel_size_local"),
    ("dcp", "decode_context_parallel_size"),
    ("q", "quantization"),
];

/// The name that all aliases of a flag share: underscores, no dashes in front.
pub(super) fn canonical(engine: Option<Engine>, flag: &str) -> String {
    let name = flag.trim_start_matches('-').replace('-', "_");
    // `--speculative-config.method` is a part of one argument.
    if let Some((whole, part)) = name.split_once('.') {
        return format!("{}.{part}", canonical(engine, whole));
    }
    let aliases: &[(&str, &str)] = match engine {
        Some(Engine::Sglang) | None => &SGLANG,
        Some(Engine::Vllm) => &VLLM,
        Some(Engine::Trtllm | Engine::Atom | Engine::Tilert) => &[],
    };
    aliases.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, own)| (*own).to_owned())
}

/// The value that all spellings of it share, where the name has such.
pub(super) fn canonical_value(name: &str, value: LaunchValue) -> LaunchValue {
    let Some(text) = value.text() else { return value };
    let known = match name {
        // Servers resolve NEXTN to EAGLE.
        "speculative_algorithm" => match text.parse::<Drafter>() {
            Ok(Drafter::NextN) => Drafter::Eagle.name().to_owned(),
            Ok(drafter) => drafter.name().to_owned(),
            Err(_) => return value,
        },
        "dtype" => match text.to_ascii_lowercase().as_str() {
            "half" => "float16".to_owned(),
            "float" => "float32".to_owned(),
            other => return LaunchValue::of(other),
        },
        // `-O3` is `{"mode": 3}`, in older releases `{"level": 3}`.
        "compilation_config" => match serde_json::from_str::<Map<String, Value>>(text) {
            Ok(object) if object.len() == 1 => {
                let level = object.get("mode").or_else(|| object.get("level"));
                match level {
                    Some(level) => return LaunchValue::json(level),
                    None => return value,
                }
            }
            _ => return value,
        },
        "speculative_config" => match serde_json::from_str::<Map<String, Value>>(text) {
            Ok(mut object) => {
                if let Some(Value::String(method)) = object.get_mut("method") {
                    *method = method.to_ascii_lowercase();
                }
                return LaunchValue::json(&Value::Object(object));
            }
            Err(_) => return value,
        },
        _ => return value,
    };
    LaunchValue::Known(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_are_one_name() {
        for flag in ["--tp", "--tp-size", "--tensor-parallel-size", "-tp", "tp_size"] {
            assert_eq!(canonical(Some(Engine::Sglang), flag), "tp_size", "{flag}");
        }
        assert_eq!(canonical(Some(Engine::Vllm), "-tp"), "tensor_parallel_size");
        assert_eq!(canonical(Some(Engine::Vllm), "--model"), "model");
        assert_eq!(canonical(Some(Engine::Vllm), "-O.mode"), "compilation_config.mode");
        assert_eq!(canonical(Some(Engine::Sglang), "--speculative-algo"), "speculative_algorithm");
    }

    #[test]
    fn spellings_are_one_value() {
        let same = |name: &str, left: &str, right: &str| {
            let of = |text| canonical_value(name, LaunchValue::of(text));
            of(left) == of(right)
        };
        assert!(same("speculative_algorithm", "eagle3", "EAGLE3"));
        assert!(same("speculative_algorithm", "NEXTN", "eagle"));
        assert!(!same("speculative_algorithm", "EAGLE", "EAGLE3"));
        assert!(same("dtype", "half", "float16"));
        assert!(!same("dtype", "half", "bfloat16"));
        assert!(same("compilation_config", "3", "{\"level\": 3}"));
        assert!(!same("compilation_config", "3", "{\"level\": 3, \"x\": 1}"));
        assert!(same(
            "speculative_config",
            "{\"method\": \"EAGLE3\", \"n\": 2.0}",
            "{\"n\":2,\"method\":\"eagle3\"}"
        ));
        assert!(!same("served_model_name", "A", "a"));
    }
}
