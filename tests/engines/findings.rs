//! What an audit says where other engines' evidence is odd: in the engine's own words, and the right thing.

use accsim::cli::Exit;
use serde_json::{Value, json};

use super::support::{Folder, TARGET, accsim, audit, codes, simulated};

/// The message of the first finding with a code.
pub(crate) fn message(document: &Value, code: &str) -> String {
    let findings = document["points"][0]["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["code"] == code);
    found.unwrap_or_else(|| panic!("{code}: {document:#}"))["message"].as_str().unwrap().to_owned()
}

/// However a list of rates is printed, an evaluation that shows one was simulated.
#[test]
fn an_evaluation_whose_log_shows_rates_fails() {
    let log = simulated("--method per-position --rates 0.9,0.5,0.2 --engine vllm --lines 40");
    for echo in [
        "INFO config: speculative_config=SpeculativeConfig(synthetic_acceptance_length=None, synthetic_acceptance_rates=[0.9, \
         0.5, 0.2])",
        "INFO non-default args: {'speculative_config': {'synthetic_acceptance_rates': (0.9, 0.5, 0.2)}}",
        "INFO config: synthetic_acceptance_rates=array([0.9, 0.5, 0.2])",
        "INFO config: synthetic_acceptance_rates=[np.float64(0.9), np.float64(0.5), np.float64(0.2)]",
        "  \"synthetic_acceptance_rates\": [\n    0.9,\n    0.5,\n    0.2\n  ]",
        "speculative-config:\n  synthetic_acceptance_rates:\n  - 0.9\n  - 0.5\n  - 0.2",
        "--speculative-config.synthetic_acceptance_rates 0.9,0.5,0.2",
    ] {
        let (exit, document) = audit(&format!("{echo}\n{log}"), "--expect-real");
        assert_eq!(exit, Exit::Wrong, "{echo}: {document:#}");
        let said = message(&document, "simulation-in-eval");
        assert!(said.contains("by synthetic_acceptance_rates="), "{said}");
        assert!(said.contains("--engine vllm --format unset"), "{said}");
    }
    // What says that there is none is none.
    for echo in ["config: synthetic_acceptance_rates=None", "config: synthetic_acceptance_rates: null,"] {
        let (exit, document) = audit(&format!("{echo}\n{log}"), "--expect-real");
        assert_eq!(exit, Exit::Ok, "{echo}: {document:#}");
    }
}

/// The lines of a log with one word; without it where `keeps` is false.
fn lines_with(log: &str, word: &str, keeps: bool) -> String {
    log.split_inclusive('\n').filter(|line| line.contains(word) == keeps).collect()
}

/// ATOM's sums since the start begin anew with each process: none of them is lost.
#[test]
fn sums_of_an_atom_server_that_was_started_anew_are_added() {
    let log = simulated(&format!("{TARGET} --engine atom --lines 40 --seed 7"));
    let sums = lines_with(&log, "[MTP Stats Interval]", false);
    let (_, one) = audit(&sums, TARGET);
    let (exit, two) = audit(&(sums.clone() + &sums), TARGET);
    let steps = |document: &Value| document["points"][0]["steps"].as_u64().unwrap();
    assert_eq!((steps(&one), steps(&two)), (40_000, 80_000), "{two:#}");
    assert_eq!(exit, Exit::Ok, "{two:#}");
    // Processes draw alike, so they are one sample.
    assert!((two["points"][0]["independent_steps"].as_f64().unwrap() - 40_000.0).abs() < 1.0, "{two:#}");
    assert!(message(&two, "multiple-servers").contains("sums since the start do not go on"), "{two:#}");
    // A short second life counts too, and is a point of its own where segments are.
    let begin: String = sums.split_inclusive('\n').take(6).collect();
    let (_, short) = audit(&(sums.clone() + &begin), TARGET);
    assert!(steps(&short) > 40_000, "{short:#}");
    let (_, parts) = audit(&(sums.clone() + &begin), &format!("{TARGET} --point-by segment"));
    assert_eq!(parts["points"].as_array().unwrap().len(), 2, "{parts:#}");
}

pub(crate) fn window(accepted: u64, drafted: u64, length: &str, shares: &str) -> String {
    format!(
        "(APIServer pid=1) INFO 10-12 01:00:{:02} [metrics.py:101] SpecDecoding metrics: Mean acceptance length: {length}, \
         Accepted throughput: 1.00 tokens/s, Drafted throughput: 1.00 tokens/s, Accepted: {accepted} tokens, Drafted: \
         {drafted} tokens, Per-position acceptance rate: {shares}, Avg Draft acceptance rate: 50.0%\n",
        accepted % 60
    )
}

#[test]
fn a_printed_length_that_its_own_counts_contradict_is_named_as_that() {
    for (line, said) in [
        (window(7667, 14_322, "3.51", "0.906, 0.497, 0.203"), "give 1.54 to 2.61"),
        (window(7667, 14_322, "2.61", "0.906, 0.497, 0.703"), "add up to"),
        (window(7667, 14_322, "2.61", "0.906, 0.203, 0.497"), "position 2 was accepted"),
        (
            "[atom 14:45:50] [MTP Stats Interval] Average toks/fwd: 3.51, Accepted/Total Draft tokens: 727/1000, Acceptance \
             rate: 72.70%, Accepted tokens distribution: {0: '27.30%', 1: '72.70%'}\n"
                .to_owned(),
            "its own counts give 1.727",
        ),
    ] {
        let (exit, document) = audit(&line, TARGET);
        let found = message(&document, "counts-contradict");
        assert!(found.contains(said), "{found}");
        assert_eq!(exit, Exit::Undecided, "{document:#}");
        assert!(!document.to_string().contains("before 0.9"), "{document:#}");
        assert_eq!(document["points"][0]["accept_len"]["mean"], Value::Null, "{document:#}");
    }
}

#[test]
fn a_log_without_a_single_draft_is_named_as_that() {
    let nan = |second: u32| {
        format!(
            "(APIServer pid=1) INFO 10-12 01:00:{second:02} [metrics.py:101] SpecDecoding metrics: Mean acceptance length: nan, \
             Accepted throughput: 0.00 tokens/s, Drafted throughput: 0.00 tokens/s, Accepted: 0 tokens, Drafted: 0 tokens, \
             Per-position acceptance rate: nan, nan, Avg Draft acceptance rate: nan%\n"
        )
    };
    let log: String = (0..5).map(nan).collect();
    let (exit, document) = audit(&log, TARGET);
    let point = &document["points"][0];
    assert_eq!((exit, &point["engine"]), (Exit::Undecided, &"vllm".into()), "{document:#}");
    let found = message(&document, "no-speculative-fields");
    assert!(found.starts_with("5 windows of vLLM, and nothing was drafted"), "{found}");
    assert!(!codes(&document).contains(&"no-decode-lines"), "{document:#}");
    assert_eq!(point["skipped_lines"]["not_finite"], 5);
}

#[test]
fn an_engine_that_was_named_wrongly_is_what_the_audit_says() {
    let sglang = "[2026-10-12 01:00:00 TP0] Decode batch, #running-req: 1, #token: 700, token usage: 0.05, accept len: 3.50, accept \
                  rate: 0.50, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0\n";
    let vllm = simulated(&format!("{TARGET} --engine vllm --lines 10 --seed 7"));
    let atom = simulated(&format!("{TARGET} --engine atom --lines 10 --seed 7"));
    for (log, is, named) in [
        (vllm.as_str(), "vllm", "sglang"),
        (&vllm, "vllm", "atom"),
        (&atom, "atom", "vllm"),
        (&atom, "atom", "trtllm"),
        (sglang, "sglang", "vllm"),
    ] {
        let (exit, document) = audit(log, &format!("{TARGET} --engine {named}"));
        assert_eq!(exit, Exit::Undecided, "{document:#}");
        let found = message(&document, "no-decode-lines");
        assert!(found.contains(&format!("--engine {named} was given: pass --engine {is}")), "{found}");
    }
}

#[test]
fn documents_that_end_in_the_middle_are_named() {
    let folder = Folder::new("engine-cut");
    let record = |iter: u32| {
        json!({"iter": iter, "specDecodingStats": {"numDraftTokens": 24, "numAcceptedTokens": 12,
            "numRequestsWithDraftTokens": 8, "acceptanceLength": 2.5}})
    };
    let whole = Value::Array((0..40).map(record).collect()).to_string();
    for (name, text, said) in [
        ("cut.json", whole[..whole.len() / 2].to_owned(), "the JSON is truncated"),
        (
            "broken.json",
            "[{\"iter\": 1, \"specDecodingStats\": {\"numDraftTokens\": 24, oops}}]".to_owned(),
            "the JSON is damaged",
        ),
        (
            "cut.prom",
            "# TYPE vllm:spec_decode_num_drafts counter\nvllm:spec_decode_num_drafts_total 1".to_owned(),
            "the scrape is truncated",
        ),
    ] {
        let path = folder.write(name, text);
        let (exit, out, _) =
            accsim(&["audit", &path, "--accept-length", "2.5", "--max-accept-length", "4", "--json"]);
        assert_eq!(exit, Exit::Undecided, "{out}");
        let document: Value = serde_json::from_str(&out).unwrap();
        let found = message(&document, "document-cut");
        assert!(found.starts_with(said), "{found}");
    }
}

/// Totals that cannot be of one run, or differ grossly.
#[test]
fn totals_are_held_against_each_other() {
    let folder = Folder::new("engine-totals");
    let log = simulated(&format!("{TARGET} --engine vllm --lines 40 --seed 7"));
    let (_, alone) = audit(&log, TARGET);
    let steps = alone["points"][0]["steps"].as_u64().unwrap();
    let scrape = |steps: u64| {
        let accepted = steps * 251 / 100;
        format!(
            "# TYPE vllm:spec_decode_num_drafts counter\nvllm:spec_decode_num_drafts_total {steps}\n\
             vllm:spec_decode_num_draft_tokens_total {}\nvllm:spec_decode_num_accepted_tokens_total {accepted}\n",
            steps * 5
        )
    };
    let log = folder.write("server.log", &log);
    let run = |files: &[(&str, String)]| {
        let mut args = vec!["audit".to_owned(), log.clone()];
        args.extend(files.iter().map(|(name, text)| folder.write(name, text)));
        let place = args[1].rsplit_once('/').unwrap().0.to_owned();
        let (exit, out, _) =
            accsim(&["audit", &place, "--accept-length", "3.51", "--max-accept-length", "6", "--json"]);
        for (name, _) in files {
            std::fs::remove_file(format!("{place}/{name}")).unwrap();
        }
        (exit, serde_json::from_str::<Value>(&out).unwrap())
    };
    // A little more than the log: its last window is never printed.
    let (exit, document) = run(&[("metrics.prom", scrape(steps + steps / 100))]);
    assert_eq!(exit, Exit::Ok, "{document:#}");
    assert!(!codes(&document).contains(&"evidence-disagrees"), "{document:#}");
    // A server cannot have logged more than it has counted since its start.
    let (exit, document) = run(&[("metrics.prom", scrape(steps / 30))]);
    assert_eq!(exit, Exit::Undecided, "{document:#}");
    assert!(message(&document, "evidence-disagrees").contains("not of one server"), "{document:#}");
    // Two scrapes span a part of the log: that far less was counted is said, and decides nothing.
    let (exit, document) = run(&[("before.prom", scrape(100)), ("after.prom", scrape(steps / 30))]);
    assert!(message(&document, "evidence-disagrees").contains("do not cover the same time"), "{document:#}");
    assert_eq!(exit, Exit::Ok, "{document:#}");
    // Counters that have counted more than three times what the log shows.
    let (_, document) = run(&[("before.prom", scrape(100)), ("after.prom", scrape(steps * 4))]);
    assert!(codes(&document).contains(&"evidence-disagrees"), "{document:#}");
}

/// Findings about an engine name that engine's own settings, and no other's.
#[test]
fn findings_speak_of_the_engine_at_hand() {
    for engine in ["vllm", "atom"] {
        let log = simulated(&format!("{TARGET} --engine {engine} --lines 40 --seed 7"));
        for target in ["2.51", "4.51", "3.61", "3.20"] {
            let (_, document) = audit(&log, &format!("--accept-length {target} --max-accept-length 6"));
            let text =
                document["points"][0]["findings"].to_string() + &document["points"][0]["reason"].to_string();
            assert!(!text.contains("SGLANG_") && !text.contains("SGLang"), "{engine} {target}: {text}");
        }
        let (_, document) = audit(&log, "--accept-length 3.51 --max-accept-length 4");
        let found = message(&document, "draft-length-mismatch");
        let setting =
            if engine == "vllm" { "num_speculative_tokens 3 in" } else { "--num-speculative-tokens 3" };
        assert!(found.contains(setting), "{found}");
        let (_, document) = audit(&log, "--accept-length 2.51 --max-accept-length 6");
        let found = message(&document, "off-by-one");
        let setting =
            if engine == "vllm" { "synthetic_acceptance_length" } else { "--spec-decode-acceptance-length" };
        assert!(found.contains(setting), "{found}");
    }
}
