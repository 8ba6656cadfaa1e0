//! Running one case: commands, exit codes, streams.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value};

use super::{expectation, schema};

/// The case files with what is expected of them.
pub(crate) struct Suite {
    directory: PathBuf,
    files: Map<String, Value>,
}

/// What a command left behind.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Suite {
    /// `None` where the folder is absent.
    pub(crate) fn open() -> Option<Self> {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/cases");
        let text = fs::read_to_string(directory.join("expected.json")).ok()?;
        let mut document: Value = serde_json::from_str(&text).unwrap();
        let Value::Object(files) = document["files"].take() else { panic!("expected.json has no files") };
        Some(Self { directory, files })
    }

    /// The cases, each with the name of its file.
    pub(crate) fn cases(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.files.iter().map(|(name, case)| (name.as_str(), case))
    }

    /// Everything that is wrong with one case.
    pub(crate) fn run(&self, name: &str, case: &Value) -> Vec<String> {
        let mut file = self.directory.join(name);
        let mut folder = self.directory.clone();
        if let Some(copy_as) = case["copy_as"].as_str() {
            folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cases").join(name);
            fs::create_dir_all(&folder).unwrap();
            let copy = folder.join(copy_as);
            fs::copy(&file, &copy).unwrap();
            file = copy;
        }
        let more = case["more"].as_array().into_iter().flatten();
        let steps = std::iter::once(case).chain(more);
        steps.flat_map(|step| check(name, step, &file, &folder)).collect()
    }
}

/// What is wrong with one command of a case.
fn check(name: &str, step: &Value, file: &Path, folder: &Path) -> Vec<String> {
    let command = step["command"].as_str().unwrap();
    let ran = run(command, file, folder);
    let mut faults = Vec::new();

    let exits = step["exit"].as_array().cloned().unwrap_or_else(|| vec![step["exit"].clone()]);
    if !ran.code.is_some_and(|code| exits.contains(&Value::from(code))) {
        faults.push(format!("exit {:?}, expected one of {exits:?}", ran.code));
    }
    if let Some(expected) = step["stdout_is"].as_str()
        && ran.out.trim_end_matches(['\r', '\n']) != expected
    {
        faults.push(format!("stdout is {:?}, expected {expected:?}", ran.out));
    }
    let output = format!("{}\n{}", ran.out, ran.err).to_lowercase();
    for words in step["output_contains"].as_array().into_iter().flatten() {
        let choices = words.as_array().cloned().unwrap_or_else(|| vec![words.clone()]);
        let found = choices.iter().any(|word| output.contains(&word.as_str().unwrap().to_lowercase()));
        if !found {
            faults.push(format!("none of {choices:?} in the output"));
        }
    }
    for word in step["output_lacks"].as_array().into_iter().flatten() {
        let word = word.as_str().unwrap();
        if ran.out.contains(word) || ran.err.contains(word) {
            faults.push(format!("{word:?} in the output"));
        }
    }

    let document: Option<Value> = serde_json::from_str(&ran.out).ok();
    if let Some(audit) = document.as_ref().filter(|document| schema::is_audit(document)) {
        faults.extend(schema::faults(audit));
    }
    for (path, expected) in step["expect"].as_object().into_iter().flatten() {
        faults.extend(expectation::fault(document.as_ref(), path, expected));
    }
    // A format that the contract does not name may be refused; what is read of it must be right.
    for (path, expected) in step["if_supported"].as_object().into_iter().flatten() {
        if document.as_ref().is_some_and(|document| expectation::is_present(document, path)) {
            faults.extend(expectation::fault(document.as_ref(), path, expected));
        }
    }
    let streams = format!("stdout: {}\nstderr: {}", shortened(&ran.out), shortened(&ran.err));
    faults.iter().map(|fault| format!("{name}: {command}\n  {fault}\n{streams}")).collect()
}

fn run(command: &str, file: &Path, folder: &Path) -> Ran {
    let words: Vec<String> = command
        .split_whitespace()
        .map(|word| {
            word.replace("{file}", &file.display().to_string())
                .replace("{dir}", &folder.display().to_string())
        })
        .collect();
    assert_eq!(words[0], "accsim", "only accsim commands are run: {command}");
    let output = Command::new(env!("CARGO_BIN_EXE_accsim"))
        .args(&words[1..])
        .env_remove("ACCSIM_GOLDEN_DIR")
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Ran { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

fn shortened(text: &str) -> String {
    text.chars().take(2000).collect()
}
