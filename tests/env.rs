//! `accsim env`: exact outputs for every engine, format and version boundary.

#![cfg(feature = "cli")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "Clippy's leave for tests ends at the test functions; their helpers fail the same way"
)]

use std::process::{Command, Stdio};

use accsim::engine::{Drafter, Engine, Server, settings};
use accsim::golden::{AcceptLength, GoldenCell, Target, Thinking};
use accsim::report::json;
use serde_json::{Value, json};

const NOTE: &str = "note: an explicit target, not a golden one\n";

struct Run {
    code: i32,
    out: String,
    err: String,
}

fn env(line: &str) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_accsim"))
        .arg("env")
        .args(line.split_whitespace())
        .stdin(Stdio::null())
        .env_remove("ACCSIM_GOLDEN_DIR")
        .output()
        .unwrap();
    Run {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The worked target: 3.51 with five drafts.
fn env_351(line: &str) -> Run {
    env(&format!("--accept-length 3.51 --max-accept-length 6 {line}"))
}

fn json_of(line: &str) -> Value {
    let run = env(&format!("{line} --json"));
    assert_eq!(run.code, 0, "{line}: {}", run.err);
    assert_eq!(run.err, "", "{line}");
    serde_json::from_str(&run.out).unwrap()
}

fn codes(document: &Value) -> Vec<&str> {
    document["warnings"].as_array().unwrap().iter().map(|warning| warning["code"].as_str().unwrap()).collect()
}

fn pairs(document: &Value) -> Vec<(&str, &str, &str)> {
    document["settings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|setting| {
            (
                setting["kind"].as_str().unwrap(),
                setting["name"].as_str().unwrap(),
                setting["value"].as_str().unwrap(),
            )
        })
        .collect()
}

#[test]
fn every_format_of_every_engine() {
    let sglang = "--engine sglang";
    let vllm = "--engine vllm";
    let trtllm = "--engine trtllm";
    let atom = "--engine atom";
    let tilert = "--engine tilert";
    let table = [
        (
            sglang,
            "export",
            "export SGLANG_SIMULATE_ACC_LEN=3.51\n\
             export SGLANG_SIMULATE_ACC_METHOD=match-expected\n\
             export SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token\n",
        ),
        (
            sglang,
            "dotenv",
            "SGLANG_SIMULATE_ACC_LEN=3.51\n\
             SGLANG_SIMULATE_ACC_METHOD=match-expected\n\
             SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token\n",
        ),
        (
            sglang,
            "docker",
            "-e SGLANG_SIMULATE_ACC_LEN=3.51 -e SGLANG_SIMULATE_ACC_METHOD=match-expected \
             -e SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token\n",
        ),
        (
            sglang,
            "yaml",
            "SGLANG_SIMULATE_ACC_LEN: \"3.51\"\n\
             SGLANG_SIMULATE_ACC_METHOD: \"match-expected\"\n\
             SGLANG_SIMULATE_ACC_TOKEN_MODE: \"real-draft-token\"\n",
        ),
        (trtllm, "export", "export TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS=2.51\n"),
        (trtllm, "dotenv", "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS=2.51\n"),
        (trtllm, "docker", "-e TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS=2.51\n"),
        (trtllm, "yaml", "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS: \"2.51\"\n"),
        (
            tilert,
            "export",
            "export TILERT_SIMULATE_ACC_LEN=3.51\nexport TILERT_SIMULATE_ACC_METHOD=match-expected\n",
        ),
        (tilert, "dotenv", "TILERT_SIMULATE_ACC_LEN=3.51\nTILERT_SIMULATE_ACC_METHOD=match-expected\n"),
        (tilert, "docker", "-e TILERT_SIMULATE_ACC_LEN=3.51 -e TILERT_SIMULATE_ACC_METHOD=match-expected\n"),
        (
            tilert,
            "yaml",
            "TILERT_SIMULATE_ACC_LEN: \"3.51\"\nTILERT_SIMULATE_ACC_METHOD: \"match-expected\"\n",
        ),
        (atom, "args", "--spec-decode-acceptance-length 3.51\n"),
        (atom, "yaml", "spec-decode-acceptance-length: 3.51\n"),
        (
            vllm,
            "args",
            "--speculative-config \
             '{\"rejection_sample_method\":\"synthetic\",\"synthetic_acceptance_length\":3.51}'\n",
        ),
        (
            vllm,
            "yaml",
            "speculative-config:\n  rejection_sample_method: \"synthetic\"\n  synthetic_acceptance_length: 3.51\n",
        ),
    ];
    for (engine, format, out) in table {
        let run = env_351(&format!("{engine} --format {format}"));
        assert_eq!((run.code, run.out.as_str()), (0, out), "{engine} {format}");
        assert!(run.err.starts_with(NOTE), "{engine} {format}: {}", run.err);
    }
    for (engine, default) in
        [(sglang, "export"), (trtllm, "export"), (tilert, "export"), (vllm, "args"), (atom, "args")]
    {
        let asked = env_351(&format!("{engine} --format {default}"));
        let unasked = env_351(engine);
        assert_eq!((asked.out, asked.err), (unasked.out, unasked.err), "{engine}");
    }
}

#[test]
fn what_an_evaluation_run_must_clear() {
    let table = [
        (
            "sglang",
            "unset SGLANG_SIMULATE_ACC_LEN\nunset SGLANG_SIMULATE_ACC_METHOD\nunset SGLANG_SIMULATE_ACC_TOKEN_MODE\n",
        ),
        ("sglang --engine-version 0.5.2", "unset SIMULATE_ACC_LEN\nunset SIMULATE_ACC_METHOD\n"),
        ("trtllm", "unset TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS\n"),
        ("tilert", "unset TILERT_SIMULATE_ACC_LEN\nunset TILERT_SIMULATE_ACC_METHOD\n"),
        ("atom", "--spec-decode-acceptance-length\n--spec-decode-acceptance-rate\n"),
        (
            "vllm",
            "{\"rejection_sample_method\":\"block\",\"synthetic_acceptance_length\":null,\
             \"synthetic_acceptance_rates\":null}\n",
        ),
    ];
    for (engine, out) in table {
        // With a target, with a prefix of no curve, and with no target: the answer does not depend on it.
        for target in ["--accept-length 3.51 --max-accept-length 6", "no-such-model mtp 3", ""] {
            let run = env(&format!("{target} --engine {engine} --format unset"));
            assert_eq!(
                (run.code, run.out.as_str(), run.err.as_str()),
                (0, out, ""),
                "{engine} with target '{target}'"
            );
        }
    }
}

#[test]
fn formats_that_an_engine_does_not_have_are_refused_with_the_reason() {
    for (engine, formats, reason) in [
        ("vllm", ["export", "dotenv", "docker"].as_slice(), "no environment variable"),
        ("atom", &["export", "dotenv", "docker"], "no environment variable"),
        ("sglang", &["args"], "from environment variables"),
        ("trtllm", &["args"], "from environment variables"),
        ("tilert", &["args"], "from environment variables"),
    ] {
        for format in formats {
            let run = env_351(&format!("--engine {engine} --format {format}"));
            assert_eq!((run.code, run.out.as_str()), (2, ""), "{engine} {format}");
            assert!(run.err.contains(reason), "{}", run.err);
            assert!(run.err.contains(&format!("no '{format}' format; it has ")), "{}", run.err);
        }
    }
}

#[test]
fn the_document_of_an_explicit_target() {
    let document = json_of(
        "--accept-length 3.51 --max-accept-length 6 --engine sglang --engine-version v0.5.16 --algorithm dspark",
    );
    assert_eq!(
        document,
        json!({
            "schema_version": 1,
            "engine": "sglang",
            "engine_version": "0.5.16",
            "target": {
                "golden": false, "curve": null, "model": null, "method": null, "thinking": null, "draft_length": null,
                "accept_length": 3.51, "max_accept_length": 6, "source": "explicit",
            },
            "settings": [
                {"kind": "env", "name": "SGLANG_SIMULATE_ACC_LEN", "value": "3.51"},
                {"kind": "env", "name": "SGLANG_SIMULATE_ACC_METHOD", "value": "match-expected"},
                {"kind": "env", "name": "SGLANG_SIMULATE_ACC_TOKEN_MODE", "value": "real-draft-token"},
            ],
            "unset": [
                {"kind": "env", "name": "SGLANG_SIMULATE_ACC_LEN"},
                {"kind": "env", "name": "SGLANG_SIMULATE_ACC_METHOD"},
                {"kind": "env", "name": "SGLANG_SIMULATE_ACC_TOKEN_MODE"},
            ],
            "warnings": [
                {"code": "dspark-rounds-target", "message": document["warnings"][0]["message"]},
                {"code": "token-mode-unsupported", "message": document["warnings"][1]["message"]},
            ],
        })
    );
    let out = env_351("--engine sglang --json").out;
    assert!(
        out.starts_with(
            "{\n  \"schema_version\": 1,\n  \"engine\": \"sglang\",\n  \"engine_version\": null,"
        )
    );
    assert_eq!(out, env_351("--engine sglang --format json").out);
    assert_eq!(out, env_351("--engine sglang --format json --json").out);
}

#[test]
fn the_document_of_a_golden_target() {
    let cell = GoldenCell {
        curve: "dsv41flash_dspark".to_owned(),
        model: "deepseek-v4.1-flash".to_owned(),
        method: "dspark".to_owned(),
        thinking: Thinking::On,
        draft_length: 5,
        source: "a run".to_owned(),
    };
    let target = Target::golden(AcceptLength::new(3.51).unwrap(), cell).unwrap();
    let server = Server::new(Engine::Vllm).drafter(Drafter::DSpark);
    let mut out = Vec::new();
    json::write(&mut out, &json::EnvDocument::new(&settings(&server, &target).unwrap(), &[])).unwrap();
    let document: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(
        document["target"],
        json!({
            "golden": true, "curve": "dsv41flash_dspark", "model": "deepseek-v4.1-flash", "method": "dspark",
            "thinking": "thinking_on", "draft_length": 5, "accept_length": 3.51, "max_accept_length": 6,
            "source": "a run",
        })
    );
    assert_eq!(
        document["settings"],
        json!([
            {"kind": "json", "name": "rejection_sample_method", "value": "synthetic"},
            {"kind": "json", "name": "synthetic_acceptance_length", "value": "3.51"},
        ])
    );
    assert_eq!(document["unset"][0]["instead"], "block");
}

#[test]
fn values_are_text_as_percent_g_writes_it() {
    for (engine, target, value) in [
        ("trtllm", "3.5", "2.5"),
        ("trtllm", "3.78", "2.78"),
        ("trtllm", "2.83", "1.83"),
        ("trtllm", "4", "3"),
        ("sglang", "3.00", "3"),
        ("sglang", "2.50", "2.5"),
        ("atom", "3.780", "3.78"),
        ("vllm", "4.0", "4"),
        ("tilert", "1", "1"),
    ] {
        let document = json_of(&format!("--accept-length {target} --max-accept-length 8 --engine {engine}"));
        assert!(pairs(&document).iter().any(|(_, _, text)| *text == value), "{engine} {target}: {document}");
    }
    let atom = json_of("--accept-length 3.78 --max-accept-length 8 --engine atom");
    assert_eq!(pairs(&atom), [("arg", "--spec-decode-acceptance-length", "3.78")]);
}

#[test]
fn sglang_versions_on_each_side_of_a_change() {
    let table: &[(&str, &[&str], &[&str])] = &[
        ("0.4.4.post4", &[], &["simulation-ignored"]),
        (
            "0.4.5",
            &["SIMULATE_ACC_LEN"],
            &["legacy-variable-names", "method-default-multinomial", "token-mode-unsupported"],
        ),
        (
            "0.4.7.post1",
            &["SIMULATE_ACC_LEN"],
            &["legacy-variable-names", "method-default-multinomial", "token-mode-unsupported"],
        ),
        (
            "0.4.8",
            &["SIMULATE_ACC_LEN", "SIMULATE_ACC_METHOD"],
            &["legacy-variable-names", "token-mode-unsupported"],
        ),
        (
            "0.5.2",
            &["SIMULATE_ACC_LEN", "SIMULATE_ACC_METHOD"],
            &["legacy-variable-names", "token-mode-unsupported"],
        ),
        ("0.5.3", &["SGLANG_SIMULATE_ACC_LEN", "SGLANG_SIMULATE_ACC_METHOD"], &["token-mode-unsupported"]),
        ("0.5.14", &["SGLANG_SIMULATE_ACC_LEN", "SGLANG_SIMULATE_ACC_METHOD"], &["token-mode-unsupported"]),
        (
            "0.5.15",
            &["SGLANG_SIMULATE_ACC_LEN", "SGLANG_SIMULATE_ACC_METHOD", "SGLANG_SIMULATE_ACC_TOKEN_MODE"],
            &[],
        ),
    ];
    for (version, names, expected) in table {
        let document = json_of(&format!(
            "--accept-length 3.51 --max-accept-length 6 --engine sglang --algorithm eagle --engine-version {version}"
        ));
        let found: Vec<&str> = pairs(&document).iter().map(|(_, name, _)| *name).collect();
        assert_eq!(found, *names, "{version}");
        assert_eq!(codes(&document), *expected, "{version}");
        assert_eq!(document["engine_version"], *version);
    }
}

#[test]
fn sglang_algorithms_on_each_side_of_a_change() {
    for (algorithm, version, settings, expected) in [
        ("ngram", "0.5.13.post1", 0, ["simulation-ignored"].as_slice()),
        ("ngram", "0.5.14", 2, &["token-mode-unsupported"]),
        ("ngram", "0.5.15", 3, &["token-mode-unsupported"]),
        ("dflash", "0.5.16", 0, &["simulation-ignored"]),
        ("dflash", "0.5.17", 3, &[]),
        ("dspark", "0.5.15.post1", 0, &["simulation-ignored"]),
        ("dspark", "0.5.16", 3, &["dspark-rounds-target", "token-mode-unsupported"]),
        ("dspark", "0.5.17", 3, &["dspark-rounds-target", "token-mode-unsupported"]),
        ("dspark", "0.5.18", 3, &["token-mode-unsupported"]),
        ("DSPARK", "0.5.18", 3, &["token-mode-unsupported"]),
    ] {
        let document = json_of(&format!(
            "--accept-length 3.51 --max-accept-length 6 --engine sglang --algorithm {algorithm} --engine-version {version}"
        ));
        assert_eq!(pairs(&document).len(), settings, "{algorithm} {version}");
        assert_eq!(codes(&document), expected, "{algorithm} {version}");
    }
    let ngram = json_of("--accept-length 3.51 --max-accept-length 6 --engine sglang --algorithm ngram");
    assert_eq!(
        pairs(&ngram)[2],
        ("env", "SGLANG_SIMULATE_ACC_TOKEN_MODE", "fixed"),
        "real draft tokens crash NGRAM"
    );
}

#[test]
fn facts_about_the_server_that_flags_state() {
    let tree = json_of(
        "--accept-length 3.51 --max-accept-length 6 --engine sglang --algorithm eagle --eagle-topk 4",
    );
    assert_eq!(pairs(&tree)[2].2, "fixed");
    assert_eq!(codes(&tree), ["token-mode-unsupported"]);
    // A width above 1 says that drafts form a tree, whoever drafts.
    let unnamed = json_of("--accept-length 3.51 --max-accept-length 6 --engine sglang --eagle-topk 4");
    assert_eq!((pairs(&unnamed)[2].2, codes(&unnamed)), ("fixed", vec!["token-mode-unsupported"]));
    let overlap = json_of(
        "--accept-length 3.51 --max-accept-length 6 --engine sglang --algorithm eagle --engine-version 0.5.3 \
         --overlap on",
    );
    assert_eq!((pairs(&overlap).len(), codes(&overlap)), (0, vec!["simulation-ignored"]));
    let two = json_of("--accept-length 3.51 --max-accept-length 6 --engine trtllm --two-model");
    assert_eq!((pairs(&two).len(), codes(&two)), (0, vec!["fraction-ignored"]));
    for line in ["--engine vllm --eagle-topk 1", "--engine atom --overlap on", "--engine sglang --two-model"]
    {
        let run = env_351(line);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{line}");
        assert!(run.err.contains(" is about "), "{}", run.err);
    }
}

#[test]
fn targets_above_the_maximum() {
    for engine in ["sglang", "trtllm"] {
        let document = json_of(&format!("--accept-length 6.5 --max-accept-length 6 --engine {engine}"));
        assert_eq!(codes(&document), ["clamped-to-max"], "{engine}");
        assert!(!pairs(&document).is_empty());
    }
    for engine in ["vllm", "atom", "tilert"] {
        let run = env(&format!("--accept-length 6.5 --max-accept-length 6 --engine {engine} --json"));
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{engine}");
        assert!(run.err.contains("accept length of 6.5"), "{}", run.err);
    }
    assert_eq!(
        env("--accept-length 6.5 --max-accept-length 6 --engine vllm").err,
        "error: vLLM refuses to start with an accept length of 6.5: a step emits 1 to 6 tokens\n"
    );
}

#[test]
fn tensorrt_llm_and_a_length_of_one() {
    let run = env("--accept-length 1.0 --max-accept-length 6 --engine trtllm");
    assert_eq!((run.code, run.out.as_str()), (0, ""), "0 would switch the simulation off");
    assert!(run.err.contains("warning[cannot-force-one]: TensorRT-LLM cannot be forced"), "{}", run.err);
    let document = json_of("--accept-length 1.0 --max-accept-length 6 --engine trtllm");
    assert_eq!((pairs(&document).len(), codes(&document)), (0, vec!["cannot-force-one"]));
    // Empty in every format, and still a document where the format has documents.
    for (format, out) in [("dotenv", ""), ("docker", ""), ("yaml", "{}\n")] {
        let run = env(&format!("--accept-length 1 --max-accept-length 6 --engine trtllm --format {format}"));
        assert_eq!((run.code, run.out.as_str()), (0, out), "{format}");
    }
}

#[test]
fn impossible_input_is_refused() {
    for (line, message) in [
        ("--accept-length 0.99 --max-accept-length 6 --engine sglang", "at least 1, found 0.99"),
        ("--accept-length -1 --max-accept-length 6 --engine sglang", "at least 1, found -1"),
        ("--accept-length nan --max-accept-length 6 --engine sglang", "finite number"),
        ("--accept-length inf --max-accept-length 6 --engine trtllm", "finite number"),
        ("--accept-length 3,51 --max-accept-length 6 --engine sglang", "expected a number like 3.51"),
        ("--accept-length 3.51 --max-accept-length 0 --engine sglang", "at least 1, found 0"),
        ("--accept-length 3.51 --max-accept-length 6.5 --engine sglang", "--max-accept-length"),
        ("--accept-length 3.51 --engine sglang", "--max-accept-length"),
        ("--max-accept-length 6 --engine sglang", "--accept-length"),
        ("--engine sglang", "no target: give PREFIX METHOD K"),
        ("--accept-length 3.51 --max-accept-length 6", "--engine"),
        ("--accept-length 3.51 --max-accept-length 6 --engine tensorrt", "sglang"),
        ("--accept-length 3.51 --max-accept-length 6 --engine sglang --engine-version main", "0.5.10.post1"),
        (
            "--accept-length 3.51 --max-accept-length 6 --engine sglang --engine-version v0.5.18-cu129",
            "mean 0.5.18?",
        ),
        ("--accept-length 3.51 --max-accept-length 6 --engine sglang --algorithm medusa", "known are eagle"),
        ("--accept-length 3.51 --max-accept-length 6 --engine sglang --format toml", "export"),
        (
            "--accept-length 3.51 --max-accept-length 6 --engine sglang --format export --json",
            "no other format",
        ),
        (
            "--accept-length 3.51 --max-accept-length 6 --engine atom --draft-sample-method greedy",
            "names none",
        ),
        ("dsv41flash --engine sglang", "<METHOD>"),
        ("dsv41flash dspark --engine sglang", "<K>"),
        ("dsv41flash dspark 0 --engine sglang", "expected a whole number, 1 or more"),
        ("dsv41flash dspark 5.0 --engine sglang", "5.0"),
        ("dsv41flash dspark 5 --engine sglang --algorithm dspark", "--algorithm"),
        (
            "dsv41flash dspark 5 --engine sglang --accept-length 3.51 --max-accept-length 6",
            "cannot be used with",
        ),
    ] {
        let run = env(line);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{line}: {}", run.err);
        assert!(run.err.contains(message), "{line}: {}", run.err);
    }
}

#[test]
fn notes_and_warnings_stay_off_the_result() {
    let loud = env_351("--engine sglang --engine-version 0.5.17 --algorithm dspark");
    assert_eq!(
        loud.err,
        "note: an explicit target, not a golden one\n\
         warning[dspark-rounds-target]: SGLang 0.5.17 rounds a DSPARK target once and ignores the method: every step \
         will emit 4 tokens, not 3.51; 0.5.18 and later hold it (sgl-project/sglang#33463)\n\
         warning[token-mode-unsupported]: DSPARK never reads the token mode and always emits real drafts: harmless\n"
    );
    let quiet = env_351("--engine sglang --engine-version 0.5.17 --algorithm dspark --quiet");
    assert_eq!((quiet.code, quiet.err.as_str()), (0, ""));
    assert_eq!(quiet.out, loud.out);
}
