use super::super::super::{Engine, law_for, settings as engine_settings};
use super::*;
use crate::golden::Target;

fn server(version: &str, drafter: Drafter) -> Server {
    Server::new(Engine::Sglang).version(version.parse().unwrap()).drafter(drafter)
}

fn injected(settings: &[(&str, &str)]) -> Injected {
    let mut injected = Injected::default();
    for (name, value) in settings {
        injected.set(SettingKind::Env, *name, *value);
    }
    injected
}

/// The prediction for a length alone, under the names that the version reads; M = 6.
fn length(version: &str, drafter: Drafter, text: &str) -> Prediction {
    let names = super::super::names_read(Some(&version.parse().unwrap()));
    law_for(&server(version, drafter), 6, &injected(&[(names.length, text)]))
}

fn with_method(version: &str, drafter: Drafter, text: &str, method: &str) -> Prediction {
    let names = super::super::names_read(Some(&version.parse().unwrap()));
    law_for(&server(version, drafter), 6, &injected(&[(names.length, text), (names.method, method)]))
}

fn law(prediction: &Prediction) -> &AcceptanceLaw {
    prediction.outcome.law().unwrap_or_else(|| panic!("{prediction:?}"))
}

fn setting(length: f64) -> Setting {
    Setting::new(length, 6).unwrap()
}

fn reason(prediction: &Prediction) -> String {
    prediction.outcome.reason().unwrap().to_string()
}

/// SGLANG section 1.1: which law each version draws, with the method set to match-expected.
#[test]
fn laws_by_version() {
    let match_expected = AcceptanceLaw::match_expected(setting(3.51));
    let short = AcceptanceLaw::clamped_short(setting(3.51));
    let rounded = AcceptanceLaw::Rounded(4);
    for (version, drafter, expected) in [
        ("0.4.5", Drafter::Eagle, &short),
        ("0.4.6.post5", Drafter::Eagle3, &short),
        ("0.4.7", Drafter::Eagle, &short),
        ("0.4.7.post1", Drafter::Eagle, &short),
        ("0.4.8", Drafter::Eagle, &match_expected),
        ("0.5.2", Drafter::Eagle, &match_expected),
        ("0.5.3", Drafter::NextN, &match_expected),
        ("0.5.10.post1", Drafter::Eagle3, &match_expected),
        ("0.5.14", Drafter::Ngram, &match_expected),
        ("0.5.16", Drafter::DSpark, &rounded),
        ("0.5.17", Drafter::DSpark, &rounded),
        ("0.5.17", Drafter::DFlash, &match_expected),
        ("0.5.18", Drafter::DSpark, &match_expected),
        ("0.5.23", Drafter::DSpark, &match_expected),
    ] {
        let found = with_method(version, drafter, "3.51", "match-expected");
        assert_eq!(law(&found), expected, "{version} {drafter}");
        assert_eq!(found.asked, Some(3.51));
        assert_eq!(found.ranks, RankDraws::Alike);
        assert!(found.otherwise.is_empty());
    }
}

#[test]
fn unset_methods_are_the_versions_own() {
    for (version, is_multinomial) in [
        ("0.4.8", true),
        ("0.5.2", true),
        ("0.5.3", true),
        ("0.5.10.post1", true),
        ("0.5.11", false),
        ("0.5.23", false),
    ] {
        let found = length(version, Drafter::Eagle, "3.51");
        let expected = if is_multinomial {
            AcceptanceLaw::multinomial(setting(3.51))
        } else {
            AcceptanceLaw::match_expected(setting(3.51))
        };
        assert_eq!(law(&found), &expected, "{version}");
        assert_eq!(found.notes.contains(&PredictionNote::DefaultMultinomial), is_multinomial, "{version}");
    }
    let found = with_method("0.5.23", Drafter::Eagle, "3.51", "multinomial");
    assert_eq!(law(&found), &AcceptanceLaw::multinomial(setting(3.51)));
}

/// `AUDIT_STATISTICS` section 2: builds without overlap count after a finished request was cut.
#[test]
fn lines_of_the_path_without_overlap_read_low() {
    let reads_low = |version: &str, overlap: Option<bool>| {
        let server = Server { overlap, ..server(version, Drafter::Eagle) };
        let names = super::super::names_read(server.version.as_ref());
        law_for(&server, 6, &injected(&[(names.length, "3.51")])).notes.contains(&PredictionNote::ReadsLow)
    };
    assert!(reads_low("0.5.10", None) && !reads_low("0.5.10", Some(true)));
    assert!(!reads_low("0.5.11", None) && reads_low("0.5.11", Some(false)));
    assert!(!reads_low("0.5.14", Some(false)));
}

#[test]
fn versions_and_algorithms_that_accept_for_real() {
    for (version, drafter) in [
        ("0.3.6", Drafter::Eagle),
        ("0.4.4.post4", Drafter::Eagle),
        ("0.5.13.post1", Drafter::Ngram),
        ("0.5.16", Drafter::DFlash),
    ] {
        let found = length(version, drafter, "3.51");
        assert!(matches!(found.outcome, Outcome::RealAcceptance { .. }), "{version} {drafter}: {found:?}");
    }
    let overlap = |version: &str| {
        let server = Server { overlap: Some(true), ..server(version, Drafter::Eagle) };
        let names = super::super::names_read(server.version.as_ref());
        law_for(&server, 6, &injected(&[(names.length, "3.51")])).outcome
    };
    assert!(matches!(overlap("0.5.3"), Outcome::RealAcceptance { reason: RealReason::Overlap { .. } }));
    assert!(matches!(overlap("0.5.4"), Outcome::Law(_)));
    let absent = length("0.5.15", Drafter::DSpark, "3.51");
    assert!(matches!(absent.outcome, Outcome::RefusesToStart { reason: Refusal::NoAlgorithm { .. } }));
}

/// Un-prefixed names from 0.5.3 on are ignored, prefixed ones before.
#[test]
fn names_of_another_generation_are_ignored() {
    let of = |version: &str, name: &str| {
        law_for(&server(version, Drafter::Eagle), 6, &injected(&[(name, "3.51")])).outcome
    };
    assert!(matches!(of("0.5.2", "SIMULATE_ACC_LEN"), Outcome::Law(_)));
    assert!(matches!(
        of("0.5.3", "SIMULATE_ACC_LEN"),
        Outcome::RealAcceptance {
            reason: RealReason::OtherNames { set: "SIMULATE_ACC_LEN", read: "SGLANG_SIMULATE_ACC_LEN" }
        }
    ));
    assert!(matches!(
        of("0.5.2", "SGLANG_SIMULATE_ACC_LEN"),
        Outcome::RealAcceptance { reason: RealReason::OtherNames { .. } }
    ));
    assert!(matches!(of("0.5.3", "OTHER"), Outcome::RealAcceptance { reason: RealReason::NotSet }));
}

/// Section 1.1, from 0.5.3 on: on iff the float is above 0; nan is off, inf acts as M, what lies in (0, 1] as 1.
#[test]
fn texts_of_a_length_from_0_5_3_on() {
    let outcome = |text: &str| length("0.5.11", Drafter::Eagle, text).outcome;
    let is_off =
        |text: &str| matches!(outcome(text), Outcome::RealAcceptance { reason: RealReason::Off { .. } });
    assert!(is_off("0") && is_off("-1") && is_off("nan") && is_off("-inf") && is_off("0.0"));
    for text in ["3,51", "", "three", "3.5.1"] {
        assert!(
            matches!(outcome(text), Outcome::RealAcceptance { reason: RealReason::Unreadable { .. } }),
            "{text}"
        );
    }
    let mean = |text: &str| outcome(text).law().unwrap().mean();
    for (text, expected) in
        [("0.5", 1.0), ("1", 1.0), ("inf", 6.0), ("1e9", 6.0), (" 3.51 ", 3.51), ("+2", 2.0), ("3_0", 6.0)]
    {
        assert!((mean(text) - expected).abs() < 1e-12, "{text}");
    }
    let infinite = with_method("0.5.11", Drafter::Eagle, "inf", "multinomial");
    assert_eq!(law(&infinite), &AcceptanceLaw::Constant(6));
    assert_eq!(law(&length("0.5.16", Drafter::DSpark, "inf")), &AcceptanceLaw::Rounded(6));
}

/// Up to 0.5.2 any text turns it on, so 0 and -1 force 1; no number is a crash at the first verify step.
#[test]
fn texts_of_a_length_up_to_0_5_2() {
    for text in ["0", "-1", "-inf"] {
        let found = with_method("0.5.2", Drafter::Eagle, text, "match-expected");
        assert_eq!(law(&found).support(), 1..=1, "{text}");
    }
    for text in ["3,51", "abc", " "] {
        let found = length("0.5.2", Drafter::Eagle, text);
        assert!(matches!(found.outcome, Outcome::CrashesAtFirstVerify { .. }), "{text}: {found:?}");
    }
    let empty = length("0.5.2", Drafter::Eagle, "");
    assert!(matches!(empty.outcome, Outcome::RealAcceptance { reason: RealReason::NotSet }));
    assert!(matches!(length("0.5.2", Drafter::Eagle, "nan").outcome, Outcome::NotKnown { .. }));
    // The short clamp, one below M.
    assert_eq!(law(&length("0.4.5", Drafter::Eagle, "inf")), &AcceptanceLaw::Constant(5));
}

/// `ValueError` at the first verify step; no trimming, no case folding.
#[test]
fn unknown_methods_crash() {
    for method in ["Match-Expected", "match-expected ", "match_expected", "", "normal"] {
        let found = with_method("0.5.18", Drafter::Eagle, "3.51", method);
        assert_eq!(reason(&found), format!("ValueError: Invalid simulate_acc_method: {method}"));
        assert!(matches!(found.outcome, Outcome::CrashesAtFirstVerify { .. }));
    }
    // 0.4.7 reads the variable and does not use it; DSPARK of 0.5.16 ignores it.
    assert!(with_method("0.4.7", Drafter::Eagle, "3.51", "normal").outcome.law().is_some());
    assert!(with_method("0.5.16", Drafter::DSpark, "3.51", "normal").outcome.law().is_some());
}

#[test]
fn token_modes_that_raise() {
    let of = |server: &Server, mode: &str| {
        let names = super::super::names_read(server.version.as_ref());
        law_for(server, 6, &injected(&[(names.length, "3.51"), (names.token_mode, mode)])).outcome
    };
    let crashes = |outcome: &Outcome| matches!(outcome, Outcome::CrashesAtFirstVerify { .. });
    let eagle = server("0.5.15", Drafter::Eagle);
    assert!(of(&eagle, "real-draft-token").law().is_some() && of(&eagle, "fixed").law().is_some());
    assert!(crashes(&of(&eagle, "real")));
    let tree = Server { eagle_topk: Some(4), ..eagle };
    assert!(crashes(&of(&tree, "real-draft-token")) && of(&tree, "fixed").law().is_some());
    assert!(crashes(&of(&server("0.5.15", Drafter::Ngram), "real-draft-token")));
    // Not read before 0.5.15, never by DSPARK.
    assert!(of(&server("0.5.14", Drafter::Ngram), "real-draft-token").law().is_some());
    assert!(of(&server("0.5.16", Drafter::DSpark), "nonsense").law().is_some());
    assert!(crashes(&of(&server("0.5.22", Drafter::DFlash), "nonsense")));
    let at_start = of(&server("0.5.23", Drafter::DFlash), "nonsense");
    assert!(matches!(at_start, Outcome::RefusesToStart { reason: Refusal::TokenMode { .. } }));
}

/// The guard of DSPARK: anything on but exactly 1 needs a verify-all schedule.
#[test]
fn dspark_needs_a_verify_all_schedule() {
    let of = |length: &str, mode: &str| {
        let settings = [("SGLANG_SIMULATE_ACC_LEN", length), (VERIFY_MODE, mode)];
        law_for(&server("0.5.18", Drafter::DSpark), 6, &injected(&settings))
    };
    assert!(of("3.51", "static").outcome.law().is_some() && of("3.51", "static").notes.is_empty());
    assert!(of("3.51", "compact").notes.contains(&PredictionNote::NeedsVerifyAll));
    for length in ["3.51", "0.5"] {
        let refused = of(length, "dynamic");
        assert!(matches!(refused.outcome, Outcome::RefusesToStart { .. }), "{length}");
        assert!(
            reason(&refused)
                .starts_with("SGLANG_SIMULATE_ACC_LEN>1.0 with DSpark requires a verify-all schedule")
        );
    }
    assert!(of("1.0", "dynamic").outcome.law().is_some());
    assert!(matches!(of("0", "dynamic").outcome, Outcome::RealAcceptance { .. }));
    let eagle = injected(&[("SGLANG_SIMULATE_ACC_LEN", "3.51"), (VERIFY_MODE, "dynamic")]);
    assert!(law_for(&server("0.5.18", Drafter::Eagle), 6, &eagle).outcome.law().is_some());
}

/// Section 1.2: the block of 5 that 0.5.16 rounds, and section 6, item 5.
#[test]
fn rounding_and_clamping_are_said() {
    for (text, expected) in [
        ("1.5", 1),
        ("2.5", 3),
        ("2.78", 3),
        ("3.5", 3),
        ("3.51", 4),
        ("3.61", 4),
        ("4.5", 5),
        ("4.7", 5),
        ("9", 6),
    ] {
        assert_eq!(
            law(&length("0.5.16", Drafter::DSpark, text)),
            &AcceptanceLaw::Rounded(expected),
            "{text}"
        );
    }
    let rounded = length("0.5.16", Drafter::DSpark, "3.51");
    assert!(rounded.notes.iter().any(|note| note.code() == "dspark-rounds-target"));
    assert!(rounded.source.contains("0.5.16"));

    let names = injected(&[("SGLANG_SIMULATE_ACC_LEN", "5.0")]);
    let clamped = law_for(&server("0.5.18", Drafter::Eagle), 4, &names);
    assert_eq!(law(&clamped).support(), 4..=4);
    assert!(clamped.notes.iter().any(|note| note.code() == "clamped-to-max"));
    let fixed = length("0.5.18", Drafter::DSpark, "3.51");
    assert!(fixed.source.contains("33463"));
}

#[test]
fn a_pre_release_may_be_either() {
    let found = with_method("0.5.18rc1", Drafter::DSpark, "3.51", "match-expected");
    assert_eq!(law(&found), &AcceptanceLaw::Rounded(4));
    assert_eq!(found.otherwise.len(), 1);
    assert_eq!(found.otherwise[0].when.to_string(), "if it already has what 0.5.18 changed");
    assert_eq!(found.otherwise[0].outcome, Outcome::Law(AcceptanceLaw::match_expected(setting(3.51))));
    assert!(with_method("0.5.19rc1", Drafter::DSpark, "3.51", "match-expected").otherwise.is_empty());
}

/// What `accsim env` prints is held, unless a warning of `env` says otherwise.
#[test]
fn settings_and_predictions_agree() {
    let drafters = [Drafter::Eagle, Drafter::Ngram, Drafter::DSpark, Drafter::DFlash];
    for version in
        ["0.4.4", "0.4.5", "0.4.8", "0.5.3", "0.5.11", "0.5.14", "0.5.16", "0.5.17", "0.5.18", "0.5.23"]
    {
        for drafter in drafters {
            for target in [3.0, 3.51, 6.5] {
                let server = server(version, drafter);
                let target = Target::explicit(target, 6).unwrap();
                let settings = engine_settings(&server, &target).unwrap();
                let found = law_for(&server, 6, &Injected::from(&settings));
                let harmless = ["legacy-variable-names", "token-mode-unsupported"];
                let is_warned =
                    settings.warnings.iter().any(|warning| !harmless.contains(&warning.code.name()));
                let holds = found.outcome.law().is_some_and(|law| {
                    matches!(law, AcceptanceLaw::MatchExpected(_) | AcceptanceLaw::Rounded(_))
                        && (law.mean() - target.accept_length().get()).abs() < 1e-9
                });
                assert_eq!(holds, !is_warned, "{version} {drafter} {target:?}: {found:?} {settings:?}");
            }
        }
    }
}
