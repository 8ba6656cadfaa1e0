//! What engines take a flag for that nobody gives.

use crate::engine::Engine;

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
    ("kt_method", "AMXINT4"),
    ("dllm_fdfo", "True"),
];

/// Flags that the same line prints as `None`: nobody gave them.
const NONE: &str = "\
    revision quantization quantization_param_path modelopt_quant modelopt_checkpoint_restore_path \
    modelopt_checkpoint_save_path modelopt_export_path rl_quant_profile max_queued_requests \
    prefill_max_requests default_priority_value dist_timeout dist_init_addr cp_strategy soft_watchdog_timeout \
    custom_sigquit_handler gc_threshold grpc_port sidecar sidecar_args warmups ssl_keyfile ssl_certfile \
    ssl_ca_certs ssl_keyfile_password api_key admin_api_key chat_template hf_chat_template_name \
    completion_template reasoning_parser default_chat_template_kwargs tool_call_parser tool_server \
    preferred_sampling_params log_level_http log_requests_target smg_http_sidecar_port \
    tokenizer_metrics_allowed_custom_labels extra_metric_labels bucket_time_to_first_token \
    bucket_inter_token_latency bucket_e2e_request_latency prompt_tokens_buckets generation_tokens_buckets \
    kv_events_config export_metrics_to_file_dir stat_loggers constrained_json_whitespace_pattern \
    radix_cache_backend cuda_graph_tc_compiler triton_attention_split_tile_size speculative_algorithm \
    speculative_draft_model_path speculative_draft_load_format speculative_dspark_sps_table_path \
    speculative_dspark_confidence_sts_path speculative_token_map speculative_draft_window_size \
    speculative_moe_a2a_backend speculative_draft_model_quantization speculative_adaptive_config \
    decoupled_spec_bind_endpoint decoupled_spec_connect_endpoints decoupled_spec_rank spec_trace_dir \
    speculative_ngram_external_corpus_path ep_dispatch_algorithm eplb_rebalance_layers_per_chunk \
    expert_distribution_recorder_mode deepep_config moe_dense_tp_size elastic_ep_backend mooncake_ib_device \
    ep_join_mode elastic_ep_initial_size max_ep_size int8_mamba_ckpt_size hicache_storage_backend \
    hicache_storage_backend_extra_config hisparse_config limit_mm_data_per_request enable_lora \
    enable_lora_overlap_loading max_lora_rank lora_target_modules lora_paths max_loaded_loras \
    experts_shared_outer_loras lmcache_config_file flexkv_config_file kt_weight_path kt_cpuinfer \
    kt_num_gpu_experts kt_max_deferred_experts_per_token dllm_algorithm dllm_algorithm_config \
    disaggregation_ib_device disaggregation_decode_extra_slots pdmux_config_path \
    remote_instance_weight_loader_seed_instance_ip remote_instance_weight_loader_seed_instance_service_port \
    remote_instance_weight_loader_send_weights_group_ports modelexpress_config download_dir model_checksum \
    decrypted_config_file decrypted_draft_config_file prefill_delayer_token_usage_low_watermark \
    prefill_delayer_forward_passes_buckets prefill_delayer_wait_seconds_buckets prefill_delayer_queue_min_ratio \
    prefill_delayer_max_delay_ms min_free_slots_delay rl_on_policy_target debug_tensor_dump_output_folder \
    debug_tensor_dump_layers debug_tensor_dump_input_file forward_hooks msprobe_dump_config";

/// Switches that the same line prints as `False`.
const FALSE: &str = "\
    trust_remote_code is_embedding enable_fp32_lm_head quantize_and_serve enable_tf32_matmul \
    enable_dynamic_chunking enable_priority_scheduling disable_priority_preemption \
    abort_on_priority_when_disabled schedule_low_priority_values_first disable_hybrid_swa_memory \
    prefill_only_disable_kv_cache enable_page_major_kv_layout enable_unified_memory enable_mixed_chunk \
    enable_prefill_cp enable_dsa_cache_layer_split enable_dsa_prefill_context_parallel \
    enable_prefill_context_parallel enable_dp_attention enable_dp_attention_local_control_broadcast \
    enable_dp_lm_head enable_attn_tp_input_scattered disable_attn_tp_gather enable_p2p_check sleep_on_idle \
    use_ray smg_grpc_mode grpc_mode skip_server_warmup enable_http2 enable_ssl_refresh enable_cache_report \
    strip_thinking_cache enable_strict_thinking allow_auto_truncate stream_response_default_include_usage \
    incremental_streaming_output enable_streaming_session enable_session_radix_cache log_requests \
    show_time_cost enable_mfu_metrics enable_metrics_for_all_schedulers enable_request_time_stats_logging \
    enable_forward_pass_metrics enable_trace export_metrics_to_file constrained_json_disable_any_whitespace \
    disable_flashinfer_autotune disable_prefill_cuda_graph disable_decode_cuda_graph disable_cuda_graph \
    disable_cuda_graph_padding enable_profile_cuda_graph enable_cudagraph_gc debug_cuda_graph \
    enable_layerwise_nvtx_marker enable_nccl_nvls enable_symm_mem triton_attention_reduce_in_fp32 \
    flashinfer_mla_disable_ragged enable_fused_qk_norm_rope enable_precise_embedding_interpolation \
    enable_fused_moe_sum_all_reduce enable_deepseek_v4_fp4_indexer disable_custom_all_reduce enable_mscclpp \
    enable_torch_symm_mem enable_scattered_sconv pre_warm_nccl enable_quant_communications \
    enforce_disable_flashinfer_allreduce_fusion enable_aiter_allreduce_fusion enable_torch_compile \
    enable_torch_compile_debug_mode speculative_dspark_align_verify_tokens_to_graph_tier \
    speculative_use_rejection_sampling speculative_skip_dp_mlp_sync enable_multi_layer_eagle \
    speculative_adaptive enable_eplb enable_expert_distribution_metrics enable_elastic_expert_backup \
    enable_waterfill elastic_ep_rejoin disable_flashinfer_cutlass_moe_fp4_allgather \
    enforce_shared_experts_fusion enable_mamba_cache_stochastic_rounding enable_int8_mamba_checkpoint \
    enable_linear_replayssm enable_gdn_replayssm_spec enable_hierarchical_cache enable_hisparse \
    enable_broadcast_mm_inputs_process enable_prefix_mm_cache mm_enable_dp_encoder enable_mm_global_cache \
    disable_fast_image_processor keep_mm_feature_on_device lora_use_virtual_experts lora_strict_loading \
    enable_two_batch_overlap enable_single_batch_overlap enable_lmcache enable_flexkv \
    disaggregation_decode_enable_radix_cache disaggregation_decode_enable_offload_kvcache encoder_only \
    language_only enable_adaptive_dispatch_to_encoder enable_pdmux weight_loader_disable_mmap \
    weight_loader_prefetch_checkpoints weight_loader_drop_cache_after_load \
    remote_instance_weight_loader_start_seed_via_transfer_engine delete_ckpt_after_loading \
    checkpoint_engine_wait_weights_before_ready enable_prefill_delayer enable_deterministic_inference \
    enable_dynamic_batch_tokenizer enable_tokenizer_batch_encode disable_tokenizer_batch_decode \
    enable_memory_saver enable_weights_cpu_backup enable_draft_weights_cpu_backup enable_custom_logit_processor \
    enable_return_hidden_states enable_return_routed_experts enable_return_indexer_topk \
    disable_outlines_disk_cache enable_mis";

/// Defaults of flags that the measured launch gave, as SGLang's argument parser has them.
const GIVEN: [(&str, &str); 5] = [
    ("load_format", "auto"),
    ("context_length", "None"),
    ("skip_tokenizer_init", "False"),
    ("disable_radix_cache", "False"),
    ("enable_metrics", "False"),
];

/// Flags whose value a server works out where nobody gives one: from its devices, its model, other flags.
const WORKED_OUT: &str = "\
    tokenizer_path mem_fraction_static max_running_requests max_total_tokens chunked_prefill_size \
    max_prefill_tokens page_size device random_seed host port nccl_port numa_node served_model_name \
    attention_backend decode_attention_backend prefill_attention_backend sampling_backend grammar_backend \
    mm_attention_backend dsa_topk_backend dsa_prefill_backend dsa_decode_backend mamba_backend mamba_ssm_dtype \
    max_mamba_cache_size uses_mamba_radix_cache linear_attn_backend linear_attn_decode_backend \
    linear_attn_prefill_backend moe_runner_backend cuda_graph_config cuda_graph_backend_decode \
    cuda_graph_backend_prefill cuda_graph_bs_decode cuda_graph_bs_prefill cuda_graph_max_bs_decode \
    cuda_graph_max_bs_prefill torch_compile_max_bs pp_max_micro_batch_size speculative_draft_model_revision \
    speculative_num_steps speculative_eagle_topk speculative_num_draft_tokens speculative_dflash_block_size \
    speculative_dspark_block_size speculative_draft_attention_backend disable_overlap_schedule \
    disable_chunked_prefix_cache disable_shared_experts_fusion enable_flashinfer_allreduce_fusion \
    flashinfer_allreduce_fusion_backend enable_multimodal crash_dump_folder forward_pass_metrics_ipc_name";

/// Switches of vLLM that are on where nobody turns them off.
const VLLM_ON: [&str; 3] = ["enable_prefix_caching", "enable_chunked_prefill", "async_scheduling"];

/// Switches of vLLM that are off where nobody turns them on.
const VLLM_OFF: [&str; 8] = [
    "trust_remote_code",
    "enforce_eager",
    "enable_expert_parallel",
    "enable_lora",
    "enable_sleep_mode",
    "enable_eplb",
    "enable_auto_tool_choice",
    "disable_log_stats",
];

fn is_in(names: &str, name: &str) -> bool {
    names.split_ascii_whitespace().any(|known| known == name)
}

/// Whether a server of SGLang works out a flag's value where nobody gives it.
pub(super) fn is_worked_out(name: &str) -> bool {
    is_in(WORKED_OUT, name)
}

/// The default of a flag of an engine, in the form of its values.
pub(super) fn default_of(engine: Engine, name: &str) -> Option<&'static str> {
    match engine {
        Engine::Sglang => {
            let listed = SGLANG.iter().chain(&GIVEN).find(|(known, _)| *known == name);
            listed.map(|(_, value)| *value).or_else(|| {
                let plain = [(NONE, "None"), (FALSE, "False")];
                plain.into_iter().find(|(names, _)| is_in(names, name)).map(|(_, value)| value)
            })
        }
        Engine::Vllm if VLLM_ON.contains(&name) => Some("True"),
        Engine::Vllm if VLLM_OFF.contains(&name) => Some("False"),
        Engine::Vllm | Engine::Trtllm | Engine::Atom | Engine::Tilert => None,
    }
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
        for (names, value) in [(NONE, "None"), (FALSE, "False")] {
            for name in names.split_ascii_whitespace() {
                assert!(printed.contains(&(name.to_owned(), value.to_owned())), "{name}");
            }
        }
        // Each flag of the line is known, or its launch gave it.
        for (name, _) in printed.iter().filter(|(name, _)| name != "model_path") {
            let is_known = default_of(Engine::Sglang, name).is_some() != is_worked_out(name);
            assert!(is_known, "{name}");
        }
        assert_eq!(default_of(Engine::Sglang, "dtype"), Some("auto"));
        assert_eq!(default_of(Engine::Sglang, "quantization"), Some("None"));
        assert_eq!(default_of(Engine::Sglang, "model_path"), None);
        assert_eq!(default_of(Engine::Vllm, "enable_prefix_caching"), Some("True"));
    }
}
