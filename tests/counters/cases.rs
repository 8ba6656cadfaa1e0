//! The worked cases about single requests, where the folder beside the repository is present.

use std::path::Path;

use super::support::records;

#[test]
fn requests_of_the_cases() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/cases");
    if !cases.is_dir() {
        return;
    }
    for (name, length, engine) in [
        ("47_request_prefill_token.json", 1.0585, Some("sglang")),
        ("48_request_histogram_identity.json", 2.4651, Some("sglang")),
        ("49_eos_overcount.json", 6.0, None),
        ("53_trt_request_histogram.json", 2.5, Some("trtllm")),
    ] {
        let found = records(&cases.join(name));
        assert_eq!(found.len(), 1, "{name}");
        assert!((found[0]["accept_len"].as_f64().unwrap() - length).abs() < 5e-5, "{name}: {}", found[0]);
        assert_eq!(found[0]["engine"].as_str(), engine, "{name}");
        assert_eq!(found[0]["contradictions"], serde_json::json!([]), "{name}");
    }
    // Tables of somebody's results: nothing in them was counted.
    for name in
        ["46_tput_vs_al_across_k.json", "73_chunk_vs_token_latency.json", "74_al_rate_consistency.json"]
    {
        assert_eq!(records(&cases.join(name)).len(), 0, "{name}");
    }
}
