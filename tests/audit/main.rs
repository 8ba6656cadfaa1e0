//! `accsim audit` as a program: streams, exit codes, formats; and findings that the real logs do not show.

#![cfg(feature = "cli")]
// Helpers outside `#[test]` functions may do what tests may do: a failed assumption is a failed test.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod evaluation;
mod follow;
mod interval;
mod mixed;
mod open;
mod ranks;
#[path = "../common/schema.rs"]
mod schema;
mod scope;
mod told;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/h200");

fn program(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_accsim"));
    command.current_dir(LOGS).args(line.split_whitespace()).stdin(Stdio::null());
    command.env_remove("ACCSIM_GOLDEN_DIR");
    command
}

fn run(line: &str) -> Output {
    program(line).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The document that an audit printed; none departs from the schema.
fn json(output: &Output) -> Value {
    let document = serde_json::from_slice(&output.stdout).unwrap();
    let faults = schema::faults(&document);
    assert!(schema::is_audit(&document) && faults.is_empty(), "{faults:#?}");
    document
}

/// A file of the test's own.
fn file(name: &str, content: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("audit");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path
}

/// The audit of one log as JSON, with the exit code.
fn audit(name: &str, log: &str, flags: &str) -> (i32, Value) {
    let path = file(name, log);
    let output = run(&format!("audit {} --json {flags}", path.display()));
    assert_eq!(text(&output.stderr), "", "{name}");
    (output.status.code().unwrap(), json(&output))
}

fn codes(document: &Value) -> Vec<String> {
    let findings = document["points"][0]["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

fn finding<'a>(document: &'a Value, code: &str) -> &'a Value {
    let findings = document["points"][0]["findings"].as_array().unwrap();
    findings
        .iter()
        .find(|finding| finding["code"] == code)
        .unwrap_or_else(|| panic!("no {code}: {findings:?}"))
}

/// One decode line a second; `rest` stands between accept rate and throughput.
fn line(second: usize, tags: &str, running: u32, accept_len: &str, rest: &str) -> String {
    format!(
        "[2026-10-12 {:02}:{:02}:{:02}{tags}] Decode batch, #running-req: {running}, #token: {second}, token usage: \
         0.05, accept len: {accept_len}, {rest}gen throughput (token/s): 500.00, #queue-req: 0\n",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

fn lines(tags: &str, values: &[&str]) -> String {
    values.iter().enumerate().map(|(second, value)| line(second, tags, 4, value, "")).collect()
}

fn server(algorithm: &str, steps: u32, tokens: u32) -> String {
    format!(
        "[2026-10-12 00:00:00] server_args=ServerArgs(model_path='m', speculative_algorithm='{algorithm}', \
         speculative_num_steps={steps}, speculative_eagle_topk=1, speculative_num_draft_tokens={tokens}, \
         decode_log_interval=40)\n"
    )
}

#[test]
fn the_readme_command() {
    let output = run("audit e3k3_al299.log --model glm5.2 --method mtp --draft-length 3");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    let shown = text(&output.stdout);
    for part in [
        "2.99 of at most 4 tokens a verify step: glm5.2_mtp thinking_on, draft length 3",
        "SGLang, EAGLE3, num_steps 3",
        "86 decode, 86 speculative; 3440 verify steps of 40 a line (server_args), 3415 independent",
        "mean 2.993, 95 % interval 2.988 to 2.994",
        "86 decode lines, all with `cuda graph: True`",
        "method-mismatch",
        "(e3k3_al299.log:8)",
        "verdict     consistent: the lines are the server's own draws for match-expected 2.99",
        "no evidence about the draft model",
    ] {
        assert!(shown.contains(part), "no '{part}' in\n{shown}");
    }
    assert!(!shown.contains('\u{1b}'), "colour in a pipe");
}

#[test]
fn json_has_every_key() {
    let output = run("audit base.log e3k5_al351.log --accept-length 3.51 --max-accept-length 6 --json");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(3), String::new()));
    let document = json(&output);
    assert_eq!(document["schema_version"], 1);
    assert_eq!(document["verdict"], "unauditable");
    let target = serde_json::json!({
        "source": "explicit", "curve": null, "thinking": null, "draft_length": null,
        "accept_length": 3.51, "max_accept_length": 6
    });
    assert_eq!(document["target"], target);
    let shape = [
        (
            "",
            "name files engine engine_version decode_lines spec_lines skipped_lines steps independent_steps \
              rank_correlation ranks accept_len running_req cuda_graph queue_req gen_throughput_tps server \
              mechanism findings verdict",
        ),
        ("/skipped_lines", "truncated duplicate lookalike idle not_finite"),
        ("/ranks/0", "tags lines accept_len"),
        ("/accept_len", "mean weighted min max ci_low ci_high confidence"),
        ("/running_req", "min max"),
        ("/cuda_graph", "true false"),
        ("/queue_req", "max"),
        ("/gen_throughput_tps", "median steady_mean"),
        ("/server", "speculative_algorithm num_steps num_draft_tokens block_size decode_log_interval"),
        ("/mechanism", "best rejected log_likelihood"),
        ("/findings/0", "code severity message evidence"),
        ("/findings/0/evidence", "file line"),
    ];
    for point in document["points"].as_array().unwrap() {
        for (path, keys) in shape {
            let object = point.pointer(path).unwrap().as_object().unwrap();
            for key in keys.split_whitespace() {
                assert!(object.contains_key(key), "{path}/{key}");
            }
        }
    }
    assert_eq!(document["points"][0]["accept_len"]["mean"], Value::Null);
    assert_eq!(document["points"][1]["mechanism"]["log_likelihood"]["rounded"], Value::Null);
}

#[test]
fn exit_codes_in_their_order() {
    let flags = "--accept-length 3.51 --max-accept-length 6";
    for (paths, code) in [
        ("e3k5_al351.log var_k5_al351.log", 0),
        ("e3k5_al351.log base.log", 3),
        ("e3k5_al351.log base.log dspark_k5_al351.log", 1),
        ("dspark_k5_al351.log no-such-file e3k5_al351.log", 2),
    ] {
        let output = run(&format!("audit {paths} {flags}"));
        assert_eq!(output.status.code(), Some(code), "{paths}");
    }
}

#[test]
fn a_missing_file_is_named_and_the_others_are_read() {
    let output = run("audit no-such-file e3k5_al351.log --accept-length 3.51 --json");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("no-such-file"), "{}", text(&output.stderr));
    let document = json(&output);
    assert_eq!(document["points"].as_array().unwrap().len(), 1);
    assert_eq!(document["points"][0]["verdict"], "consistent");
}

#[test]
fn the_largest_accept_length_comes_from_the_server_or_is_asked_for() {
    let output = run("audit e3k5_al351.log e3k3_al299.log --accept-length 2.99 --json");
    let document = json(&output);
    // The two servers differ, so there is no one target.
    assert_eq!(document["target"], Value::Null);
    assert_eq!(document["points"][1]["verdict"], "consistent");

    let bare = file("bare.log", &lines("", &["3.50"; 8]));
    let output = run(&format!("audit {} --accept-length 3.51", bare.display()));
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(text(&output.stderr).contains("--max-accept-length"), "{}", text(&output.stderr));
}

#[test]
fn bad_flags_are_refused() {
    for flags in [
        "--accept-length nan --max-accept-length 6",
        "--accept-length 0.5",
        "--accept-length 3.51 --max-accept-length 0",
        "--margin 0",
        "--confidence 95",
        "--decode-log-interval 0",
        "--model dsv41flash",
        "--model dsv41flash --method dspark --draft-length 6",
        "--model dsv41flash --method dspark --draft-length 5 --accept-length 3",
        "--draft-model x",
        "--engine gguf",
    ] {
        let output = run(&format!("audit e3k5_al351.log {flags}"));
        assert_eq!(output.status.code(), Some(2), "{flags}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{flags}");
    }
}

#[test]
fn margin_and_confidence_decide() {
    let at = |flags: &str| {
        let output = run(&format!("audit e3k5_al351.log --accept-length 3.51 --replay off --json {flags}"));
        (output.status.code().unwrap(), json(&output))
    };
    assert_eq!(at("--margin 0.05").0, 0);
    let (code, document) = at("--margin 0.5%");
    assert_eq!((code, document["verdict"].as_str()), (3, Some("insufficient")));
    let message = finding(&document, "short-run")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("more lines"), "{message}");
    let width = |document: &Value| {
        let accept_len = &document["points"][0]["accept_len"];
        accept_len["ci_high"].as_f64().unwrap() - accept_len["ci_low"].as_f64().unwrap()
    };
    assert!(width(&at("--confidence 0.999").1) > 1.5 * width(&document));
}

#[test]
fn output_goes_to_a_file_as_a_whole() {
    let path = file("result.json", "old");
    let output = run(&format!("audit e3k5_al351.log --accept-length 3.51 --json -o {}", path.display()));
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    let document: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(document["verdict"], "consistent");
    let left: Vec<_> = fs::read_dir(path.parent().unwrap())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains(".tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");

    let nowhere = run("audit e3k5_al351.log --accept-length 3.51 -o no-such-folder/result.json");
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(text(&nowhere.stderr).contains("no-such-folder"), "{}", text(&nowhere.stderr));
}

#[test]
fn standard_input_is_a_point() {
    let mut child = program("audit - --accept-length 3.51 --json")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let log = fs::read(Path::new(LOGS).join("e3k5_al351.log")).unwrap();
    child.stdin.take().unwrap().write_all(&log).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(json(&output)["points"][0]["name"], "(standard input)");
}

#[test]
fn several_points_end_in_a_table() {
    let output = run("audit e3k5_al351.log dspark_k5_al351.log --accept-length 3.51");
    let shown = text(&output.stdout);
    assert!(shown.contains("POINT"), "{shown}");
    assert!(shown.contains("\nverdict over 2 points: inconsistent, 1 of 2 consistent\n"), "{shown}");
}

#[test]
fn a_log_joined_with_itself_counts_once() {
    let log = fs::read_to_string(Path::new(LOGS).join("e3k5_al351_int1.log")).unwrap();
    let body: String =
        log.lines().filter(|line| !line.contains("server_args")).fold(String::new(), |mut body, line| {
            writeln!(body, "{line}").unwrap();
            body
        });
    let flags = "--accept-length 3.51 --max-accept-length 6 --decode-log-interval 1";
    let (code, once) = audit("once.log", &body, flags);
    let (again, twice) = audit("twice.log", &body.repeat(2), flags);
    assert_eq!((code, again), (0, 0));
    let point = &twice["points"][0];
    assert_eq!((&point["decode_lines"], &point["skipped_lines"]["duplicate"]), (&593.into(), &593.into()));
    for key in ["accept_len", "steps", "independent_steps", "gen_throughput_tps", "mechanism"] {
        assert_eq!(once["points"][0][key], point[key], "{key}");
    }
    assert_eq!(finding(&twice, "duplicate-lines")["severity"], "note");
}

#[test]
fn copies_of_one_scheduler_are_one_rank() {
    let mut log = String::new();
    for second in 0..8 {
        for tags in [" DP0 TP1", " DP0 TP0", " DP1 TP2"] {
            log += &line(second, tags, 4, if second % 2 == 0 { "3.50" } else { "3.52" }, "");
        }
    }
    let (_, document) = audit("copies.log", &log, "");
    let point = &document["points"][0];
    assert_eq!(point["skipped_lines"]["duplicate"], 8);
    let tags: Vec<&Value> = point["ranks"].as_array().unwrap().iter().map(|rank| &rank["tags"]).collect();
    assert_eq!(tags, [&serde_json::json!({"DP": 0, "TP": 0}), &serde_json::json!({"DP": 1, "TP": 2})]);
    assert_eq!(point["gen_throughput_tps"]["median"], 1000.0);
}

#[test]
fn a_server_of_another_shape_is_inconsistent() {
    let log = server("EAGLE", 3, 4) + &lines("", &["3.50"; 6]);
    let (code, document) = audit("short.log", &log, "--accept-length 3.5 --max-accept-length 6");
    assert_eq!(code, 1);
    let found = finding(&document, "draft-length-mismatch");
    assert_eq!((&found["severity"], &found["evidence"]["line"]), (&"error".into(), &1.into()));

    let log = server("DSPARK", 1, 6) + &lines("", &["2.97"; 6]);
    let flags = "--model glm5.2 --method mtp --draft-length 5";
    let (code, document) = audit("other.log", &log, flags);
    assert_eq!(code, 1);
    assert_eq!(finding(&document, "method-mismatch")["severity"], "error");
}

#[test]
fn a_config_change_forbids_pooling_and_a_restart_does_not() {
    let half = lines("", &["2.00"; 8]);
    let later = half.replace("2026-10-12", "2026-10-13");
    let flags = "--accept-length 2 --max-accept-length 4";
    let log = [server("EAGLE", 3, 4), half.clone(), server("EAGLE", 3, 4), later.clone()].concat();
    let (code, document) = audit("restart.log", &log, flags);
    assert_eq!(code, 0);
    assert_eq!(finding(&document, "multiple-servers")["evidence"]["line"], 10);

    let changed = server("EAGLE", 3, 4).replace("interval=40", "interval=20");
    let log = [server("EAGLE", 3, 4), half, changed, later].concat();
    let (code, document) = audit("changed.log", &log, flags);
    assert_eq!((code, document["verdict"].as_str()), (3, Some("insufficient")));
    assert_eq!(finding(&document, "config-changed-mid-run")["severity"], "error");
}

#[test]
fn impossible_lengths_are_named_with_their_line() {
    let log = lines("", &["3.50", "3.52", "4.10", "3.48"]);
    let (code, document) = audit("above.log", &log, "--accept-length 3.5 --max-accept-length 4");
    assert_eq!(code, 1);
    assert_eq!(finding(&document, "accept-len-above-max")["evidence"]["line"], 3);
    assert!(document["points"][0]["reason"].as_str().unwrap().contains("4.10"));
}

#[test]
fn clamped_real_and_off_by_one() {
    for (name, value, target, code) in [
        ("clamped.log", "4.00", "--accept-length 5.2 --max-accept-length 4", "clamped"),
        ("nothing.log", "1.00", "--accept-length 2.5 --max-accept-length 4", "real-acceptance"),
        ("one_off.log", "2.00", "--accept-length 3 --max-accept-length 4", "off-by-one"),
    ] {
        let (exit, document) = audit(name, &lines("", &[value; 12]), target);
        assert_eq!(exit, 1, "{name}");
        assert_eq!(finding(&document, code)["severity"], "error", "{name}");
    }
}

/// Without the cap fields the same lines are consistent; with a target of 1 they do not matter.
#[test]
fn capped_lines_cannot_be_consistent() {
    let log = |capped: &str| -> String {
        (0..12).map(|second| line(second, "", 4, "3.00", &format!("{capped}cuda graph: True, "))).collect()
    };
    let target = "--accept-length 3 --max-accept-length 6";
    assert_eq!(audit("uncapped.log", &log(""), target).0, 0);
    let (exit, document) = audit("capped.log", &log("block accept len: 3.00, "), target);
    assert_eq!((exit, &document["points"][0]["verdict"]), (1, &"inconsistent".into()));
}

/// One token below a target, and a golden cell: both may be what happened.
#[test]
fn a_golden_cell_one_token_off_has_both_names() {
    let values =
        ["2.50", "2.55", "2.48", "2.52", "2.45", "2.58", "2.50", "2.60", "2.42", "2.55", "2.48", "2.50"];
    let values: Vec<&str> = values.iter().copied().cycle().take(60).collect();
    let (exit, document) =
        audit("both.log", &lines("", &values), "--accept-length 3.51 --max-accept-length 6");
    let codes = codes(&document);
    assert_eq!(exit, 1);
    assert!(codes.contains(&"off-by-one".to_owned()), "{codes:?}");
}

#[test]
fn a_given_interval_against_the_servers_is_said() {
    let (_, document) = audit_given("--decode-log-interval 20");
    let found = finding(&document, "decode-log-interval-mismatch");
    assert_eq!(found["severity"], "warning");
    assert!(found["message"].as_str().unwrap().contains("say 40"), "{found}");
    let (exit, document) = audit_given("--decode-log-interval 40");
    assert_eq!(exit, 0);
    assert!(!codes(&document).iter().any(|code| *code == "decode-log-interval-mismatch"), "{document}");
}

fn audit_given(flags: &str) -> (i32, Value) {
    let output =
        run(&format!("audit e3k5_al351.log --accept-length 3.51 --max-accept-length 6 --json {flags}"));
    (output.status.code().unwrap(), json(&output))
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let target = "audit e3k5_al351.log --accept-length 3.51 --max-accept-length 6";
    for (flags, said) in [
        ("--since 2026-13-45", "no such time"),
        ("--since 2026-11-30T25:00", "no such time"),
        ("--since 2026-11-30T08:00 --until 2026-11-30T07:00", "no time lies between"),
        ("--json --format text", "goes with no other format"),
        ("--replay off --random-seed 5", "--replay off leaves that out"),
        ("--replay off --recover-seed", "--replay off leaves that out"),
    ] {
        let output = run(&format!("{target} {flags}"));
        assert_eq!(output.status.code(), Some(2), "{flags}");
        assert!(text(&output.stderr).contains(said) && output.stdout.is_empty(), "{}", text(&output.stderr));
    }
    let output = run(&format!("{target} --confidence 0.99999999999999"));
    let printed = text(&output.stdout);
    assert!(printed.contains("99.999999999999 %") && !printed.contains("100 %"), "{printed}");
}

#[test]
fn flags_of_the_lines_are_findings() {
    let mut log = String::new();
    for second in 0..12 {
        let graph = if second == 7 { "False" } else { "True" };
        let capped = if second == 3 { "cap len: 4.10, " } else { "" };
        log += &line(second, "", 4, "3.00", &format!("accept rate: 0.99, {capped}cuda graph: {graph}, "));
    }
    log += "[2026-10-12 00:00:13] Decode batch, #running-req: 4, #token: 1, accept len: 3.\n";
    let (_, document) = audit("flags.log", &log, "--accept-length 3 --max-accept-length 6");
    for (code, severity, line) in [
        ("cuda-graph-off", "warning", 8),
        ("not-verify-all", "error", 4),
        ("accept-rate-disagrees", "warning", 1),
    ] {
        let found = finding(&document, code);
        assert_eq!(
            (&found["severity"], &found["evidence"]["line"]),
            (&severity.into(), &line.into()),
            "{code}"
        );
    }
    let point = &document["points"][0];
    // An accept length above 1 cannot have been simulated there.
    assert_eq!(point["verdict"], "inconsistent");
    assert_eq!((&point["cuda_graph"]["true"], &point["cuda_graph"]["false"]), (&11.into(), &1.into()));
    assert_eq!(point["skipped_lines"]["truncated"], 1);
}

/// The rate names the draft tokens where the server does not.
#[test]
fn the_rate_contradicts_a_target_of_another_draft_length() {
    let values = ["2.50", "2.75", "3.00", "2.25", "2.62", "2.88"];
    let rates = ["0.30", "0.35", "0.40", "0.25", "0.32", "0.38"];
    let log: String = values
        .iter()
        .zip(rates)
        .enumerate()
        .map(|(second, (value, rate))| line(second, "", 4, value, &format!("accept rate: {rate}, ")))
        .collect();
    let (_, document) = audit("rate.log", &log, "--accept-length 2.6 --max-accept-length 4");
    let found = finding(&document, "draft-length-mismatch");
    assert_eq!(found["severity"], "warning");
    assert!(found["message"].as_str().unwrap().contains("6 draft tokens"), "{found}");
    let (_, right) = audit("rate.log", &log, "--accept-length 2.6 --max-accept-length 6");
    assert!(!codes(&right).contains(&"draft-length-mismatch".to_owned()));
}

/// Numbers at the edge of what the reader accepts, in quantity, and nothing but a verdict comes of it.
#[test]
fn hostile_numbers_do_no_harm() {
    let mut log = String::new();
    for second in 0..3000_usize {
        let accept_len = ["42949672.95", "0.00", "1.00", "99999.99", "3.51"][second % 5];
        let running = [u32::MAX, 1, 7, 1_000_000, 3][second % 5];
        let tags = format!(" DP{} TP{}", second % 1500, second * 7);
        let rest = format!("accept rate: {}.50, ", second % 100);
        log += &line(second % 80_000, &tags, running, accept_len, &rest);
    }
    for flags in [
        "",
        "--accept-length 3.51 --max-accept-length 6",
        "--accept-length 1e300 --max-accept-length 4294967295",
        "--accept-length 3.51 --max-accept-length 6 --decode-log-interval 4294967295",
        "--accept-length 3.000000001 --max-accept-length 4294967295 --margin 1e-300",
    ] {
        let (code, document) = audit("hostile.log", &log, flags);
        assert!([1, 3].contains(&code), "{flags}: {code}");
        assert!(document["points"][0]["decode_lines"].as_u64().unwrap() > 0);
    }
}

/// What is missing there is not the largest accept length; and a log without lines takes no verdict from the others.
#[test]
fn a_length_alone_is_enough_where_no_line_shows_one() {
    let empty = file("length-empty.log", "");
    let prose = file("length-prose.log", "not a log\n");
    for log in [empty.as_path(), prose.as_path(), Path::new("base.log")] {
        let output = run(&format!("audit {} --accept-length 3.51", log.display()));
        assert_eq!(output.status.code(), Some(3), "{}: {}", log.display(), text(&output.stderr));
    }
    let both = run(&format!("audit e3k5_al351.log {} --accept-length 3.51 --json", empty.display()));
    assert_eq!(both.status.code(), Some(3));
    let document = json(&both);
    assert_eq!(document["points"][0]["verdict"], "consistent");
    assert_eq!(document["points"][1]["verdict"], "insufficient");
}

/// A gate on a wrong folder must not pass: nothing was shown.
#[test]
fn an_empty_folder_is_no_evidence() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("audit").join("nothing");
    fs::create_dir_all(&folder).unwrap();
    let line = format!("audit {} --accept-length 3.51 --max-accept-length 6", folder.display());
    assert_eq!(run(&line).status.code(), Some(3));
    let document = json(&run(&format!("{line} --json")));
    assert_eq!(document["points"][0]["decode_lines"], 0);
    assert_eq!(codes(&document), ["no-decode-lines"]);
    assert_eq!(document["target"]["accept_length"], 3.51);

    // Nor does it hide behind a log that holds.
    let log = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/h200/e3k5_al351.log");
    let both = run(&line.replace("audit ", &format!("audit {log} ")));
    assert_eq!(both.status.code(), Some(3), "{}", text(&both.stdout));
}

/// What `-v` shows of a log that has a skipped line of every kind, and marks that a terminal would act on.
#[test]
fn skipped_lines_are_shown_with_their_place() {
    let first = line(1, " TP0", 4, "3.52", "");
    let log = format!(
        "{first}{first}{}see Decode batch \x1b]0;title\x07\x1b[2J\u{202e}, or not\n{}{}",
        line(2, " TP0", 0, "3.52", ""),
        line(3, " TP0", 4, "nan", ""),
        "[2026-10-12 00:00:04 TP0] Decode batch, #running-req: 4, accept len: 3.\n",
    );
    let path = file("skipped.log", &log);
    let output = run(&format!("audit -v {} --accept-length 3.51 --max-accept-length 6", path.display()));
    let errors = text(&output.stderr);
    let shown: Vec<&str> = errors.lines().collect();
    for (line, (number, kind)) in shown.iter().zip([
        (2, "duplicate: #running-req: 4"),
        (3, "idle: #running-req: 0"),
        (4, "lookalike: see Decode batch"),
        (5, "not_finite: [2026-10-12 00:00:03 TP0] Decode batch"),
        (6, "truncated: [2026-10-12 00:00:04 TP0] Decode batch, #running-req: 4, accept len: 3."),
    ]) {
        let start = format!("skipped: {}:{number}: {kind}", path.display());
        assert!(line.starts_with(&start), "{line} does not start with {start}");
    }
    assert_eq!(shown.len(), 5, "{errors}");
    assert!(!errors.contains(['\x1b', '\x07', '\u{202e}']), "{errors:?}");
    let quiet = run(&format!("audit {} --accept-length 3.51 --max-accept-length 6", path.display()));
    assert_eq!(text(&quiet.stderr), "");
    // The report is the same; `-v` draws besides.
    let (shown, drawn) = (text(&quiet.stdout), text(&output.stdout));
    let mut drawn_lines = drawn.lines();
    assert!(shown.lines().all(|line| drawn_lines.any(|drawn| drawn == line)), "{drawn}");
}

#[test]
fn a_hundred_skipped_lines_are_shown_at_most() {
    let cut = "[2026-10-12 00:00:04] Decode batch, #running-req: 4\n";
    let logs = [file("many-1.log", &cut.repeat(70)), file("many-2.log", &cut.repeat(250))];
    let output = run(&format!("audit --verbose --json {} {}", logs[0].display(), logs[1].display()));
    let errors = text(&output.stderr);
    assert_eq!(errors.lines().filter(|line| line.starts_with("skipped: ")).count(), 100);
    assert_eq!(errors.lines().last(), Some("note: 220 more skipped lines are not shown"));
    assert_eq!(json(&output)["points"][1]["skipped_lines"]["truncated"], 250);
    let output = run(&format!("audit -v -q {}", logs[0].display()));
    assert_eq!(output.status.code(), Some(2));
}
