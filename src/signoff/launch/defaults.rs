//! What SGLang takes a flag for that nobody gives.

/// Defaults that the `server_args` line of SGLang 0.5.16 prints for flags that its launch did not give
/// (`tests/data/h200/base.log`), without those that a server works out for itself. `None` and `False` are not listed.
const SGLANG: &[(&str, &str)] = &[
    ("tokenizer_mode", "auto"),
    ("tokenizer_backend", "huggingface"),
    ("tokenizer_worker_num", "1"),
    ("detokenizer_worker_num", "1"),
    ("model_loader_extra_config", "{}"),
    ("model_impl", "auto"),
    ("model_config_parser", "auto"),
    ("json_model_override_args", "{}"),
    ("dtype", "auto"),
    ("kv_cache_dtype", "auto"),
    ("schedule_policy", "fcfs"),
    ("priority_scheduling_preemption_threshold", "10"),
    ("retraction_policy", "length"),
    ("schedule_conservativeness", "1.0"),
    ("swa_full_tokens_ratio", "0.8"),
    ("radix_eviction_policy", "lru"),
    ("num_continuous_decode_steps", "1"),
    ("scheduler_recv_interval", "1"),
    ("nnodes", "1"),
    ("node_rank", "0"),
    ("tp_size", "1"),
    ("dcp_size", "1"),
    ("pp_size", "1"),
    ("pp_async_batch_depth", "0"),
    ("dp_size", "1"),
    ("load_balance_method", "round_robin"),
    ("attn_cp_size", "1"),
    ("moe_dp_size", "1"),
    ("dsa_prefill_cp_mode", "round-robin-split"),
    ("prefill_cp_mode", "in-seq-split"),
    ("base_gpu_id", "0"),
    ("gpu_id_step", "1"),
    ("watchdog_timeout", "300"),
    ("fastapi_root_path", ""),
    ("weight_version", "default"),
    ("file_storage_path", "sglang_storage"),
    ("sampling_defaults", "model"),
    ("asr_max_buffer_seconds", "60"),
    ("asr_max_concurrent_sessions", "32"),
    ("stream_interval", "1"),
    ("batch_notify_size", "16"),
    ("log_level", "info"),
    ("log_requests_level", "2"),
    ("log_requests_format", "text"),
    ("uvicorn_access_log_exclude_prefixes", "[]"),
    ("load_snapshot_publish_interval", "15"),
    ("tokenizer_metrics_custom_labels_header", "x-custom-labels"),
    ("gc_warning_threshold_secs", "0.0"),
    ("decode_log_interval", "40"),
    ("forward_pass_metrics_worker_id", ""),
    ("trace_modules", "request"),
    ("otlp_traces_endpoint", "localhost:4317"),
    ("fp8_gemm_runner_backend", "auto"),
    ("fp4_gemm_runner_backend", "auto"),
    ("bf16_gemm_backend", "auto"),
    ("dsa_paged_mqa_logits_backend", "auto"),
    ("triton_attention_num_kv_splits", "8"),
    ("torchao_config", ""),
    ("speculative_accept_threshold_single", "1.0"),
    ("speculative_accept_threshold_acc", "1.0"),
    ("speculative_attention_mode", "prefill"),
    ("speculative_moe_runner_backend", "auto"),
    ("decoupled_spec_role", "null"),
    ("speculative_ngram_min_bfs_breadth", "1"),
    ("speculative_ngram_max_bfs_breadth", "10"),
    ("speculative_ngram_match_type", "BFS"),
    ("speculative_ngram_max_trie_depth", "18"),
    ("speculative_ngram_capacity", "10000000"),
    ("speculative_ngram_external_sam_budget", "0"),
    ("speculative_ngram_external_corpus_max_tokens", "10000000"),
    ("ep_size", "1"),
    ("moe_a2a_backend", "none"),
    ("flashinfer_mxfp4_moe_precision", "default"),
    ("deepep_mode", "auto"),
    ("fuseep_mode", "2"),
    ("deepep_dispatcher_output_dtype", "auto"),
    ("ep_num_redundant_experts", "0"),
    ("init_expert_location", "trivial"),
    ("eplb_algorithm", "auto"),
    ("eplb_rebalance_num_iterations", "1000"),
    ("eplb_min_rebalancing_utilization_threshold", "1.0"),
    ("expert_distribution_recorder_buffer_size", "1000"),
    ("ep_join_rank_offset", "0"),
    ("elastic_ep_scale_timeout", "600"),
    ("mamba_cache_philox_rounds", "0"),
    ("mamba_full_memory_ratio", "0.9"),
    ("mamba_radix_cache_strategy", "auto"),
    ("mamba_track_interval", "256"),
    ("linear_replayssm_cache_len", "16"),
    ("hicache_ratio", "2.0"),
    ("hicache_size", "0"),
    ("hicache_write_policy", "write_through"),
    ("hicache_io_backend", "kernel"),
    ("hicache_mem_layout", "page_first"),
    ("hicache_storage_prefetch_policy", "timeout"),
    ("mm_process_config", "{}"),
    ("mm_feature_transport", "cpu"),
    ("max_loras_per_batch", "8"),
    ("lora_eviction_policy", "lru"),
    ("lora_backend", "csgmv"),
    ("max_lora_chunk_size", "16"),
    ("lora_drain_wait_threshold", "0.0"),
    ("tbo_token_distribution_threshold", "0.48"),
    ("cpu_offload_gb", "0"),
    ("offload_group_size", "-1"),
    ("offload_num_in_group", "1"),
    ("offload_prefetch_step", "1"),
    ("offload_mode", "cpu"),
    ("kt_threadpool_count", "2"),
    ("disaggregation_mode", "null"),
    ("disaggregation_transfer_backend", "mooncake"),
    ("disaggregation_bootstrap_port", "8998"),
    ("num_reserved_decode_tokens", "512"),
    ("disaggregation_decode_polling_interval", "1"),
    ("optimistic_prefill_attempts", "0"),
    ("encoder_transfer_backend", "zmq_to_scheduler"),
    ("encoder_urls", "[]"),
    ("encoder_bootstrap_port", "8997"),
    ("encoder_register_urls", "[]"),
    ("sm_group_num", "8"),
    ("custom_weight_loader", "[]"),
    ("weight_loader_prefetch_num_threads", "4"),
    ("remote_instance_weight_loader_backend", "nccl"),
    ("engine_info_bootstrap_port", "6789"),
    ("prefill_delayer_max_delay_passes", "30"),
    ("kv_canary", "none"),
    ("kv_canary_real_data", "none"),
    ("kv_canary_sweep_interval", "0"),
    ("dynamic_batch_tokenizer_batch_size", "32"),
    ("dynamic_batch_tokenizer_batch_timeout", "0.002"),
];

/// The default of a flag, in the form of its values.
pub(super) fn default_of(name: &str) -> Option<&'static str> {
    SGLANG.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::server_arguments;

    /// The table against the line that it was taken from.
    #[test]
    fn defaults_are_those_of_the_measured_server() {
        let log = include_bytes!("../../../tests/data/h200/base.log");
        let line = log
            .split(|byte| *byte == b'\n')
            .find(|line| memchr::memmem::find(line, b"server_args=").is_some());
        let printed: Vec<(String, String)> = server_arguments(line.unwrap())
            .unwrap()
            .map(|(name, value)| [name, value].map(|text| String::from_utf8_lossy(text).into_owned()).into())
            .collect();
        for (name, value) in SGLANG {
            let found =
                printed.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim_matches('\''));
            assert_eq!(found, Some(*value), "{name}");
        }
        assert_eq!(default_of("dtype"), Some("auto"));
        assert_eq!(default_of("model_path"), None);
    }
}
