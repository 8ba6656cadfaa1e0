//! The reader on real logs: the counts that their README gives, and the lines collected from public reports.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "Clippy's leave for tests ends at the test functions; their helpers fail the same way"
)]

use std::path::{Path, PathBuf};

use accsim::evidence::{DecodeLine, Hundredths, Input, Reader, Record, Scanner, Timestamp};
use serde_json::{Value, json};

fn read(path: &Path, mut see: impl FnMut(&Record<'_>)) {
    let errors = Reader::default().read(&Input::from(path), &mut |_, record: &Record<'_>| see(record));
    assert!(errors.is_empty(), "{}: {errors:?}", path.display());
}

fn h200(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/h200").join(name)
}

#[test]
fn h200_logs_have_the_lines_that_their_readme_counts() {
    let expected = [
        ("base", 179, 0),
        ("e3k5_al351", 73, 73),
        ("e3k5_al200", 83, 83),
        ("e3k3_al299", 86, 86),
        ("e3k5_multinomial351", 65, 65),
        ("e3k5_al351_int1", 593, 593),
        ("var_k5_al351", 119, 119),
        ("dp2_k5_al351", 123, 123),
        ("dspark_k5_al351", 52, 52),
        ("ngram_al351", 32, 32),
        ("flush_k5_al278", 114, 114),
    ];
    for (name, decode, speculative) in expected {
        let (mut lines, mut with_accept_len, mut starts, mut flushes, mut skipped) = (0, 0, 0, 0, 0);
        read(&h200(&format!("{name}.log")), |record| match record {
            Record::Decode(line) => {
                lines += 1;
                with_accept_len += usize::from(line.accept_len.is_some());
            }
            Record::Start(_) => starts += 1,
            Record::CacheFlush(_) => flushes += 1,
            Record::Skipped(_) => skipped += 1,
            Record::Setting(setting) => panic!("{name}: {setting:?}"),
            Record::Engine(line) => panic!("{name}: {line:?}"),
            Record::Counters(record) => panic!("{name}: {record:?}"),
            Record::Prefill(_) => {}
        });
        assert_eq!((lines, with_accept_len), (decode, speculative), "{name}");
        assert_eq!((starts, skipped), (1, 0), "{name}");
        assert_eq!(flushes, usize::from(name == "flush_k5_al278"), "{name}");
    }
}

#[test]
fn server_arguments_of_a_real_log() {
    read(&h200("dp2_k5_al351.log"), |record| {
        if let Record::Start(start) = record {
            assert_eq!(start.speculative_algorithm.as_deref(), Some("EAGLE3"));
            assert_eq!(
                (start.num_steps, start.eagle_topk, start.num_draft_tokens),
                (Some(5), Some(1), Some(6))
            );
            assert_eq!(
                (start.tp_size, start.dp_size, start.decode_log_interval),
                (Some(2), Some(2), Some(40))
            );
            assert_eq!(start.random_seed, Some(102_924_003));
            assert_eq!((start.block_size, start.disaggregation_mode.as_deref()), (None, Some("null")));
        }
    });
}

/// A decode line with the names of `data/log_lines/sglang.jsonl`.
fn named(line: &DecodeLine<'_>) -> Value {
    let tags: serde_json::Map<_, _> = line.tags.iter().map(|tag| (tag.name(), json!(tag.rank()))).collect();
    json!({
        "running_req": line.running_req,
        "tokens": line.tokens(),
        "token_usage": line.token_usage().map(Hundredths::as_f64),
        "accept_len": line.accept_len.map(Hundredths::as_f64),
        "accept_rate": line.accept_rate.map(Hundredths::as_f64),
        "graph_label": line.graph.map(|graph| graph.label.name()),
        "cuda_graph": line.graph.map(|graph| graph.on),
        "gen_throughput_tps": line.gen_throughput_tps,
        "queue_req": line.queue_req,
        "iteration": line.iteration,
        "timestamp": line.timestamp.map(Timestamp::as_str),
        "tags": tags,
    })
}

/// Compares the decode lines of each case with `expect`: every key that stands there; and the skipped lines with `reasons`,
/// where these stand there.
fn check(cases: &str) {
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let (mut found, mut reasons) = (Vec::new(), Vec::new());
        let mut scanner = Scanner::new(0);
        let mut sink = |_, record: &Record<'_>| match record {
            Record::Decode(line) => found.push(named(line)),
            Record::Skipped(skipped) => reasons.push(skipped.reason.name()),
            _ => {}
        };
        scanner.lines(case["text"].as_str().unwrap().as_bytes(), &mut sink);
        scanner.finish(&mut sink);
        let expected = match &case["expect"] {
            Value::Null => Vec::new(),
            Value::Array(records) => records.clone(),
            record => vec![record.clone()],
        };
        assert_eq!(found.len(), expected.len(), "{}: {found:?}", case["id"]);
        for (found, expected) in found.iter().zip(&expected) {
            for (key, value) in expected.as_object().unwrap() {
                assert_eq!(&found[key], value, "{}: {key}", case["id"]);
            }
        }
        if let Some(expected) = case.get("reasons") {
            assert_eq!(&json!(reasons), expected, "{}", case["id"]);
        }
    }
}

/// Our own lines: every release's shape, every wrapper, and what must not become a record.
#[test]
fn own_lines_parse_to_what_they_say() {
    check(include_str!("data/sglang_lines.jsonl"));
}

/// Lines from public reports, where the folder that holds them is there.
#[test]
fn collected_lines_parse_to_what_they_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/log_lines/sglang.jsonl");
    if let Ok(text) = std::fs::read_to_string(path) {
        check(&text);
    }
}
