//! Every mistake of the benchmark's history that a recipe can show.

use std::fs;

use super::program::accsim_in;

/// Codes with roles, sorted.
fn found(name: &str, text: &str, args: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    let mut all = vec!["recipe", "check", name, "--json"];
    all.extend(args);
    let ran = accsim_in(folder.path(), &all);
    let mut found: Vec<String> = ran.json()["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| {
            let word = |key: &str| finding[key].as_str().unwrap().to_owned();
            format!("{} {} {}", word("role"), word("code"), word("severity"))
        })
        .collect();
    found.sort();
    found
}

fn vllm(model: &str, config: &str) -> String {
    format!(
        "model:\n  path: {model}\nbackend:\n  type: vllm\n  vllm_config:\n    aggregated:\n      speculative-config: '{config}'\n\
         benchmark:\n  command: bash agentic_srt.sh\n"
    )
}

#[test]
fn another_curve_sampler_or_draft_length() {
    let synthetic = "\"rejection_sample_method\":\"synthetic\",\"synthetic_acceptance_length\"";
    for (model, rest) in [
        (
            "nvidia/MiniMax-M3",
            format!(
                "\"method\":\"eagle3\",\"model\":\"x/M3-EAGLE3-GQA\",\"num_speculative_tokens\":3,{synthetic}:2.83"
            ),
        ),
        (
            "moonshotai/Kimi-K3",
            format!(
                "\"method\":\"dspark\",\"num_speculative_tokens\":2,\"draft_sample_method\":\"probabilistic\",{synthetic}:2.45"
            ),
        ),
        (
            "moonshotai/Kimi-K3",
            format!(
                "\"method\":\"dspark\",\"num_speculative_tokens\":3,\"draft_sample_method\":\"probabilistic\",{synthetic}:3.75"
            ),
        ),
    ] {
        assert_eq!(
            found("r.yaml", &vllm(model, &format!("{{{rest}}}")), &[]),
            ["agg al-mismatch error"],
            "{rest}"
        );
    }
    let rate = "schema: 2\nmodel: {path: moonshotai/Kimi-K3}\nroles:\n  agg:\n    engine: atom\n    args:\n      method: dspark\n      num-speculative-tokens: 2\n      spec-decode-acceptance-rate: 0.77\nbenchmark: {command: agentic.sh}\n";
    assert_eq!(found("r.yaml", rate, &[]), ["agg al-mismatch error"]);
}

#[test]
fn the_other_thinking_mode() {
    let text = "model: {path: deepseek-ai/DeepSeek-V4-Pro}\nbackend:\n  type: trtllm\n  decode_environment:\n    DYN_DEFAULT_THINKING_MODE: disabled\n    TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS: '1.49'\n  trtllm_config:\n    decode:\n      speculative_config: {decoding_type: MTP, max_draft_len: 3}\nbenchmark: {command: agentic.sh}\n";
    assert_eq!(found("r.yaml", text, &[]), ["decode thinking-mode-conflict error"]);
    assert_eq!(found("r.yaml", text, &["--thinking", "on"]), ["decode thinking-mode-conflict note"]);
    assert_eq!(found("r.yaml", &text.replace("1.49", "1.97"), &[]), Vec::<String>::new());
}

fn sglang_pd(prefill_env: &str, prefill: &str, decode: &str) -> String {
    format!(
        "model: {{path: zai-org/GLM-5.2}}\nbackend:\n  type: sglang\n  prefill_environment: {{{prefill_env}}}\n  decode_environment: \
         {{SGLANG_SIMULATE_ACC_LEN: '{decode}', SGLANG_SIMULATE_ACC_METHOD: match-expected, SGLANG_SIMULATE_ACC_TOKEN_MODE: \
         real-draft-token}}\n  sglang_config:\n    prefill: {{{prefill}}}\n    decode: {{speculative-algorithm: EAGLE, \
         speculative-num-steps: 2}}\nbenchmark: {{command: agentic.sh}}\n"
    )
}

#[test]
fn the_prefill_beside_it() {
    let steps = |steps: u32| format!("speculative-algorithm: EAGLE, speculative-num-steps: {steps}");
    assert_eq!(
        found("r.yaml", &sglang_pd("SGLANG_SIMULATE_ACC_LEN: '2.5'", &steps(1), "2.5"), &[]),
        [
            "prefill al-above-max warning",
            "prefill method-missing warning",
            "prefill token-mode-missing warning"
        ]
    );
    assert_eq!(
        found("r.yaml", &sglang_pd("SGLANG_SIMULATE_ACC_LEN: '2.5'", "x: 1", "2.5"), &[]),
        ["prefill al-on-nonspeculative-role warning"]
    );
    assert_eq!(found("r.yaml", &sglang_pd("A: b", &steps(2), "2.5"), &[]), ["prefill al-missing warning"]);
}

#[test]
fn units_and_borrowed_curves() {
    let trt = "model: {path: zai-org/GLM-5.2}\nbackend:\n  type: trtllm\n  decode_environment: {TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS: '2.99'}\n  trtllm_config:\n    decode: {speculative_config: {decoding_type: MTP, max_draft_len: 3}}\n";
    assert_eq!(found("r.yaml", trt, &[]), ["decode trtllm-off-by-one error"]);
    let kimi = vllm(
        "moonshotai/Kimi-K2.7",
        "{\"method\":\"eagle3\",\"num_speculative_tokens\":3,\"rejection_sample_method\":\"synthetic\",\"synthetic_acceptance_length\":3.24}",
    );
    assert_eq!(found("r.yaml", &kimi, &["--model", "kimik2.7"]), ["agg no-golden-curve error"]);
    assert_eq!(found("r.yaml", &kimi, &[]), ["agg no-golden-curve note"]);
}

#[test]
fn a_pin_behind_the_wrong_test_or_none_at_all() {
    let script = |pin: &str| {
        format!(
            "{pin}\npython3 -m sglang.launch_server --model-path zai-org/GLM-5.2 --speculative-algorithm EAGLE --speculative-num-steps 3\n"
        )
    };
    assert_eq!(found("a.sh", &script(""), &[]), ["agg al-missing error"]);
    let pin = "export SGLANG_SIMULATE_ACC_LEN=2.99 SGLANG_SIMULATE_ACC_METHOD=match-expected SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token";
    let wrong = format!("if [[ \"${{EVAL_ONLY:-false}}\" == true ]]; then {pin}; fi");
    assert_eq!(found("a.sh", &script(&wrong), &[]), ["agg al-missing error", "agg al-on-eval error"]);
    // Whoever launches it decides: a warning.
    let asked = format!("if [[ $SYNTHETIC == yes ]]; then {pin}; fi");
    assert_eq!(found("a.sh", &script(&asked), &[]), ["agg al-missing warning"]);
    assert_eq!(found("a.sh", &script(pin), &[]), Vec::<String>::new());
}

#[test]
fn a_draft_length_from_the_environment_is_judged_at_its_default_with_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let text = "SPEC=${SPEC_NUM_TOKENS:-2}\nvllm serve moonshotai/Kimi-K3 --speculative-config \"{\\\"method\\\":\\\"dspark\\\",\\\"num_speculative_tokens\\\":$SPEC,\\\"draft_sample_method\\\":\\\"probabilistic\\\",\\\"rejection_sample_method\\\":\\\"synthetic\\\",\\\"synthetic_acceptance_length\\\":2.51}\"\n";
    fs::write(folder.path().join("a.sh"), text).unwrap();
    let ran = accsim_in(folder.path(), &["recipe", "check", "a.sh", "--json"]);
    let json = ran.json();
    assert_eq!((ran.code, ran.codes().len()), (0, 0), "{}", ran.out);
    assert!(json["notes"][0]["message"].as_str().unwrap().contains("SPEC_NUM_TOKENS"), "{json}");
}

#[test]
fn a_provisional_value_is_said_to_be_one() {
    let folder = tempfile::tempdir().unwrap();
    let text = vllm(
        "zai-org/GLM-5.3",
        "{\"method\":\"mtp\",\"num_speculative_tokens\":3,\"rejection_sample_method\":\"synthetic\",\"synthetic_acceptance_length\":2.99}",
    );
    fs::write(folder.path().join("r.yaml"), text).unwrap();
    let ran = accsim_in(folder.path(), &["recipe", "check", "r.yaml"]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("provisional"), "{}", ran.err);
}
