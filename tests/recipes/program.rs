//! Running the program.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.err))
    }

    /// Codes of the findings, in order.
    pub(crate) fn codes(&self) -> Vec<String> {
        let json = self.json();
        let findings = json["findings"].as_array().unwrap();
        findings.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
    }
}

/// Runs the program in a folder.
pub(crate) fn accsim_in(folder: &Path, args: &[&str]) -> Ran {
    ran(&Command::new(env!("CARGO_BIN_EXE_accsim"))
        .args(args)
        .current_dir(folder)
        .env_remove("ACCSIM_GOLDEN_DIR")
        .output()
        .unwrap())
}

pub(crate) fn ran(output: &Output) -> Ran {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { code: output.status.code().unwrap(), out: text(&output.stdout), err: text(&output.stderr) }
}
