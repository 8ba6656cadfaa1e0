//! One change of one input flips its own item and no other.

use crate::support::{FLAGS, Folder, IMAGE, item, statuses};

pub(crate) const LOG: &str = "run/c16/logs/node1_agg_w0.out";

/// Applies a change to the run that holds in every item; what then fails, with the item.
pub(crate) fn flipped(change: impl FnOnce(&Folder)) -> (Vec<String>, serde_json::Value) {
    let folder = Folder::several_points();
    change(&folder);
    let (code, document) = folder.document(&format!("signoff run {FLAGS}"));
    assert_eq!(code, 1, "{document:#}");
    let changed = statuses(&document).into_iter().filter(|(_, status)| status != "holds");
    (changed.map(|(id, status)| format!("{id} {status}")).collect(), document)
}

#[test]
fn another_accept_length_injected() {
    let (changed, document) = flipped(|folder| folder.edit("run/c4/env.txt", "LEN=3.51", "LEN=3.61"));
    // The version is judged by what the run was told, and holds that too.
    assert_eq!(changed, ["golden-accept-length fails"]);
    let item = item(&document, "golden-accept-length");
    assert_eq!(item["message"], "C4: 3.61 injected, golden is 3.51");
    assert_eq!(item["evidence"][0]["value"], "SGLANG_SIMULATE_ACC_LEN=3.61");
    assert_eq!(item["evidence"][0]["file"], "run/c4/env.txt");
}

#[test]
fn a_length_that_is_no_number() {
    let (changed, document) = flipped(|folder| folder.edit("run/c4/env.txt", "LEN=3.51", "LEN=NaN"));
    assert_eq!(changed, ["engine-version fails", "golden-accept-length fails"], "{document:#}");
}

#[test]
fn another_accept_length_shown() {
    let (changed, document) = flipped(|folder| {
        // The server that was told 2.0, with the same arguments but for its seed.
        let log = std::fs::read(crate::support::h200().join("e3k5_al200.log")).unwrap();
        let log = String::from_utf8_lossy(&log).replace("POST /generate ", "POST /v1/chat/completions ");
        folder.write(LOG, &log);
    });
    assert_eq!(changed, ["accept-length fails"], "{document:#}");
    let message = item(&document, "accept-length")["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("C16: "), "{message}");
}

#[test]
fn another_method() {
    let (changed, document) =
        flipped(|folder| folder.edit("run/c4/env.txt", "METHOD=match-expected", "METHOD=multinomial"));
    // A release with that method does not hold the length either, and says so.
    assert_eq!(changed, ["engine-version fails", "method fails"], "{document:#}");
}

#[test]
fn another_token_mode() {
    let (changed, _) = flipped(|folder| folder.edit("run/c4/env.txt", "real-draft-token", "fixed"));
    assert_eq!(changed, ["token-mode fails"]);
}

#[test]
fn a_forbidden_variable_anywhere() {
    let variable = "SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE";
    for (file, line, origin) in [
        ("run/c1/env.txt", format!("{variable}=1\n"), "environment"),
        ("run/launcher.sh", format!("#!/bin/bash\nexport {variable}=1\n"), "launcher"),
        (LOG, format!("+ export {variable}=1\n"), "log"),
    ] {
        let (changed, document) = flipped(|folder| {
            let old = if folder.path.join(file).exists() { folder.read(file) } else { String::new() };
            folder.write(file, &format!("{old}{line}"));
        });
        assert_eq!(changed, ["forbidden-variables fails"], "{file}");
        let item = item(&document, "forbidden-variables");
        assert!(item["message"].as_str().unwrap().ends_with(&format!(" {origin}")), "{item:#}");
        assert_eq!(item["evidence"][0]["file"], file);
        assert_eq!(item["evidence"][0]["value"], format!("{variable}=1"));
    }
    let (changed, _) = flipped(|folder| {
        folder.edit(
            "run/recipe.yaml",
            "    engine: sglang\n",
            &format!("    engine: sglang\n    env:\n      {variable}: \"1\"\n"),
        );
    });
    assert_eq!(changed, ["forbidden-variables fails"]);
}

#[test]
fn what_takes_a_variable_away_does_not_set_it() {
    let folder = Folder::several_points();
    folder.write(
        "run/launcher.sh",
        "#!/bin/bash\n# SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE=1\nunset SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE\n",
    );
    assert_eq!(folder.document(&format!("signoff run {FLAGS}")).0, 0);
}

#[test]
fn one_line_without_a_graph() {
    let mut line = 0;
    let (changed, document) = flipped(|folder| {
        let log = folder.read(LOG);
        // A prefill line says so too, and is no sample: it may say what it likes.
        let mut prefills = 0;
        let lines = log.lines().map(|line| {
            let of_prefill = line.contains("Prefill batch");
            prefills += usize::from(of_prefill);
            if of_prefill { line.replace("cuda graph: True", "cuda graph: False") } else { line.to_owned() }
        });
        let log = lines.collect::<Vec<_>>().join("\n");
        assert!(prefills > 0);
        let last = log.rfind("Decode batch").unwrap();
        let at = last + log[last..].find("cuda graph: True").unwrap();
        line = log[..at].lines().count();
        folder
            .write(LOG, &format!("{}cuda graph: False{}", &log[..at], &log[at + "cuda graph: True".len()..]));
    });
    assert_eq!(changed, ["graph-flag fails"]);
    let evidence = &item(&document, "graph-flag")["evidence"][0];
    assert_eq!(evidence["value"], "cuda graph: False");
    assert_eq!(evidence["line"], line);
}

#[test]
fn a_batch_beyond_the_graphs() {
    let (changed, document) = flipped(|folder| {
        let at = "run/c32/logs/node1_agg_w0.out";
        let log = folder.read(at);
        folder.write(at, &log.replace("#running-req: 32", "#running-req: 40"));
    });
    assert_eq!(changed, ["largest-batch fails"]);
    let message = item(&document, "largest-batch")["message"].as_str().unwrap().to_owned();
    assert_eq!(message, "C32: a batch of 40, graphs are captured up to 32");
}

#[test]
fn a_call_of_completions() {
    let (changed, document) =
        flipped(|folder| folder.edit(LOG, "\"POST /v1/chat/completions HTTP", "\"POST /v1/completions HTTP"));
    assert_eq!(changed, ["chat-endpoints fails"]);
    let item = item(&document, "chat-endpoints");
    assert_eq!(item["message"], "C16: POST /v1/completions called 1 time");
    assert_eq!(item["evidence"][0]["file"], LOG);
}

#[test]
fn a_dropped_request() {
    let export = "run/c4/logs/agentic/profile_export_aiperf.json";
    let errors =
        "\"error_summary\": [{\"error_details\": {\"code\": 500, \"message\": \"x\"}, \"count\": 1}]";
    let (changed, document) = flipped(|folder| folder.edit(export, "\"error_summary\": []", errors));
    assert_eq!(changed, ["requests fails"]);
    let item = item(&document, "requests");
    assert_eq!(item["message"], "C4: 1 request ended in an error, 24 completed");
    assert_eq!(item["evidence"][0]["file"], export);
    let (changed, _) =
        flipped(|folder| folder.edit(LOG, "completions HTTP/1.1\" 200 OK", "completions HTTP/1.1\" 503 X"));
    assert_eq!(changed, ["requests fails"]);
}

#[test]
fn a_simulation_variable_in_the_evaluations_log() {
    let log = "run/eval/logs/node1_agg_w0.out";
    let (changed, document) = flipped(|folder| {
        let old = folder.read(log);
        folder.write(log, &format!("+ export SGLANG_SIMULATE_ACC_LEN=3.51\n{old}"));
    });
    assert_eq!(changed, ["evaluation-unset fails"]);
    assert_eq!(item(&document, "evaluation-unset")["evidence"][0]["line"], 1);
}

#[test]
fn a_simulated_evaluation() {
    let (changed, _) = flipped(|folder| {
        let log = folder.read("run/c1/logs/node1_agg_w0.out");
        folder.write("run/eval/logs/node1_agg_w0.out", &log);
    });
    assert_eq!(changed, ["evaluation-real fails"]);
}

#[test]
fn a_score_below_its_threshold() {
    let (changed, document) = flipped(|folder| folder.edit("run/eval/results.json", "0.953", "0.853"));
    assert_eq!(changed, ["evaluation-scores fails"]);
    let item = item(&document, "evaluation-scores");
    assert_eq!(item["message"], "gsm8k exact_match,strict-match: 0.853, below 0.9");
}

#[test]
fn another_image_digest() {
    let (changed, document) =
        flipped(|folder| folder.edit("run/c4/config.yaml", "sha256:aaaa", "sha256:bbbb"));
    assert_eq!(changed, ["image fails"]);
    let message = item(&document, "image")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("sha256:bbbb") && message.contains(IMAGE), "{message}");
}

#[test]
fn a_dominated_point() {
    let (changed, document) = flipped(|folder| {
        // The largest batch is slower now than the one before.
        let table = folder.read("run/points.csv");
        let last = table.lines().last().unwrap();
        let worse = last.replacen(last.split(',').nth(1).unwrap(), "9000.0", 1);
        folder.write("run/points.csv", &table.replace(last, &worse));
    });
    assert_eq!(changed, ["pareto fails"]);
    let item = item(&document, "pareto");
    let message = item["message"].as_str().unwrap();
    assert!(message.contains("frontier 3 of 4 at P90, frontier 3 of 4 at P75"), "{message}");
    assert!(item["evidence"][0]["value"].as_str().unwrap().contains("C32"), "{item:#}");
}

#[test]
fn arguments_of_the_draft_and_overrides() {
    for (from, to, id) in [
        (
            "speculative_draft_model_quantization=None",
            "speculative_draft_model_quantization='fp8'",
            "draft-quantization",
        ),
        (" quantization=None", " quantization='fp8'", "quantization"),
        ("dtype='auto'", "dtype='float16'", "dtype"),
        ("json_model_override_args='{}'", "json_model_override_args='{\"a\": 1}'", "no-overrides"),
        (
            "speculative_draft_model_path='models/eagle3'",
            "speculative_draft_model_path='models/x'",
            "draft-path",
        ),
    ] {
        let (changed, document) = flipped(|folder| {
            for concurrency in [1, 4, 16, 32] {
                folder.edit(&format!("run/c{concurrency}/logs/node1_agg_w0.out"), from, to);
            }
        });
        assert_eq!(changed, [format!("{id} fails")], "{to}");
        assert_eq!(item(&document, id)["evidence"][0]["line"], 8, "{to}");
    }
    let (changed, _) = flipped(|folder| {
        folder.write(
            "run/launcher.sh",
            "#!/bin/bash\nexport A_B=1\nvllm serve m --hf-overrides '{\"num_layers\": 3}'\n",
        );
    });
    assert_eq!(changed, ["no-overrides fails"]);
}

#[test]
fn a_pin_that_is_not_golden_in_the_recipe() {
    let (changed, _) = flipped(|folder| {
        let pin = "    engine: sglang\n    env:\n      SGLANG_SIMULATE_ACC_LEN: \"3.2\"\n      SGLANG_SIMULATE_ACC_METHOD: \
                   match-expected\n      SGLANG_SIMULATE_ACC_TOKEN_MODE: real-draft-token\n";
        folder.edit("run/recipe.yaml", "    engine: sglang\n", pin);
    });
    assert_eq!(changed, ["recipe-pins fails"]);
}
