//! Logs that want to write the report themselves.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::LazyLock;

use quick_junit::Report;
use serde_json::Value;

use crate::schema;
use crate::support::{FORMATS, folder, program, snapshot, stdout, text};

/// A name that closes cells, opens markup, names people, runs formulas and forges annotations.
const NAME: &[u8] = b"=cmd|' `x`<img src=a> @all ](http:a),b:c%0A\n::error::forged\x1b[2J\xe2\x80\xae.log";

/// The same as an argument of the server, as far as a Python string carries it.
const ALGORITHM: &str = "EAGLE3|`</td><b>@all</b>`\\n::error::forged\\x1b[31m ##[error]x";

/// The folder of the logs, written once: tests run at the same time.
static HOSTILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = folder("hostile");
    let mut lines = String::new();
    for (second, value) in ["3.50", "3.52", "4.60", "3.48", "3.55", "3.45"].iter().enumerate() {
        let graph = if second == 3 { "False" } else { "True" };
        writeln!(
            lines,
            "[2026-10-12 01:02:0{second}] Decode batch, #running-req: 4, #token: 100, token usage: 0.05, accept len: \
             {value}, accept rate: 0.50, cuda graph: {graph}, gen throughput (token/s): 500.00, #queue-req: 0"
        )
        .unwrap();
    }
    let log = format!(
        "[2026-10-12 01:02:00] server_args=ServerArgs(model_path='m', speculative_algorithm='{ALGORITHM}', \
         speculative_num_steps=5, speculative_eagle_topk=1, speculative_num_draft_tokens=6, \
         decode_log_interval=40)\n{lines}"
    );
    for name in [NAME, b"plain.log"] {
        fs::write(folder.join(std::ffi::OsStr::from_bytes(name)), &log).unwrap();
    }
    folder
});

pub(crate) fn report(format: &str) -> String {
    let mut command = program(&HOSTILE, "audit");
    command.arg(std::ffi::OsStr::from_bytes(NAME)).args(["plain.log", "--format", format]);
    command.args("--accept-length 3.5 --max-accept-length 6 --color always".split(' '));
    let output = command.output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(1), String::new()), "{format}");
    stdout(&output)
}

#[test]
fn a_hostile_log_is_shown_and_does_nothing() {
    for (format, ending) in FORMATS {
        let shown = report(format);
        if format != "text" {
            snapshot(&format!("hostile.{ending}"), shown.clone());
        }
        let bare = if format == "text" { without_colours(&shown) } else { shown };
        assert!(!bare.contains(['\u{1b}', '\u{202e}']), "{format}: {bare}");
    }
    snapshot("hostile.txt", without_colours(&report("text")));
}

/// Takes away the colours that the report has on purpose.
fn without_colours(shown: &str) -> String {
    ["\u{1b}[1m", "\u{1b}[1;31m", "\u{1b}[1;32m", "\u{1b}[1;33m", "\u{1b}[0m"]
        .iter()
        .fold(shown.to_owned(), |shown, code| shown.replace(code, ""))
}

#[test]
fn readers_find_the_points_and_nothing_else() {
    let document: Value = serde_json::from_str(&report("json")).unwrap();
    assert_eq!(schema::faults(&document), Vec::<String>::new());
    // The reader of files has escaped it already.
    assert_eq!(
        document["points"][0]["name"],
        std::str::from_utf8(NAME).unwrap().escape_default().to_string().replace("\\'", "'")
    );

    let junit = Report::deserialize_from_str(&report("junit")).unwrap();
    assert_eq!(junit.test_suites[0].test_cases.len(), 2);

    let sheet = report("csv");
    assert_eq!(sheet.lines().count(), 3);
    let mut table = csv::Reader::from_reader(sheet.as_bytes());
    for row in table.records().map(Result::unwrap) {
        let formula = row.iter().find(|cell| cell.starts_with(['=', '+', '-', '@', '\t', '\r']));
        assert_eq!(formula, None);
    }

    let annotations = report("github");
    let forged = annotations.lines().filter(|line| line.starts_with("::error::") || line.contains("\n::"));
    assert_eq!(forged.count(), 0, "{annotations}");
    let plain: Vec<&str> = annotations.lines().filter(|line| !line.starts_with("::")).collect();
    assert_eq!(plain.len(), 1, "{plain:?}");
    assert!(!plain[0].contains("##["), "{plain:?}");
}
