//! Audits from counters and requests, alone and beside a log.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use accsim::cli::Exit;
use serde_json::Value;

use super::support::{Ran, accsim, data, text_of};

/// An audit against 3.51 of at most 6 tokens.
fn audit(path: &Path) -> Ran {
    let path = path.to_str().unwrap();
    accsim(&["audit", path, "--accept-length", "3.51", "--max-accept-length", "6", "--json"])
}

fn codes(document: &Value) -> Vec<&str> {
    let findings = document["points"][0]["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

/// A folder with copies of fixtures under these names.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, fixture) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(data(fixture), path).unwrap();
    }
    folder
}

/// Decode lines of SGLang whose mean is `length`.
fn log(lines: u64, values: [&str; 2]) -> String {
    let mut text = String::new();
    for line in 0..lines {
        let value = values[usize::from(line % 2 == 1)];
        writeln!(
            text,
            "[2026-10-12 01:{:02}:{:02} TP0] Decode batch, #running-req: 1, #token: {}, token usage: 0.05, accept len: {value}, \
             accept rate: 0.50, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0",
            line / 60,
            line % 60,
            700 + line
        )
        .unwrap();
    }
    text
}

#[test]
fn two_scrapes_of_each_engine_are_judged_by_its_law() {
    for (engine, target, most, mean) in
        [("vllm", "3.51", "6", 3.51), ("atom", "3.78", "8", 3.7699), ("trtllm", "2.49", "4", 2.49)]
    {
        let (before, after) = (format!("{engine}_before.prom"), format!("{engine}_after.prom"));
        let folder = folder(&[(before.as_str(), before.as_str()), (after.as_str(), after.as_str())]);
        let path = folder.path().to_str().unwrap();
        let ran = accsim(&["audit", path, "--accept-length", target, "--max-accept-length", most, "--json"]);
        let document = ran.json();
        let point = &document["points"][0];
        assert_eq!(ran.exit, Exit::Ok, "{engine}: {document}");
        assert_eq!(point["engine"], engine);
        assert!((point["accept_len"]["mean"].as_f64().unwrap() - mean).abs() < 5e-5, "{engine}");
        assert_eq!(point["mechanism"]["best"], "match-expected", "{engine}");
    }
}

#[test]
fn folders_named_before_and_after_have_one_file_an_endpoint() {
    let folder = folder(&[
        ("before/a", "vllm_before.prom"),
        ("before/b", "vllm_before.prom"),
        ("after/a", "vllm_after.prom"),
        ("after/b", "vllm_after.prom"),
    ]);
    let document = audit(folder.path()).json();
    assert_eq!(document["points"][0]["steps"], 4000, "{document}");
    assert_eq!(document["points"][0]["ranks"].as_array().unwrap().len(), 2);
}

#[test]
fn counters_of_another_length_are_inconsistent() {
    let folder = folder(&[("before", "vllm_before.prom"), ("after", "vllm_after.prom")]);
    let path = folder.path().to_str().unwrap();
    let ran = accsim(&["audit", path, "--accept-length", "2.9", "--max-accept-length", "6", "--json"]);
    assert_eq!(ran.exit, Exit::Wrong, "{}", ran.json());
}

#[test]
fn an_export_of_a_client_is_judged_too() {
    let document = audit(&data("aiperf_server_metrics.json")).json();
    assert_eq!(document["verdict"], "consistent", "{document}");
    assert_eq!(document["points"][0]["steps"], 2000);
    // The gauge in it is named as one.
    assert!(codes(&document).contains(&"gauge-only"));
    // The same run twice over is one evidence.
    let folder = folder(&[
        ("before.prom", "vllm_before.prom"),
        ("after.prom", "vllm_after.prom"),
        ("export.json", "aiperf_server_metrics.json"),
    ]);
    assert_eq!(audit(folder.path()).json()["points"][0]["steps"], 2000);
}

#[test]
fn a_restart_and_a_contradiction_are_named_and_not_used() {
    let restarted = folder(&[("before.prom", "vllm_before.prom"), ("after.prom", "vllm_restarted.prom")]);
    let document = audit(restarted.path()).json();
    assert!(codes(&document).contains(&"counter-reset"), "{document}");
    assert_eq!(document["points"][0]["accept_len"]["mean"], Value::Null);
    let wrong = folder(&[("before.prom", "vllm_before.prom"), ("after.prom", "vllm_contradiction.prom")]);
    let document = audit(wrong.path()).json();
    assert!(codes(&document).contains(&"counts-contradict"), "{document}");
    assert_eq!(document["points"][0]["accept_len"]["mean"], Value::Null);
}

#[test]
fn gauges_and_averages_decide_nothing() {
    for file in ["sglang.prom", "sglang_server_info.json"] {
        let ran = audit(&data(file));
        let document = ran.json();
        assert_eq!(ran.exit, Exit::Undecided, "{file}: {document}");
        assert!(codes(&document).contains(&"gauge-only"), "{file}: {document}");
        assert_eq!(document["points"][0]["accept_len"]["mean"], Value::Null, "{file}");
    }
}

#[test]
fn metrics_without_drafting_are_no_accept_length_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let scrape = "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine=\"0\"} 3\n";
    fs::write(folder.path().join("scrape"), scrape).unwrap();
    let ran = audit(folder.path());
    let document = ran.json();
    assert_eq!((ran.exit, codes(&document)), (Exit::Undecided, vec!["no-speculative-fields"]), "{document}");
    let point = &document["points"][0];
    assert_eq!((&point["engine"], &point["verdict"]), (&"vllm".into(), &"unauditable".into()), "{document}");
    assert_eq!(point["accept_len"]["mean"], Value::Null);
}

/// Counters of drafting that stand still, alone, between two scrapes and in an export.
#[test]
fn counters_that_count_nothing_are_no_accept_length_of_one() {
    let atom = "# TYPE atom:mtp_draft_tokens counter\natom:mtp_draft_tokens_total 0\natom:mtp_accepted_tokens_total 0\n";
    let export = text_of(&data("aiperf_server_metrics.json"));
    let mut export: Value = serde_json::from_str(&export).unwrap();
    export["metrics"].as_object_mut().unwrap().retain(|name, _| name.starts_with("vllm:"));
    for family in export["metrics"].as_object_mut().unwrap().values_mut() {
        for series in family["series"].as_array_mut().unwrap() {
            if series["stats"].get("total").is_some() {
                series["stats"]["total"] = 0.0.into();
            }
        }
    }
    for files in [
        vec![("scrape.prom", scrape(0, Some(7)))],
        vec![("before.prom", scrape(9000, Some(7))), ("after.prom", scrape(9000, Some(7)))],
        vec![("scrape.prom", atom.to_owned())],
        vec![("before.prom", atom.to_owned()), ("after.prom", atom.to_owned())],
        vec![("export.json", export.to_string())],
    ] {
        let folder = written(&files);
        let ran = audit(folder.path());
        let document = ran.json();
        assert_eq!(
            (ran.exit, codes(&document)),
            (Exit::Undecided, vec!["no-speculative-fields"]),
            "{document}"
        );
        assert_eq!(document["points"][0]["verdict"], "unauditable", "{document}");
        assert_eq!(document["points"][0]["accept_len"]["mean"], Value::Null);
    }
}

/// A length that is printed beside counts is theirs, or none of both is used.
#[test]
fn a_printed_length_is_held_against_the_counts_beside_it() {
    for (file, printed, changed) in [
        ("trtllm_metrics.json", "\"acceptanceLength\": 2.375", "\"acceptanceLength\": 3.375"),
        ("trtllm_metrics.json", "\"acceptanceLength\": 0.0", "\"acceptanceLength\": 2.5"),
        ("atom_mtp_stats.json", "3.7699", "3.8699"),
        ("vllm_request.json", "\"mean_acceptance_length\": 2.5", "\"mean_acceptance_length\": 3.5"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(file);
        let text = text_of(&data(file));
        assert!(text.contains(printed), "{file}");
        fs::write(&path, &text).unwrap();
        assert!(!codes(&audit(&path).json()).contains(&"counts-contradict"), "{file}");
        fs::write(&path, text.replacen(printed, changed, 1)).unwrap();
        let document = audit(&path).json();
        assert!(codes(&document).contains(&"counts-contradict"), "{file}: {document}");
        let found = super::support::records(&path);
        let says = |record: &Value| record["contradictions"].to_string().contains("is printed");
        assert_eq!(found.iter().filter(|record| says(record)).count(), 1, "{file}: {found:?}");
    }
}

#[test]
fn requests_that_disagree_with_the_log_are_found() {
    let folder = folder(&[("answers.jsonl", "sglang_requests.jsonl")]);
    let file = folder.path().join("server.log");
    fs::write(&file, log(200, ["3.50", "3.52"])).unwrap();
    let agreeing = audit(folder.path()).json();
    assert!(!codes(&agreeing).contains(&"evidence-disagrees"), "{agreeing}");
    fs::write(&file, log(200, ["2.50", "2.52"])).unwrap();
    let document = audit(folder.path()).json();
    assert!(codes(&document).contains(&"evidence-disagrees"), "{document}");
}

#[test]
fn iterations_of_ranks_are_pooled_by_requests_with_drafts() {
    let path = data("trtllm_metrics.json");
    let document = accsim(&[
        "audit",
        path.to_str().unwrap(),
        "--accept-length",
        "2.5",
        "--max-accept-length",
        "4",
        "--json",
    ])
    .json();
    let point = &document["points"][0];
    assert_eq!(point["engine"], "trtllm");
    assert_eq!(point["steps"], 23);
    let mean = 1.0 + f64::from(12 + 11 + 11) / 23.0;
    assert!((point["accept_len"]["mean"].as_f64().unwrap() - mean).abs() < 1e-9);
}

#[test]
fn a_histogram_of_real_drafts_is_not_simulated() {
    // Bins from none to five: no two neighbours.
    let folder = tempfile::tempdir().unwrap();
    let request = text_of(&data("sglang_requests.jsonl")).lines().next().unwrap().to_owned();
    let request = request
        .replace("[0, 0, 64, 80]", "[60, 30, 20, 14, 11, 9]")
        .replace("\"spec_num_correct_drafts\": 368", "\"spec_num_correct_drafts\": 201")
        .replace("\"spec_accept_length\": 3.5555555555555554", "\"spec_accept_length\": 2.3958333333333335")
        .replace("\"completion_tokens\": 512", "\"completion_tokens\": 346");
    fs::write(folder.path().join("answers.jsonl"), (request + "\n").repeat(40)).unwrap();
    let document = audit(folder.path()).json();
    assert_eq!(document["verdict"], "inconsistent", "{document}");
    let rejected = document["points"][0]["mechanism"]["rejected"].as_array().unwrap();
    assert!(rejected.iter().any(|name| name == "match-expected"), "{document}");
}

/// A scrape of vLLM: steps at 3.51 of five drafts.
fn scrape(steps: u64, created: Option<u64>) -> String {
    let accepted = steps * 251 / 100;
    let mut text = String::from("# TYPE vllm:spec_decode_num_drafts_total counter\n");
    for (name, value) in
        [("num_drafts", steps), ("num_accepted_tokens", accepted), ("num_draft_tokens", steps * 5)]
    {
        writeln!(text, "vllm:spec_decode_{name}_total{{engine=\"0\",model_name=\"m\"}} {value}").unwrap();
        if let Some(created) = created {
            writeln!(text, "vllm:spec_decode_{name}_created{{engine=\"0\",model_name=\"m\"}} {created}")
                .unwrap();
        }
    }
    text
}

fn written(files: &[(&str, String)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[test]
fn snapshots_without_a_moment_are_never_added_up() {
    // Of one server, as its series' creation says: the last less the first.
    let one = written(&[
        ("m1.prom", scrape(1000, Some(7))),
        ("m2.prom", scrape(9000, Some(7))),
        ("m3.prom", scrape(4000, Some(7))),
    ]);
    assert_eq!(audit(one.path()).json()["points"][0]["steps"], 8000);
    // Of two servers.
    let two = written(&[("m1.prom", scrape(1000, Some(7))), ("m2.prom", scrape(9000, Some(8)))]);
    assert_eq!(audit(two.path()).json()["points"][0]["steps"], 10_000);
    // A copy counts once.
    let copy = written(&[("m1.prom", scrape(9000, None)), ("m2.prom", scrape(9000, None))]);
    assert_eq!(audit(copy.path()).json()["points"][0]["steps"], 9000);
    // Nothing tells.
    let doubtful = written(&[("m1.prom", scrape(1000, None)), ("m2.prom", scrape(9000, None))]);
    let document = audit(doubtful.path()).json();
    assert_eq!(document["points"][0]["accept_len"]["mean"], Value::Null, "{document}");
    assert!(codes(&document).contains(&"counter-reset"), "{document}");
    // One in the middle adds nothing to those before and after.
    let middle = written(&[
        ("before.prom", scrape(1000, Some(7))),
        ("after.prom", scrape(9000, Some(7))),
        ("middle.prom", scrape(4000, Some(7))),
    ]);
    assert_eq!(audit(middle.path()).json()["points"][0]["steps"], 8000);
}

#[test]
fn exports_of_one_measurement_are_compared() {
    let folder = folder(&[
        ("export.json", "aiperf_server_metrics.json"),
        ("export.jsonl", "aiperf_server_metrics.jsonl"),
        ("copy.json", "aiperf_server_metrics.json"),
    ]);
    let document = audit(folder.path()).json();
    assert_eq!(document["points"][0]["steps"], 2000, "{document}");
    assert!(!codes(&document).contains(&"evidence-disagrees"), "{document}");
    // Half of what was accepted is missing in one of them.
    let text = text_of(&data("aiperf_server_metrics.json"));
    let mut export: Value = serde_json::from_str(&text).unwrap();
    export["metrics"].as_object_mut().unwrap().retain(|name, _| !name.contains("per_pos"));
    for series in export["metrics"]["vllm:spec_decode_num_accepted_tokens"]["series"].as_array_mut().unwrap()
    {
        let total = series["stats"]["total"].as_f64().unwrap();
        series["stats"]["total"] = (total / 2.0).round().into();
    }
    fs::remove_file(folder.path().join("copy.json")).unwrap();
    fs::write(folder.path().join("export.json"), export.to_string()).unwrap();
    let ran = audit(folder.path());
    let document = ran.json();
    assert!(codes(&document).contains(&"evidence-disagrees"), "{document}");
    assert_ne!(ran.exit, Exit::Ok);
}

#[test]
fn scraped_servers_of_two_draft_lengths_are_no_one_sample() {
    let short = scrape(9000, Some(8)).replace(&format!("{}\n", 9000 * 5), &format!("{}\n", 9000 * 4));
    let folder = written(&[("m1.prom", scrape(9000, Some(7))), ("m2.prom", short)]);
    let ran = audit(folder.path());
    let document = ran.json();
    assert_eq!(ran.exit, Exit::Undecided, "{document}");
    assert!(codes(&document).contains(&"multiple-servers"), "{document}");
}

#[test]
fn a_report_names_what_it_is_judged_by() {
    let path = data("aiperf_server_metrics.json");
    let ran =
        accsim(&["audit", path.to_str().unwrap(), "--accept-length", "3.51", "--max-accept-length", "6"]);
    let text = String::from_utf8(ran.out).unwrap();
    assert!(
        text.contains(
            "none; judged by a client's export of the server's counters: 5020 accepted drafts in 2000"
        ),
        "{text}"
    );
    let path = data("sglang_requests.jsonl");
    let ran =
        accsim(&["audit", path.to_str().unwrap(), "--accept-length", "3.51", "--max-accept-length", "6"]);
    let text = String::from_utf8(ran.out).unwrap();
    assert!(text.contains("a verify step draws once for its whole batch"), "{text}");
}
