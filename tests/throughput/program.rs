//! The commands, end to end.

use std::fs;

use crate::support::{h200, json, log, near, run, server, stdout};
use accsim::throughput::sim::{Server, Traffic};

fn path(file: &std::path::Path) -> &str {
    file.to_str().unwrap()
}

#[test]
fn pareto_of_the_published_table() {
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/throughput/signoff_points.csv");
    let args = |x| json(&["throughput", "pareto", table, "--x", x, "--y", "tps_per_gpu", "--json"]);
    let p90 = args("e2e_p90_s");
    assert_eq!(
        (p90["points"].as_u64(), p90["invalid"].as_u64(), p90["frontier"].as_u64()),
        (Some(8), Some(0), Some(7))
    );
    assert_eq!(p90["dominated"], serde_json::json!([{"index": 0, "by": 1}]));
    let p75 = args("e2e_p75_s");
    assert_eq!(p75["frontier"], 6);
    let csv =
        stdout(&["throughput", "pareto", table, "--x", "e2e_p90_s", "--y", "tps_per_gpu", "--format", "csv"]);
    assert!(
        csv.starts_with("index,e2e_p90_s,tps_per_gpu,standing,by\n0,9.159,7105.5,dominated,1\n"),
        "{csv}"
    );
    let svg =
        stdout(&["throughput", "pareto", table, "--x", "e2e_p90_s", "--y", "tps_per_gpu", "--format", "svg"]);
    // Eight points, and the mark of the dominated ones in the legend.
    assert!(svg.starts_with("<svg") && svg.matches("h0").count() == 9, "{svg}");
    let error = run(&["throughput", "pareto", table, "--x", "e2e_p99_s", "--y", "tps_per_gpu"]).code(2);
    let text = String::from_utf8_lossy(&error.get_output().stderr).into_owned();
    assert!(text.contains("no column e2e_p99_s; did you mean e2e_p90_s?"), "{text}");
}

/// Ranks of an emitted log draw alike; the auditor takes it for what it is.
#[test]
fn the_emitted_log_is_consistent_and_calibrates_again() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.json");
    run(&["throughput", "calibrate", path(&h200("var_k5_al351.log")), "-o", path(&model), "-q"]).success();
    let emitted = folder.path().join("emitted.log");
    for method in ["match-expected", "multinomial", "per-request"] {
        let args = [
            "throughput",
            "simulate",
            path(&model),
            "--accept-length",
            "3.51",
            "--method",
            method,
            "--concurrency",
            "16",
            "--isl",
            "128-2048",
            "--osl",
            "64-1024",
            "--duration",
            "120",
            "--emit-log",
            path(&emitted),
            "--json",
        ];
        let document = json(&args);
        let point = &document["points"][0];
        assert_eq!(point["concurrency"], 16);
        near(point["mean_accept_length"].as_f64().unwrap(), 3.51, 0.02);
        for field in
            ["output_tps", "requests", "e2e_mean_s", "e2e_p50_s", "e2e_p90_s", "gap_p99_ms", "tpot_p50_ms"]
        {
            assert!(point[field].as_f64().unwrap() > 0.0, "{field}");
        }
        let audit = ["audit", path(&emitted), "--accept-length", "3.51", "--max-accept-length", "6"];
        if method == "match-expected" {
            run(&audit).success();
        } else {
            run(&audit).code(1);
        }
    }
    let again = json(&[
        "throughput",
        "predict",
        path(&emitted),
        "--accept-length",
        "3.51,2",
        "--running-req",
        "16",
        "--json",
    ]);
    assert_eq!(again["predictions"][0]["basis"], "measured");
    assert_eq!(again["predictions"][1]["basis"], "ratio");
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.json");
    run(&["throughput", "calibrate", path(&h200("e3k5_al351.log")), "-o", path(&model), "-q"]).success();
    let simulated = |threads| {
        stdout(&[
            "throughput",
            "simulate",
            path(&model),
            "--accept-length",
            "3.51",
            "--concurrency",
            "1,16",
            "--isl",
            "512",
            "--osl",
            "100-512",
            "--duration",
            "20",
            "--replicates",
            "4",
            "--seed",
            "9",
            "--json",
            "--threads",
            threads,
        ])
    };
    assert_eq!(simulated("1"), simulated("3"));
}

#[test]
fn traces_are_served_as_they_come() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.json");
    run(&["throughput", "calibrate", path(&h200("e3k5_al351.log")), "-o", path(&model), "-q"]).success();
    let (csv, jsonl) = (folder.path().join("trace.csv"), folder.path().join("trace.jsonl"));
    fs::write(&csv, "arrival_s,isl,osl\n0,512,100\n1.5,512,200\n").unwrap();
    fs::write(&jsonl, "{\"timestamp\":0,\"input_length\":512,\"output_length\":100}\n{\"timestamp\":1500,\"input_length\":512,\"output_length\":200}\n")
        .unwrap();
    let simulated = |file: &std::path::Path| {
        json(&[
            "throughput",
            "simulate",
            path(&model),
            "--accept-length",
            "2",
            "--trace",
            path(file),
            "--json",
        ])
    };
    let found = simulated(&csv);
    assert_eq!(found, simulated(&jsonl));
    assert_eq!(
        (found["points"][0]["requests"].as_u64(), found["points"][0]["concurrency"].is_null()),
        (Some(2), true)
    );
}

/// The model says where it comes from, in which units, and what it leaves out; and the client's figures check it.
#[test]
fn a_model_file_has_provenance_units_quality_and_ranges() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.json");
    let (log, client) = (h200("e3k5_al351.log"), h200("e3k5_al351.json"));
    let text =
        stdout(&["throughput", "calibrate", path(&log), "--client", path(&client), "-o", path(&model)]);
    assert!(text.contains("step time fitted") && text.contains("against the client"), "{text}");
    let document: serde_json::Value = serde_json::from_slice(&fs::read(&model).unwrap()).unwrap();
    assert_eq!((document["schema_version"].as_u64(), document["version"].as_u64()), (Some(1), Some(1)));
    assert!(document["units"]["b_s"].is_string() && document["not_modelled"].is_array());
    let body = &document["model"];
    assert_eq!(body["sources"][0]["excluded"]["first"], 1);
    assert_eq!(body["sources"][0]["started"], "2026-11-30 07:32:36");
    let law = &body["laws"][0];
    assert_eq!((law["draft_lengths"][0].as_u64(), law["ranges"]["running"][1].as_u64()), (Some(5), Some(32)));
    assert!(law["outcome"]["quality"]["left_out_largest"].as_f64().unwrap() < 0.05);
    assert_eq!(law["outcome"]["resamples"]["rows"].as_array().unwrap().len(), 1000);
    assert_eq!(body["workload"]["output"], 512.0);
}

#[test]
fn a_base_log_gives_speedup_and_break_even() {
    let (log, base) = (h200("e3k5_al351.log"), h200("base.log"));
    let document = json(&[
        "throughput",
        "predict",
        path(&log),
        "--base",
        path(&base),
        "--accept-length",
        "3.51",
        "--gpus",
        "2",
        "--json",
    ]);
    let client = |file: &str| -> f64 {
        let text = fs::read_to_string(h200(file)).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        value["phases"][0]["output_tps"].as_f64().unwrap()
    };
    let one = &document["predictions"][0];
    near(one["speedup"].as_f64().unwrap(), client("e3k5_al351.json") / client("base.json"), 0.03);
    let even = one["break_even_accept_length"].as_f64().unwrap();
    assert!((1.5..2.2).contains(&even), "{even}");
    near(
        one["gen_throughput_tps_per_gpu"].as_f64().unwrap() * 2.0,
        one["gen_throughput_tps"].as_f64().unwrap(),
        1e-9,
    );
}

#[test]
fn a_sweep_takes_two_draft_lengths() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.json");
    run(&["throughput", "calibrate", path(&h200("e3k5_al351.log")), "-o", path(&model), "-q"]).success();
    let refused = run(&["throughput", "sweep", path(&model), "--curve", "kimik2.5_eagle3"]).code(2);
    let text = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(text.contains("at least two of them; this one holds [5]"), "{text}");
}

/// A refused step law is a result: the model says so, measured batches are answered, others are not.
#[test]
fn a_refusal_is_part_of_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let (file, model) = (folder.path().join("one.log"), folder.path().join("model.json"));
    let traffic =
        Traffic::closed(16, crate::support::lengths("1000"), crate::support::lengths("200-600"), 60.0);
    fs::write(&file, log(&Server { most_running: 16, ..server(4, 3.51) }, &traffic, 1)).unwrap();
    let text = stdout(&["throughput", "calibrate", path(&file), "-o", path(&model)]);
    assert!(text.contains("step law refused") && text.contains("two more concurrency levels"), "{text}");
    run(&["throughput", "predict", path(&model), "--accept-length", "3.51", "--running-req", "16"]).success();
    let refused =
        run(&["throughput", "predict", path(&model), "--accept-length", "3.51", "--running-req", "32"])
            .code(3);
    let text = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(
        text.contains("32 running requests were not measured")
            && text.contains("two more concurrency levels"),
        "{text}"
    );
}

/// A plot below the numbers where there is a course to see; more of them on demand, none where programs read.
#[test]
fn the_first_plot_stands_below_the_numbers() {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/throughput/h200_k3_k5.json");
    let predict = |more: &[&str]| {
        let asked = ["throughput", "predict", model, "--draft-length", "5", "--accept-length"];
        stdout(&[&asked, more].concat())
    };
    let plots = |text: &str| text.matches("└──").count();
    let course = predict(&["2.0,3.0,4.0", "--running-req", "16"]);
    assert_eq!(plots(&course), 1, "{course}");
    let drawn = course.split_once("\n\n").unwrap().1;
    assert!(drawn.starts_with("Throughput over accept length: output tokens/s\n"), "{drawn}");
    assert!(drawn.lines().count() <= 12, "{drawn}");
    assert!(predict(&["2.0", "--running-req", "4,16"]).contains("Throughput over running requests"));
    assert!(plots(&predict(&["2.0,3.0", "--running-req", "4,16", "-v"])) > 2);
    for none in [&["2.0,3.0", "-q"][..], &["2.0,3.0", "--json"], &["2.0", "--running-req", "16"]] {
        let text = predict(none);
        assert_eq!(plots(&text), 0, "{none:?}: {text}");
    }
    let log = h200("e3k3_al299.log");
    let calibrated = stdout(&["throughput", "calibrate", path(&log)]);
    assert!(calibrated.contains("Throughput: output tokens/s of a rank"), "{calibrated}");
    assert_eq!(plots(&stdout(&["throughput", "calibrate", path(&log), "--json"])), 0);
}
