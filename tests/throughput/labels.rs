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
        let rows: Vec<&str> = text.lines().skip(2).filter(|line| !line.starts_with("error of")).collect();
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
    assert!(drawn.contains("k = 3<") && drawn.contains("k = 1, extrapolated<"), "{drawn}");
}
