//! Of a script counts what really reaches the server.

use crate::mutations::flipped;
use crate::support::{FLAGS, Folder, item, statuses};

const PINS: [&str; 3] = [
    "SGLANG_SIMULATE_ACC_LEN=3.51",
    "SGLANG_SIMULATE_ACC_METHOD=match-expected",
    "SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token",
];

const SERVER: &str = "python3 -m sglang.launch_server --model-path models/qwen3 --speculative-algorithm EAGLE3 \
                      --speculative-num-steps 5 --speculative-draft-model-path models/eagle3\n";

/// One that drafts nothing: whether it pins what it should is no question.
const PLAIN: &str = "python3 -m sglang.launch_server --model-path models/qwen3\n";

/// The points told by a launcher alone: their dumps are gone, and so is what they show of the image.
fn told_by(script: &str) -> std::collections::BTreeMap<String, String> {
    let folder = Folder::several_points();
    for concurrency in [1, 4, 16, 32] {
        folder.remove(&format!("run/c{concurrency}/env.txt"));
    }
    folder.write("run/launcher.sh", script);
    statuses(&folder.document(&format!("signoff run {FLAGS}")).1)
}

const TOLD: [&str; 3] = ["golden-accept-length", "method", "token-mode"];

#[test]
fn an_export_in_front_of_the_server_counts() {
    let export = format!("export {}\n", PINS.join(" "));
    let found = told_by(&format!("#!/bin/bash\n{export}{SERVER}"));
    for id in TOLD {
        assert_eq!(found[id], "holds", "{id}");
    }
    let found = told_by(&format!("#!/bin/bash\n{} {SERVER}", PINS.join(" ")));
    for id in TOLD {
        assert_eq!(found[id], "holds", "{id}");
    }
}

#[test]
fn what_reaches_no_server_tells_nothing() {
    let lines = |start: &str| PINS.map(|pin| format!("{start}{pin}\n")).concat();
    let names = PINS.map(|pin| pin.split('=').next().unwrap()).join(" ");
    for before in [
        lines(""),
        format!("{}unset {names}\n", lines("export ")),
        format!("if [ \"$WITH_PINS\" = 1 ]; then\n{}fi\n", lines("export ")),
        lines("echo export "),
        format!("cat > readme <<EOF\n{}EOF\n", lines("export ")),
        lines("# export "),
        format!("({})\n", lines("export ")),
    ] {
        let found = told_by(&format!("#!/bin/bash\n{before}{SERVER}"));
        for id in TOLD {
            assert_eq!(found[id], "cannot-decide", "{id}: {before}");
        }
    }
    let found = told_by(&format!("#!/bin/bash\n{SERVER}{}", lines("export ")));
    assert_eq!(found["method"], "cannot-decide");
}

#[test]
fn a_condition_is_named_and_an_environment_decides_it() {
    let variable = "SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE";
    let script = format!("#!/bin/bash\nif [ \"$FAST\" = 1 ]; then export {variable}=1; fi\n{PLAIN}");
    // Every point shows its environment, and it is not in there.
    let folder = Folder::several_points();
    folder.write("run/launcher.sh", &script);
    assert_eq!(folder.document(&format!("signoff run {FLAGS}")).0, 0);
    folder.remove("run/c16/env.txt");
    let (_, document) = folder.document(&format!("signoff run {FLAGS}"));
    let found = item(&document, "forbidden-variables");
    assert_eq!(found["status"], "cannot-decide");
    let message = found["message"].as_str().unwrap();
    assert!(message.contains("only where") && message.contains("$FAST"), "{message}");
    assert_eq!(found["evidence"][0]["line"], 2);
}

#[test]
fn text_that_a_script_prints_forbids_nothing() {
    let folder = Folder::several_points();
    let variable = "SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE=1";
    let script = format!(
        "#!/bin/bash\necho \"{variable} --hf-overrides x\"\ncat <<EOF\nexport {variable}\nEOF\nA=1\n{PLAIN}"
    );
    folder.write("run/launcher.sh", &script);
    assert_eq!(folder.document(&format!("signoff run {FLAGS}")).0, 0);
}

#[test]
fn an_export_of_the_evaluations_launcher_fails() {
    for (name, text) in [
        ("run/eval/start.sh", format!("#!/bin/bash\nexport {}\n{PLAIN}", PINS[0])),
        ("run/eval/start.sh", format!("#!/bin/bash\n{} {PLAIN}", PINS[0])),
        (
            "run/start.sh",
            format!("#!/bin/bash\nif [ \"$EVAL_ONLY\" = true ]; then export {}; fi\n{PLAIN}", PINS[0]),
        ),
    ] {
        let (changed, document) = flipped(|folder| folder.write(name, &text));
        // A pin for an evaluation alone is a fault of the launcher too.
        let mut expected = vec!["evaluation-unset fails"];
        expected.extend(text.contains("EVAL_ONLY").then_some("recipe-pins fails"));
        assert_eq!(changed, expected, "{text}");
        let found = item(&document, "evaluation-unset");
        assert_eq!(found["evidence"][0]["value"], PINS[0]);
        assert_eq!(found["evidence"][0]["file"], name);
    }
}

#[test]
fn knobs_of_every_engine_are_seen_in_an_evaluation() {
    let vllm = "vllm serve m --speculative-config '{\"method\": \"eagle3\", \"num_speculative_tokens\": 5, \
                \"rejection_sample_method\": \"synthetic\", \"synthetic_acceptance_length\": 3.51}'\n";
    for (file, text, knob) in [
        ("run/eval/env.txt", "SGLANG_SIMULATE_ACC_ANYTHING=1\n", "SGLANG_SIMULATE_ACC_ANYTHING"),
        ("run/eval/env.txt", "SIMULATE_ACC_METHOD=multinomial\n", "SIMULATE_ACC_METHOD"),
        ("run/eval/env.txt", "SGLANG_DSPARK_SIMULATE_FOLD=1\n", "SGLANG_DSPARK_SIMULATE_FOLD"),
        ("run/eval/env.txt", "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS=2.51\n", "TLLM_SPEC_DECODE_FORCE"),
        ("run/eval/env.txt", "TILERT_SIMULATE_ACC_METHOD=match-expected\n", "TILERT_SIMULATE_ACC_METHOD"),
        ("run/eval/start.sh", vllm, "synthetic_acceptance_length"),
        (
            "run/eval/logs/node1_agg_w0.out",
            "INFO config: synthetic_acceptance_rates=[1.0, 0.51]\n",
            "synthetic_acceptance_rates",
        ),
        (
            "run/eval/start.sh",
            "python3 -m atom.entrypoints.openai_server --method mtp --num-speculative-tokens 3 \
             --spec-decode-acceptance-length 2.5\n",
            "spec_decode_acceptance_length",
        ),
    ] {
        let (changed, document) = flipped(|folder| {
            let old = if folder.path.join(file).exists() { folder.read(file) } else { String::new() };
            folder.write(file, &format!("{old}{text}"));
        });
        let failing: Vec<&String> = changed.iter().filter(|line| line.ends_with(" fails")).collect();
        assert!(failing.contains(&&"evaluation-unset fails".to_owned()), "{text}: {changed:?}");
        let message = item(&document, "evaluation-unset")["message"].as_str().unwrap().to_owned();
        assert!(message.contains(knob), "{message}");
    }
}

/// What an engine prints of a setting that nobody gave is no setting.
#[test]
fn an_echo_of_nothing_is_nothing() {
    let folder = Folder::several_points();
    let log = "run/eval/logs/node1_agg_w0.out";
    folder.write(log, &format!("INFO config: synthetic_acceptance_rates=None\n{}", folder.read(log)));
    assert_eq!(folder.document(&format!("signoff run {FLAGS}")).0, 0);
}

#[test]
fn overrides_are_seen_in_every_form() {
    for (file, text) in [
        ("run/launcher.sh", "#!/bin/bash\nvllm serve m --hf-overrides.num_layers 3\n"),
        ("run/launcher.sh", "#!/bin/bash\nvllm serve m --hf-overrides.num_layers=3\n"),
        (
            "run/launcher.sh",
            "#!/bin/bash\nvllm serve m --speculative-config '{\"hf_overrides\": {\"a\": 1}}'\n",
        ),
        ("run/other.yaml", "args:\n  hf-overrides:\n    num_layers: 3\n"),
        ("run/other.yaml", "args:\n  hf-overrides.num_layers: 3\n"),
        ("run/other.yaml", "args:\n  extra: '{\"hf-overrides\": {\"num_layers\": 3}}'\n"),
        ("run/other.yaml", "command: vllm serve m --hf-overrides.num_layers 3\n"),
        ("run/c4/info.json", "{\"args\": {\"hf_overrides\": {\"num_layers\": 3}}}"),
        ("run/c4/vllm.log", "non-default args: {'hf_overrides': {'num_layers': 3}}\n"),
        ("run/c4/vllm.log", "+ vllm serve m --hf-overrides.num_layers 3\n"),
    ] {
        let (changed, document) = flipped(|folder| folder.write(file, text));
        // A launcher that drafts and pins nothing is at fault for that too.
        let mut expected = vec!["no-overrides fails"];
        expected.extend(text.contains("--speculative-config").then_some("recipe-pins fails"));
        assert_eq!(changed, expected, "{text}");
        assert_eq!(item(&document, "no-overrides")["evidence"][0]["file"], file, "{text}");
    }
    let folder = Folder::several_points();
    folder.write("run/other.yaml", "args:\n  hf-overrides: {}\n  json-model-override-args: '{}'\n");
    assert_eq!(folder.document(&format!("signoff run {FLAGS}")).0, 0);
}
