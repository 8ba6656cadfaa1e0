//! `recipe inject`: byte for byte.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::program::{Ran, accsim_in, ran};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recipes").join(name)
}

fn inject(file: &Path, framework: &str, model: &str, more: &[&str]) -> Ran {
    let file = file.display().to_string();
    let mut args = vec!["recipe", "inject", file.as_str(), "--framework", framework, "--model", model];
    args.extend(more);
    accsim_in(Path::new(env!("CARGO_TARGET_TMPDIR")), &args)
}

fn text(name: &str) -> String {
    fs::read_to_string(data(name)).unwrap()
}

#[test]
fn the_golden_value_is_written_and_every_other_byte_stays() {
    for (file, injected, framework) in [
        ("agg_sglang.yaml", "agg_sglang.injected.yaml", "sglang"),
        ("variants.yaml", "variants.injected.yaml", "dynamo-vllm"),
    ] {
        let done = inject(&data(file), framework, "glm5.2", &[]);
        assert_eq!((done.code, done.out.as_str()), (0, text(injected).as_str()), "{file}: {}", done.err);
        let again = inject(&data(injected), framework, "glm5.2", &[]);
        assert_eq!(again.out, text(injected), "{file}: twice is once");
    }
}

#[test]
fn windows_line_ends_and_a_missing_last_one_stay() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.yaml");
    let old = text("agg_sglang.yaml").replace('\n', "\r\n");
    fs::write(&file, old.trim_end()).unwrap();
    let done = inject(&file, "sglang", "glm5.2", &[]);
    assert_eq!(done.out, text("agg_sglang.injected.yaml").replace('\n', "\r\n").trim_end());
    let bare = "roles:\n  agg:\n    engine: sglang\n    args: {speculative-algorithm: DSPARK, speculative-dspark-block-size: 5}\n    env:\n      A: b";
    fs::write(&file, bare).unwrap();
    let done = inject(&file, "sglang", "dsv41flash", &[]);
    let expected = format!(
        "{bare}\n      SGLANG_SIMULATE_ACC_LEN: \"3.51\"\n      SGLANG_SIMULATE_ACC_METHOD: match-expected\n      \
         SGLANG_SIMULATE_ACC_TOKEN_MODE: real-draft-token"
    );
    assert_eq!(done.out, expected, "{}", done.err);
}

#[test]
fn variants_with_other_draft_lengths_get_their_own_values() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.yaml");
    fs::copy(data("steps_by_variant.yaml"), &file).unwrap();
    let done = inject(&file, "sglang", "glm5.2", &["--in-place"]);
    assert_eq!((done.code, done.out.as_str()), (0, ""), "{}", done.err);
    let new = fs::read_to_string(&file).unwrap();
    assert!(new.contains("SGLANG_SIMULATE_ACC_LEN: [\"3.61\", \"3.78\"]"), "{new}");
    let checked = accsim_in(folder.path(), &["recipe", "check", "r.yaml", "--json"]);
    assert_eq!((checked.code, checked.codes().len()), (0, 0), "{}\n{new}", checked.out);
    // One member alone: the other keeps what it had.
    let one = format!("{}:zip_override_sweep[1]", file.display());
    let done = inject(Path::new(&one), "sglang", "glm5.2", &["--eval-only"]);
    assert!(done.out.contains("SGLANG_SIMULATE_ACC_LEN: [\"3.61\", null]"), "{}", done.out);
}

#[test]
fn an_evaluation_has_no_knob_left() {
    let done = inject(&data("agg_sglang.injected.yaml"), "sglang", "glm5.2", &["--eval-only"]);
    assert!(!done.out.contains("SIMULATE_ACC"), "{}", done.out);
    let kept = |text: &str| {
        text.lines().filter(|line| !line.contains("SIMULATE_ACC")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(kept(&done.out), kept(&text("agg_sglang.injected.yaml")));
    let done = inject(&data("variants.injected.yaml"), "vllm", "glm5.2", &["--eval-only"]);
    assert!(!done.out.contains("synthetic"), "{}", done.out);
    assert_eq!(
        done.out.matches("\"block\"").count() + done.out.matches("\\\"block\\\"").count(),
        4,
        "{}",
        done.out
    );
    // A recipe that simulates nothing needs no change, curve or none.
    let done = inject(&data("variants.yaml"), "vllm", "no-such-model", &["--eval-only"]);
    assert_eq!(done.out, text("variants.yaml"));
}

#[test]
fn overrides_are_one_word_a_line() {
    let done = inject(&data("agg_sglang.yaml"), "sglang", "glm5.2", &["--overrides"]);
    let expected = "--set\nroles.agg.env.SGLANG_SIMULATE_ACC_LEN=\"3.33\"\n--set\nroles.agg.env.SGLANG_SIMULATE_ACC_METHOD=\"match-expected\"\n--set\nroles.agg.env.SGLANG_SIMULATE_ACC_TOKEN_MODE=\"real-draft-token\"\n--unset\nenvironment.SGLANG_SIMULATE_ACC_LEN\n";
    assert_eq!((done.code, done.out.as_str()), (0, expected), "{}", done.err);
    let done = inject(&data("variants.yaml"), "vllm", "glm5.2", &["--overrides"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("name one of them: base, override_deep"), "{}", done.err);
    let one = format!("{}:override_deep", data("variants.yaml").display());
    let done = inject(Path::new(&one), "vllm", "glm5.2", &["--overrides"]);
    assert_eq!(
        done.out,
        "--set\nbackend.vllm_config.aggregated.speculative-config=\"{\\\"method\\\":\\\"mtp\\\",\\\"num_speculative_tokens\\\":5,\
         \\\"rejection_sample_method\\\":\\\"synthetic\\\",\\\"synthetic_acceptance_length\\\":3.61}\"\n"
    );
}

#[test]
fn refusals_write_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = |args: &str| {
        format!(
            "name: x\nbackend:\n  type: sglang\n  sglang_config:\n    aggregated:\n{args}benchmark:\n  command: agentic.sh\n"
        )
    };
    let two_names = recipe(
        "      speculative-algorithm: EAGLE\n      speculative-algo: DSPARK\n      speculative-num-steps: 3\n",
    );
    let no_cell = recipe("      speculative-algorithm: EAGLE\n      speculative-num-steps: 30\n");
    let nothing = recipe("      tensor-parallel-size: 3\n");
    let list = "backend:\n  type: vllm\n  vllm_config:\n    aggregated:\n      speculative-config: '[1]'\n";
    let collapsed = "base:\n  roles: {agg: {engine: sglang, args: {speculative-algorithm: EAGLE, speculative-num-steps: 3}}}\nzip_override_x:\n  name: [a, b, c]\n  other: [1, 2]\n";
    let shared = "backend:\n  type: sglang\n  prefill_environment: &env\n    A: b\n  decode_environment: *env\n  sglang_config:\n    prefill: {x: 1}\n    decode: {speculative-algorithm: EAGLE, speculative-num-steps: 3}\n";
    for (text, args, why) in [
        (two_names.as_str(), &["--framework", "sglang"][..], "which of them holds"),
        (&no_cell, &["--framework", "sglang"], "30"),
        (&nothing, &["--framework", "sglang"], "nothing to inject"),
        (&no_cell, &["--framework", "vllm"], "is sglang"),
        (&no_cell, &["--framework", "llama.cpp"], "not known"),
        (list, &["--framework", "vllm"], "expected a JSON object"),
        (collapsed, &["--framework", "sglang"], "index 2 is out of range"),
        (shared, &["--framework", "sglang"], "anchor"),
        ("a: 1\n", &["--framework", "sglang"], "not an srt-slurm recipe"),
        ("a: [\n", &["--framework", "sglang"], "invalid YAML"),
    ] {
        let file = folder.path().join("r.yaml");
        fs::write(&file, text).unwrap();
        let mut all = vec!["recipe", "inject", "r.yaml", "--in-place", "--model", "glm5.2"];
        all.extend(args);
        let done = accsim_in(folder.path(), &all);
        assert_eq!((done.code, done.out.as_str()), (2, ""), "{text}: {}", done.err);
        assert!(done.err.contains(why), "{text}: {}", done.err);
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
    let done =
        inject(Path::new(&format!("{}:base", data("agg_sglang.yaml").display())), "sglang", "glm5.2", &[]);
    assert!(done.code == 2 && done.err.contains("needs a recipe with base"), "{}", done.err);
    let done =
        inject(&data("agg_sglang.yaml"), "sglang", "glm5.2", &["--overrides", "--unset", "roles.agg.env"]);
    assert!(done.code == 2 && done.err.contains("would remove"), "{}", done.err);
}

#[test]
fn a_launchers_environment_decides() {
    let file = data("agg_sglang.injected.yaml").display().to_string();
    let run = |vars: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_accsim"));
        command.args(["recipe", "inject", &file, "--framework", "sglang", "--from-env"]).env_clear();
        command.envs(vars.iter().copied());
        ran(&command.output().unwrap())
    };
    let all = [
        ("EVAL_ONLY", "false"),
        ("IS_AGENTIC", "1"),
        ("SPEC_DECODING", "mtp"),
        ("MODEL_PREFIX", "glm5.2"),
        ("THINKING_MODE", "on"),
    ];
    assert_eq!(run(&all).out, text("agg_sglang.injected.yaml"));
    for (index, (name, _)) in all.iter().enumerate() {
        let mut fewer = all.to_vec();
        fewer.remove(index);
        let done = run(&fewer);
        assert!(done.code == 2 && done.err.contains(&format!("{name} is not set")), "{name}: {}", done.err);
    }
    for (index, value) in [(0, "true"), (1, "0"), (2, "none")] {
        let mut real = all.to_vec();
        real[index].1 = value;
        let done = run(&real);
        assert!(done.code == 0 && !done.out.contains("SIMULATE_ACC"), "{}: {}", real[index].0, done.out);
    }
}

#[test]
fn every_engine_gets_its_own_unit() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.yaml");
    for (framework, engine, args, expected) in [
        (
            "dynamo-trt",
            "trtllm",
            "speculative_config: {decoding_type: MTP, max_draft_len: 3}",
            "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS: \"1.99\"",
        ),
        (
            "atom",
            "atom",
            "method: mtp\n      num-speculative-tokens: 3\n      spec-decode-acceptance-rate: 0.77",
            "spec-decode-acceptance-length: 2.99",
        ),
        ("tilert", "tilert", "with-mtp: true\n      num-mtp: 3", "TILERT_SIMULATE_ACC_LEN: \"2.99\""),
        (
            "vllm",
            "vllm",
            "speculative-config:\n        method: mtp\n        num_speculative_tokens: 3",
            "        synthetic_acceptance_length: 2.99",
        ),
    ] {
        let text = format!(
            "schema: 2\nroles:\n  decode:\n    engine: {engine}\n    args:\n      {args}\nbenchmark:\n  command: agentic.sh\n"
        );
        fs::write(&file, &text).unwrap();
        let done = inject(&file, framework, "glm5.2", &["--in-place"]);
        assert_eq!(done.code, 0, "{framework}: {}", done.err);
        let new = fs::read_to_string(&file).unwrap();
        assert!(new.contains(expected) && !new.contains("rate"), "{framework}:\n{new}");
        let checked = accsim_in(folder.path(), &["recipe", "check", "r.yaml", "--model", "glm5.2", "--json"]);
        assert_eq!(checked.codes(), Vec::<String>::new(), "{framework}:\n{new}");
    }
}

#[test]
fn an_evaluation_is_refused_and_pointed_to_its_flag() {
    let folder = tempfile::tempdir().unwrap();
    let body = "backend:\n  type: sglang\n  sglang_config:\n    aggregated: {speculative-algorithm: EAGLE, speculative-num-steps: 3}\n";
    for (name, text) in [
        ("r.yaml", format!("{body}benchmark:\n  env: {{EVAL_ONLY: 'true'}}\n")),
        ("r-eval.yaml", body.to_owned()),
        ("r.yaml", format!("name: x-eval\n{body}")),
    ] {
        fs::write(folder.path().join(name), &text).unwrap();
        let args = ["recipe", "inject", name, "--framework", "sglang", "--model", "glm5.2"];
        let done = accsim_in(folder.path(), &args);
        assert!(done.code == 2 && done.out.is_empty() && done.err.contains("--eval-only"), "{}", done.err);
        let done = accsim_in(folder.path(), &[&args[..], &["--eval-only"]].concat());
        assert_eq!((done.code, done.out.as_str()), (0, text.as_str()), "{}", done.err);
    }
}

#[test]
fn another_models_prefix_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let text = |model: &str| {
        format!(
            "model:\n  path: {model}\nbackend:\n  type: sglang\n  sglang_config:\n    aggregated: {{speculative-algorithm: EAGLE, speculative-num-steps: 3}}\n"
        )
    };
    for (model, given, warns) in [
        ("zai-org/GLM-5.2", "dsv4", true),
        ("zai-org/GLM-5.2", "glm5.2", false),
        ("deepseek-ai/DeepSeek-V4-Pro", "dsv4", false),
        ("my/own", "dsv4", false),
    ] {
        fs::write(folder.path().join("r.yaml"), text(model)).unwrap();
        let done = accsim_in(
            folder.path(),
            &["recipe", "inject", "r.yaml", "--framework", "sglang", "--model", given],
        );
        assert_eq!(done.code, 0, "{}", done.err);
        assert_eq!(
            done.err.contains("warning: the recipe's model is glm5.2"),
            warns,
            "{model} {given}: {}",
            done.err
        );
        let checked = accsim_in(folder.path(), &["recipe", "check", "r.yaml", "--model", given]);
        assert_eq!(checked.err.contains("judged as dsv4"), warns, "{model} {given}: {}", checked.err);
    }
}

/// An override that has a pin alone in a block of its own: taken away, nothing may be left of the block, for a key without a
/// value would take away what the base has there.
#[test]
fn a_pin_that_comes_and_goes_leaves_the_recipe_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.yaml");
    let role = |name: &str| {
        format!(
            "    {name}:\n      engine: sglang\n      args:\n        speculative-algorithm: EAGLE\n        speculative-num-steps: 2\n"
        )
    };
    let old = format!(
        "base:\n  name: x\n  roles:\n{}{}  benchmark:\n    command: agentic.sh\noverride_x:\n  roles:\n    decode:\n      args:\n        \
         speculative-num-steps: 1  # less\n",
        role("prefill"),
        role("decode")
    );
    fs::write(&file, &old).unwrap();
    let done = inject(&file, "sglang", "glm5.2", &["--in-place"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let new = fs::read_to_string(&file).unwrap();
    assert_eq!(new.matches("SGLANG_SIMULATE_ACC_LEN").count(), 4, "{new}");
    let done = inject(&file, "sglang", "glm5.2", &["--in-place", "--eval-only"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(fs::read_to_string(&file).unwrap(), old);
}
