//! `--follow`: logs that grow while they are audited. Deadlines are there to end a test that hangs, and nothing else.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::{LOGS, json, program, text};

const DEADLINE: Duration = Duration::from_mins(2);

/// A rest between two writes, so that the program has looks in between.
const REST: Duration = Duration::from_millis(5);

const TARGET: &str = "--accept-length 3.51 --max-accept-length 6";

fn log(name: &str) -> String {
    fs::read_to_string(Path::new(LOGS).join(name)).unwrap()
}

fn append(path: &Path, text: &str) {
    File::options().create(true).append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// The decode lines of a log, without its start: no seed, and so no replay.
fn decode_lines(name: &str) -> Vec<String> {
    let log = log(name);
    let lines = log.lines().filter(|line| line.contains("Decode batch"));
    lines.map(|line| format!("{line}\n")).collect()
}

fn start(paths: &[&Path], flags: &str) -> Child {
    let json = if flags.contains("--format") { "" } else { "--json" };
    let mut command = program(&format!("audit --follow {json} {flags}"));
    command.args(paths).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What the program said in the end. While it runs, `write` is called again and again.
fn end(mut child: Child, mut write: impl FnMut()) -> Output {
    let began = Instant::now();
    // A report is larger than a pipe holds.
    let mut out = child.stdout.take().unwrap();
    let reader = thread::spawn(move || {
        let mut all = Vec::new();
        out.read_to_end(&mut all).unwrap();
        all
    });
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > DEADLINE {
            child.kill().unwrap();
            panic!("it does not end");
        }
        write();
        thread::sleep(REST);
    };
    let mut stderr = Vec::new();
    child.stderr.take().unwrap().read_to_end(&mut stderr).unwrap();
    Output { status, stdout: reader.join().unwrap(), stderr }
}

/// Writes these lines one by one, forever.
fn cycle(path: PathBuf, lines: Vec<String>) -> impl FnMut() {
    // Every round has its own day, so that no line is a copy of another.
    let mut next = (0..).flat_map(move |round: u32| {
        let date = format!("[20{:02}-{:02}-{:02} ", 30 + round / 336, 1 + round / 28 % 12, 1 + round % 28);
        lines.clone().into_iter().map(move |line| format!("{date}{}", line.split_once(' ').unwrap().1))
    });
    move || append(&path, &next.next().unwrap())
}

fn point(output: &Output, index: usize) -> Value {
    json(output)["points"][index].clone()
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn it_ends_when_the_evidence_suffices() {
    let folder = folder();
    let path = folder.path().join("server.log");
    let child = start(&[&path], TARGET);
    let output = end(child, cycle(path, decode_lines("e3k5_al351.log")));
    let point = point(&output, 0);
    assert_eq!((output.status.code(), &point["verdict"]), (Some(0), &"consistent".into()), "{point:#}");
    let (low, high) = (&point["accept_len"]["ci_low"], &point["accept_len"]["ci_high"]);
    assert!(low.as_f64().unwrap() >= 3.51 * 0.98 && high.as_f64().unwrap() <= 3.51 * 1.02, "{point:#}");
    assert!(point["sequence"]["log10_e_value"].as_f64().unwrap() < 3.0);
}

#[test]
fn a_wrong_mean_ends_it_too() {
    let folder = folder();
    let path = folder.path().join("server.log");
    let child = start(&[&path], "--accept-length 3.61 --max-accept-length 6");
    let output = end(child, cycle(path, decode_lines("e3k5_al351.log")));
    let point = point(&output, 0);
    assert_eq!((output.status.code(), &point["verdict"]), (Some(1), &"inconsistent".into()), "{point:#}");
    assert!(point["sequence"]["log10_e_value"].as_f64().unwrap() >= 3.0, "{point:#}");
}

#[test]
fn one_impossible_line_ends_it() {
    let folder = folder();
    let path = folder.path().join("server.log");
    append(&path, &decode_lines("e3k5_al351.log")[0]);
    let child = start(&[&path], "--accept-length 2 --max-accept-length 6");
    let output = end(child, || ());
    let point = point(&output, 0);
    assert_eq!((output.status.code(), &point["verdict"]), (Some(1), &"inconsistent".into()), "{point:#}");
    assert_eq!(point["decode_lines"], 1);
}

/// The mean of this log is right and its law is not.
#[test]
fn another_law_with_the_same_mean_is_no_agreement() {
    let folder = folder();
    let path = folder.path().join("server.log");
    let child = start(&[&path], TARGET);
    let output = end(child, cycle(path, decode_lines("e3k5_multinomial351.log")));
    let point = point(&output, 0);
    assert_eq!((output.status.code(), &point["verdict"]), (Some(1), &"inconsistent".into()), "{point:#}");
}

#[test]
fn the_servers_own_draws_decide_at_once() {
    let folder = folder();
    let path = folder.path().join("server.log");
    let log = log("e3k5_al351.log");
    let mut lines = log.split_inclusive('\n');
    let child = start(&[&path], TARGET);
    let output = end(child, || {
        // A block at a time: the start of the server alone is hundreds of lines.
        append(&path, &lines.by_ref().take(20).collect::<String>());
    });
    let point = point(&output, 0);
    assert_eq!((output.status.code(), &point["verdict"]), (Some(0), &"consistent".into()), "{point:#}");
    assert_eq!(point["replay"]["status"], "proved", "{point:#}");
}

#[cfg(target_os = "linux")]
#[test]
fn rotation_loses_no_line() {
    let folder = folder();
    let (path, old) = (folder.path().join("server.log"), folder.path().join("server.log.1"));
    let lines = decode_lines("e3k5_al351.log");
    // As many as two logs have; the last one decides, so that it ends when all were read and not before.
    let (first, second) = lines[..40].split_at(20);
    append(&path, &first.concat());
    let child = start(&[&path], &format!("{TARGET} --margin 0.001%"));
    let mut done = false;
    let output = end(child, || {
        if !done && is_read(&path) {
            done = true;
            fs::rename(&path, &old).unwrap();
            // Who writes may still hold the old file.
            append(&old, &second[..10].concat());
            append(&path, &second[10..].concat());
            append(&path, &lines[40].replace("accept len: 3", "accept len: 5"));
        }
    });
    let point = point(&output, 0);
    assert_eq!((output.status.code(), &point["verdict"]), (Some(1), &"inconsistent".into()), "{point:#}");
    assert_eq!(point["decode_lines"], 41, "{point:#}");
    let notes = json(&output)["notes"].to_string();
    assert!(notes.contains("server.log: rotated once"), "{notes}");
}

/// Lines of the logs of a rotation share their places: each begins at line 1.
#[cfg(target_os = "linux")]
#[test]
fn draws_are_followed_through_two_rotations() {
    let folder = folder();
    let path = folder.path().join("server.log");
    let log = log("e3k5_al351.log");
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    let parts = [&lines[..258], &lines[258..262], &lines[262..]].map(<[&str]>::concat);
    append(&path, &parts[0]);
    let child = start(&[&path], &format!("{TARGET} --margin 0.001% --replay require --idle-exit 10"));
    let mut number = 0;
    let output = end(child, || {
        if number < 2 && is_read(&path) {
            number += 1;
            fs::rename(&path, folder.path().join(format!("server.log.{number}"))).unwrap();
            append(&path, &parts[number]);
        }
    });
    assert!(!text(&output.stderr).contains("panicked"), "{output:?}");
    let point = point(&output, 0);
    assert_eq!((output.status.code(), &point["verdict"]), (Some(0), &"consistent".into()), "{point:#}");
    assert_eq!(point["replay"]["status"], "proved", "{point:#}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_cut_log_is_read_anew() {
    let folder = folder();
    let path = folder.path().join("server.log");
    let lines = decode_lines("e3k5_al351.log");
    append(&path, &lines[..30].concat());
    let child = start(&[&path], &format!("{TARGET} --margin 0.001%"));
    let mut done = false;
    let output = end(child, || {
        if !done && is_read(&path) {
            done = true;
            let last = lines[40].replace("accept len: 3", "accept len: 5");
            fs::write(&path, lines[30..40].concat() + &last).unwrap();
        }
    });
    let point = point(&output, 0);
    assert_eq!((output.status.code(), &point["verdict"]), (Some(1), &"inconsistent".into()), "{point:#}");
    assert_eq!(point["decode_lines"], 41, "{point:#}");
    let notes = json(&output)["notes"].to_string();
    assert!(notes.contains("server.log: cut or written anew once"), "{notes}");
}

/// Whether another process has read the file to its end, and holds it: then what happens to it is seen. Files of these
/// tests are longer than the head that tells their format.
#[cfg(target_os = "linux")]
fn is_read(path: &Path) -> bool {
    let length = fs::metadata(path).unwrap().len();
    let path = path.canonicalize().unwrap();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.into_iter().any(|process| {
        let open = fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
        open.filter(|file| fs::read_link(file.path()).is_ok_and(|file| file == path)).any(|file| {
            let about = fs::read_to_string(process.path().join("fdinfo").join(file.file_name()));
            let at = about
                .unwrap_or_default()
                .lines()
                .find_map(|line| line.strip_prefix("pos:").and_then(|at| at.trim().parse::<u64>().ok()));
            at == Some(length)
        })
    })
}

#[cfg(target_os = "linux")]
#[test]
fn half_a_line_waits_for_its_other_half() {
    let folder = folder();
    let path = folder.path().join("server.log");
    let lines = decode_lines("e3k5_al351.log");
    // At a target of 3 this half, taken for a line, would be impossible at once: it reads 3.6 for 3.62.
    let at = lines[0].find("accept len: ").unwrap() + "accept len: 3.6".len();
    let (half, rest) = lines[0].split_at(at);
    append(&path, &format!("{}{half}", "loading\n".repeat(100)));
    let child = start(&[&path], "--accept-length 3 --max-accept-length 6");
    let mut done = false;
    let output = end(child, || {
        if !done && is_read(&path) {
            done = true;
            append(&path, rest);
        }
    });
    let point = point(&output, 0);
    assert_eq!(output.status.code(), Some(1), "{point:#}");
    assert_eq!((&point["decode_lines"], &point["skipped_lines"]["truncated"]), (&1.into(), &0.into()));
    assert_eq!(point["accept_len"]["mean"], 3.62);
}

#[test]
fn each_path_is_decided_for_itself() {
    let folder = folder();
    let (good, bad) = (folder.path().join("good.log"), folder.path().join("bad.log"));
    append(&bad, &decode_lines("dspark_k5_al351.log").concat());
    let child = start(&[&good, &bad], TARGET);
    let output = end(child, cycle(good, decode_lines("e3k5_al351.log")));
    assert_eq!(output.status.code(), Some(1));
    let verdicts = [point(&output, 0)["verdict"].clone(), point(&output, 1)["verdict"].clone()];
    assert_eq!(verdicts, ["consistent", "inconsistent"]);
}

#[test]
fn idle_logs_end_it_undecided() {
    let folder = folder();
    let (path, missing) = (folder.path().join("server.log"), folder.path().join("missing.log"));
    let lines = decode_lines("e3k5_al351.log");
    // The last line has no break: nothing follows, so it counts in the end.
    append(&path, lines[..3].concat().trim_end());
    let output = end(start(&[&path, &missing], &format!("{TARGET} --idle-exit 0.3")), || ());
    assert_eq!(output.status.code(), Some(3));
    let (point, none) = (point(&output, 0), point(&output, 1));
    assert_eq!((&point["verdict"], &point["decode_lines"]), (&"insufficient".into(), &3.into()));
    assert!(point["reason"].as_str().unwrap().contains("more lines"), "{point:#}");
    assert_eq!((&none["verdict"], &none["decode_lines"]), (&"insufficient".into(), &0.into()));
}

#[test]
fn standard_input_is_followed_to_its_end() {
    let lines = decode_lines("e3k5_al351.log");
    for (count, code, verdict) in [(4, 3, "insufficient"), (73, 0, "consistent")] {
        let mut command = program(&format!("audit - --follow --json {TARGET}"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        for line in &lines[..count] {
            // It may have seen enough.
            if input.write_all(line.as_bytes()).is_err() {
                break;
            }
        }
        drop(input);
        let output = end(child, || ());
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(code), String::new()));
        assert_eq!(point(&output, 0)["verdict"], verdict);
    }
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_followed_to_its_end() {
    let folder = folder();
    let path = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let child = start(&[&path], TARGET);
    let written = AtomicBool::new(false);
    let output = thread::scope(|scope| {
        scope.spawn(|| {
            let mut pipe = File::options().write(true).open(&path).unwrap();
            pipe.write_all(decode_lines("e3k5_al351.log")[..10].concat().as_bytes()).unwrap();
            written.store(true, Ordering::Relaxed);
        });
        end(child, || ())
    });
    assert!(written.load(Ordering::Relaxed));
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(point(&output, 0)["decode_lines"], 10);
}

#[test]
fn what_does_not_grow_is_refused() {
    let folder = folder();
    let packed = folder.path().join("server.log.gz");
    fs::write(&packed, b"\x1f\x8b\x08\0\0\0\0\0").unwrap();
    for (path, why) in [(folder.path(), "it is a directory"), (&packed, "it is packed (gzip")] {
        let output = end(start(&[path], TARGET), || ());
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(why), "{said}");
    }
    for (flags, why) in [
        ("--point-by segment", "--follow judges what a log shows as a whole"),
        ("--idle-exit 0", "above 0"),
        ("--idle-exit nan", "above 0"),
        ("--recover-seed", "cannot be used with"),
    ] {
        let output = end(start(&[&folder.path().join("log")], &format!("{TARGET} {flags}")), || ());
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(why), "{flags}: {said}");
    }
}

/// A log of a server that drafts nothing has nothing to wait for.
#[test]
fn lines_without_accept_lengths_end_it() {
    let folder = folder();
    let path = folder.path().join("server.log");
    append(&path, &log("base.log"));
    let output = end(start(&[&path], TARGET), || ());
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(point(&output, 0)["verdict"], "unauditable");
}

/// Every format of the report is that of a complete log.
#[test]
fn reports_say_that_the_interval_is_a_sequence() {
    let folder = folder();
    let path = folder.path().join("server.log");
    append(&path, &decode_lines("e3k5_al351.log").concat());
    for (format, words) in [
        ("text", "95 % confidence sequence 3."),
        ("markdown", "confidence sequence 3."),
        ("csv", "consistent"),
        ("junit", "<testsuite"),
    ] {
        let output = end(start(&[&path], &format!("{TARGET} --format {format}")), || ());
        let said = text(&output.stdout);
        assert!(output.status.code() == Some(0) && said.contains(words), "{format}: {said}");
    }
}
