//! Several settings, engines or laws in one run.

use std::fmt::Write as _;

use accsim::cli::Exit;
use serde_json::Value;

use super::support::{Folder, TARGET, accsim, audit, codes, simulated};

/// Audits a folder of files.
pub(crate) fn folder(name: &str, files: &[(&str, &str)], flags: &str) -> (Exit, Value) {
    let folder = Folder::new(name);
    let mut path = String::new();
    for (name, text) in files {
        path = folder.write(name, text);
    }
    let path = std::path::Path::new(&path).parent().unwrap().to_str().unwrap().to_owned();
    let mut args = vec!["audit", &path, "--json"];
    args.extend(flags.split_whitespace());
    let (exit, out, _) = accsim(&args);
    (exit, serde_json::from_str(&out).unwrap())
}

pub(crate) fn vllm(length: f64, seed: u32) -> String {
    simulated(&format!(
        "--accept-length {length} --max-accept-length 6 --engine vllm --lines 40 --running-req 8 --seed {seed}"
    ))
}

#[test]
fn a_mixture_of_settings_is_not_consistent() {
    let (low, high) = (vllm(3.42, 1), vllm(3.60, 2));
    let (exit, document) = folder("mixture-files", &[("a.log", &low), ("b.log", &high)], TARGET);
    assert_ne!(exit, Exit::Ok, "{document:#}");
    assert!(codes(&document).contains(&"config-changed-mid-run"), "{document:#}");
    // One setting in two files is no mixture.
    let (one, two) = (vllm(3.51, 1), vllm(3.51, 2));
    let (exit, document) = folder("no-mixture", &[("a.log", &one), ("b.log", &two)], TARGET);
    assert_eq!(exit, Exit::Ok, "{document:#}");
    assert!(!codes(&document).contains(&"config-changed-mid-run"), "{document:#}");
}

#[test]
fn judged_drafts_that_seldom_reach_the_last_places_are_real() {
    let rates = |rates: &str| {
        simulated(&format!(
            "--rates {rates} --engine vllm --method per-position --num-steps 5 --lines 40 --running-req 8"
        ))
    };
    let (exit, document) = audit(&rates("0.30,0.05,0.004,0,0"), "--expect-real");
    assert_eq!(exit, Exit::Ok, "{document:#}");
    let log = rates("0.84,0.84,0.83,0,0");
    let (exit, document) = audit(&log, TARGET);
    assert_eq!((exit, &document["points"][0]["mechanism"]["best"]), (Exit::Wrong, &Value::from("real")));
    // Neither judged nor forced.
    assert_eq!(audit(&log, "--expect-real").0, Exit::Undecided);
}

#[test]
fn a_repeated_line_counts_once() {
    let log = vllm(3.51, 1);
    let mut twice = String::new();
    for line in log.lines() {
        let copies = if line.contains("SpecDecoding metrics") { 2 } else { 1 };
        (0..copies).for_each(|_| writeln!(twice, "{line}").unwrap());
    }
    let (_, document) = audit(&twice, TARGET);
    assert_eq!(document["points"][0]["spec_lines"], 40, "{document:#}");
    assert!(codes(&document).contains(&"duplicate-lines"));
}

/// A log of SGLang with statistics of requests beside it.
#[test]
fn requests_beside_a_log_of_sglang_are_compared_by_their_law() {
    let log = simulated("--accept-length 3.51 --max-accept-length 6 --lines 40 --seed 7");
    let requests = |histogram: [u64; 6]| {
        let steps: u64 = histogram.iter().sum();
        let accepted: u64 = (0..).zip(histogram).map(|(drafts, steps): (u64, _)| drafts * steps).sum();
        let line = format!(
            "{{\"meta_info\": {{\"completion_tokens\": {}, \"spec_verify_ct\": {steps}, \"spec_accept_token_num\": {accepted}, \
             \"spec_draft_token_num\": {}, \"spec_accept_length\": {:.6}, \"spec_accept_histogram\": {histogram:?}}}}}\n",
            steps + accepted + 1,
            5 * steps,
            1.0 + f64::from(u32::try_from(accepted).unwrap()) / f64::from(u32::try_from(steps).unwrap()),
        );
        line.repeat(3)
    };
    let judged = |histogram, flags: &str| {
        folder("requests-beside", &[("a.log", &log), ("requests.jsonl", &requests(histogram))], flags)
    };
    let (exit, document) = judged([0, 0, 98, 102, 0, 0], TARGET);
    assert_eq!(exit, Exit::Ok, "{document:#}");
    let (exit, document) = judged([30, 30, 40, 40, 25, 35], TARGET);
    assert_eq!(exit, Exit::Undecided, "{document:#}");
    assert!(codes(&document).contains(&"evidence-disagrees"), "{document:#}");
}

#[test]
fn another_engine_in_the_folder_is_counted() {
    let sglang = simulated("--accept-length 3.51 --max-accept-length 6 --lines 40 --seed 7");
    let (_, document) = folder("two-engines", &[("a.log", &sglang), ("b.log", &vllm(3.51, 1))], TARGET);
    let findings = document["points"][0]["findings"].as_array().unwrap();
    let said = findings.iter().any(|finding| {
        finding["code"] == "multiple-servers"
            && finding["message"].as_str().unwrap().contains("40 records of vLLM")
    });
    assert!(said, "{document:#}");
}

#[test]
fn windows_of_two_engines_in_one_log_are_not_added_up() {
    let one = vllm(3.51, 1);
    let other = simulated(
        "--accept-length 2.78 --max-accept-length 6 --engine atom --lines 40 --running-req 8 --seed 2",
    );
    let (exit, alone) = audit(&one, TARGET);
    assert_eq!(exit, Exit::Ok, "{alone:#}");
    let (exit, both) = audit(&format!("{one}{other}"), TARGET);
    assert_eq!(exit, Exit::Ok, "{both:#}");
    for figure in ["engine", "spec_lines", "steps", "accept_len", "gen_throughput_tps"] {
        assert_eq!(both["points"][0][figure], alone["points"][0][figure], "{figure}");
    }
    assert!(codes(&both).contains(&"multiple-servers"), "{both:#}");
    // The engine's own lines say how busy vLLM was; what decides is whose lines show acceptance first.
    let busy: String =
        one.lines().filter(|line| line.contains("Engine 000")).map(|line| format!("{line}\n")).collect();
    assert!(!busy.is_empty());
    let (exit, behind) = audit(&format!("{busy}{other}"), "--accept-length 2.78 --max-accept-length 6");
    assert_eq!((exit, &behind["points"][0]["engine"]), (Exit::Ok, &Value::from("atom")), "{behind:#}");
}
