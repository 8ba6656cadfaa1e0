//! `records` of documents.

use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::support::{accsim, data, records, text_of};

fn has(record: &Value, expected: &Value) {
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&record[name], value, "{name} of {record}");
    }
}

#[test]
fn atom_debug_stats_have_the_names_and_units_of_the_log_records() {
    let found = records(&data("atom_mtp_stats.json"));
    assert_eq!(found.len(), 1);
    has(
        &found[0],
        &json!({
            "kind": "debug_stats", "engine": "atom", "line": 1, "accept_len": 3.7699, "accepted": 553_980,
            "drafted": 1_400_000, "draft_length": 7, "steps": 200_000, "draft_accept_rate": 0.3957,
            "distribution": {"2": 46_020, "3": 153_980}, "contradictions": [],
        }),
    );
}

#[test]
fn every_document_of_the_shared_lines() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/log_lines/other_engines.jsonl");
    let Ok(text) = std::fs::read_to_string(shared) else { return };
    let mut seen = 0;
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        // The lines of logs are read by the tests of engines.
        if !matches!(case["expect"]["kind"].as_str(), Some("debug_stats" | "iteration_json")) {
            continue;
        }
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(case["text"].as_str().unwrap().as_bytes()).unwrap();
        let found = records(file.path());
        assert_eq!(found.len(), 1);
        has(&found[0], &case["expect"]);
        seen += 1;
    }
    assert!(seen > 0);
}

#[test]
fn iterations_are_records_of_their_rank_and_an_iteration_without_drafts_has_no_length() {
    let found = records(&data("trtllm_metrics.json"));
    assert_eq!(found.len(), 4, "a record without statistics is none");
    has(
        &found[0],
        &json!({"kind": "iteration_json", "engine": "trtllm", "iter": 100, "rank": 0, "accept_len": 2.5,
            "accepted": 12, "drafted": 24, "steps": 8, "draft_length": 3}),
    );
    has(&found[2], &json!({"accept_len": null, "accept_len_printed": 0.0, "steps": 0}));
    has(&found[3], &json!({"rank": 1, "steps": 7}));
}

#[test]
fn counters_of_all_engines_are_summed_over_series() {
    for (file, expected) in [
        (
            "vllm_after.prom",
            json!({"engine": "vllm", "accepted": 7520, "steps": 3000, "drafted": 15_000, "draft_length": 5}),
        ),
        (
            "trtllm_after.prom",
            json!({"engine": "trtllm", "accepted": 1639, "steps": 1100, "accept_len": 2.49}),
        ),
        (
            "atom_after.prom",
            json!({"engine": "atom", "accepted": 554_260, "steps": 200_100, "draft_length": 7}),
        ),
    ] {
        let found = records(&data(file));
        assert_eq!(found.len(), 1, "{file}");
        has(&found[0], &expected);
        has(&found[0], &json!({"kind": "counters", "span": "lifetime", "contradictions": []}));
    }
}

#[test]
fn a_gauge_is_no_accept_length() {
    let found = records(&data("sglang.prom"));
    has(
        &found[0],
        &json!({"engine": "sglang", "accept_len": null, "last_interval_accept_len": 3.55, "steps": null}),
    );
}

#[test]
fn exports_of_aiperf_count_what_rose_in_the_run() {
    for file in ["aiperf_server_metrics.json", "aiperf_server_metrics.jsonl"] {
        let found = records(&data(file));
        let vllm = found.iter().find(|record| record["engine"] == "vllm").unwrap();
        has(
            vllm,
            &json!({"span": "window", "accepted": 5020, "steps": 2000, "accept_len": 3.51, "endpoints": 2, "restarted": null}),
        );
    }
    let found = records(&data("aiperf_server_metrics.json"));
    has(&found[0], &json!({"engine": "sglang", "accept_len": null, "last_interval_accept_len": 3.49}));
}

#[test]
fn requests_know_of_the_token_of_the_prefill() {
    let found = records(&data("sglang_requests.jsonl"));
    assert_eq!(found.len(), 2);
    has(
        &found[0],
        &json!({"kind": "request", "engine": "sglang", "line": 1, "accepted": 368, "steps": 144,
            "distribution": {"2": 64, "3": 80}, "contradictions": []}),
    );
    assert_eq!(found[1]["line"], 2);
    has(
        &records(&data("vllm_request.json"))[0],
        &json!({"engine": "vllm", "accept_len": 2.5, "steps": 40, "accepted": 60, "completion_tokens": 101}),
    );
}

#[test]
fn all_ranks_of_a_server_are_read_and_its_echoed_settings() {
    has(
        &records(&data("sglang_server_info.json"))[0],
        &json!({"kind": "server_info", "accept_len": 3.512, "rank_accept_lens": [3.5265, 3.4975, null],
            "settings": {"SGLANG_SIMULATE_ACC_LEN": "3.51"}}),
    );
}

#[test]
fn a_fall_between_scrapes_of_an_export_is_named() {
    let text = text_of(&data("aiperf_server_metrics.jsonl")).replace("\"value\": 1600.0", "\"value\": 16.0");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("export.jsonl");
    std::fs::write(&file, text).unwrap();
    let found = records(&file);
    assert!(found[0]["restarted"].as_str().unwrap().contains("spec_decode_num_drafts"), "{}", found[0]);
}

#[test]
fn what_is_cut_or_broken_is_rejected_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scrape");
    let path = file.to_str().unwrap();
    let rejected = |text: &str| {
        std::fs::write(&file, text).unwrap();
        accsim(&["records", path, "--kind", "counters,request,rejected"]).lines()
    };
    let whole = text_of(&data("vllm_after.prom"));
    let cut = rejected(whole.get(..whole.len() - 3).unwrap());
    assert_eq!(cut.len(), 1, "{cut:?}");
    has(&cut[0], &json!({"kind": "rejected", "reason": "truncated"}));
    let broken = rejected(&whole.replace("# TYPE vllm:spec_decode_num_drafts_total counter", "garbage {"));
    has(&broken[0], &json!({"kind": "rejected", "reason": "lookalike"}));
    assert_eq!(broken[1]["kind"], "counters");
    let requests = text_of(&data("sglang_requests.jsonl"));
    let cut = rejected(requests.get(..requests.len() - 20).unwrap());
    assert_eq!(cut[0]["kind"], "request");
    has(&cut[1], &json!({"reason": "truncated", "line": 2}));
}

#[test]
fn documents_are_found_by_content_in_folders_and_archives() {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = zip::ZipWriter::new(std::fs::File::create(folder.path().join("run.bin")).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    for (name, file) in [("a/scrape", "vllm_after.prom"), ("b.txt", "atom_mtp_stats.json")] {
        archive.start_file(name, options).unwrap();
        archive.write_all(text_of(&data(file)).as_bytes()).unwrap();
    }
    archive.finish().unwrap();
    std::fs::copy(data("sglang_requests.jsonl"), folder.path().join("answers.log")).unwrap();
    let found = records(folder.path());
    let kinds: Vec<&str> = found.iter().map(|record| record["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["request", "request", "counters", "debug_stats"]);
    assert!(found[2]["file"].as_str().unwrap().ends_with("run.bin!/a/scrape"));
}
