//! Endpoints that cannot be right beside others, and documents without the figures that are needed.

use std::fs;

use accsim::cli::Exit;
use serde_json::{Value, json};

use super::support::{Ran, accsim};

/// Audits files of these names in a folder, against 3.51 of at most 6 tokens.
fn audit(files: &[(&str, String)], flags: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    accsim(&[&["audit", folder.path().to_str().unwrap(), "--json"], flags].concat())
}

const TARGET: [&str; 4] = ["--accept-length", "3.51", "--max-accept-length", "6"];

fn message(document: &Value, code: &str) -> String {
    let findings = document["points"][0]["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["code"] == code);
    found.unwrap_or_else(|| panic!("{code}: {document:#}"))["message"].as_str().unwrap().to_owned()
}

/// An export of AIPerf: drafts, drafted and accepted tokens of each endpoint.
fn export(endpoints: &[(u64, u64, u64)]) -> String {
    let family = |pick: fn(&(u64, u64, u64)) -> u64| {
        let series: Vec<Value> = endpoints
            .iter()
            .enumerate()
            .map(|(host, counts)| {
                json!({"endpoint_url": format!("http://h{host}/metrics"), "labels": {"model_name": "m", "engine": "0"},
                    "stats": {"total": pick(counts)}})
            })
            .collect();
        json!({"type": "counter", "series": series})
    };
    json!({"summary": {"endpoints_configured": []}, "metrics": {
        "vllm:spec_decode_num_drafts": family(|counts| counts.0),
        "vllm:spec_decode_num_draft_tokens": family(|counts| counts.1),
        "vllm:spec_decode_num_accepted_tokens": family(|counts| counts.2),
    }})
    .to_string()
}

#[test]
fn an_endpoint_whose_counters_were_cut_is_left_out() {
    for cut in [(0, 14_000, 7028), (1451, 14_000, 7028), (2800, 5000, 7028)] {
        let ran = audit(&[("aiperf.json", export(&[(3000, 15_000, 7530), cut]))], &TARGET);
        let document = ran.json();
        let said = message(&document, "counts-contradict");
        assert!(said.contains("http://h1/metrics: ") && said.contains("left out"), "{said}");
        assert_eq!(document["points"][0]["steps"], 3000, "{document:#}");
        assert_eq!(document["points"][0]["accept_len"]["mean"], 3.51, "{document:#}");
    }
    // Another draft length is no contradiction.
    let ran = audit(&[("aiperf.json", export(&[(3000, 15_000, 7530), (2000, 14_000, 5020)]))], &TARGET);
    assert_eq!(ran.json()["points"][0]["steps"], 5000);
    // Alone it gives no verdict.
    let ran = audit(&[("aiperf.json", export(&[(0, 14_000, 7028)]))], &TARGET);
    let document = ran.json();
    assert_eq!(ran.exit, Exit::Undecided, "{document:#}");
    assert!(
        message(&document, "counts-contradict").contains("14000 drafted tokens in no verify step"),
        "{document:#}"
    );
}

#[test]
fn one_sum_is_not_told_to_run_longer() {
    let ran = audit(&[("aiperf.json", export(&[(3000, 15_000, 7530), (2800, 14_000, 7028)]))], &TARGET);
    let document = ran.json();
    assert_eq!(ran.exit, Exit::Undecided, "{document:#}");
    let said = message(&document, "short-run");
    assert!(said.contains("num_accepted_tokens_per_pos") && !said.contains("more line"), "{said}");
}

fn scrape(steps: u64) -> String {
    let values =
        [("num_drafts", steps), ("num_accepted_tokens", steps * 251 / 100), ("num_draft_tokens", steps * 5)];
    let line = |(name, value): (&str, u64)| {
        format!("vllm:spec_decode_{name}_total{{engine=\"0\",model_name=\"m\"}} {value}\n")
    };
    values.map(line).concat()
}

#[test]
fn a_server_that_was_scraped_after_the_run_alone_is_left_out() {
    let files =
        [("before/a.prom", scrape(1000)), ("after/a.prom", scrape(4000)), ("after/b.prom", scrape(9000))];
    let document = audit(&files, &TARGET).json();
    assert_eq!(document["points"][0]["steps"], 3000, "{document:#}");
    assert!(message(&document, "counter-reset").contains("after the run alone"), "{document:#}");
}

/// Records of TensorRT-LLM's `/metrics`: two neighbouring numbers of accepted drafts by turns, from `low` on.
fn iterations(numbers: std::ops::Range<u64>, low: u64) -> String {
    let record = |number: u64| {
        let accepted = 8 * low + 4 + number % 2;
        json!({"iter": number, "iterLatencyMS": 12.25 + 0.001 * f64::from(u32::try_from(number).unwrap()),
            "specDecodingStats": {"numDraftTokens": 40, "numAcceptedTokens": accepted, "numRequestsWithDraftTokens": 8,
            "acceptanceLength": 1.0 + f64::from(u32::try_from(accepted).unwrap()) / 8.0}})
    };
    Value::from(numbers.map(record).collect::<Vec<Value>>()).to_string()
}

#[test]
fn iterations_of_overlapping_dumps_count_once() {
    let files = [("m0.json", iterations(0..120, 2)), ("m1.json", iterations(80..200, 2))];
    let document = audit(&files, &TARGET).json();
    assert_eq!(document["points"][0]["steps"], 1600, "{document:#}");
    assert!(message(&document, "duplicate-lines").contains("40 iterations of several dumps"), "{document:#}");
}

#[test]
fn one_token_beside_the_target_is_named_from_iterations_too() {
    for low in [1, 3] {
        let ran = audit(
            &[("metrics.json", iterations(0..200, low))],
            &["--accept-length", "3.55", "--max-accept-length", "6"],
        );
        let document = ran.json();
        assert_eq!(ran.exit, Exit::Wrong, "{document:#}");
        let said = message(&document, "off-by-one");
        assert!(said.contains("which is the accept length minus 1"), "{said}");
    }
}

#[test]
fn documents_without_drafts_are_recognised() {
    let records: Vec<Value> = (0..20)
        .map(|number| json!({"iter": number, "iterLatencyMS": 12.3, "numActiveRequests": 8}))
        .collect();
    for (text, said) in [
        (
            Value::from(records).to_string(),
            "these are records of TensorRT-LLM's /metrics, and none has specDecodingStats",
        ),
        ("{\"enabled\": false}\n".to_owned(), "/debug/mtp_stats of ATOM"),
    ] {
        let ran = audit(&[("figures.json", text)], &TARGET);
        let document = ran.json();
        assert_eq!(ran.exit, Exit::Undecided, "{document:#}");
        assert!(message(&document, "no-speculative-fields").contains(said), "{document:#}");
        assert!(!document.to_string().contains("client's summary"), "{document:#}");
    }
}
