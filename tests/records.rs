//! `accsim records`: what the readers found, one record a line.

#![cfg(feature = "cli")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "Clippy's leave for tests ends at the test functions; their helpers fail the same way"
)]

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use accsim::cli::Exit;
use serde_json::{Value, json};

const LINE: &str = "[2026-11-30 07:33:25 DP0 TP0] Decode batch, #running-req: 16, #token: 793, token usage: 0.05, \
    accept len: 3.52, accept rate: 0.51, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0";

/// A folder that is gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
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

fn records(args: &[&str]) -> (Exit, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = accsim::cli::run(["accsim", "records"].iter().chain(args), &mut out, &mut err);
    (exit, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The contract with programs: the keys in their order.
#[test]
fn a_decode_record_is_the_one_of_the_manual() {
    let folder = Folder::new("records-manual");
    let log = folder.write("a.log", format!("starting\n{LINE}\n"));
    let (exit, out, err) = records(&[&log]);
    assert_eq!((exit, err.as_str()), (Exit::Ok, ""));
    let expected = format!(
        r#"{{"kind":"decode","engine":"sglang","file":{},"line":2,"timestamp":"2026-11-30 07:33:25","tags":{{"DP":0,"TP":0}},"iteration":null,"running_req":16,"tokens":793,"token_usage":0.05,"accept_len":3.52,"accept_rate":0.51,"cuda_graph":true,"graph_label":"cuda","gen_throughput_tps":585.98,"queue_req":0,"fields":{{}}}}"#,
        json!(log)
    );
    assert_eq!(out, expected + "\n");
}

#[test]
fn what_a_line_lacks_is_null_and_other_fields_keep_their_text() {
    let folder = Folder::new("records-fields");
    let hybrid = "Decode batch. #running-req: 3, #token: full=5120, swa=900, token usage: full=0.04, swa=0.02, \
        cap len: 4.10, est uncap acc len: 3.71 [3.55, 3.87], #queue-req: 1, ";
    let log = folder.write("a.log", hybrid);
    let (_, out, _) = records(&[&log]);
    let expected = json!({
        "kind": "decode", "engine": "sglang", "file": log, "line": 1, "timestamp": null, "tags": {}, "iteration": null,
        "running_req": 3, "tokens": null, "token_usage": null, "accept_len": null, "accept_rate": null,
        "cuda_graph": null, "graph_label": null, "gen_throughput_tps": null, "queue_req": 1,
        "fields": {
            "#token": "full=5120, swa=900", "token usage": "full=0.04, swa=0.02", "cap len": "4.10",
            "est uncap acc len": "3.71 [3.55, 3.87]",
        },
    });
    assert_eq!(objects(&out), [expected]);
}

/// A log with one record of each kind, and one duplicate.
fn mixed(folder: &Folder) -> String {
    let text = format!(
        "[2026-10-12 01:02:00] server_args=ServerArgs(speculative_algorithm='EAGLE3', speculative_num_steps=5, tp_size=2)\n\
         [2026-10-12 01:02:01 TP0] Prefill batch [3], #new-seq: 2, #new-token: 483, #cached-token: 7, token usage: 0.10, \
         #running-req: 4, #queue-req: 5, #pending-token: 6, cuda graph: False, input throughput (token/s): 559.53\n\
         [2026-10-12 01:02:02] Cache flushed successfully!\n{LINE}\n{}\nsee Decode batch, \x1b[1mwhich\x1b[0m\t\u{1}\n",
        LINE.replace("TP0", "TP1")
    );
    folder.write("mixed.log", text)
}

#[test]
fn every_kind_has_its_keys() {
    let folder = Folder::new("records-kinds");
    let log = mixed(&folder);
    let (exit, out, _) = records(&[&log, "--kind", "server_args,prefill,cache_flush,rejected"]);
    assert_eq!(exit, Exit::Ok);
    let head = |kind: &str, line: u64| json!({"kind": kind, "engine": "sglang", "file": log, "line": line});
    let with = |mut head: Value, rest: Value| {
        head.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        head
    };
    let expected = [
        with(
            head("server_args", 1),
            json!({
                "timestamp": "2026-10-12 01:02:00", "speculative_algorithm": "EAGLE3", "num_steps": 5, "eagle_topk": null,
                "num_draft_tokens": null, "block_size": null, "decode_log_interval": null, "tp_size": 2, "dp_size": null,
                "random_seed": null, "disaggregation_mode": null,
            }),
        ),
        with(
            head("prefill", 2),
            json!({
                "timestamp": "2026-10-12 01:02:01", "tags": {"TP": 0}, "iteration": 3, "new_seq": 2, "new_tokens": 483,
                "cached_tokens": 7, "token_usage": 0.1, "running_req": 4, "queue_req": 5, "cuda_graph": false,
                "graph_label": "cuda", "input_throughput_tps": 559.53, "fields": {"#pending-token": "6"},
            }),
        ),
        with(head("cache_flush", 3), json!({"timestamp": "2026-10-12 01:02:02", "tags": {}})),
        json!({
            "kind": "rejected", "reason": "duplicate", "file": log, "line": 5,
            "excerpt": LINE.split_once("batch, ").unwrap().1,
        }),
        json!({
            "kind": "rejected", "reason": "lookalike", "file": log, "line": 6,
            "excerpt": "see Decode batch, which\\t\\u{1}",
        }),
    ];
    assert_eq!(objects(&out), expected);
}

#[test]
fn rejected_records_are_printed_on_demand() {
    let folder = Folder::new("records-default");
    let log = mixed(&folder);
    let kinds = |args: &[&str]| -> Vec<String> {
        objects(&records(args).1).iter().map(|record| record["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&[&log]), ["server_args", "prefill", "cache_flush", "decode"]);
    assert_eq!(kinds(&[&log, "--kind", "decode", "--kind", "rejected"]), ["decode", "rejected", "rejected"]);
}

#[test]
fn paths_are_runs_and_folders_are_one() {
    let folder = Folder::new("records-runs");
    let one = folder.write("a.log", LINE);
    let two = folder.write("b.log", LINE);
    assert_eq!(records(&[&one, &two]).1.lines().count(), 2);
    assert_eq!(records(&[folder.0.to_str().unwrap()]).1.lines().count(), 1);
}

#[test]
fn csv_has_the_columns_of_all_kinds() {
    let folder = Folder::new("records-csv");
    let log = mixed(&folder);
    let (exit, out, _) = records(&[&log, "--format", "csv", "--kind", "decode,rejected"]);
    assert_eq!(exit, Exit::Ok);
    let mut reader = csv::Reader::from_reader(out.as_bytes());
    let columns = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 3);
    let cell = |row: usize, name: &str| &rows[row][columns.iter().position(|column| column == name).unwrap()];
    for (name, expected) in [
        ("kind", "decode"),
        ("engine", "sglang"),
        ("line", "4"),
        ("timestamp", "2026-11-30 07:33:25"),
        ("tags", "DP0 TP0"),
        ("iteration", ""),
        ("running_req", "16"),
        ("token_usage", "0.05"),
        ("accept_len", "3.52"),
        ("cuda_graph", "true"),
        ("gen_throughput_tps", "585.98"),
        ("new_seq", ""),
        ("fields", "{}"),
    ] {
        assert_eq!(cell(0, name), expected, "{name}");
    }
    assert_eq!((cell(2, "kind"), cell(2, "engine"), cell(2, "reason")), ("rejected", "", "lookalike"));
}

/// The header stands over a table without rows too, and names the columns that rows fill.
#[test]
fn csv_header_fits_the_rows() {
    let folder = Folder::new("records-header");
    let empty = folder.write("empty.log", "nothing here\n");
    let (exit, header, _) = records(&[&empty, "--format", "csv"]);
    assert_eq!(exit, Exit::Ok);
    assert!(header.starts_with("kind,engine,file,line,timestamp,"), "{header}");
    assert_eq!(header.lines().count(), 1);

    let log = mixed(&folder);
    let (_, out, _) = records(&[&log, "--format", "csv", "--kind", "prefill,server_args"]);
    let mut reader = csv::Reader::from_reader(out.as_bytes());
    let columns = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    for (row, name, expected) in [
        (0, "speculative_algorithm", "EAGLE3"),
        (0, "num_steps", "5"),
        (0, "tp_size", "2"),
        (1, "new_tokens", "483"),
        (1, "input_throughput_tps", "559.53"),
        (1, "queue_req", "5"),
        (1, "fields", r##"{"#pending-token":"6"}"##),
    ] {
        assert_eq!(&rows[row][columns.iter().position(|column| column == name).unwrap()], expected, "{name}");
    }
}

#[test]
fn formulas_in_a_table_are_texts() {
    let folder = Folder::new("records-formula");
    let log = folder.write("a.log", "=1+1 Decode batch, we see\n");
    let (_, out, _) = records(&[&log, "--format", "csv", "--kind", "rejected"]);
    assert!(out.contains("\"'=1+1 Decode"), "{out}");
}

#[test]
fn a_file_that_cannot_be_read_fails_and_the_rest_is_printed() {
    let folder = Folder::new("records-missing");
    let log = folder.write("a.log", LINE);
    let missing = folder.0.join("missing.log");
    let (exit, out, err) = records(&[missing.to_str().unwrap(), &log]);
    assert_eq!(exit, Exit::Failed);
    assert_eq!(out.lines().count(), 1);
    assert!(err.contains("missing.log"), "{err}");
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let folder = Folder::new("records-bytes");
    let cut = LINE.split_once("accept").unwrap().0;
    let log = folder.write("a.log", [b"\xff\xfe".as_slice(), cut.as_bytes(), b"\xe2\x28"].concat());
    let (exit, out, _) = records(&[&log, "--kind", "rejected"]);
    assert_eq!(exit, Exit::Ok);
    let excerpt = objects(&out)[0]["excerpt"].as_str().unwrap().to_owned();
    assert!(excerpt.starts_with("\u{fffd}\u{fffd}[2026") && excerpt.ends_with("\u{fffd}("), "{excerpt}");
}

#[test]
fn records_go_to_a_file_as_a_whole() {
    let folder = Folder::new("records-output");
    let log = folder.write("a.log", LINE);
    let target = folder.0.join("out.jsonl");
    let (exit, out, _) = records(&[&log, "-o", target.to_str().unwrap()]);
    assert_eq!((exit, out.as_str()), (Exit::Ok, ""));
    assert_eq!(objects(&std::fs::read_to_string(&target).unwrap()).len(), 1);
    let mut names: Vec<_> =
        std::fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.log", "out.jsonl"]);

    let (exit, _, err) = records(&[&log, "-o", folder.0.join("no/such/folder").to_str().unwrap()]);
    assert_eq!(exit, Exit::Failed);
    assert!(err.contains("cannot write"), "{err}");
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = Folder::new("records-pipe");
    let log: String = (0..20_000).map(|token| LINE.replace("793", &token.to_string()) + "\n").collect();
    let log = folder.write("a.log", log);
    let mut child = Command::new(env!("CARGO_BIN_EXE_accsim"))
        .args(["records", &log])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 16];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn standard_input_is_read() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_accsim"))
        .args(["records", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(LINE.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let found = objects(&String::from_utf8(output.stdout).unwrap());
    assert_eq!((found.len(), &found[0]["accept_len"]), (1, &json!(3.52)));
}

/// Lines from public reports, where the folder that holds them is there: `records` prints what they say.
#[test]
fn collected_lines_print_what_they_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/log_lines/sglang.jsonl");
    let Ok(text) = std::fs::read_to_string(path) else { return };
    let folder = Folder::new("records-collected");
    for case in objects(&text) {
        let log = folder.write("case.log", case["text"].as_str().unwrap());
        let (exit, out, _) = records(&[&log, "--kind", "decode"]);
        assert_eq!(exit, Exit::Ok);
        let expected = match &case["expect"] {
            Value::Null => Vec::new(),
            Value::Array(records) => records.clone(),
            record => vec![record.clone()],
        };
        let found = objects(&out);
        assert_eq!(found.len(), expected.len(), "{}: {found:?}", case["id"]);
        for (found, expected) in found.iter().zip(&expected) {
            for (key, value) in expected.as_object().unwrap() {
                assert_eq!(&found[key], value, "{}: {key}", case["id"]);
            }
        }
        if let Some(server) = case.get("server") {
            let start = &objects(&records(&[&log, "--kind", "server_args"]).1)[0];
            for (key, value) in server.as_object().unwrap() {
                assert_eq!(&start[key], value, "{}: {key}", case["id"]);
            }
        }
    }
}

#[test]
fn skipped_lines_are_shown_beside_the_records() {
    let folder = Folder::new("records-verbose");
    let log = mixed(&folder);
    let (exit, out, err) = records(&[&log, "-v"]);
    assert_eq!((exit, objects(&out).len()), (Exit::Ok, 4));
    let lines: Vec<&str> = err.lines().collect();
    assert_eq!(lines.len(), 2, "{err}");
    assert!(lines[0].starts_with(&format!("skipped: {log}:5: duplicate: #running-req")), "{err}");
    assert!(
        lines[1].starts_with(&format!("skipped: {log}:6: lookalike: see Decode batch, which\\t\\u{{1}}")),
        "{err}"
    );
    let (_, same, err) = records(&[&log]);
    assert_eq!((same, err.as_str()), (out, ""));
}
