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

/// A folder with the log, changed line by line, under a name; further files beside it.
fn with(folder: &tempfile::TempDir, name: &str, change: impl Fn(&str) -> String) -> String {
    let file = folder.path().join(name);
    let text = String::from_utf8_lossy(&fs::read(h200("e3k5_al351.log")).unwrap()).into_owned();
    fs::write(&file, text.lines().map(|line| change(line) + "\n").collect::<String>()).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn logs_of_different_servers() {
    let folder = tempfile::tempdir().unwrap();
    let own = with(&folder, "own.log", str::to_owned);
    for (from, to, expected) in [
        ("ServerArgs(model_path='models/qwen3'", "ServerArgs(model_path='models/other'", "model: "),
        ("tp_size=1,", "tp_size=4,", "tensor-parallel size: "),
        ("disable_cuda_graph=False", "disable_cuda_graph=True", "CUDA graphs: "),
        ("cuda_graph_bs_decode=[1, 2,", "cuda_graph_bs_decode=[1, 3,", "captured batch sizes: "),
    ] {
        let other = with(&folder, "other.log", |line| line.replace(from, to));
        let text = stderr(&["throughput", "calibrate", &own, &other], 2);
        assert!(text.contains("logs of different servers") && text.contains(expected), "{text}");
        // A folder of both as well.
        let text = stderr(&["throughput", "calibrate", folder.path().to_str().unwrap()], 2);
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn lines_and_flags_that_contradict_the_draft_length() {
    let folder = tempfile::tempdir().unwrap();
    let log = with(&folder, "long.log", |line| line.replacen("accept len: 3.5", "accept len: 9.5", 1));
    let text = stderr(&["throughput", "predict", &log, "--accept-length", "2"], 2);
    assert!(
        text.contains("accept length 9.5") && text.contains(", line ") && text.contains("the 6 tokens"),
        "{text}"
    );
    let log = with(&folder, "own.log", str::to_owned);
    for command in [&["predict", "--accept-length", "2"][..], &["calibrate"]] {
        let args = [&["throughput"], command, &[&log, "--draft-length", "3"]].concat();
        let text = stderr(&args, 2);
        assert!(text.contains("the log says draft length 5, --draft-length 3"), "{text}");
    }
    let _ = run(&["throughput", "calibrate", &log, "--draft-length", "5", "-q"]).success();
}

#[test]
fn a_base_log_that_speculates() {
    let (log, base) = (h200("e3k5_al351.log"), h200("e3k3_al299.log"));
    let args =
        ["throughput", "predict", log.to_str().unwrap(), "--accept-length", "2", "--draft-length", "5"];
    let text = stderr(&[&args[..], &["--base", base.to_str().unwrap()]].concat(), 2);
    assert!(text.contains("speculates (draft length 3)"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let empty = with(&folder, "empty.log", |line| line.replace("Decode batch", "Something else"));
    let text = stderr(&[&args[..], &["--base", &empty]].concat(), 2);
    assert!(text.contains("holds no decode lines"), "{text}");
}

/// A refused law: calibrate says so and is done, even with a client; whatever needs the law cannot be decided.
#[test]
fn a_refused_law_has_one_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let log = with(&folder, "one.log", |line| line.replace("#token:", "#tokens:"));
    let client = h200("e3k5_al351.json");
    let model = folder.path().join("model.json");
    let model = model.to_str().unwrap();
    let shown =
        run(&["throughput", "calibrate", &log, "--client", client.to_str().unwrap(), "-o", model]).success();
    let text = String::from_utf8_lossy(&shown.get_output().stderr).into_owned();
    assert!(text.contains("not checked against") && text.contains("e3k5_al351.json"), "{text}");
    let lengths = ["--isl", "5", "--osl", "5", "--duration", "1"];
    let simulate = ["throughput", "simulate", model, "--accept-length", "2", "--concurrency", "1"];
    let text = stderr(&[&simulate[..], &lengths].concat(), 3);
    assert!(text.contains("the step law is refused"), "{text}");
    let text = stderr(&["throughput", "predict", model, "--accept-length", "2", "--running-req", "3"], 3);
    assert!(text.contains("the step law is refused"), "{text}");
    fs::write(&log, "{}").unwrap();
    let good = h200("e3k5_al351.log");
    let text = stderr(&["throughput", "calibrate", good.to_str().unwrap(), "--client", &log], 2);
    assert!(text.contains("one.log"), "{text}");
}

#[test]
fn models_and_durations_beyond_any_server() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.json");
    let name = file.to_str().unwrap();
    run(&["throughput", "calibrate", h200("e3k5_al351.log").to_str().unwrap(), "-o", name, "-q"]).success();
    let good = fs::read_to_string(&file).unwrap();
    let simulate = |duration| {
        let args = ["throughput", "simulate", name, "--accept-length", "2", "--concurrency", "1"];
        stderr(&[&args[..], &["--isl", "5", "--osl", "5", "--duration", duration]].concat(), 2)
    };
    for duration in ["1e300", "inf", "31622401"] {
        assert!(simulate(duration).contains("up to 31622400"), "{duration}");
    }
    for (path, value) in [
        ("/model/laws/0/outcome/step/a_s", 1e308),
        ("/model/laws/0/outcome/step/lanes", 1e300),
        ("/model/laws/0/outcome/prefill/p1_s", 1e7),
        ("/model/laws/0/outcome/resamples/rows/3/1", 1e200),
        ("/model/levels/0/tps", 1e300),
        ("/model/levels/0/tps_band/1", 1e300),
        ("/model/workload/output", 1e300),
    ] {
        let mut document: serde_json::Value = serde_json::from_str(&good).unwrap();
        *document.pointer_mut(path).unwrap() = serde_json::json!(value);
        fs::write(&file, document.to_string()).unwrap();
        let text = stderr(&["throughput", "predict", name, "--accept-length", "2"], 2);
        assert!(text.contains("calibrate again on the logs"), "{path}: {text}");
    }
    // So quick a step that a year has more of them than a run may take.
    let mut document: serde_json::Value = serde_json::from_str(&good).unwrap();
    for coefficient in ["a_s", "b_s", "c_s", "d_s"] {
        document["model"]["laws"][0]["outcome"]["step"][coefficient] = serde_json::json!(1e-6);
    }
    document["model"]["laws"][0]["outcome"]["prefill"] = serde_json::json!({"p0_s": 0.0, "p1_s": 0.0});
    document["model"]["laws"][0]["outcome"]["step"]["bend"] = serde_json::json!({"kind": "none"});
    fs::write(&file, document.to_string()).unwrap();
    assert!(simulate("31000000").contains("more than 4294967296 steps"));
}

fn path(name: &str) -> String {
    h200(name).to_str().unwrap().to_owned()
}

#[test]
fn other_speculative_algorithms_are_other_servers() {
    let text = stderr(&["throughput", "calibrate", &path("e3k5_al351.log"), &path("dspark_k5_al351.log")], 2);
    assert!(text.contains("different servers (speculative algorithm: EAGLE3 and DSPARK)"), "{text}");
}

#[test]
fn a_run_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.log");
    fs::copy(h200("e3k5_al351.log"), &copy).unwrap();
    let text = stderr(&["throughput", "calibrate", &path("e3k5_al351.log"), copy.to_str().unwrap()], 2);
    assert!(text.contains("copy.log are the same run, line by line: give it once"), "{text}");
}

#[test]
fn flags_that_contradict_the_log() {
    let log = path("e3k5_al351.log");
    for (flags, expected) in [
        (["--decode-log-interval", "20"], "a decode line every 40 steps"),
        (["--role", "decode"], "--role decode, but the log shows 36 prefills"),
    ] {
        let text = stderr(&[&["throughput", "calibrate", &log][..], &flags[..]].concat(), 2);
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_model_stands_alone() {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/throughput/h200_k3_k5.json");
    let predict = ["throughput", "predict", model, "--accept-length", "2"];
    for flags in [&["--role", "decode"][..], &["--experts", "8:2"], &["--kv-cache-tokens", "1000"]] {
        let args = [&predict[..], &["--draft-length", "5"], flags].concat();
        assert!(stderr(&args, 2).contains("is about logs"), "{flags:?}");
    }
    let both = ["throughput", "predict", model, &path("e3k5_al351.log"), "--accept-length", "2"];
    assert!(stderr(&both, 2).contains("h200_k3_k5.json is a model, not a log"));
    let simulate = [
        "throughput",
        "simulate",
        model,
        "--draft-length",
        "5",
        "--isl",
        "9",
        "--osl",
        "9",
        "--duration",
        "1",
    ];
    let load = ["--concurrency", "1", "--method", "real", "--rates"];
    let few = [&simulate[..], &load[..], &["0.5,0.4"]].concat();
    assert!(stderr(&few, 2).contains("2 rates do not fit draft length 5"));
    let two = [&simulate[..], &load[..], &["0.5,0.4,0.3,0.2,0.1", "--accept-length", "2"]].concat();
    assert!(stderr(&two, 2).contains("leave --accept-length out"));
}

#[test]
fn no_result_replaces_an_input() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("a.log");
    fs::copy(h200("e3k5_al351.log"), &log).unwrap();
    let before = fs::read(&log).unwrap();
    let log_name = log.to_str().unwrap();
    for args in [
        &["calibrate", log_name, "-o", log_name][..],
        &["predict", log_name, "--accept-length", "2", "-o", log_name],
        &["predict", log_name, "--accept-length", "2", "--html", log_name],
        &["pareto", log_name, "--x", "a", "--y", "b", "-o", log_name],
    ] {
        assert!(stderr(&[&["throughput"], args].concat(), 2).contains("it is an input"), "{args:?}");
    }
    assert_eq!(fs::read(&log).unwrap(), before);
    let page = folder.path().join("page.html");
    let page = page.to_str().unwrap();
    let both = ["throughput", "predict", log_name, "--accept-length", "2", "-o", page, "--html", page];
    assert!(stderr(&both, 2).contains("cannot write two results to"));
}

#[test]
fn model_files_that_no_calibration_writes() {
    let model =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/throughput/h200_k3_k5.json"))
            .unwrap();
    let read = |text: &str| {
        accsim::throughput::read_model(text.as_bytes()).map_err(|error| format!("{error}: {error:?}"))
    };
    read(&model).unwrap();
    let change = |at: &str, value: serde_json::Value| {
        let mut document: serde_json::Value = serde_json::from_str(&model).unwrap();
        *document.pointer_mut(at).unwrap_or_else(|| panic!("{at}")) = value;
        read(&document.to_string()).unwrap_err()
    };
    let cases = [
        ("/schema_version", 2.into(), "schema_version 2"),
        ("/model/most_running", 0.into(), "runs no requests"),
        ("/model/batch_tokens", 0.into(), "prefills no tokens"),
        ("/model/laws/0/verified", serde_json::json!({"0": 0}), "verifies no token"),
        ("/model/levels/0/tps_band", serde_json::json!([2.0, 1.0]), "the wrong way round"),
        ("/model/laws/0/outcome/quality/left_out_largest", (-5.0).into(), "an error of the fit below 0"),
    ];
    for (at, value, expected) in cases {
        let text = change(at, value);
        assert!(text.contains(expected), "{at}: {text}");
    }
    let twice = model.replacen("\"version\"", "\"version\": 1,\n \"version\"", 1);
    assert!(read(&twice).unwrap_err().contains("stands twice"));
}
