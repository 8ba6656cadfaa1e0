//! Running the program in this process.

use std::path::{Path, PathBuf};

use accsim::cli::{Exit, run};
use serde_json::Value;

/// A fixture.
pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/counters").join(name)
}

pub(crate) fn text_of(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// What a command left behind.
pub(crate) struct Ran {
    pub(crate) exit: Exit,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.out)
            .unwrap_or_else(|error| panic!("{error}: {:?}\n{}", String::from_utf8_lossy(&self.out), self.err))
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        let text = std::str::from_utf8(&self.out).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub(crate) fn accsim(args: &[&str]) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = run([&["accsim"], args].concat(), &mut out, &mut err);
    Ran { exit, out, err: String::from_utf8(err).unwrap() }
}

/// All records of a file.
pub(crate) fn records(path: &Path) -> Vec<Value> {
    let ran = accsim(&["records", path.to_str().unwrap()]);
    assert_eq!(ran.exit, Exit::Ok, "{}", ran.err);
    ran.lines()
}

/// `collect` of two files, as JSON.
pub(crate) fn collect(before: &Path, after: &Path, more: &[&str]) -> Ran {
    let (before, after) = (before.to_str().unwrap(), after.to_str().unwrap());
    accsim(&[&["collect", "--before", before, "--after", after, "--json"], more].concat())
}
