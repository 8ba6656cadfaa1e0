//! No extrapolated number is printed without its label.

use std::path::Path;

use crate::support::{h200, json, stdout};

/// Every word that a number can stand on.
const WORDS: [&str; 4] = ["measured", "ratio", "interpolated", "extrapolated"];

fn model(folder: &Path, logs: &[&str]) -> String {
    let file = folder.join("model.json").to_str().unwrap().to_owned();
    let logs: Vec<String> = logs.iter().map(|log| h200(log).to_str().unwrap().to_owned()).collect();
    let args: Vec<&str> = ["throughput", "calibrate", "-o", &file, "-q"]
        .into_iter()
        .chain(logs.iter().map(String::as_str))
        .collect();
    crate::support::run(&args).success();
    file
}

#[test]
fn predictions_carry_their_basis_in_text_and_json() {
    let folder = tempfile::tempdir().unwrap();
    let model = model(folder.path(), &["e3k5_al351.log", "e3k3_al299.log", "base.log"]);
    let batches = "1,2,4,8,16,24,32,33,64,1000";
    for (drafts, lengths) in [("5", None), ("3", None), ("4", None), ("7", None), ("5", Some("60000"))] {
        let mut args = vec![
            "throughput",
            "predict",
            &model,
            "--accept-length",
            "1,2",
            "--running-req",
            batches,
            "--draft-length",
            drafts,
        ];
        if let Some(input) = lengths {
            args.extend(["--isl", input, "--osl", "500"]);
        }
        let text = stdout(&args);
        let is_row = |line: &&str| !line.starts_with("error of") && !line.starts_with("TPOT and E2E");
        // The plot stands below an empty line.
        let rows: Vec<&str> =
            text.lines().skip(2).take_while(|line| !line.is_empty()).filter(is_row).collect();
        args.push("--json");
        let document = json(&args);
        let entries = document["predictions"].as_array().unwrap();
        assert_eq!(rows.len(), entries.len());
        for (row, entry) in rows.iter().zip(entries) {
            let basis = entry["basis"].as_str().unwrap();
            assert!(WORDS.contains(&basis) && row.contains(basis), "{row}");
            let running = entry["running_req"].as_u64().unwrap();
            let beyond = running > 32 || drafts == "7" || lengths.is_some();
            assert_eq!(basis == "extrapolated", beyond, "{drafts} {entry}");
            assert_eq!(entry["factor_low"].is_f64(), beyond, "{entry}");
            if let Some(speedup) = entry.get("speedup_basis") {
                assert!(!beyond || speedup == "extrapolated", "{entry}");
            }
            let (tps, low, high) = (
                entry["gen_throughput_tps"].as_f64().unwrap(),
                entry["low"].as_f64().unwrap(),
                entry["high"].as_f64().unwrap(),
            );
            assert!(low <= tps * 1.05 && tps * 0.95 <= high && low <= high, "{entry}");
        }
    }
}

#[test]
fn simulations_and_sweeps_carry_their_basis() {
    let folder = tempfile::tempdir().unwrap();
    let model = model(folder.path(), &["e3k5_al351.log", "e3k3_al299.log"]);
    let args = [
        "throughput",
        "simulate",
        &model,
        "--accept-length",
        "2",
        "--draft-length",
        "5",
        "--concurrency",
        "4,200",
        "--isl",
        "512",
        "--osl",
        "512",
        "--duration",
        "10",
        "--max-running",
        "300",
    ];
    let text = stdout(&args);
    let rows: Vec<&str> = text.lines().skip(2).collect();
    assert!(rows[0].contains("interpolated") && rows[1].contains("extrapolated"), "{text}");
    let sweep = [
        "throughput",
        "sweep",
        &model,
        "--curve",
        "kimik2.5_eagle3",
        "--concurrency",
        "4,32",
        "--isl",
        "512",
        "--osl",
        "512",
        "--duration",
        "10",
        "--replicates",
        "2",
    ];
    let csv = stdout(&[&sweep[..], &["--format", "csv"]].concat());
    let mut rows = 0;
    for line in csv.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let drafts: u32 = cells[1].parse().unwrap();
        assert_eq!(cells[3] == "extrapolated", !(3..=5).contains(&drafts), "{line}");
        rows += 1;
    }
    assert!(rows >= 6, "{csv}");
    let text = stdout(&sweep);
    for line in text.lines().filter(|line| line.starts_with("concurrency ") && line.contains(": draft")) {
        assert!(line.ends_with("(extrapolated)") || line.ends_with("(interpolated)"), "{line}");
    }
    let plot = folder.path().join("plot.svg");
    stdout(&[&sweep[..], &["--plot", plot.to_str().unwrap()]].concat());
    let drawn = std::fs::read_to_string(plot).unwrap();
    assert!(
        drawn.contains("k = 3<") && drawn.contains("k = 1 *<") && drawn.contains("* extrapolated<"),
        "{drawn}"
    );
}

#[test]
fn drawings_mark_what_is_extrapolated() {
    let folder = tempfile::tempdir().unwrap();
    let model = model(folder.path(), &["e3k5_al351.log"]);
    let drawing = folder.path().join("drawing.svg").to_str().unwrap().to_owned();
    let drawn = |args: &[&str]| {
        crate::support::run(&[args, &["-o", &drawing]].concat()).success();
        std::fs::read_to_string(&drawing).unwrap()
    };
    let predict = |batches: &str| {
        drawn(&["throughput", "predict", &model, "--accept-length", "2,3", "--running-req", batches])
    };
    assert!(predict("4,64").contains("extrapolated") && !predict("4,16").contains("extrapolated"));
    let simulate = |clients: &str| {
        let lengths = ["--isl", "512", "--osl", "512", "--duration", "5", "--max-running", "300"];
        let args = ["throughput", "simulate", &model, "--accept-length", "2", "--concurrency", clients];
        drawn(&[&args[..], &lengths[..]].concat())
    };
    assert!(simulate("4,64").contains("extrapolated") && !simulate("4,16").contains("extrapolated"));
}

#[test]
fn requests_of_other_lengths_are_extrapolated() {
    let log = h200("var_k5_al351.log").to_str().unwrap().to_owned();
    let args =
        ["throughput", "predict", &log, "--accept-length", "3.51,2", "--concurrency", "1,4,16,32", "--json"];
    let own = json(&args);
    let other = json(&[&args[..], &["--isl", "512", "--osl", "512"]].concat());
    let entries = other["predictions"].as_array().unwrap();
    assert_eq!(entries.len(), 8);
    for entry in entries {
        assert_eq!(entry["basis"], "extrapolated", "{entry}");
        let (tps, high) = (entry["gen_throughput_tps"].as_f64().unwrap(), entry["high"].as_f64().unwrap());
        assert!(high > tps * 1.05, "{entry}");
    }
    for entry in own["predictions"].as_array().unwrap() {
        assert_ne!(entry["basis"], "extrapolated", "{entry}");
    }
}

/// (latency - time to the first token) / (output tokens - 1), without a value for outputs of one token.
#[test]
fn a_time_per_token_leaves_the_first_out() {
    let log = h200("e3k5_al351.log").to_str().unwrap().to_owned();
    let args = [
        "throughput",
        "predict",
        &log,
        "--accept-length",
        "2.5",
        "--concurrency",
        "16",
        "--json",
        "--isl",
        "512",
    ];
    let of = |output: &str| json(&[&args[..], &["--osl", output]].concat())["predictions"][0].clone();
    let found = of("512");
    let figure = |name: &str| found[name].as_f64().unwrap();
    let first_s = figure("queue_s") + figure("prefill_share") * 512.0 / figure("gen_throughput_tps");
    let expected = (figure("e2e_s") - first_s) / 511.0 * 1e3;
    assert!((figure("tpot_ms") - expected).abs() < 1e-6 * expected, "{found}");
    assert!(of("1")["tpot_ms"].is_null());
}
