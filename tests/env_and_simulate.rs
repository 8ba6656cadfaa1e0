//! `env` says what to set, `simulate` what that does: one reads what the other prints, and both doubt the same versions.

#![cfg(feature = "cli")]
// Helpers outside `#[test]` functions may do what tests may do: a failed assumption is a failed test.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::path::Path;

use accsim::cli::{Exit, run};
use proptest::prelude::*;
use serde_json::Value;

/// Exit, stdout, stderr.
fn accsim(line: &str) -> (Exit, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = std::iter::once("accsim").chain(line.split_whitespace());
    let exit = run(args, &mut out, &mut err);
    (exit, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

/// A file of this test run with a text in it.
fn file(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Engines with the formats that they have.
const FORMATS: [(&str, &[&str]); 5] = [
    ("sglang", &["export", "dotenv", "docker", "yaml", "json"]),
    ("vllm", &["args", "yaml", "json"]),
    ("trtllm", &["export", "dotenv", "docker", "yaml", "json"]),
    ("atom", &["args", "yaml", "json"]),
    ("tilert", &["export", "dotenv", "docker", "yaml", "json"]),
];

/// Prints settings and reads them back without any word about the engine.
fn round_trip(engine: &str, format: &str, target: &str, max: &str) -> Value {
    let (exit, text, err) = accsim(&format!("env {target} --engine {engine} --format {format} -q"));
    assert_eq!(exit, Exit::Ok, "{engine} {format}: {err}");
    let name = file(&format!("round_{engine}_{format}.txt"), &text);
    let (exit, out, err) = accsim(&format!("simulate --env {name} {max} --json"));
    assert_eq!(exit, Exit::Ok, "{engine} {format}: {err}{out}");
    serde_json::from_str(&out).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every engine, every format, any target.
    #[test]
    fn what_env_prints_is_read_back(hundredths in 101_u32..=600) {
        let length = f64::from(hundredths) / 100.0;
        let target = format!("--accept-length {length} --max-accept-length 6");
        for (engine, formats) in FORMATS {
            for format in formats {
                let document = round_trip(engine, format, &target, "--max-accept-length 6");
                let check = &document["checks"][0];
                prop_assert_eq!(check["engine"]["name"].as_str(), Some(engine));
                prop_assert!((check["asked"].as_f64().unwrap() - length).abs() < 1e-9, "{} {} {}", engine, format, check);
                prop_assert_eq!(check["holds"].as_bool(), Some(true));
            }
        }
    }
}

/// A golden cell carries its maximum in JSON.
#[test]
fn a_cell_is_read_back_from_json() {
    for (engine, _) in FORMATS {
        let document = round_trip(engine, "json", "dsv41flash dspark 5", "");
        assert_eq!(document["checks"][0]["max_accept_length"], 6, "{engine}");
    }
}

/// What an evaluation run must clear asks for nothing, and is known for what it is.
#[test]
fn what_unset_prints_is_read_as_nothing_set() {
    for (engine, _) in FORMATS {
        let (exit, text, _) = accsim(&format!("env --engine {engine} --format unset"));
        assert_eq!(exit, Exit::Ok);
        let name = file(&format!("unset_{engine}.txt"), &text);
        let (exit, out, err) = accsim(&format!("simulate --env {name} --max-accept-length 6 --json"));
        assert_eq!(exit, Exit::Undecided, "{engine}: {err}{out}");
        let document: Value = serde_json::from_str(&out).unwrap();
        let check = &document["checks"][0];
        assert_eq!(check["engine"]["name"], engine);
        assert_eq!(check["engine"]["outcome"], "real-acceptance", "{engine}");
        assert_eq!(check["asked"], Value::Null, "{engine}");
    }
}

#[test]
fn a_file_without_settings_is_refused() {
    let expected = "expected what accsim env prints in any format";
    for (name, text, messages) in [
        ("empty", "", ["no setting of simulated acceptance in 0 lines", expected]),
        ("prose", "hello world\nit's a file\n", ["no setting of simulated acceptance in 2 lines", expected]),
        ("dump", "PATH=/usr/bin\nHOME=/root\n", ["no setting of simulated acceptance in 2 lines", expected]),
        ("yaml", "image: x\nports: [80]\n", ["no setting of simulated acceptance in 2 lines", expected]),
        ("nothing", "{}\n", ["this JSON holds no settings", "expected what accsim env --json prints"]),
        ("list", "[1, 2]\n", ["no setting of simulated acceptance in 1 line,", expected]),
        (
            "typo",
            "# x\nexport SGLANG_SIMULATE_ACC_LENGTH=3.51\n",
            ["line 2: SGLANG_SIMULATE_ACC_LENGTH is no setting", "did you mean SGLANG_SIMULATE_ACC_LEN?"],
        ),
        (
            "recipe",
            "name: r\nbackend:\n  type: sglang\n",
            ["line 2: backend belongs to a recipe", "--recipe"],
        ),
    ] {
        let name = file(&format!("refused_{name}.txt"), text);
        // Naming the engine, or a cell, makes it no better.
        for flags in ["", "--engine sglang --max-accept-length 6", "--engine sglang dsv41flash dspark 5"] {
            let (exit, out, err) = accsim(&format!("simulate --env {name} {flags}"));
            assert_eq!((exit, out.as_str()), (Exit::Failed, ""), "{text}: {err}");
            assert!(
                messages.iter().all(|message| err.contains(message)) && err.contains(&name),
                "{text}: {err}"
            );
        }
    }
}

/// Other shapes of an environment.
#[test]
fn environments_of_other_programs_are_read() {
    for (name, text) in [
        (
            "compose",
            "environment:\n  - SGLANG_SIMULATE_ACC_LEN=3.51\n  - SGLANG_SIMULATE_ACC_METHOD=match-expected\n",
        ),
        (
            "block",
            "env:\n  SGLANG_SIMULATE_ACC_LEN: \"3.51\"\n  SGLANG_SIMULATE_ACC_METHOD: match-expected\n",
        ),
        ("environ", "PATH=/bin\0SGLANG_SIMULATE_ACC_LEN=3.51\0SGLANG_SIMULATE_ACC_METHOD=match-expected\0"),
        ("crlf", "SGLANG_SIMULATE_ACC_LEN=3.51\r\nSGLANG_SIMULATE_ACC_METHOD=match-expected\r\n"),
    ] {
        let name = file(&format!("other_{name}.txt"), text);
        let (exit, out, err) = accsim(&format!("simulate --env {name} --num-steps 5"));
        assert_eq!(exit, Exit::Ok, "{err}");
        assert!(out.starts_with("SGLang with EAGLE would log 3.51\n"), "{out}");
    }
}

/// Warnings that are about the settings as they are printed; the others are about acceptance.
const ABOUT_NAMES: [&str; 2] = ["legacy-variable-names", "token-mode-unsupported"];

/// Notes of `simulate` that `env` has no word for.
const OF_LAWS: [&str; 6] =
    ["below-one", "multinomial-bias", "needs-verify-all", "reads-low", "fixed-sequence", "scalar-rate"];

fn codes(entries: &Value, but: &[&str]) -> BTreeSet<String> {
    let all = entries.as_array().unwrap().iter().map(|entry| entry["code"].as_str().unwrap().to_owned());
    all.filter(|code| !but.contains(&code.as_str())).collect()
}

/// Both commands say the same of a version, whatever the engine, the algorithm and the target.
#[test]
fn both_commands_doubt_alike() {
    let sglang = [
        "0.3.6",
        "0.4.4",
        "0.4.5",
        "0.4.7",
        "0.4.10",
        "0.5.2",
        "0.5.3rc0",
        "0.5.3",
        "0.5.4",
        "0.5.10",
        "0.5.10.post1",
        "0.5.11rc0",
        "0.5.11",
        "0.5.13",
        "0.5.15",
        "0.5.16rc1",
        "0.5.16",
        "0.5.17",
        "0.5.18rc1",
        "0.5.18",
        "0.5.23",
    ];
    let engines: [(&str, &[&str], &[&str]); 6] = [
        ("sglang", &sglang, &["eagle", "eagle3", "mtp", "standalone", "ngram", "dspark", "dflash"]),
        ("vllm", &["0.7.0", "0.10.2", "0.12.0", "0.19.0", "0.20.0"], &["eagle3", "mtp"]),
        ("trtllm", &["0.20.0", "1.0.0", "1.2.0", "1.3.0rc1"], &["mtp", "eagle3"]),
        ("trtllm --two-model", &["0.20.0", "1.2.0"], &["eagle3"]),
        ("atom", &["0.1.0", "0.2.0"], &["mtp"]),
        ("tilert", &["0.1.0"], &["mtp"]),
    ];
    let (mut compared, mut seen) = (0, BTreeSet::new());
    for (engine, versions, algorithms) in engines {
        let versions =
            versions.iter().map(|version| format!("--engine-version {version}")).chain([String::new()]);
        for version in versions {
            for algorithm in algorithms {
                for length in ["1", "2.5", "3", "3.51", "6", "9.5"] {
                    let flags = format!(
                        "--accept-length {length} --max-accept-length 6 --algorithm {algorithm} --engine {engine} {version} \
                         --json"
                    );
                    let (exit, out, _) = accsim(&format!("env {flags}"));
                    if exit == Exit::Failed {
                        // What the engine refuses, or nobody knows, has no settings; `simulate` says so.
                        let (exit, _, _) = accsim(&format!("simulate --steps 1 {flags}"));
                        assert!(matches!(exit, Exit::Wrong | Exit::Undecided), "{flags}");
                        continue;
                    }
                    let env: Value = serde_json::from_str(&out).unwrap();
                    let (_, out, err) = accsim(&format!("simulate --steps 1 {flags}"));
                    let simulate: Value =
                        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{flags}: {err}"));
                    let mut found = codes(&simulate["engine"]["notes"], &OF_LAWS);
                    found.extend(simulate["engine"]["code"].as_str().map(str::to_owned));
                    let expected = codes(&env["warnings"], &ABOUT_NAMES);
                    assert_eq!(found, expected, "{flags}");
                    seen.extend(expected);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 500, "{compared}");
    let all = [
        "cannot-force-one",
        "clamped-to-max",
        "dspark-rounds-target",
        "fraction-ignored",
        "method-default-multinomial",
        "simulation-ignored",
        "version-not-placed",
    ];
    assert_eq!(seen, all.map(str::to_owned).into());
}

/// In words too, and for a file of settings.
#[test]
fn doubts_are_told_to_people() {
    for (engine, version, code) in [
        ("trtllm", "0.20.0", "fraction-ignored"),
        ("vllm", "0.7.0", "version-not-placed"),
        ("atom", "0.1.0", "version-not-placed"),
    ] {
        let warning = format!("warning[{code}]: whether ");
        let server = format!("--engine {engine} --engine-version {version}");
        let (_, _, err) = accsim(&format!("env dsv41flash dspark 5 {server}"));
        let said = err.lines().find(|line| line.starts_with(&warning)).unwrap().to_owned();
        let (_, _, err) = accsim(&format!("simulate dsv41flash dspark 5 --steps 10 {server}"));
        assert!(err.lines().any(|line| line == said), "{err}");
        let (_, text, _) = accsim(&format!("env dsv41flash dspark 5 --engine {engine} -q"));
        let name = file(&format!("doubt_{engine}.txt"), &text);
        let (_, _, err) = accsim(&format!("simulate --env {name} dsv41flash dspark 5 {server}"));
        assert!(err.lines().any(|line| line == said), "{err}");
    }
}
