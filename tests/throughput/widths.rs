//! Logs that do not state their draft length, and windows without a prefill.

use std::fs;

use crate::support::{json, near, run};

/// sgl-project/sglang#11948: one prefill, before the first window.
const STEADY: &str = "\
[2025-10-22 10:27:56 TP0] Prefill batch. #new-seq: 1, #new-token: 28, #cached-token: 0, token usage: 0.00, #running-req: 0, #queue-req: 0, 
[2025-10-22 10:27:56 TP0] Decode batch. #running-req: 1, #token: 108, token usage: 0.00, accept len: 2.17, accept rate: 0.54, cuda graph: True, gen throughput (token/s): 0.39, #queue-req: 0, 
[2025-10-22 10:27:57 TP0] Decode batch. #running-req: 1, #token: 186, token usage: 0.00, accept len: 1.95, accept rate: 0.49, cuda graph: True, gen throughput (token/s): 178.86, #queue-req: 0, 
[2025-10-22 10:27:58 TP0] Decode batch. #running-req: 1, #token: 258, token usage: 0.00, accept len: 1.80, accept rate: 0.45, cuda graph: True, gen throughput (token/s): 165.41, #queue-req: 0, 
[2025-10-22 10:27:58 TP0] Decode batch. #running-req: 1, #token: 340, token usage: 0.00, accept len: 2.05, accept rate: 0.51, cuda graph: True, gen throughput (token/s): 188.68, #queue-req: 0, 
[2025-10-22 10:27:58 TP0] Decode batch. #running-req: 1, #token: 412, token usage: 0.00, accept len: 1.80, accept rate: 0.45, cuda graph: True, gen throughput (token/s): 165.59, #queue-req: 0, 
";

struct Logs(tempfile::TempDir);

impl Logs {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: &str) -> String {
        let file = self.0.path().join(name);
        fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    }
}

fn without_rates() -> String {
    let rates = [", accept rate: 0.54", ", accept rate: 0.49", ", accept rate: 0.45", ", accept rate: 0.51"];
    rates.iter().fold(STEADY.to_owned(), |text, rate| text.replace(rate, ""))
}

/// DSPARK states one step, which drafts a whole block.
#[test]
fn a_block_is_a_draft_length() {
    let log = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/h200/dspark_k5_al351.log");
    let document = json(&["throughput", "predict", log, "--accept-length", "4.0", "--json"]);
    assert_eq!(document["baseline"]["draft_length"], 5, "{document:#}");
}

/// 10.88 ms a step: 275.7 tokens/s at 3.0. The rates are tokens over 4 draft tokens, the root included.
#[test]
fn accept_rates_tell_the_draft_length() {
    let logs = Logs::new();
    let document =
        json(&["throughput", "predict", &logs.write("a.log", STEADY), "--accept-length", "3.0", "--json"]);
    let found = &document["predictions"][0];
    near(found["gen_throughput_tps"].as_f64().unwrap(), 275.7, 0.002);
    assert_eq!(found["draft_length"], 3);
    assert_eq!(found["basis"], "ratio");
    assert_eq!(found["prefill_share"], 0.0);
    // No step of 4 tokens gives 4.5.
    let log = logs.write("b.log", STEADY);
    let _ = run(&["throughput", "predict", &log, "--accept-length", "4.5"]).code(2);
}

#[test]
fn an_unknown_draft_length_is_no_hindrance_to_a_ratio() {
    let logs = Logs::new();
    let log = logs.write("a.log", &without_rates());
    let document = json(&["throughput", "predict", &log, "--accept-length", "3.0", "--json"]);
    let found = &document["predictions"][0];
    near(found["gen_throughput_tps"].as_f64().unwrap(), 275.7, 0.002);
    assert!(found["draft_length"].is_null() && document["baseline"]["draft_length"].is_null());
    let missing = document["baseline"]["missing"][0].as_str().unwrap();
    assert!(missing.contains("--draft-length"), "{missing}");
    let named =
        json(&["throughput", "predict", &log, "--accept-length", "3.0", "--draft-length", "3", "--json"]);
    assert_eq!(named["predictions"][0]["draft_length"], 3);
    // A model of it says so, is read again, and is not simulated.
    let model = logs.write("m.json", "");
    let _ = run(&["throughput", "calibrate", &log, "-o", &model]).success();
    let again = json(&["throughput", "predict", &model, "--accept-length", "3.0", "--json"]);
    assert_eq!(again["predictions"], document["predictions"]);
    let simulated = run(&[
        "throughput",
        "simulate",
        &model,
        "--accept-length",
        "3",
        "--concurrency",
        "1",
        "--isl",
        "10",
        "--osl",
        "10",
        "--duration",
        "10",
    ])
    .code(2);
    let text = String::from_utf8_lossy(&simulated.get_output().stderr).into_owned();
    assert!(text.contains("does not know its draft length"), "{text}");
}

/// Beside another run it could be of another draft length, and those are never pooled.
#[test]
fn an_unknown_draft_length_is_not_pooled() {
    let logs = Logs::new();
    let (one, other) = (logs.write("a.log", &without_rates()), logs.write("b.log", STEADY));
    let refused = run(&["throughput", "predict", &one, &other, "--accept-length", "3.0"]).code(2);
    let text = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(text.contains("a.log") && text.contains("cannot be put beside the other runs"), "{text}");
}

#[test]
fn without_prefill_lines_the_share_of_prefill_is_not_known() {
    let logs = Logs::new();
    let decodes: String = STEADY.split_inclusive('\n').skip(1).collect();
    let log = logs.write("a.log", &decodes);
    let refused = run(&["throughput", "predict", &log, "--accept-length", "3.0"]).code(3);
    let text = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(text.contains("the log does not show prefills"), "{text}");
    let alone =
        json(&["throughput", "predict", &log, "--role", "decode", "--accept-length", "3.0", "--json"]);
    near(alone["predictions"][0]["gen_throughput_tps"].as_f64().unwrap(), 275.7, 0.002);
}
