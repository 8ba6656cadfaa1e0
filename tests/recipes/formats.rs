//! The formats that other programs read.

use std::fs;

use serde_json::Value;

use super::program::accsim_in;

fn run(format: &str) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let text = "export SGLANG_SIMULATE_ACC_LEN=2.10\npython3 -m sglang.launch_server --model-path zai-org/GLM-5.2 --speculative-algorithm EAGLE --speculative-num-steps 3\n";
    fs::write(folder.path().join("a b.sh"), text).unwrap();
    let ran = accsim_in(folder.path(), &["recipe", "check", "a b.sh", "--format", format]);
    (ran.code, ran.out)
}

/// What GitHub requires of a SARIF file ("SARIF support for code scanning"), and the required properties of SARIF 2.1.0.
#[test]
fn sarif_has_all_that_code_scanning_requires() {
    let (code, out) = run("sarif");
    let sarif: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 1);
    assert_eq!(sarif["version"], "2.1.0");
    assert!(sarif["$schema"].as_str().unwrap().contains("sarif-2.1.0"));
    let run = &sarif["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "accsim");
    let rules = driver["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 14);
    for rule in rules {
        for key in ["shortDescription", "fullDescription", "help"] {
            let text = rule[key]["text"].as_str().unwrap();
            assert!(!text.is_empty() && text.len() <= 1024, "{rule}");
        }
        assert!(rule["id"].is_string() && rule["name"].is_string());
    }
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%20b.sh");
        assert!(place["region"]["startLine"].as_u64().unwrap() >= 1);
        assert!(place["region"]["startColumn"].as_u64().unwrap() >= 1);
        assert_eq!(result["partialFingerprints"].as_object().unwrap().len(), 1);
        for related in result["relatedLocations"].as_array().unwrap() {
            assert!(related["message"]["text"].is_string() && related["physicalLocation"].is_object());
        }
    }
    assert_eq!(results[0]["level"], "error", "the gravest first");
}

/// The schema as OASIS publishes it; `tests/data/sarif/README.md` says where it is from.
#[test]
fn sarif_is_what_its_schema_asks_for() {
    let file =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sarif/sarif-schema-2.1.0.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let faults = |document: &Value| -> Vec<String> {
        validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect()
    };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.sh"), "export SGLANG_SIMULATE_ACC_LEN=2.10\npython3 -m sglang.launch_server --model-path zai-org/GLM-5.2 --speculative-algorithm EAGLE --speculative-num-steps 3\n").unwrap();
    fs::write(folder.path().join("b.yaml"), "backend: {type: sglang\n").unwrap();
    fs::write(
        folder.path().join("c.sh"),
        "$LAUNCH --speculative-algorithm EAGLE --speculative-num-steps 3\n",
    )
    .unwrap();
    fs::write(
        folder.path().join("accsim.toml"),
        "[[recipe.allow]]\npath = 'a.sh'\ncode = 'al-mismatch'\nreason = 'sanctioned'\nexpires = '2999-01-31'\n",
    )
    .unwrap();
    let ran = accsim_in(folder.path(), &["recipe", "check", "a.sh", "b.yaml", "c.sh", "--format", "sarif"]);
    let mut document: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(faults(&document), Vec::<String>::new(), "{}", ran.out);
    let results = document["runs"][0]["results"].as_array().unwrap();
    assert!(results.iter().any(|result| result["suppressions"].is_array()), "{}", ran.out);
    assert_eq!(document["runs"][0]["invocations"][0]["executionSuccessful"], false);
    // The schema refuses what is none.
    document["runs"][0]["results"][0]["level"] = Value::from("grave");
    assert_eq!(faults(&document).len(), 1);
}

#[test]
fn annotations_are_one_line_each() {
    let (code, out) = run("github");
    assert_eq!(code, 1);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 4, "{out}");
    assert!(
        lines[0].starts_with(
            "::error file=a b.sh,line=1,col=32,title=al-mismatch::agg: pinned 2.10, golden 2.99"
        ),
        "{out}"
    );
    assert!(lines[2].starts_with("::warning file=a b.sh,line=1,col=32,title=token-mode-missing::"), "{out}");
}

#[test]
fn a_file_with_an_error_is_a_failed_case() {
    let (_, out) = run("junit");
    assert!(
        out.contains("<testsuite name=\"accsim recipe check\" tests=\"1\"") && out.contains("failures=\"1\""),
        "{out}"
    );
    assert!(out.contains("<failure message=\"pinned 2.10, golden 2.99"), "{out}");
}

#[test]
fn text_stands_as_compilers_print_it() {
    let (_, out) = run("text");
    assert_eq!(
        out,
        "a b.sh:1:32: error: al-mismatch: agg: pinned 2.10, golden 2.99 (glm5.2_mtp thinking_on)\n\
         a b.sh:1:32: error: method-missing: agg: SGLANG_SIMULATE_ACC_METHOD is not set: older servers then draw multinomial, \
         whose mean is another; set match-expected\n\
         a b.sh:1:32: warning: token-mode-missing: agg: SGLANG_SIMULATE_ACC_TOKEN_MODE is not set; set real-draft-token\n\
         1 file, 1 server: 2 errors, 1 warning, 0 notes\n"
    );
}
