//! Servers and schedulers behind the lines of one point, and drafts that vary.

use std::fmt::Write as _;

use accsim::cli::Exit;

use super::findings::{message, window};
use super::mixtures::{folder, vllm};
use super::support::{TARGET, audit, codes};

/// A forced length with fewer drafts in some steps is none of another cell.
#[test]
fn drafts_that_vary_are_named_and_no_other_cell_is() {
    let mut log = String::new();
    for index in 0..20_u64 {
        // 220 steps at 3.40, which drafted 900 tokens or a little less, where 1100 would be all.
        log += &window(528, 900 - index, "3.40", "1.000, 1.000, 0.400, 0.000, 0.000")
            .replace("01:00:", &format!("01:{index:02}:"));
    }
    let (exit, document) = audit(&log, TARGET);
    assert_eq!(exit, Exit::Wrong, "{document:#}");
    let codes = codes(&document);
    assert!(!codes.contains(&"other-golden-cell") && !codes.contains(&"off-by-one"), "{document:#}");
    let said = message(&document, "not-verify-all");
    assert!(said.contains("the draft length varied at run time: 4.05 tokens"), "{said}");
    assert!(said.contains("3.51 may have been set and was not reached"), "{said}");
    assert!(document.to_string().contains("20 windows drafted not the same number"), "{document:#}");
    // Without drafts that are missing it is another value.
    let full = window(528, 1100, "3.40", "1.000, 1.000, 0.400, 0.000, 0.000");
    let log: String = (0..20).map(|index| full.replace("01:00:", &format!("01:{index:02}:"))).collect();
    let (_, document) = audit(&log, TARGET);
    assert!(!document.to_string().contains("varied at run time"), "{document:#}");
}

fn atom(time: u64, accepted: u64, drafted: u64, is_interval: bool) -> String {
    let number = |count: u64| f64::from(u32::try_from(count).unwrap());
    let steps = drafted / 5;
    let three = 100.0 * number(accepted - 2 * steps) / number(steps);
    format!(
        "[atom 01:{:02}:{:02}] [MTP Stats{}] Average toks/fwd: {:.2}, Accepted/Total Draft tokens: {accepted}/{drafted}, Acceptance \
         rate: {:.2}%, Accepted tokens distribution: {{2: '{:.2}%', 3: '{three:.2}%'}}\n",
        time / 60,
        time % 60,
        if is_interval { " Interval" } else { "         " },
        1.0 + number(accepted) / number(steps),
        100.0 * number(accepted) / number(drafted),
        100.0 - three,
    )
}

#[test]
fn two_lengths_in_a_log_of_atom_are_no_short_run() {
    // One after the other, and two schedulers in turn.
    for is_high in [|index: u64| index < 8, |index: u64| index.is_multiple_of(2)] {
        let mut log = String::new();
        for index in 0..16 {
            let accepted = if is_high(index) { 2900 } else { 2120 } + 3 * (index % 3);
            log += &atom(5 * index, accepted, 5000, true);
        }
        let (exit, document) = audit(&log, TARGET);
        assert_eq!(exit, Exit::Undecided, "{document:#}");
        assert!(codes(&document).contains(&"config-changed-mid-run"), "{document:#}");
        assert!(!document.to_string().contains("more lines"), "{document:#}");
    }
}

#[test]
fn a_change_of_the_draft_length_of_atom_is_named() {
    let mut log = String::new();
    for index in 0..10 {
        log += &atom(5 * index, 2510 + index, 5000, true);
    }
    for index in 10..20 {
        writeln!(
            log,
            "[atom 01:{:02}:{:02}] [MTP Stats Interval] Average toks/fwd: 2.99, Accepted/Total Draft tokens: 1990/3000, Acceptance \
             rate: 66.33%, Accepted tokens distribution: {{1: '1.00%', 2: '99.00%'}}",
            5 * index / 60,
            5 * index % 60
        )
        .unwrap();
    }
    let (exit, document) = audit(&log, TARGET);
    assert_eq!(exit, Exit::Undecided, "{document:#}");
    let said = message(&document, "config-changed-mid-run");
    assert!(
        said.contains("5 drafts a step show 3.51") && said.contains("3 drafts a step show 2.99"),
        "{said}"
    );
    let (_, parts) = audit(&log, &format!("{TARGET} --point-by segment"));
    assert_eq!(parts["points"].as_array().unwrap().len(), 2, "{parts:#}");
}

#[test]
fn two_schedulers_with_sums_alone_are_both_counted() {
    let mut log = String::new();
    for thousands in 1..=12 {
        log += &atom(5 * thousands, 2510 * thousands + 7 * (thousands % 3), 5000 * thousands, false);
        log += &atom(5 * thousands, 2510 * thousands + 11 + thousands, 5000 * thousands, false);
    }
    let (_, document) = audit(&log, TARGET);
    assert_eq!(document["points"][0]["steps"], 24_000, "{document:#}");
    assert!(
        (document["points"][0]["independent_steps"].as_f64().unwrap() - 12_000.0).abs() < 1.0,
        "{document:#}"
    );
    assert!(message(&document, "ranks-share-draws").contains("of 24000 steps 12000 count"), "{document:#}");
    assert!(codes(&document).contains(&"multiple-servers"), "{document:#}");
}

#[test]
fn files_of_one_time_are_of_several_servers() {
    let (one, two) = (vllm(3.51, 1), vllm(3.51, 2));
    let (_, alone) = folder("one-server", &[("a.log", &one)], TARGET);
    let (exit, both) = folder("two-servers", &[("a.log", &one), ("b.log", &two)], TARGET);
    assert_eq!(exit, Exit::Ok, "{both:#}");
    let ranks = |document: &serde_json::Value| document["points"][0]["ranks"].as_array().unwrap().len();
    assert_eq!((ranks(&alone), ranks(&both)), (1, 2), "{both:#}");
    assert!(message(&both, "multiple-servers").contains("they are of 2 servers"), "{both:#}");
    let speed = |document: &serde_json::Value| {
        document["points"][0]["gen_throughput_tps"]["median"].as_f64().unwrap()
    };
    assert!(speed(&both) > 1.8 * speed(&alone), "{both:#}");
    // A copy is the same server.
    let (_, copied) = folder("one-server-twice", &[("a.log", &one), ("b.log", &one)], TARGET);
    assert_eq!(ranks(&copied), 1, "{copied:#}");
    assert!(!codes(&copied).contains(&"multiple-servers"), "{copied:#}");
    assert!((speed(&copied) - speed(&alone)).abs() < 1e-9, "{copied:#}");
}

#[test]
fn a_configuration_that_the_windows_contradict_is_named() {
    let echo = "INFO config: speculative_config=SpeculativeConfig(synthetic_acceptance_rates=[0.9, 0.7, 0.5, 0.3, 0.11])\n";
    let (_, document) = audit(&format!("{echo}{}", vllm(3.51, 1)), TARGET);
    let said = message(&document, "method-mismatch");
    assert!(said.contains("the configuration and the windows disagree"), "{said}");
    let echo = "INFO config: speculative_config=SpeculativeConfig(synthetic_acceptance_rates=[1.0, 1.0, 0.51, 0.0, 0.0])\n";
    let (_, document) = audit(&format!("{echo}{}", vllm(3.51, 1)), TARGET);
    assert!(!codes(&document).contains(&"method-mismatch"), "{document:#}");
}

#[test]
fn a_value_that_tensorrt_llm_refused_is_named() {
    let log = "[10/12/2026-01:01:00] [TRT-LLM] [W] Environment variable TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS must be a valid \
        integer, got '2.51'. Using default value 0.\n[10/12/2026-01:02:00] [TRT-LLM] [I] iter = 0, global_rank = 0, rank = 0, \
        currank_total_requests = 0/0, host_step_time = 10.1ms, prev_device_step_time = 9.9ms, timestamp = 2026-10-12 01:02:00, \
        num_scheduled_requests: 8, states = {'num_ctx_requests': 0, 'num_ctx_tokens': 0, 'num_generation_tokens': 48}\n";
    let (exit, document) = audit(log, TARGET);
    assert_eq!(exit, Exit::Undecided, "{document:#}");
    assert!(message(&document, "real-acceptance").contains("refused 2.51"), "{document:#}");
}

#[test]
fn advice_is_such_as_can_help() {
    let one = window(160, 200, "1.80", "0.800");
    let log: String = (0..20).map(|index| one.replace("01:00:", &format!("01:{index:02}:"))).collect();
    let (_, document) = audit(&log, "--expect-real");
    let said = message(&document, "short-run");
    assert!(said.contains("with one draft a step") && !said.contains("longer run will show"), "{said}");
}
