//! Many runs at once: manifests and journals, parts and their merging, and the tables that come of both.

#![cfg(feature = "cli")]
// Helpers outside `#[test]` functions may do what tests may do: a failed assumption is a failed test.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod bounded;
mod engines;
mod guards;
mod journal;
mod manifest;
mod parts;
mod rows;
#[path = "../common/schema.rs"]
mod schema;
mod spellings;
mod sums;
mod trees;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The flags of the target that [`log`] shows.
const TARGET: &str = "--accept-length 3.5 --max-accept-length 6";

/// Runs the program in a folder.
fn accsim(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_accsim"));
    command.current_dir(folder).args(line.split_whitespace()).stdin(Stdio::null());
    command.env_remove("ACCSIM_GOLDEN_DIR").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// Writes a log of so many lines, simulated with this seed.
fn log(folder: &Path, name: &str, seed: u64, lines: u64, flags: &str) {
    let line = format!("simulate {TARGET} {flags} --seed {seed} --emit-log {name} --lines {lines}");
    let output = accsim(folder, &line);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
}

/// A folder with three logs of the target and one of another accept length.
fn runs() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, seed) in [("a.log", 1), ("b.log", 2), ("c.log", 3)] {
        log(folder.path(), name, seed, 60, "");
    }
    log(folder.path(), "rounded.log", 4, 60, "--method rounded");
    folder
}

/// The rows of a CSV table by the names of its columns.
fn rows(bytes: &[u8]) -> Vec<std::collections::BTreeMap<String, String>> {
    csv::Reader::from_reader(bytes).deserialize().collect::<Result<_, _>>().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
}

fn write(folder: &Path, name: &str, content: &str) {
    fs::write(folder.join(name), content).unwrap();
}
