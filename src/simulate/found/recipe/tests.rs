use super::*;

fn recipe(text: &str) -> Recipe {
    parse_recipe(text).unwrap_or_else(|error| panic!("{error}"))
}

fn values(role: &Role) -> Vec<(&str, &str, usize)> {
    role.settings.iter().map(|setting| (setting.name, setting.value.as_str(), setting.line)).collect()
}

#[test]
fn schema_one_by_role() {
    let found = recipe(
        "name: x
backend:
  type: sglang
  prefill_environment: {}
  decode_environment:
    SGLANG_SIMULATE_ACC_LEN: '2.99'
    SGLANG_SIMULATE_ACC_METHOD: match-expected
  sglang_config:
    prefill:
      tp-size: 4
    decode:
      speculative-algorithm: EAGLE
      speculative-num-steps: 3
      speculative_eagle_topk: 1
",
    );
    let [prefill, decode] = &found.roles[..] else { panic!("{found:?}") };
    assert!(!prefill.is_speculative() && prefill.settings.is_empty());
    assert_eq!(decode.name.as_deref(), Some("decode"));
    assert_eq!(
        values(decode),
        [("SGLANG_SIMULATE_ACC_LEN", "2.99", 6), ("SGLANG_SIMULATE_ACC_METHOD", "match-expected", 7)]
    );
    assert_eq!((decode.max_accept_length(), decode.eagle_topk), (Some(4), Some(1)));
}

/// The global environment is applied after the role's and wins.
#[test]
fn schema_two_with_a_global_environment() {
    let found = recipe(
        "schema: 2
environment:
  SGLANG_SIMULATE_ACC_LEN: \"2.43\"
roles:
  agg:
    engine: sglang
    env:
      SGLANG_SIMULATE_ACC_LEN: \"3.51\"
    args:
      speculative-algorithm: DSPARK
      speculative-dspark-block-size: 5
",
    );
    assert_eq!(values(&found.roles[0]), [("SGLANG_SIMULATE_ACC_LEN", "2.43", 3)]);
    assert_eq!(found.roles[0].max_accept_length(), Some(6));
}

#[test]
fn trtllm_counts_drafts_under_two_names() {
    for key in ["max_draft_len", "num_nextn_predict_layers"] {
        let found = recipe(&format!(
            "backend:
  type: trtllm
  decode_environment: {{TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS: '2.99'}}
  trtllm_config:
    decode:
      speculative_config: {{decoding_type: MTP, {key}: 3}}
"
        ));
        let role = &found.roles[0];
        assert_eq!((role.drafter, role.max_accept_length()), (Some(Drafter::Mtp), Some(4)));
        assert_eq!(role.settings[0].value, "2.99");
    }
}

#[test]
fn vllm_as_json_and_as_yaml() {
    let json = "'{\"method\":\"dspark\",\"num_speculative_tokens\":4,\"rejection_sample_method\":\"synthetic\",\"synthetic_acceptance_rates\":[1,1,0.5,0]}'";
    let yaml = "{method: dspark, num_speculative_tokens: 4, rejection_sample_method: synthetic, synthetic_acceptance_rates: [1, 1, 0.5, 0]}";
    for config in [json, yaml] {
        let found = recipe(&format!(
            "backend:\n  type: vllm\n  vllm_config:\n    decode:\n      speculative-config: {config}\n"
        ));
        let role = &found.roles[0];
        assert_eq!((role.drafter, role.max_accept_length()), (Some(Drafter::DSpark), Some(5)));
        assert_eq!(role.settings[1].name, "synthetic_acceptance_rates");
        assert_eq!(role.settings[1].value, "[1,1,0.5,0]");
    }
}

#[test]
fn tilert_and_variants() {
    let found = recipe(
        "base:
  roles:
    decode:
      engine: tilert
      env: {TILERT_SIMULATE_ACC_LEN: '3.51', TILERT_SIMULATE_ACC_METHOD: match-expected}
      args: {with-mtp: true, num-mtp: 5}
override_deep: {}
zip_override_sweep: {}
",
    );
    assert_eq!(found.unread, ["override_deep", "zip_override_sweep"]);
    let role = &found.roles[0];
    assert_eq!((role.drafter, role.max_accept_length()), (Some(Drafter::Mtp), Some(6)));
    assert_eq!(role.settings.len(), 2);
}

#[test]
fn other_shapes_are_refused() {
    for (text, part) in [
        ("[1]", "a list"),
        ("name: x\n", "neither"),
        ("roles: {}\nbackend: {}\n", "both"),
        ("backend: {type: other}\n", "known are"),
        ("backend: {}\n", "absent"),
        ("backend:\n  type: [sglang]\n", "a list"),
        ("backend: {type: sglang, sglang_config: 3}\n", "a mapping"),
        ("roles:\n  agg: 3\n", "a mapping"),
        ("a: b: c", "invalid YAML"),
        (
            "backend:\n  type: sglang\n  sglang_config:\n    decode: {speculative-num-steps: three}\n",
            "a whole number",
        ),
        ("backend:\n  type: vllm\n  vllm_config:\n    decode: {speculative-config: '{'}\n", "not JSON"),
    ] {
        let error = parse_recipe(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    let error = parse_recipe(
        "backend:\n  type: sglang\n  sglang_config:\n    decode:\n      speculative-num-steps: x\n",
    );
    assert_eq!(error.unwrap_err().line, Some(5));
}
