//! Names of flags: one for all its aliases.

use crate::engine::Engine;

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
const VLLM: [(&str, &str); 6] = [
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
    let aliases: &[(&str, &str)] = match engine {
        Some(Engine::Sglang) | None => &SGLANG,
        Some(Engine::Vllm) => &VLLM,
        Some(Engine::Trtllm | Engine::Atom | Engine::Tilert) => &[],
    };
    aliases.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, own)| (*own).to_owned())
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
        assert_eq!(canonical(Some(Engine::Sglang), "--speculative-algo"), "speculative_algorithm");
    }
}
