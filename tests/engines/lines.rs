//! Every record of the collections: our own, and the one beside the repository where there is one.

use std::path::Path;

use serde_json::Value;

use super::support::records;

/// Kinds that are no lines of a log.
const DOCUMENTS: [&str; 2] = ["debug_stats", "iteration_json"];

fn check(collection: &str) -> usize {
    let mut checked = 0;
    for line in collection.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let (id, text) = (&entry["id"], entry["text"].as_str().unwrap());
        let expected = &entry["expect"];
        if DOCUMENTS.contains(&expected["kind"].as_str().unwrap_or("")) {
            continue;
        }
        let found = records(&format!("{text}\n"));
        assert_eq!(found.len(), 1, "{id}: {found:#?}");
        checked += 1;
        let Some(expected) = expected.as_object() else {
            assert_eq!(found[0]["kind"], "rejected", "{id}: {found:#?}");
            assert!(found[0]["reason"].is_string(), "{id}");
            continue;
        };
        let engine = entry["engine"].as_str().unwrap().split('-').next().unwrap();
        assert_eq!(found[0]["engine"], engine, "{id}");
        for (name, value) in expected {
            let shown = &found[0][name];
            let is_same = match (shown.as_f64(), value.as_f64()) {
                (Some(shown), Some(value)) => (shown - value).abs() <= 1e-6 * value.abs().max(1.0),
                _ => shown == value,
            };
            assert!(is_same, "{id}: {name} is {shown}, not {value}");
        }
    }
    checked
}

#[test]
fn our_own_lines() {
    assert_eq!(check(include_str!("../data/engine_lines.jsonl")), 26);
}

#[test]
fn the_lines_of_public_reports() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/log_lines/other_engines.jsonl");
    let Ok(text) = std::fs::read_to_string(path) else { return };
    assert_eq!(check(&text), 36);
}

/// The line of speculative decoding names no engine: it belongs to that whose line stands before it.
#[test]
fn a_window_belongs_to_the_engine_before_it() {
    let engine = |pid: u32, second: u32, index: u32| {
        format!(
            "(APIServer pid={pid}) INFO 07-20 18:11:{second:02} [loggers.py:271] Engine {index:03}: Avg prompt throughput: 0.1 \
             tokens/s, Avg generation throughput: 43.3 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 10.1%\n"
        )
    };
    let window = |pid: u32, second: u32| {
        format!(
            "(APIServer pid={pid}) INFO 07-20 18:11:{second:02} [metrics.py:101] SpecDecoding metrics: Mean acceptance length: \
             2.87, Accepted throughput: 9.40 tokens/s, Drafted throughput: 15.10 tokens/s, Accepted: 282 tokens, Drafted: 453 \
             tokens, Per-position acceptance rate: 0.821, 0.609, 0.437, Avg Draft acceptance rate: 62.3%\n"
        )
    };
    for (text, expected) in [
        (engine(5, 49, 2) + &window(5, 49), Value::from(2)),
        (engine(5, 49, 2) + &window(6, 49), Value::Null),
        (engine(5, 48, 2) + &window(5, 49), Value::Null),
        (window(5, 49), Value::Null),
    ] {
        let found = records(&text);
        assert_eq!(found.last().unwrap()["engine_index"], expected, "{text}");
    }
}

#[test]
fn configurations_in_every_quoting() {
    let length = [("num_speculative_tokens", "5"), ("synthetic_acceptance_length", "3.51")];
    let rates = [("num_speculative_tokens", "3"), ("synthetic_acceptance_rates", "[1.0, 1.0, 0.49]")];
    let atom = [("spec_decode_acceptance_length", "3.78")];
    for (text, expected) in [
        (
            r#"vllm serve m --speculative-config '{"method":"eagle3","num_speculative_tokens":5,"rejection_sample_method":"synthetic","synthetic_acceptance_length":3.51}'"#,
            &length[..],
        ),
        (
            r#"+ vllm serve m --speculative-config "{\"num_speculative_tokens\": 5, \"synthetic_acceptance_length\": 3.51}""#,
            &length,
        ),
        (
            "(APIServer pid=1) INFO 10-12 01:02:03 [utils.py:233] non-default args: {'model': 'm', 'speculative_config': \
             {'method': 'mtp', 'num_speculative_tokens': 5, 'synthetic_acceptance_length': 3.51}}",
            &length,
        ),
        (
            "vllm serve m --speculative-config.num_speculative_tokens 5 --speculative-config.synthetic_acceptance_length=3.51",
            &length,
        ),
        (
            "vllm serve m --speculative-config.num-speculative-tokens=5 --speculative-config.synthetic-acceptance-length 3.51",
            &length,
        ),
        (
            "INFO 10-12 01:02:03 [core.py:58] Initializing a V1 LLM engine (v0.19.0) with config: model='m', \
             speculative_config=SpeculativeConfig(method='mtp', num_spec_tokens=3, synthetic_acceptance_length=None, \
             synthetic_acceptance_rates=[1.0, 1.0, 0.49]), tokenizer='m'",
            &rates,
        ),
        ("python3 -m atom.entrypoints.openai_server --model m --spec-decode-acceptance-length 3.78", &atom),
        ("Namespace(model='m', spec_decode_acceptance_length=3.78)", &atom),
        ("# vllm serve m --speculative-config '{\"num_speculative_tokens\":5}'", &[]),
        ("usage: vllm serve [--speculative-config SPECULATIVE_CONFIG]", &[]),
        (
            "export TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS=2.51",
            &[("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS", "2.51")],
        ),
        ("+ export TILERT_SIMULATE_ACC_LEN=3.51", &[("TILERT_SIMULATE_ACC_LEN", "3.51")]),
    ] {
        let found = records(&format!("{text}\n"));
        let settings: Vec<(&str, &str)> = found
            .iter()
            .filter(|record| record["name"] != "rejection_sample_method")
            .map(|record| (record["name"].as_str().unwrap(), record["value"].as_str().unwrap()))
            .collect();
        assert_eq!(settings, expected, "{text}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]

    /// However a log is cut into blocks of whole lines, and whatever stands behind a head, the records are the same.
    #[test]
    fn blocks_change_nothing(
        picks in proptest::collection::vec((0_usize..26, 0_usize..400, proptest::bool::ANY), 1..20),
        cuts in proptest::collection::vec(proptest::bool::ANY, 20),
    ) {
        let lines: Vec<String> = include_str!("../data/engine_lines.jsonl")
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["text"].as_str().unwrap().to_owned())
            .collect();
        let log: Vec<Vec<u8>> = picks
            .iter()
            .map(|(pick, cut, is_cut)| {
                let text = lines[*pick].as_bytes();
                let end = if *is_cut { (*cut).min(text.len()) } else { text.len() };
                [&text[..end], b"\n"].concat()
            })
            .collect();
        let read = |blocks: &[Vec<u8>]| {
            let mut found = Vec::new();
            let mut scanner = accsim::evidence::Scanner::new(0);
            for block in blocks {
                scanner.lines(block, &mut |place, record| found.push((place.line, format!("{record:?}"))));
            }
            scanner.finish(&mut |place, record| found.push((place.line, format!("{record:?}"))));
            found
        };
        let mut blocks: Vec<Vec<u8>> = vec![Vec::new()];
        for (line, cut) in log.iter().zip(&cuts) {
            if *cut {
                blocks.push(Vec::new());
            }
            blocks.last_mut().unwrap().extend_from_slice(line);
        }
        proptest::prop_assert_eq!(read(&[log.concat()]), read(&log));
        proptest::prop_assert_eq!(read(&log), read(&blocks));
    }
}
