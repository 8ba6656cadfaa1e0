//! Calibration on simulated logs gives the parameters back, or says why it cannot.

use accsim::throughput::sim::{Prefilling, Server, Traffic};
use accsim::throughput::{Bend, Fitted, Missing, Model, Options, Outcome, StepLaw};

use crate::support::{calibrated, calibrated_with, lengths, log, near, server, step};

/// Logs of a server at several batches and two input lengths.
fn logs(server: &Server, batches: &[u32], inputs: &[&str]) -> Vec<Vec<u8>> {
    let mut logs = Vec::new();
    for input in inputs {
        for batch in batches {
            let traffic = Traffic::closed(*batch, lengths(input), lengths("200-600"), 60.0);
            logs.push(log(server, &traffic, u64::from(*batch)));
        }
    }
    logs
}

fn fitted(model: &Model, drafts: u32) -> &Fitted {
    let law = model.law(drafts).unwrap();
    law.fitted().unwrap_or_else(|| panic!("{:?}", law.outcome))
}

fn missing(model: &Model) -> &[Missing] {
    match &model.laws[0].outcome {
        Outcome::Refused { missing, .. } => missing,
        Outcome::Fitted(fitted) => panic!("{fitted:?}"),
    }
}

const BATCHES: [u32; 6] = [1, 4, 16, 32, 64, 128];

#[test]
fn a_colocated_server_comes_back_within_two_percent() {
    let model = calibrated(&logs(&server(4, 3.51), &BATCHES, &["1000", "8000"])).unwrap();
    let found = fitted(&model, 4);
    near(found.step.a_s, 0.012, 0.02);
    near(found.step.b_s, 6e-6, 0.02);
    near(found.step.c_s, 2e-8, 0.02);
    near(found.prefill.p1_s, 2e-5, 0.02);
    assert!((found.step.lanes - 1.0).abs() < 1e-9 && found.step.bend == Bend::None, "{found:?}");
    assert!(found.quality.condition_number < 30.0 && found.quality.median_residual < 0.01);
}

#[test]
fn a_decode_server_comes_back_within_two_percent() {
    let server = Server { prefilling: Prefilling::Elsewhere { workers: 1 << 16 }, ..server(4, 3.51) };
    let model = calibrated(&logs(&server, &BATCHES, &["1000", "8000"])).unwrap();
    assert!(!model.laws[0].colocated);
    let found = fitted(&model, 4);
    near(found.step.a_s, 0.012, 0.02);
    near(found.step.b_s, 6e-6, 0.02);
    near(found.step.c_s, 2e-8, 0.02);
}

#[test]
fn the_cost_of_a_prefill_batch_comes_back() {
    let mut server = server(4, 3.51);
    server.prefill.p0_s = 0.01;
    let model = calibrated(&logs(&server, &BATCHES, &["100-2000", "8000"])).unwrap();
    let found = fitted(&model, 4);
    near(found.prefill.p0_s, 0.01, 0.02);
    near(found.prefill.p1_s, 2e-5, 0.02);
    near(found.step.a_s, 0.012, 0.02);
}

#[test]
fn two_draft_lengths_tell_the_draft_pass_apart() {
    let with = |drafts: u32, accept_length: f64| {
        let mut server = server(drafts, accept_length);
        server.step.d_s = 0.0005;
        server
    };
    let mut all = logs(&with(2, 2.27), &BATCHES, &["1000", "8000"]);
    all.extend(logs(&with(7, 3.88), &BATCHES, &["1000", "8000"]));
    let model = calibrated(&all).unwrap();
    let found = fitted(&model, 7);
    near(found.step.d_s, 0.0005, 0.02);
    near(found.step.a_s, 0.012, 0.02);
    assert_eq!(model.draft_lengths(), [2, 7]);
}

/// Few requests wait for the longest context.
#[test]
fn lanes_come_back() {
    let mut server = server(4, 3.51);
    server.step = StepLaw { c_s: 4e-7, lanes: 4.0, ..step() };
    let mut logs = Vec::new();
    for batch in [1, 2, 4, 8, 16, 32] {
        let traffic = Traffic::closed(batch, lengths("200-3000"), lengths("200-1000"), 90.0);
        logs.push(log(&server, &traffic, u64::from(batch)));
    }
    let model = calibrated(&logs).unwrap();
    let found = fitted(&model, 4);
    near(found.step.lanes, 4.0, 0.05);
    near(found.step.c_s, 4e-7, 0.03);
    near(found.step.a_s, 0.012, 0.03);
}

#[test]
fn a_bend_is_fitted_where_the_log_spans_it_and_only_there() {
    let bend = Bend::Hinge { from_tokens: 160.0, slope_s: 2e-5 };
    let mut server = server(4, 3.51);
    server.step.bend = bend;
    let model = calibrated(&logs(&server, &[1, 4, 16, 32, 64, 96, 128], &["1000", "8000"])).unwrap();
    match fitted(&model, 4).step.bend {
        Bend::Hinge { from_tokens, slope_s } => {
            assert!((from_tokens - 160.0).abs() < 1.0);
            near(slope_s, 2e-5, 0.03);
        }
        other => panic!("{other:?}"),
    }
    let below = calibrated(&logs(&server, &[1, 4, 8, 16, 24], &["1000", "8000"])).unwrap();
    assert_eq!(fitted(&below, 4).step.bend, Bend::None);
}

#[test]
fn experts_are_fitted_on_request() {
    let mut server = server(4, 3.51);
    server.step.bend = Bend::Experts { experts: 256, active: 8, per_expert_s: 2e-5 };
    let logs = logs(&server, &[1, 2, 4, 8, 16, 32, 64], &["1000", "8000"]);
    let options = Options { experts: Some((256, 8)), ..Options::default() };
    match fitted(&calibrated_with(&logs, &options).unwrap(), 4).step.bend {
        Bend::Experts { per_expert_s, .. } => near(per_expert_s, 2e-5, 0.03),
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_concurrency_cannot_tell_coefficients_apart() {
    let model = calibrated(&logs(&server(4, 3.51), &[16], &["1000"])).unwrap();
    assert!(matches!(missing(&model)[0], Missing::Levels { .. }), "{:?}", missing(&model));
    assert!(missing(&model)[0].to_string().contains("two more concurrency levels"));
}

/// A server that decodes alone, at one input length and one output token in ten: contexts hardly vary.
#[test]
fn contexts_in_step_with_the_batch_are_refused() {
    let server = Server { prefilling: Prefilling::Elsewhere { workers: 1 << 16 }, ..server(4, 3.51) };
    let mut all = Vec::new();
    for batch in BATCHES {
        all.push(log(&server, &Traffic::closed(batch, lengths("8000"), lengths("400"), 60.0), 1));
    }
    let model = calibrated(&all).unwrap();
    assert!(matches!(missing(&model)[0], Missing::Contexts { .. }), "{:?}", missing(&model));
    assert!(missing(&model)[0].to_string().contains("second input length"));
    assert!(!model.levels.is_empty());
}

#[test]
fn a_colocated_log_without_prefill_lines_is_refused() {
    let without = |log: Vec<u8>| -> Vec<u8> {
        let text = String::from_utf8(log).unwrap();
        text.lines()
            .filter(|line| !line.contains("Prefill batch"))
            .flat_map(|line| [line, "\n"])
            .collect::<String>()
            .into()
    };
    let logs: Vec<Vec<u8>> =
        logs(&server(4, 3.51), &BATCHES, &["1000", "8000"]).into_iter().map(without).collect();
    assert_eq!(missing(&calibrated(&logs).unwrap()), [Missing::PrefillLines]);
}
