use super::super::super::{Engine, law_for};
use super::*;

fn predict(settings: &[(&str, &str)], max: u32) -> Prediction {
    let mut injected = Injected::default();
    for (name, value) in settings {
        injected.set(SettingKind::Arg, *name, *value);
    }
    law_for(&Server::new(Engine::Atom), max, &injected)
}

/// Case 54: 3.78 with 7 drafts, as a length and as a mean rate.
#[test]
fn lengths_and_rates_are_two_point_laws() {
    let length = predict(&[(LENGTH, "3.78")], 8);
    let law = length.outcome.law().unwrap();
    assert!((law.mean() - 3.78).abs() < 1e-12 && (law.variance() - 0.1716).abs() < 1e-12);
    assert!(matches!(law, AcceptanceLaw::Pool(pool) if pool.kind() == PoolKind::Atom));
    assert!(length.otherwise.is_empty());

    let rate = predict(&[(RATE, "0.397142857142857")], 8);
    assert!((rate.outcome.law().unwrap().mean() - 3.78).abs() < 1e-9);
    assert!((rate.asked.unwrap() - 3.78).abs() < 1e-9);
    // An older build has the same mean and another law.
    assert_eq!(rate.otherwise[0].when.to_string(), "a build before ROCm/ATOM#1948");
    let older = rate.otherwise[0].outcome.law().unwrap();
    assert!(matches!(older, AcceptanceLaw::Geometric(_)));
    assert!((older.mean() - 3.78).abs() < 1e-9 && older.variance() > 4.0);
    // GOLDEN_AND_RECIPES section 8: rate 0.77 at K = 2 is 2.54.
    assert!((predict(&[(RATE, "0.77")], 3).asked.unwrap() - 2.54).abs() < 1e-12);
}

#[test]
fn refusals() {
    let refusal = |settings: &[(&str, &str)]| match predict(settings, 4).outcome {
        Outcome::RefusesToStart { reason } => reason,
        other => panic!("{other:?}"),
    };
    assert!(matches!(refusal(&[(LENGTH, "4.5")]), Refusal::OutOfRange { .. }));
    assert!(matches!(refusal(&[(LENGTH, "0.5")]), Refusal::OutOfRange { .. }));
    assert!(matches!(refusal(&[(RATE, "1.5")]), Refusal::OutOfRange { .. }));
    assert!(matches!(refusal(&[(LENGTH, "3,5")]), Refusal::Unreadable { .. }));
    assert!(matches!(refusal(&[(LENGTH, "nan")]), Refusal::OutOfRange { .. }));
    assert!(matches!(refusal(&[(LENGTH, "2"), (RATE, "0.5")]), Refusal::Both { .. }));
    assert!(matches!(predict(&[], 4).outcome, Outcome::RealAcceptance { .. }));
}

#[test]
fn a_stated_version_may_have_no_length() {
    let mut injected = Injected::default();
    injected.set(SettingKind::Arg, LENGTH, "3.51");
    let server = Server::new(Engine::Atom).version("0.1.0".parse().unwrap());
    let found = law_for(&server, 6, &injected);
    assert!(found.outcome.law().is_some());
    assert!(matches!(
        found.otherwise[0].outcome,
        Outcome::RefusesToStart { reason: Refusal::NoArgument { name: LENGTH } }
    ));
}
