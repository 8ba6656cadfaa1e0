//! Logs in files, and the program on them.

use std::path::{Path, PathBuf};

use accsim::cli::Exit;
use serde_json::Value;

/// A folder that is gone with the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
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
