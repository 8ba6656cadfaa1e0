//! Running audits, and comparing with snapshots.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use snapbox::assert::DEFAULT_ACTION_ENV;
use snapbox::{Assert, Data, IntoData};

/// Every format, with the ending of its snapshot.
pub(crate) const FORMATS: [(&str, &str); 6] = [
    ("text", "txt"),
    ("json", "json"),
    ("markdown", "md"),
    ("csv", "csv"),
    ("junit", "xml"),
    ("github", "github"),
];

pub(crate) const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Points of one target: two honest ones, two ranks that are one sample, one that was rounded, one without acceptance.
pub(crate) const SEVERAL: &str = "audit e3k5_al351.log var_k5_al351.log dp2_k5_al351.log dspark_k5_al351.log base.log \
                                  --accept-length 3.51 --max-accept-length 6";

/// One honest point of a golden cell.
pub(crate) const GOLDEN: &str = "audit e3k3_al299.log --model glm5.2 --method mtp --draft-length 3";

pub(crate) fn logs() -> PathBuf {
    Path::new(ROOT).join("tests/data/h200")
}

pub(crate) fn program(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_accsim"));
    command.current_dir(folder).args(line.split_whitespace()).stdin(Stdio::null());
    command.env_remove("ACCSIM_GOLDEN_DIR").env_remove("NO_COLOR");
    command
}

/// An audit of the recorded logs.
pub(crate) fn run(line: &str) -> Output {
    program(&logs(), line).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub(crate) fn stdout(output: &Output) -> String {
    text(&output.stdout)
}

/// A folder of the test's own.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reports").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Compares with `tests/reports/snapshots/NAME`.
pub(crate) fn snapshot(name: &str, found: String) {
    let path = Path::new(ROOT).join("tests/reports/snapshots").join(name);
    let expected = Data::read_from(&path, None).raw();
    Assert::new().action_env(DEFAULT_ACTION_ENV).eq(found.into_data().raw(), expected);
}
