use super::super::super::{Engine, Prediction, law_for};
use super::*;
use crate::law::{RatesError, Setting};

fn predict(settings: &[(&str, &str)], max: u32) -> Prediction {
    predict_version(None, settings, max)
}

fn predict_version(version: Option<&str>, settings: &[(&str, &str)], max: u32) -> Prediction {
    let mut injected = Injected::default();
    for (name, value) in settings {
        injected.set(SettingKind::Json, *name, *value);
    }
    let server = Server { version: version.map(|text| text.parse().unwrap()), ..Server::new(Engine::Vllm) };
    law_for(&server, max, &injected)
}

fn refusal(settings: &[(&str, &str)], max: u32) -> Refusal {
    match predict(settings, max).outcome {
        Outcome::RefusesToStart { reason } => reason,
        other => panic!("{other:?}"),
    }
}

const ON: (&str, &str) = (METHOD, "synthetic");

#[test]
fn a_length_is_a_two_point_law_a_request() {
    let found = predict(&[ON, (LENGTH, "3.51")], 6);
    let expected = AcceptanceLaw::per_request(Setting::new(3.51, 6).unwrap());
    assert_eq!(found.outcome, Outcome::Law(expected));
    assert_eq!((found.asked, found.ranks), (Some(3.51), RankDraws::Own));
    assert!(found.otherwise.is_empty());
}

#[test]
fn rates_are_unconditional() {
    let found = predict(&[ON, (RATES, "[0.9, 0.5, 0.2]")], 4);
    let law = found.outcome.law().unwrap();
    assert!((law.mean() - 2.6).abs() < 1e-12 && (law.variance() - 0.84).abs() < 1e-12);
    assert!((found.asked.unwrap() - 2.6).abs() < 1e-12);
}

/// ENGINES section 1 and 2.1: each of these is a start-up error.
#[test]
fn refusals() {
    assert!(matches!(refusal(&[ON, (LENGTH, "4.2")], 4), Refusal::OutOfRange { .. }));
    assert!(matches!(refusal(&[ON, (LENGTH, "0.9")], 4), Refusal::OutOfRange { .. }));
    assert!(matches!(refusal(&[ON, (LENGTH, "three")], 4), Refusal::Unreadable { .. }));
    assert!(matches!(refusal(&[ON], 4), Refusal::NothingToSimulate { .. }));
    assert!(matches!(refusal(&[ON, (LENGTH, "3"), (RATES, "[1, 1, 0]")], 4), Refusal::Both { .. }));
    assert!(matches!(refusal(&[(LENGTH, "3")], 4), Refusal::WithoutSynthetic { name: LENGTH }));
    assert!(matches!(refusal(&[(METHOD, "block"), (RATES, "[1]")], 2), Refusal::WithoutSynthetic { .. }));
    // Case 39.
    assert_eq!(
        refusal(&[ON, (RATES, "[0.5, 0.9, 0.2]")], 4),
        Refusal::Rates(RatesError::Increasing { position: 2, rate: 0.9, before: 0.5 })
    );
    assert_eq!(refusal(&[ON, (RATES, "[0.9, 0.5]")], 4), Refusal::RateCount { found: 2, drafts: 3 });
    assert!(matches!(refusal(&[ON, (RATES, "0.9")], 2), Refusal::NoRates(_)));
}

#[test]
fn without_synthetic_drafts_are_judged() {
    for settings in [&[][..], &[(METHOD, "standard")], &[(METHOD, "block")]] {
        let outcome = predict(settings, 6).outcome;
        let is_real = matches!(outcome, Outcome::RealAcceptance { reason: RealReason::NotSynthetic { .. } });
        assert!(is_real, "{settings:?}");
    }
}

/// Case 42: the scalar was a mean rate in one build; the newest has none, and refuses a `synthetic` without more.
#[test]
fn the_scalar_belongs_to_an_older_build() {
    let found = predict(&[ON, (SCALAR, "0.6")], 4);
    assert!(matches!(found.outcome, Outcome::RefusesToStart { .. }));
    let older = &found.otherwise[0];
    assert_eq!(older.when.to_string(), "a build before vllm-project/vllm#40662 (2026-04)");
    let law = older.outcome.law().unwrap();
    assert!(matches!(law, AcceptanceLaw::Geometric(_)) && (law.mean() - 2.8).abs() < 1e-12);
    assert!((found.asked.unwrap() - 2.8).abs() < 1e-12);
    match found.notes[0] {
        PredictionNote::ScalarRate { as_conditional, .. } => assert!((as_conditional - 2.176).abs() < 1e-12),
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn a_stated_version_may_lie_before_the_change() {
    let found = predict_version(Some("0.19.0"), &[ON, (LENGTH, "3.51")], 6);
    assert!(found.outcome.law().is_some());
    assert!(matches!(found.otherwise[0].outcome, Outcome::NotKnown { .. }));
}
