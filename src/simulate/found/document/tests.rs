use super::*;
use crate::engine::Drafter;
use crate::simulate::found::{FoundErrorKind, Role};

fn role(text: &str) -> Role {
    parse_env(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn settings(role: &Role) -> Vec<(&str, &str, usize)> {
    role.settings.iter().map(|setting| (setting.name, setting.value.as_str(), setting.line)).collect()
}

const LEN: &str = "SGLANG_SIMULATE_ACC_LEN";
const METHOD: &str = "SGLANG_SIMULATE_ACC_METHOD";

#[test]
fn an_env_file() {
    let found = role(
        "# settings\nPATH=/usr/bin\nSGLANG_SIMULATE_ACC_LEN=3.51\nexport SGLANG_SIMULATE_ACC_METHOD='match-expected' # why\n",
    );
    assert_eq!(settings(&found), [(LEN, "3.51", 3), (METHOD, "match-expected", 4)]);
    assert_eq!(found.engine, Some(Engine::Sglang));
    assert_eq!(found.max_accept_length(), None);
}

#[test]
fn a_later_line_wins_and_unset_takes_away() {
    let found = role("SGLANG_SIMULATE_ACC_LEN=2.99\nSGLANG_SIMULATE_ACC_LEN=3.51\n");
    assert_eq!(settings(&found), [(LEN, "3.51", 2)]);
    assert!(role("export SGLANG_SIMULATE_ACC_LEN=3.51\nunset SGLANG_SIMULATE_ACC_LEN\n").settings.is_empty());
    assert!(
        role("export SGLANG_SIMULATE_ACC_LEN=3.51\nenv -u SGLANG_SIMULATE_ACC_LEN true\n")
            .settings
            .is_empty()
    );
}

/// What `set -x` writes, nested commands and the server's own line included.
#[test]
fn a_trace() {
    let found = role(
        "+ set -e\n+ export SGLANG_SIMULATE_ACC_LEN=3.51\n+ SGLANG_SIMULATE_ACC_LEN=3.51\n++ dirname /x\n\
         + export SGLANG_SIMULATE_ACC_METHOD=match-expected\n\
         + python3 -m sglang.launch_server --model-path M --speculative-algorithm=DSPARK \
         --speculative-dspark-block-size 5 --tp 4\n",
    );
    assert_eq!(settings(&found), [(LEN, "3.51", 3), (METHOD, "match-expected", 5)]);
    assert_eq!((found.engine, found.drafter), (Some(Engine::Sglang), Some(Drafter::DSpark)));
    assert_eq!(found.max_accept_length(), Some(6));
}

#[test]
fn prefixes_of_a_command_and_flags_of_a_container() {
    let found =
        role("SGLANG_SIMULATE_ACC_LEN=3.51 python3 -m sglang.launch_server --speculative-num-steps 3\n");
    assert_eq!(settings(&found), [(LEN, "3.51", 1)]);
    assert_eq!(found.max_accept_length(), Some(4));
    let found = role(
        "docker run -e SGLANG_SIMULATE_ACC_LEN=3.51 \\\n  --env SGLANG_SIMULATE_ACC_METHOD=multinomial image\n",
    );
    assert_eq!(settings(&found), [(LEN, "3.51", 1), (METHOD, "multinomial", 1)]);
}

/// Case 54.
#[test]
fn arguments_of_atom() {
    let found = role(
        "python3 -m atom.entrypoints.openai_server --model \"M\" --method dspark --num-speculative-tokens 7 \
         --spec-decode-acceptance-length 3.78\n",
    );
    assert_eq!(settings(&found), [("--spec-decode-acceptance-length", "3.78", 1)]);
    assert_eq!((found.engine, found.drafter), (Some(Engine::Atom), Some(Drafter::DSpark)));
    assert_eq!(found.max_accept_length(), Some(8));
}

#[test]
fn the_speculative_configuration_of_vllm() {
    let config = r#"{"method":"eagle3","num_speculative_tokens":5,"rejection_sample_method":"synthetic","synthetic_acceptance_length":3.51}"#;
    for text in [config.to_owned(), format!("vllm serve M --speculative-config '{config}' --port 1\n")] {
        let found = role(&text);
        assert_eq!((found.engine, found.drafter), (Some(Engine::Vllm), Some(Drafter::Eagle3)));
        assert_eq!(found.max_accept_length(), Some(6));
        let values: Vec<(&str, &str)> =
            found.settings.iter().map(|setting| (setting.name, setting.value.as_str())).collect();
        assert_eq!(
            values,
            [("rejection_sample_method", "synthetic"), ("synthetic_acceptance_length", "3.51")]
        );
    }
    let rates = role(
        r#"{"num_speculative_tokens":2,"rejection_sample_method":"synthetic","synthetic_acceptance_rates":[0.9,0.5]}"#,
    );
    assert_eq!(rates.settings[1].value, "[0.9,0.5]");
}

#[test]
fn the_document_of_env() {
    let found = role(
        r#"{"schema_version":1,"engine":"trtllm","engine_version":"1.2.0",
            "target":{"method":"mtp","accept_length":2.99,"max_accept_length":4},
            "settings":[{"kind":"env","name":"TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS","value":"1.99"}],"warnings":[]}"#,
    );
    assert_eq!(found.engine, Some(Engine::Trtllm));
    assert_eq!(found.version, Some("1.2.0".parse().unwrap()));
    assert_eq!((found.drafter, found.max_accept_length()), (Some(Drafter::Mtp), Some(4)));
    assert_eq!(found.settings[0].value, "1.99");
}

#[test]
fn an_object_of_variables() {
    let found = role(r#"{"PATH":"/bin","SGLANG_SIMULATE_ACC_LEN":"3.51"}"#);
    assert_eq!(settings(&found), [(LEN, "3.51", 1)]);
    assert_eq!(parse_env(r#"{"PATH":"/bin"}"#).unwrap_err().kind, FoundErrorKind::OtherJson);
}

#[test]
fn what_only_a_run_resolves_is_refused_with_its_line() {
    let error = parse_env("set -eu\nexport SGLANG_SIMULATE_ACC_LEN=\"${GOLDEN}\"\n").unwrap_err();
    assert_eq!(error.line, Some(2));
    assert!(error.to_string().contains("set -x"), "{error}");
    assert!(parse_env("OTHER=$X\nSGLANG_SIMULATE_ACC_LEN=3\n").is_ok());
    let error =
        parse_env("python3 -m sglang.launch_server --speculative-num-steps \"$STEPS\"\n").unwrap_err();
    assert!(matches!(error.kind, FoundErrorKind::Unresolved { .. }));
}

#[test]
fn what_is_broken_is_refused() {
    assert!(matches!(parse_env("{\"a\": ").unwrap_err().kind, FoundErrorKind::NoJson(_)));
    let error = parse_env("PATH=x\nexport SGLANG_SIMULATE_ACC_LEN='3.51\n").unwrap_err();
    assert_eq!(error.line, Some(2));
    assert!(matches!(error.kind, FoundErrorKind::NoCommand(_)));
    // Quotes that have nothing to do with it may stay open.
    assert!(role("echo 'it\nSGLANG_SIMULATE_ACC_LEN=3\n").settings.len() == 1);
    assert!(role("# don't: SGLANG_SIMULATE_ACC_LEN=1\nSGLANG_SIMULATE_ACC_LEN=3\n").settings.len() == 1);
    let error = parse_env(r#"{"engine":"other","settings":[]}"#).unwrap_err();
    assert!(matches!(error.kind, FoundErrorKind::Engine { .. }));
}

/// Not one setting and no server: where a name is nearly one, that is said with its line.
#[test]
fn a_text_that_says_nothing_is_refused() {
    let error = parse_env("").unwrap_err();
    assert_eq!(error.kind, FoundErrorKind::NoSetting { lines: 0 });
    let error = parse_env("PATH=/bin\nSGLANG_SIMULATE_ACCEPT_LEN=3\n").unwrap_err();
    assert_eq!(error.line, Some(2));
    assert!(matches!(error.kind, FoundErrorKind::NearMiss { meant: LEN, .. }), "{error}");
    // A server that is given nothing is something.
    assert!(role("+ python3 -m sglang.launch_server --speculative-num-steps 3\n").settings.is_empty());
}

/// Keys of a recipe's environment and arguments, and the words for taking away.
#[test]
fn mappings_and_removals() {
    let found = role("SGLANG_SIMULATE_ACC_LEN: \"3.51\"\nspeculative-num-steps: 5\n");
    assert_eq!(settings(&found), [(LEN, "3.51", 1)]);
    assert_eq!((found.engine, found.max_accept_length()), (Some(Engine::Sglang), Some(6)));
    let cleared = role("unset SGLANG_SIMULATE_ACC_LEN\n");
    assert_eq!((cleared.engine, cleared.cleared), (Some(Engine::Sglang), vec![LEN]));
    let null = role(r#"{"rejection_sample_method":"block","synthetic_acceptance_length":null}"#);
    assert_eq!(null.engine, Some(Engine::Vllm));
    assert_eq!(settings(&null), [("rejection_sample_method", "block", 1)]);
}

/// Settings of two engines name none.
#[test]
fn an_engine_is_guessed_from_its_own_settings_only() {
    let both = role("SGLANG_SIMULATE_ACC_LEN=3.51\nTLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS=2.51\n");
    assert_eq!(both.engine, None);
    assert_eq!(role("TILERT_SIMULATE_ACC_LEN=3\n").engine, Some(Engine::Tilert));
}
