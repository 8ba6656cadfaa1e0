//! Bad input is refused in words that say what to do.

use std::fs;

use crate::support::{h200, run, stdout};

fn stderr(args: &[&str], code: i32) -> String {
    String::from_utf8_lossy(&run(args).code(code).get_output().stderr).into_owned()
}

/// The log with a line-wise change.
fn changed(change: impl Fn(usize, &str) -> String) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("changed.log");
    let text = String::from_utf8_lossy(&fs::read(h200("e3k5_al351.log")).unwrap()).into_owned();
    let lines: Vec<String> = text.lines().enumerate().map(|(number, line)| change(number, line)).collect();
    fs::write(&file, lines.join("\n")).unwrap();
    let name = file.to_str().unwrap().to_owned();
    (folder, name)
}

#[test]
fn a_log_without_throughput() {
    for value in ["nan", "-5.00", "0.00"] {
        let (_folder, log) = changed(|_, line| match line.split_once("gen throughput (token/s): ") {
            Some((head, tail)) => {
                let rest = tail.split_once(',').map_or("", |(_, rest)| rest);
                format!("{head}gen throughput (token/s): {value},{rest}")
            }
            None => line.to_owned(),
        });
        let text = stderr(&["throughput", "calibrate", &log], 3);
        assert!(text.contains("none of 73 decode lines has a gen throughput above 0"), "{value}: {text}");
    }
}

#[test]
fn a_log_without_decode_lines() {
    let (_folder, log) = changed(|_, line| line.replace("Decode batch", "Something else"));
    assert!(stderr(&["throughput", "calibrate", &log], 3).contains("no decode lines"));
}

#[test]
fn a_clock_that_goes_back() {
    let (_folder, log) = changed(|_, line| line.replace("07:33:4", "06:33:4"));
    let text = stderr(&["throughput", "calibrate", &log], 2);
    assert!(text.contains("the clock goes back by") && text.contains("cut the log there"), "{text}");
}

#[test]
fn a_clock_that_runs_away() {
    // Every second line of a minute says ten minutes later.
    let (_folder, log) = changed(|number, line| {
        let minute = number % 60;
        line.replace(
            "2026-11-30 07:33:",
            &format!("2026-11-{:02} {:02}:{minute:02}:", 1 + number / 1440 % 28, number / 60 % 24),
        )
    });
    let text = stderr(&["throughput", "calibrate", &log], 2);
    assert!(text.contains("the clock went on by far more") || text.contains("the clock goes back"), "{text}");
}

#[test]
fn a_log_that_does_not_say_what_is_drafted() {
    let without_arguments = |line: &str| !line.contains("server_args=");
    let (_folder, log) =
        changed(|_, line| if without_arguments(line) { line.to_owned() } else { String::new() });
    // Its accept rates do.
    let shown = stdout(&["throughput", "calibrate", &log]);
    assert!(shown.contains("draft length 5: step time fitted"), "{shown}");
    // Without them the law is refused, and says what is missing.
    let (_folder, log) = changed(|_, line| match line.split_once("accept rate: ") {
        Some((head, tail)) => {
            format!("{head}{}", tail.split_once(", ").map_or("", |(_, rest)| rest))
        }
        None if without_arguments(line) => line.to_owned(),
        None => String::new(),
    });
    let shown = stdout(&["throughput", "calibrate", &log]);
    assert!(shown.contains("draft length unknown: step law refused"), "{shown}");
    assert!(shown.contains("name them with --draft-length"), "{shown}");
    run(&["throughput", "calibrate", &log, "--draft-length", "5", "-q"]).success();
}

#[test]
fn models_of_other_versions_and_other_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.json");
    let name = file.to_str().unwrap();
    run(&["throughput", "calibrate", h200("e3k5_al351.log").to_str().unwrap(), "-o", name, "-q"]).success();
    let good = fs::read_to_string(&file).unwrap();
    let predict = ["throughput", "predict", name, "--accept-length", "2"];
    for (from, to, expected) in [
        ("\"version\": 1", "\"version\": 2", "has version 2; this program reads version 1"),
        ("accsim-throughput-model", "another", "\"kind\" is \"another\""),
        ("\"b_s\":", "\"z_s\":", "unknown field"),
        ("\"windows\":", "\"window\":", "unknown field"),
    ] {
        fs::write(&file, good.replace(from, to)).unwrap();
        let text = stderr(&predict, 2);
        assert!(text.contains(expected), "{from}: {text}");
    }
    let mut document: serde_json::Value = serde_json::from_str(&good).unwrap();
    document["model"]["laws"][0]["outcome"]["step"]["a_s"] = serde_json::json!(-1.0);
    fs::write(&file, document.to_string()).unwrap();
    assert!(stderr(&predict, 2).contains("a coefficient that is negative"));
    fs::write(&file, good.get(..good.len() / 2).unwrap()).unwrap();
    assert!(stderr(&predict, 2).contains("line "));
}

#[test]
fn accept_lengths_outside_what_a_step_can_have() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.json");
    let name = file.to_str().unwrap();
    run(&["throughput", "calibrate", h200("e3k5_al351.log").to_str().unwrap(), "-o", name, "-q"]).success();
    for length in ["0.99", "6.01", "-1", "1e9"] {
        let text = stderr(&["throughput", "predict", name, "--accept-length", length], 2);
        assert!(text.contains("is outside [1, 6]"), "{length}: {text}");
        let simulate = [
            "throughput",
            "simulate",
            name,
            "--accept-length",
            length,
            "--concurrency",
            "1",
            "--isl",
            "5",
            "--osl",
            "5",
            "--duration",
            "1",
        ];
        assert!(stderr(&simulate, 2).contains("is outside [1, 6]"));
    }
    assert!(
        stderr(&["throughput", "predict", name, "--accept-length", "nan"], 2).contains("expected a number")
    );
}

#[test]
fn a_client_with_negative_times() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("client.json");
    fs::write(&file, r#"{"phases":[{"concurrency":1,"start":5,"end":9,"req":[[8,6,10,10]]}]}"#).unwrap();
    let log = h200("e3k5_al351.log");
    let args =
        ["throughput", "calibrate", log.to_str().unwrap(), "--client", file.to_str().unwrap(), "-o", "-"];
    assert!(stderr(&args[..5], 2).contains("negative time"));
}
