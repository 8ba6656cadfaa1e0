//! `accsim simulate`: the contract of its JSON, its exit codes, and that nothing but the flags decides its bytes.

#![cfg(feature = "cli")]
// Helpers outside `#[test]` functions may do what tests may do: a failed assumption is a failed test.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;

use accsim::cli::{Exit, run};
use serde_json::Value;

/// Exit, stdout, stderr.
fn accsim(line: &str) -> (Exit, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = std::iter::once("accsim").chain(line.split_whitespace());
    let exit = run(args, &mut out, &mut err);
    (exit, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

fn json(line: &str) -> Value {
    let (exit, out, err) = accsim(&format!("simulate {line} --json"));
    assert_eq!((exit, err.as_str()), (Exit::Ok, ""), "{line}");
    serde_json::from_str(&out).unwrap()
}

fn number(document: &Value, pointer: &str) -> f64 {
    document.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer}: {document}"))
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

/// A file of this test run with a text in it.
fn file(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// The example of the contract.
#[test]
fn the_document() {
    let document = json("dsv41flash dspark 5");
    assert_eq!(document["schema_version"], 1);
    assert_eq!(document["law"]["method"], "match-expected");
    close(number(&document, "/law/accept_length"), 3.51, 0.0);
    assert_eq!(document["law"]["max_accept_length"], 6);
    close(number(&document, "/exact/mean"), 3.51, 1e-12);
    close(number(&document, "/exact/variance"), 0.2499, 1e-12);
    close(number(&document, "/exact/pmf/3"), 0.49, 0.0);
    close(number(&document, "/exact/pmf/4"), 0.51, 0.0);
    assert_eq!(document["sample"]["steps"], 100_000);
    let histogram = document["sample"]["histogram"].as_object().unwrap();
    assert_eq!(histogram.values().filter_map(Value::as_u64).sum::<u64>(), 100_000);
    close(number(&document, "/sample/mean"), 3.51, 0.01);
    assert_eq!(document["line"]["interval"], 40);
    close(number(&document, "/line/sd"), 0.079, 5e-4);
    close(number(&document, "/line/low95"), 3.355, 5e-4);
    close(number(&document, "/line/high95"), 3.665, 5e-4);
    let values = document["line"]["values"].as_object().unwrap();
    assert!(values.contains_key("3.52") && !values.contains_key("3.51"));
}

/// Cases 20 and 54.
#[test]
fn worked_cases() {
    let biased =
        json("--accept-length 3.39 --max-accept-length 4 --method multinomial --steps 10000 --seed 1");
    close(number(&biased, "/exact/mean"), 3.24009, 5e-5);
    close(number(&biased, "/exact/variance"), 0.67343, 5e-5);
    close(number(&biased, "/exact/pmf/4"), 0.456_205, 5e-6);
    let own = json("--accept-length 3.78 --max-accept-length 8 --method per-request --steps 1000 --seed 1");
    close(number(&own, "/exact/mean"), 3.78, 1e-9);
    close(number(&own, "/exact/variance"), 0.1716, 1e-9);
    close(number(&own, "/exact/pmf/3"), 0.22, 1e-9);
    close(number(&own, "/exact/pmf/4"), 0.78, 1e-9);
}

/// Issue 4: what the two images would log.
#[test]
fn what_two_images_would_log() {
    let (exit, out, _) = accsim("simulate dsv41flash dspark 5 --engine sglang --engine-version 0.5.16");
    assert_eq!(exit, Exit::Ok);
    assert!(out.starts_with("SGLang 0.5.16 with DSPARK would log 4.00, not 3.51\n"), "{out}");
    let (exit, out, _) = accsim("simulate dsv41flash dspark 5 --engine sglang --engine-version 0.5.18");
    assert_eq!(exit, Exit::Ok);
    assert!(out.starts_with("SGLang 0.5.18 with DSPARK would log 3.51\n"), "{out}");
    assert!(out.contains("sd 0.079"), "{out}");
    let rounded = json("dsv41flash dspark 5 --engine sglang --engine-version 0.5.16");
    assert_eq!(rounded["law"]["method"], "rounded");
    close(number(&rounded, "/exact/pmf/4"), 1.0, 0.0);
    close(number(&rounded, "/line/low95"), 4.0, 0.0);
    assert_eq!(rounded["engine"]["notes"][1]["code"], "dspark-rounds-target");
}

/// Every way of saying how many tokens a step can emit.
#[test]
fn the_largest_length() {
    let max = |flags: &str| json(&format!("--accept-length 3.5 {flags}"))["law"]["max_accept_length"].clone();
    assert_eq!(max("--max-accept-length 6"), 6);
    assert_eq!(max("--num-steps 5"), 6);
    assert_eq!(max("--block-size 5"), 6);
    assert_eq!(max("--block-size 5 --algorithm dspark"), 6);
    assert_eq!(max("--block-size 6 --algorithm dflash"), 6);
    // SGLANG section 6, item 5: 5.0 with 3 steps is 4.00 and clamped.
    let clamped = json("--accept-length 5.0 --num-steps 3 --engine sglang");
    close(number(&clamped, "/exact/mean"), 4.0, 0.0);
    assert_eq!(clamped["engine"]["notes"][0]["code"], "clamped-to-max");
    let shorter = json("glm5.2 mtp 3 --num-steps 2");
    close(number(&shorter, "/exact/mean"), 2.99, 1e-12);
    assert_eq!(shorter["law"]["max_accept_length"], 3);
}

#[test]
fn laws_by_name() {
    let law = |flags: &str| {
        let document = json(flags);
        (number(&document, "/exact/mean"), number(&document, "/exact/variance"))
    };
    let (mean, variance) = law("--rates 0.9,0.5,0.2 --method per-position");
    close(mean, 2.6, 1e-12);
    close(variance, 0.84, 1e-12);
    let (mean, variance) = law("--accept-length 2.6 --num-steps 3 --method geometric");
    close(mean, 2.6, 1e-9);
    close(variance, 1.543, 5e-4);
    let (mean, _) = law("--conditional-rates 0.8,0.7,0.6 --method real");
    close(mean, 2.696, 1e-12);
    assert_eq!(law("--accept-length 3 --num-steps 5 --method constant"), (3.0, 0.0));
    assert_eq!(law("--accept-length 3.51 --block-size 5 --method rounded"), (4.0, 0.0));
    let (short, _) = law("--accept-length 3.51 --num-steps 5 --method clamped-short");
    let (four, _) = law("--accept-length 3.51 --num-steps 4 --method multinomial");
    close(short, four, 0.0);
    // vLLM takes rates as they are.
    let rates = json("--rates 0.9,0.5,0.2 --engine vllm --batch 8 --steps 100");
    assert_eq!(rates["law"]["method"], "per-position");
    assert_eq!(rates["sample"]["draws"], 800);
}

#[test]
fn ranks_and_batches_count_where_they_draw() {
    let draws = |flags: &str| {
        json(&format!("--accept-length 3.51 --num-steps 5 --steps 1000 {flags}"))["sample"]["draws"].clone()
    };
    assert_eq!(draws("--batch 16 --ranks 8"), 1000);
    assert_eq!(draws("--ranks 8 --ranks-share-draws false"), 8000);
    assert_eq!(draws("--method per-request --batch 16"), 16_000);
    assert_eq!(draws("--engine vllm --batch 2 --ranks 4"), 8000);
    assert_eq!(draws("--engine sglang --ranks 4"), 1000);
    // A fixed sequence: every rank of every run draws the same.
    assert_eq!(draws("--engine trtllm --ranks 4 --batch 2"), 2000);
}

/// Same seed, same bytes, on any number of threads; another seed, other draws.
#[test]
fn bytes_follow_from_the_flags() {
    let flags = "simulate --accept-length 3.51 --num-steps 5 --method multinomial --replicates 600 --ranks 2 \
                 --ranks-share-draws false --steps 500 --json --seed";
    let on = |threads: u32, seed: u32| accsim(&format!("{flags} {seed} --threads {threads}")).1;
    let one = on(1, 5);
    assert_eq!(on(2, 5), one);
    assert_eq!(on(7, 5), one);
    assert_eq!(accsim(&format!("{flags} 5")).1, one);
    assert_ne!(on(1, 6), one);
    let document: Value = serde_json::from_str(&one).unwrap();
    let (found, exact) =
        (number(&document, "/replicates/mean_sd"), number(&document, "/replicates/exact_mean_sd"));
    assert!((found / exact - 1.0).abs() < 0.1, "{found} {exact}");
    // The draws themselves, frozen: a change here is value-breaking.
    let sample = json("dsv41flash dspark 5 --seed 42 --steps 1000000");
    assert_eq!(sample["sample"]["histogram"]["3"], 490_140);
}

/// Servers that draw from no law.
#[test]
fn outcomes_without_a_law() {
    for (flags, exit, part, outcome) in [
        (
            "--engine sglang --engine-version 0.4.4 --num-steps 5",
            Exit::Undecided,
            "would accept for real",
            "real-acceptance",
        ),
        (
            "--engine sglang --engine-version 0.5.15 --block-size 5",
            Exit::Wrong,
            "would refuse to start",
            "refuses-to-start",
        ),
        ("--engine vllm --num-steps 2", Exit::Wrong, "would refuse to start", "refuses-to-start"),
        (
            "--engine trtllm --two-model --num-steps 5",
            Exit::Undecided,
            "would accept for real",
            "real-acceptance",
        ),
    ] {
        let line = format!("simulate --accept-length 3.51 {flags}");
        let (found, out, _) = accsim(&line);
        assert_eq!(found, exit, "{line}: {out}");
        assert!(out.contains(part), "{out}");
        let (found, out, err) = accsim(&format!("{line} --json"));
        assert_eq!((found, err.as_str()), (exit, ""));
        let document: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(document["engine"]["outcome"], outcome);
        assert!(document["law"].is_null() && document["exact"].is_null() && document["line"].is_null());
    }
}

#[test]
fn questions_that_cannot_be_asked() {
    for (line, part) in [
        ("simulate", "no target"),
        ("simulate dsv41flash dspark 6", "dsv41flash_dspark"),
        ("simulate --accept-length 3.51", "--max-accept-length"),
        ("simulate --accept-length 0.5 --num-steps 3", "at least 1"),
        ("simulate --accept-length nan --num-steps 3", "finite"),
        ("simulate --accept-length 3,51 --num-steps 3", "3.51"),
        ("simulate --accept-length 3.51 --num-steps 3 --block-size 3", "cannot be used with"),
        ("simulate --accept-length 3.51 --num-steps 5 --method constant", "whole number"),
        ("simulate --accept-length 3.51 --num-steps 5 --method per-position", "--rates"),
        ("simulate --accept-length 3.51 --num-steps 5 --method real", "--conditional-rates"),
        ("simulate --rates 0.5,0.9", "non-increasing"),
        ("simulate --rates 0.9,0.5 --method multinomial", "per-position"),
        ("simulate --rates 0.9,0.5 --num-steps 5", "not 6"),
        ("simulate --rates 0.9,0.5 --engine atom", "no rates"),
        (
            "simulate --accept-length 3.51 --num-steps 5 --engine sglang --method per-request",
            "cannot be told",
        ),
        ("simulate --accept-length 3.51 --num-steps 5 --engine vllm --eagle-topk 2", "SGLang"),
        ("simulate --accept-length 3.51 --num-steps 5 --engine-version 0.5.16", "--engine"),
        (
            "simulate --accept-length 3.51 --num-steps 5 --steps 0",
            "--steps <N>': expected a whole number, 1 or more",
        ),
        ("simulate --accept-length 3.51 --num-steps 5 --steps 99999999999999999", "2^53"),
        ("simulate --accept-length 3.51 --num-steps 5 --batch 0", "0"),
        ("simulate --env /nowhere/at-all", "cannot read"),
        ("simulate --env x --recipe y", "cannot be used with"),
        ("simulate --accept-length 3.51 --num-steps 5 --draft-model x", "golden cell"),
    ] {
        let (exit, out, err) = accsim(line);
        assert_eq!((exit, out.as_str()), (Exit::Failed, ""), "{line}");
        assert!(err.contains(part), "{line}: {err}");
    }
}

/// What `env` prints is checked back, for each engine and form.
#[test]
fn settings_of_env_hold() {
    for (engine, form) in [
        ("sglang", "export"),
        ("sglang", "dotenv"),
        ("sglang", "docker"),
        ("sglang", "json"),
        ("vllm", "json"),
        ("trtllm", "export"),
        ("trtllm", "json"),
        ("atom", "args"),
        ("atom", "json"),
        ("tilert", "export"),
    ] {
        let (exit, settings, _) = accsim(&format!("env glm5.2 mtp 3 --engine {engine} --format {form}"));
        assert_eq!(exit, Exit::Ok);
        let path = file(&format!("{engine}.{form}"), &settings);
        let (exit, out, err) = accsim(&format!("simulate --env {path} --num-steps 3 --json"));
        assert_eq!(exit, Exit::Ok, "{engine} {form}: {settings}\n{out}{err}");
        let document: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(document["holds"], true);
        close(number(&document, "/checks/0/expected/mean"), 2.99, 1e-9);
        assert_eq!(document["checks"][0]["engine"]["name"], engine);
    }
}

#[test]
fn settings_that_do_not_hold() {
    let trace = file(
        "trace.sh",
        "+ export SGLANG_SIMULATE_ACC_LEN=3.51\n+ python3 -m sglang.launch_server --speculative-algorithm DSPARK \
         --speculative-dspark-block-size 5\n",
    );
    let (exit, out, _) = accsim(&format!("simulate --env {trace} --engine-version 0.5.16"));
    assert_eq!(exit, Exit::Wrong);
    assert!(out.starts_with("SGLang 0.5.16 with DSPARK would log 4.00, not 3.51\n"), "{out}");
    assert!(out.contains(&format!("SGLANG_SIMULATE_ACC_LEN=3.51 ({trace}:1)")), "{out}");
    for row in ["held exactly", "drawn as multinomial", "one too low", "one too high", "ignored"] {
        assert!(out.contains(row), "{row}: {out}");
    }
    let (exit, _, _) = accsim(&format!("simulate --env {trace} --engine-version 0.5.18"));
    assert_eq!(exit, Exit::Ok);
    // The neighbour's cell: 3.51 is held, and it is not 2.43.
    let (exit, out, _) = accsim(&format!("simulate --env {trace} dsv41flash dspark 2 --block-size 5"));
    assert_eq!(exit, Exit::Wrong, "{out}");
    let nothing = file("nothing.env", "PATH=/bin\n");
    let (exit, _, err) = accsim(&format!("simulate --env {nothing}"));
    assert_eq!(exit, Exit::Failed);
    assert!(err.contains("no setting of simulated acceptance"), "{err}");
    // A server that is given nothing is another matter.
    let bare = file("bare.sh", "+ python3 -m sglang.launch_server --speculative-num-steps 3\n");
    let (exit, out, _) = accsim(&format!("simulate --env {bare}"));
    assert_eq!(exit, Exit::Undecided, "{out}");
    assert!(out.contains("would accept for real: no accept length is set"), "{out}");
}

#[test]
fn a_recipe_by_role() {
    let recipe = file(
        "recipe.yaml",
        "schema: 2
roles:
  prefill:
    engine: sglang
    env: {SGLANG_SIMULATE_ACC_LEN: '2.5'}
    args: {speculative-algorithm: EAGLE, speculative-num-steps: 1}
  decode:
    engine: sglang
    env: {SGLANG_SIMULATE_ACC_LEN: '2.5'}
    args: {speculative-algorithm: EAGLE, speculative-num-steps: 2}
",
    );
    let (exit, out, _) = accsim(&format!("simulate --recipe {recipe} --json"));
    assert_eq!(exit, Exit::Wrong);
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["checks"][0]["role"], "prefill");
    assert_eq!(document["checks"][0]["holds"], false);
    close(number(&document, "/checks/0/expected/mean"), 2.0, 0.0);
    assert_eq!(document["checks"][1]["holds"], true);
    close(number(&document, "/checks/1/expected/mean"), 2.5, 0.0);
    assert_eq!(document["checks"][1]["expected"]["lines"], 60);
    assert!(document["checks"][1]["instead"].as_array().unwrap().len() >= 4);
}

proptest::proptest! {
    /// Whatever a file holds: an answer or a refusal.
    #[test]
    fn files_of_any_text(text in r#"[ -~\n+=$'"{}:\[\],]{0,200}"#, name in proptest::sample::select(vec![
        "SGLANG_SIMULATE_ACC_LEN", "SIMULATE_ACC_LEN", "--spec-decode-acceptance-rate", "--speculative-config",
        "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS", "roles:\n  agg:\n    engine: sglang\n    env:", "backend:",
    ]), glue in proptest::sample::select(vec!["=", " ", ": ", "\n"])) {
        let text = format!("{name}{glue}{text}");
        let _ = accsim::simulate::found::parse_env(&text);
        let _ = accsim::simulate::found::parse_recipe(&text);
    }

    /// Whatever value a setting has: every engine has an answer.
    #[test]
    fn settings_of_any_value(value in "[-+0-9a-z.,_ ]{0,12}", max in 1_u32..9) {
        use accsim::engine::{Engine, Injected, Server, SettingKind, law_for};
        for (engine, kind, name) in [
            (Engine::Sglang, SettingKind::Env, "SGLANG_SIMULATE_ACC_LEN"),
            (Engine::Trtllm, SettingKind::Env, "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"),
            (Engine::Atom, SettingKind::Arg, "--spec-decode-acceptance-length"),
            (Engine::Atom, SettingKind::Arg, "--spec-decode-acceptance-rate"),
            (Engine::Tilert, SettingKind::Env, "TILERT_SIMULATE_ACC_LEN"),
        ] {
            let mut injected = Injected::default();
            injected.set(kind, name, value.clone());
            let outcome = law_for(&Server::new(engine), max, &injected).outcome;
            if let Some(law) = outcome.law() {
                proptest::prop_assert!(*law.support().start() >= 1 && *law.support().end() <= max, "{outcome:?}");
            } else {
                proptest::prop_assert!(!outcome.reason().unwrap().to_string().is_empty());
            }
        }
    }
}

/// The recipes beside the repository: the pinned values of their roles are read as they stand in the list of expected
/// findings. Without the folder nothing runs.
#[test]
fn shared_recipes_are_read_or_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/recipes");
    let Ok(entries) = std::fs::read_dir(&folder) else { return };
    let mut read = 0;
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let (exit, out, err) = accsim(&format!("simulate --recipe {} --json", path.display()));
        let is_master = path.file_name().unwrap().to_string_lossy().contains("master");
        assert_eq!(exit == Exit::Failed, is_master, "{}: {err}", path.display());
        if !is_master {
            let document: Value = serde_json::from_str(&out).unwrap();
            assert!(!document["checks"].as_array().unwrap().is_empty());
            read += 1;
        }
    }
    assert!(read > 30, "{read}");
}

/// A semicolon ends a command, unless it is quoted.
#[test]
fn several_commands_on_one_line() {
    for text in [
        "export SGLANG_SIMULATE_ACC_LEN=2.99; export SGLANG_SIMULATE_ACC_METHOD=match-expected\n",
        "NOTE='a;b'; export SGLANG_SIMULATE_ACC_LEN=\"2.99\"; python -m x\n",
    ] {
        let path = file("one_line.sh", text);
        let document = json(&format!("--env {path} --engine sglang --num-steps 3"));
        assert_eq!(document["holds"], true, "{text}");
        close(number(&document, "/checks/0/expected/mean"), 2.99, 1e-9);
    }
}

/// Without an engine a length above the maximum is cut too, and that is said.
#[test]
fn a_length_above_the_maximum_is_said_to_be_cut() {
    let (exit, _, err) = accsim("simulate --accept-length 5 --num-steps 3");
    assert_eq!(exit, Exit::Ok);
    assert!(err.contains("warning[clamped-to-max]: 5 is cut to 4 without a word"), "{err}");
    let document = json("--accept-length 5 --num-steps 3");
    assert_eq!(document["notes"][0]["code"], "clamped-to-max");
    close(number(&document, "/exact/mean"), 4.0, 0.0);
    let (_, _, err) = accsim("simulate --accept-length 4 --num-steps 3");
    assert!(!err.contains("clamped-to-max"), "{err}");
    assert_eq!(json("--accept-length 4 --num-steps 3").get("notes"), None);
}

/// A negative number is a value that is refused with what was expected, and no unknown flag.
#[test]
fn negative_numbers_are_values() {
    let log = "tests/data/h200/e3k3_al299.log";
    for (line, message) in [
        ("simulate --accept-length -1 --num-steps 3", "error: an accept length is at least 1, found -1"),
        ("simulate --accept-length -inf --num-steps 3", "error: an accept length is"),
        (
            "simulate --accept-length 3 --num-steps -3",
            "error: invalid value '-3' for '--num-steps <N>': expected a whole number from 1 to 1000000",
        ),
        (
            "simulate dsv41flash dspark -5",
            "error: invalid value '-5' for '[K]': expected a whole number, 1 or more",
        ),
        ("simulate --rates -0.5,0.2", "error: the acceptance rate of position 1 is -0.5"),
        (
            "simulate dsv41flash dspark 5 --steps -5",
            "error: invalid value '-5' for '--steps <N>': expected a whole number",
        ),
        (
            "simulate dsv41flash dspark 5 --lines -5",
            "error: invalid value '-5' for '--lines <N>': expected a whole number from 1 to",
        ),
        (
            "simulate dsv41flash dspark 5 --emit-log - --running-req -4",
            "error: invalid value '-4' for '--running-req <A[-B]>': '-4' is neither a number nor a range",
        ),
        (
            "env --accept-length -5 --max-accept-length 6 --engine sglang",
            "error: an accept length is at least 1",
        ),
        (
            "curves lookup dsv41flash dspark -5",
            "error: invalid value '-5' for '<K>': expected a whole number, 1 or more",
        ),
        (
            &format!("audit {log} --accept-length 2 --margin -2%"),
            "error: invalid value '-2%' for '--margin <MARGIN>'",
        ),
        (&format!("audit {log} --accept-length -2"), "error: an accept length is at least 1, found -2"),
        (&format!("audit {log} --confidence -0.5"), "error: invalid value '-0.5' for '--confidence <SHARE>'"),
        (&format!("audit {log} --threads -1"), "error: invalid value '-1' for '--threads <N>'"),
    ] {
        let (exit, out, err) = accsim(line);
        assert_eq!((exit, out.as_str()), (Exit::Failed, ""), "{line}");
        assert!(err.starts_with(message), "{line}: {err}");
    }
}

#[test]
fn the_law_is_drawn_into_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("law.svg");
    let (exit, out, _) = accsim(&format!("simulate dsv41flash dspark 5 --steps 1000 -o {}", file.display()));
    assert_eq!((exit, out.as_str()), (Exit::Ok, ""));
    let drawing = std::fs::read_to_string(&file).unwrap();
    for word in ["<svg", "Lengths of a verify step", "Values that a line of 40 steps prints"] {
        assert!(drawing.contains(word), "{word}");
    }
    // Other names get the text, and --json the document.
    let file = folder.path().join("law.txt");
    accsim(&format!("simulate dsv41flash dspark 5 --steps 1000 -o {}", file.display()));
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        accsim("simulate dsv41flash dspark 5 --steps 1000").1
    );
}
