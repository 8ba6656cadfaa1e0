//! The recipes beside the repository with their expected findings. Without the folder nothing runs.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::program::accsim_in;

const FIELDS: [&str; 9] =
    ["code", "variant", "role", "pinned", "expected", "draft_length", "engine", "curve", "thinking"];

#[test]
fn every_recipe_has_its_findings() {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/recipes");
    let Ok(text) = fs::read_to_string(folder.join("expected.json")) else { return };
    let expected: Value = serde_json::from_str(&text).unwrap();
    let mut faults = Vec::new();
    for group in ["files", "with_master", "with_thinking"] {
        for (file, case) in expected[group].as_object().unwrap() {
            faults.extend(fault(&folder, file, case).map(|fault| format!("{group} {file}: {fault}")));
        }
    }
    assert!(faults.is_empty(), "{} differ:\n{}", faults.len(), faults.join("\n"));
}

fn fault(folder: &Path, file: &str, case: &Value) -> Option<String> {
    let mut args = vec!["recipe", "check", "--json", "--no-config", file];
    args.extend(case["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()));
    let ran = accsim_in(folder, &args);
    if case["exit_code"] != ran.code {
        return Some(format!("exit {}, expected {}\n{}{}", ran.code, case["exit_code"], ran.out, ran.err));
    }
    let found = sorted(ran.json()["findings"].as_array().unwrap());
    let wanted = sorted(case["findings"].as_array().unwrap());
    (found != wanted).then(|| format!("found\n  {}\nexpected\n  {}", found.join("\n  "), wanted.join("\n  ")))
}

/// Findings as texts of the fields that the contract compares, in one order.
fn sorted(findings: &[Value]) -> Vec<String> {
    let mut all: Vec<String> = findings
        .iter()
        .map(|finding| {
            let mut kept = Map::new();
            for field in FIELDS.into_iter().chain(["severity"]) {
                kept.insert(field.to_owned(), number(&finding[field]));
            }
            Value::Object(kept).to_string()
        })
        .collect();
    all.sort();
    all
}

/// 3 and 3.0 are one number.
fn number(value: &Value) -> Value {
    value.as_f64().map_or_else(|| value.clone(), Value::from)
}
