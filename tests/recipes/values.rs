//! Values that are no numbers, and arguments in other spellings.

use std::fs;

use super::program::accsim_in;

fn codes(name: &str, text: &str) -> (i32, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    let ran = accsim_in(folder.path(), &["recipe", "check", name, "--json", "--model", "glm5.2"]);
    (ran.code, ran.codes())
}

fn recipe(global: &str, own: &str) -> String {
    format!(
        "schema: 2\n{global}roles:\n  agg:\n    engine: sglang\n    env:\n      SGLANG_SIMULATE_ACC_METHOD: match-expected\n      \
         SGLANG_SIMULATE_ACC_TOKEN_MODE: real-draft-token\n{own}    args:\n      speculative-algorithm: EAGLE\n      \
         speculative-num-steps: 3\nbenchmark:\n  command: agentic.sh\n"
    )
}

#[test]
fn what_is_no_number_is_unparsable() {
    for value in ["[2.99]", "[]", "{a: 2.99}", "''", "\"\"", "' '", "2,99", "two", "0x3"] {
        let text = recipe("", &format!("      SGLANG_SIMULATE_ACC_LEN: {value}\n"));
        assert_eq!(codes("r.yaml", &text), (1, vec!["unparsable-value".to_owned()]), "{value}");
    }
    // YAML's null takes a variable away.
    for value in ["", "~", "null"] {
        let text = recipe("", &format!("      SGLANG_SIMULATE_ACC_LEN: {value}\n"));
        assert_eq!(codes("r.yaml", &text), (0, vec!["al-missing".to_owned()]), "{value}");
    }
    for (name, text) in [
        ("a.env", "SGLANG_SIMULATE_ACC_LEN=\nSGLANG_SIMULATE_ACC_METHOD=match-expected\nSGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token\n".to_owned()),
        ("docker-compose.yml", "services:\n  s:\n    environment:\n      - SGLANG_SIMULATE_ACC_LEN=\n      - SGLANG_SIMULATE_ACC_METHOD=match-expected\n      - SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token\n    command: python3 -m sglang.launch_server --speculative-algorithm EAGLE --speculative-num-steps 3\n".to_owned()),
        ("r.yaml", "schema: 2\nroles:\n  agg:\n    engine: atom\n    args:\n      method: mtp\n      num-speculative-tokens: 3\n      spec-decode-acceptance-length: [2.99]\nbenchmark:\n  command: agentic.sh\n".to_owned()),
    ] {
        assert_eq!(codes(name, &text), (1, vec!["unparsable-value".to_owned()]), "{text}");
    }
}

#[test]
fn a_global_value_that_replaces_the_roles_says_so_whatever_it_is() {
    let own = "      SGLANG_SIMULATE_ACC_LEN: '2.99'\n";
    for value in ["''", "[2.99]", "two"] {
        let text = recipe(&format!("environment:\n  SGLANG_SIMULATE_ACC_LEN: {value}\n"), own);
        let expected = ["global-env-overrides-role", "unparsable-value"].map(str::to_owned).to_vec();
        assert_eq!(codes("r.yaml", &text), (1, expected), "{value}");
    }
    let same = recipe("environment:\n  SGLANG_SIMULATE_ACC_LEN: 2.990\n", own);
    assert_eq!(codes("r.yaml", &same), (0, vec![]));
    let empty = recipe("environment:\n  SGLANG_SIMULATE_ACC_LEN: ''\n", "");
    assert_eq!(codes("r.yaml", &empty), (1, vec!["unparsable-value".to_owned()]));
}

#[test]
fn an_empty_variable_spoils_no_evaluation() {
    let own = "      SGLANG_SIMULATE_ACC_LEN: ''\n";
    assert_eq!(codes("eval.yaml", &recipe("", own)), (0, vec![]));
}

#[test]
fn vllm_reads_its_configuration_in_three_spellings() {
    let json = "{\"method\":\"mtp\",\"num_speculative_tokens\":3,\"rejection_sample_method\":\"synthetic\",\"synthetic_acceptance_length\":PIN}";
    let keys = [
        ("method", "mtp"),
        ("num_speculative_tokens", "3"),
        ("rejection_sample_method", "synthetic"),
        ("synthetic_acceptance_length", "PIN"),
    ];
    let dotted = |flag: &str, between: &str| -> String {
        keys.iter().map(|(key, value)| format!(" {flag}.{key}{between}{value}")).collect()
    };
    for arguments in [
        format!(" --speculative-config '{json}'"),
        format!(" -sc '{json}'"),
        format!(" -sc='{json}'"),
        dotted("--speculative-config", " "),
        dotted("--speculative-config", "="),
        dotted("--speculative_config", "="),
        dotted("-sc", " "),
        // What stands in keys replaces an object in one piece.
        format!(
            " --speculative-config '{{\"method\":\"mtp\",\"num_speculative_tokens\":1}}'{}",
            dotted("-sc", "=")
        ),
    ] {
        let script =
            |pin: &str| format!("vllm serve zai-org/GLM-5.2 -tp 8{}\n", arguments.replace("PIN", pin));
        assert_eq!(codes("a.sh", &script("2.99")), (0, vec![]), "{arguments}");
        assert_eq!(codes("a.sh", &script("2.10")), (1, vec!["al-mismatch".to_owned()]), "{arguments}");
        assert_eq!(codes("a.sh", &script("$X")), (1, vec!["unparsable-value".to_owned()]), "{arguments}");
    }
    let yaml: String =
        keys.iter().map(|(key, value)| format!("      speculative-config.{key}: {value}\n")).collect();
    let yaml = format!(
        "schema: 2\nroles:\n  agg:\n    engine: vllm\n    args:\n{}benchmark:\n  command: agentic.sh\n",
        yaml.replace("PIN", "2.10")
    );
    assert_eq!(codes("r.yaml", &yaml), (1, vec!["al-mismatch".to_owned()]));
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("r.yaml"), &yaml).unwrap();
    let done =
        accsim_in(folder.path(), &["recipe", "inject", "r.yaml", "--framework", "vllm", "--model", "glm5.2"]);
    assert!(done.code == 2 && done.err.contains("dotted"), "{}", done.err);
}
