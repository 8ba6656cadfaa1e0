//! Logs in files, and the program on them.

use std::path::{Path, PathBuf};

use accsim::cli::Exit;
use serde_json::Value;

use super::schema;

/// A folder that is gone with the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        // Tests may run in several processes.
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the program: exit code, standard output, standard error.
pub(crate) fn accsim(args: &[&str]) -> (Exit, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = accsim::cli::run(std::iter::once(&"accsim").chain(args), &mut out, &mut err);
    (exit, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

/// The records of a text, those that were passed over too.
pub(crate) fn records(text: &str) -> Vec<Value> {
    let kinds =
        "decode,prefill,setting,spec,spec_legacy,engine,iter,interval,cumulative,forced_target,rejected";
    let folder = Folder::new(&format!("engine-records-{:?}", std::thread::current().id()));
    let log = folder.write("a.log", text);
    let (exit, out, err) = accsim(&["records", &log, "--kind", kinds, "-q"]);
    assert_eq!((exit, err.as_str()), (Exit::Ok, ""), "{text}");
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Audits a text, holds the document against the schema, and says the exit code too.
pub(crate) fn audit(text: &str, flags: &str) -> (Exit, Value) {
    let folder = Folder::new(&format!("engine-audits-{:?}", std::thread::current().id()));
    let log = folder.write("server.log", text);
    let mut args = vec!["audit", &log, "--json"];
    args.extend(flags.split_whitespace());
    let (exit, out, err) = accsim(&args);
    assert_eq!(err, "", "{flags}");
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(schema::faults(&document), Vec::<String>::new(), "{document:#}");
    assert!(schema::is_audit(&document));
    (exit, document)
}

pub(crate) fn simulated(flags: &str) -> String {
    let mut args = vec!["simulate"];
    args.extend(flags.split_whitespace());
    args.extend(["--emit-log", "-", "--quiet"]);
    let (exit, out, err) = accsim(&args);
    assert_eq!((exit, err.as_str()), (Exit::Ok, ""), "{flags}");
    out
}

pub(crate) fn codes(document: &Value) -> Vec<&str> {
    let findings = document["points"][0]["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

pub(crate) const TARGET: &str = "--accept-length 3.51 --max-accept-length 6";
