//! The command on sources: streams, exit codes, and what is said where.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use crate::pack::{gzip, tar, zip_stream};
use crate::read::h200;
use crate::schema;

/// Runs an audit of `paths` with `stdin`.
fn audit(paths: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_accsim"))
        .arg("audit")
        .args(paths)
        .args(["--accept-length", "3.51", "--max-accept-length", "6"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // A command that ended before it has read all closes the pipe.
    let _ = pipe.write_all(stdin);
    drop(pipe);
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn an_archive_through_a_pipe() {
    let log = h200("e3k5_al351.log");
    let name = "logs/node_decode_w0.out";
    let deflated =
        zip_stream(&[(name, &log), ("plot.png", b"\x89PNG\r\n\x1a\n")], zip::CompressionMethod::Deflated);
    for archive in [gzip(&tar(&[(name, &log)])), deflated] {
        let output = audit(&["-"], &archive);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("decode_w0"), "{}", text(&output.stdout));
    }
}

/// What could be read is judged, and the exit code says that it was not all.
#[test]
fn a_cut_archive_is_judged_and_fails() {
    let log = h200("e3k5_al351.log");
    let archive = gzip(&tar(&[("a.log", &log), ("b.log", &log)]));
    let output = audit(&["-", "--json"], &archive[..archive.len() * 3 / 4]);
    assert_eq!(output.status.code(), Some(2));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(schema::is_audit(&document) && schema::faults(&document).is_empty(), "{document:#}");
    assert_eq!(document["errors"].as_array().unwrap().len(), 1);
    let said = text(&output.stderr);
    let expected = "error: cannot read (standard input)!/b.log to its end: the gzip stream ends early; the ";
    assert!(said.starts_with(expected) && said.lines().count() == 1, "{said}");
}

#[test]
fn a_limit_names_the_flag_that_raises_it() {
    let packed = gzip(&gzip(&h200("e3k5_al351.log")));
    let refused = audit(&["-", "--max-layers", "1"], &packed);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("--max-layers raises the limit"), "{}", text(&refused.stderr));
    assert_eq!(audit(&["-", "--max-layers", "2"], &packed).status.code(), Some(0));
}

/// Several files are read at a time: points of their own, a point of several files, archives and damage among them.
#[test]
fn any_number_of_threads_says_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    std::fs::create_dir(path("run")).unwrap();
    let logs = ["e3k5_al351.log", "e3k5_al200.log"].map(h200);
    for (number, log) in (0..6).zip(logs.iter().cycle()) {
        // The files of one worker, one after the other, and one that is cut.
        let packed = gzip(log);
        let packed = if number == 4 { &packed[..packed.len() / 2] } else { &packed[..] };
        std::fs::write(path(&format!("run/node{number}_decode_w{}.out.gz", number % 3)), packed).unwrap();
        std::fs::write(path(&format!("{number:02}.log.gz")), gzip(log)).unwrap();
    }
    let [log, other] = &logs;
    std::fs::write(path("05-more.tar.gz"), gzip(&tar(&[("a.log", log), ("b.log", other)]))).unwrap();
    let mut paths: Vec<String> = std::fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().path().to_str().unwrap().to_owned())
        .collect();
    paths.sort();
    let on = |threads: &str, more: &[&str]| {
        let mut arguments: Vec<&str> = paths.iter().map(String::as_str).collect();
        arguments.extend(["--threads", threads]);
        arguments.extend(more);
        let output = audit(&arguments, b"");
        (output.status.code(), output.stdout, text(&output.stderr).to_owned())
    };
    for more in [&["--json"][..], &["-v"], &["--partial"]] {
        let expected = on("1", more);
        assert!(expected.2.contains("node4_decode_w1"), "{}", expected.2);
        for threads in ["2", "7"] {
            assert!(on(threads, more) == expected, "{more:?} on {threads} threads");
        }
    }
}
