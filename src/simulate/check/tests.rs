use super::*;
use crate::engine::Drafter;
use crate::law::LawKind;
use crate::simulate::found::parse_env;

const LOAD: Load = Load { lines: 60, interval: 40, batch: 16 };

fn check(text: &str, version: Option<&str>, drafter: Drafter, golden: Option<f64>) -> Check {
    let mut role = parse_env(text).unwrap();
    role.version = version.map(|version| version.parse().unwrap());
    role.drafter = Some(drafter);
    let server = role.server(role.engine.unwrap());
    Check::new(&role, server, 6, golden, LOAD)
}

fn faults(check: &Check) -> Vec<Fault> {
    check.instead.iter().map(|instead| instead.fault).collect()
}

fn mean(check: &Check, fault: Fault) -> f64 {
    let found = check.instead.iter().find(|instead| instead.fault == fault).unwrap();
    found.expected.as_ref().unwrap().mean
}

const MATCH: &str = "SGLANG_SIMULATE_ACC_LEN=3.51\nSGLANG_SIMULATE_ACC_METHOD=match-expected\n";

#[test]
fn settings_that_hold_and_what_else_a_log_could_show() {
    let found = check(MATCH, Some("0.5.18"), Drafter::DSpark, Some(3.51));
    assert_eq!(found.holds, Holds::Yes);
    let expected = found.expected.as_ref().unwrap();
    assert!((expected.mean - 3.51).abs() < 1e-12 && (expected.line_sd - 0.079).abs() < 5e-4);
    assert_eq!(
        faults(&found),
        [Fault::Rounded, Fault::Multinomial, Fault::OneTooLow, Fault::OneTooHigh, Fault::Ignored]
    );
    assert!((mean(&found, Fault::Rounded) - 4.0).abs() < 1e-12);
    assert!((mean(&found, Fault::OneTooLow) - 2.51).abs() < 1e-12);
    assert!((mean(&found, Fault::OneTooHigh) - 4.51).abs() < 1e-12);
    let multinomial = found.instead.iter().find(|instead| instead.fault == Fault::Multinomial).unwrap();
    assert_eq!(multinomial.lines_to_tell, Some(21));
    assert_eq!(found.instead.last().unwrap().expected, None);
}

#[test]
fn a_version_that_rounds_does_not_hold() {
    let found = check(MATCH, Some("0.5.16"), Drafter::DSpark, None);
    assert_eq!(found.holds, Holds::No);
    assert_eq!(found.expected.as_ref().unwrap().lines_within, (400, 400));
    assert_eq!(
        faults(&found),
        [Fault::Held, Fault::Multinomial, Fault::OneTooLow, Fault::OneTooHigh, Fault::Ignored]
    );
    assert!((mean(&found, Fault::Held) - 3.51).abs() < 1e-12);
}

#[test]
fn ignored_crashing_and_unknown() {
    let ignored = check(MATCH, Some("0.5.16"), Drafter::DFlash, None);
    assert_eq!((ignored.holds, ignored.expected.as_ref()), (Holds::No, None));
    assert_eq!(ignored.wanted(), Some(3.51));
    assert_eq!(
        faults(&ignored),
        [Fault::Held, Fault::Rounded, Fault::Multinomial, Fault::OneTooLow, Fault::OneTooHigh]
    );
    let crash = check(
        "SGLANG_SIMULATE_ACC_LEN=3.51\nSGLANG_SIMULATE_ACC_METHOD=normal\n",
        None,
        Drafter::Eagle,
        None,
    );
    assert_eq!(crash.holds, Holds::No);
    let judged =
        check(r#"{"num_speculative_tokens":5,"rejection_sample_method":"block"}"#, None, Drafter::Mtp, None);
    assert_eq!(judged.holds, Holds::Undecided, "nothing was asked for");
    let none = check("TILERT_SIMULATE_ACC_LEN=3.51\n", None, Drafter::Mtp, None);
    assert_eq!(none.holds, Holds::Undecided);
}

/// A cell that the settings miss by a digit, and a unit that they miss by a token.
#[test]
fn another_value_than_the_cell() {
    let neighbour = check(MATCH, None, Drafter::DSpark, Some(3.54));
    assert_eq!(neighbour.holds, Holds::No);
    let held = neighbour.instead.iter().find(|instead| instead.fault == Fault::Held).unwrap();
    assert_eq!(held.lines_to_tell, Some(96));

    // Case 51: the length itself in the variable that counts drafts.
    let trtllm = check("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS=3.51\n", None, Drafter::Mtp, Some(3.51));
    assert_eq!(trtllm.holds, Holds::No);
    assert!((trtllm.expected.as_ref().unwrap().mean - 4.51).abs() < 1e-12);
    assert!(!faults(&trtllm).contains(&Fault::OneTooHigh), "it is what happens");
    assert!(faults(&trtllm).contains(&Fault::Held));
}

#[test]
fn whole_targets_and_rates() {
    let whole = check("SGLANG_SIMULATE_ACC_LEN=3\n", None, Drafter::Eagle, None);
    assert_eq!(whole.holds, Holds::Yes);
    assert_eq!(faults(&whole), [Fault::Multinomial, Fault::OneTooLow, Fault::OneTooHigh, Fault::Ignored]);

    let rates = r#"{"num_speculative_tokens":5,"rejection_sample_method":"synthetic","synthetic_acceptance_rates":[0.9,0.6,0.5,0.3,0.21]}"#;
    let rates = check(rates, None, Drafter::Eagle3, None);
    assert_eq!(rates.holds, Holds::Yes);
    assert_eq!(rates.prediction.outcome.law().map(AcceptanceLaw::kind), Some(LawKind::PerPosition));
    assert!(!faults(&rates).contains(&Fault::Held));

    let multinomial = check(
        "SGLANG_SIMULATE_ACC_LEN=3.51\nSGLANG_SIMULATE_ACC_METHOD=multinomial\n",
        None,
        Drafter::Eagle,
        None,
    );
    assert_eq!(multinomial.holds, Holds::No, "its mean is right by accident");
}
