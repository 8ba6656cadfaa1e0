use proptest::prelude::*;
use proptest::sample::select;

use super::super::{Drafter, Models};
use super::*;
use crate::golden::Target;

const DRAFTERS: [Option<Drafter>; 9] = [
    None,
    Some(Drafter::Eagle),
    Some(Drafter::Eagle3),
    Some(Drafter::NextN),
    Some(Drafter::Mtp),
    Some(Drafter::Standalone),
    Some(Drafter::Ngram),
    Some(Drafter::DSpark),
    Some(Drafter::DFlash),
];

/// Both sides of every change, a release candidate, a development build, and no version.
const VERSIONS: [Option<&str>; 22] = [
    None,
    Some("0.3.6"),
    Some("0.4.4.post4"),
    Some("0.4.5"),
    Some("0.4.6.post5"),
    Some("0.4.7"),
    Some("0.4.8"),
    Some("0.5.2"),
    Some("0.5.3rc0"),
    Some("0.5.3"),
    Some("0.5.4"),
    Some("0.5.10.post1"),
    Some("0.5.11"),
    Some("0.5.13.post1"),
    Some("0.5.14"),
    Some("0.5.15"),
    Some("0.5.16.dev1+g0"),
    Some("0.5.16"),
    Some("0.5.17"),
    Some("0.5.18"),
    Some("0.5.23"),
    Some("1.0"),
];

fn server() -> impl Strategy<Value = Server> {
    (
        select(Engine::ALL.to_vec()),
        select(VERSIONS.to_vec()),
        select(DRAFTERS.to_vec()),
        select(vec![None, Some(1), Some(4)]),
        any::<Option<bool>>(),
        select(vec![None, Some(Models::One), Some(Models::Two)]),
    )
        .prop_map(|(engine, version, drafter, eagle_topk, overlap, models)| Server {
            engine,
            version: version.map(|text| text.parse().unwrap()),
            drafter,
            eagle_topk,
            overlap,
            models,
        })
}

fn the_number(settings: &Settings) -> Option<f64> {
    settings.settings.iter().find_map(|setting| match &setting.value {
        SettingValue::Number(text) => Some(text.parse().unwrap()),
        SettingValue::Word(_) => None,
    })
}

fn worked(engine: Engine, accept_length: f64, max: u32) -> Vec<(&'static str, String)> {
    let target = Target::explicit(accept_length, max).unwrap();
    settings(&Server::new(engine), &target)
        .unwrap()
        .settings
        .into_iter()
        .map(|setting| (setting.name, setting.value.text().to_owned()))
        .collect()
}

#[test]
fn worked_values_of_a_golden_351_at_five_drafts() {
    let of = |engine| worked(engine, 3.51, 6);
    let pair = |name, value: &str| (name, value.to_owned());
    assert_eq!(
        of(Engine::Sglang),
        [
            pair("SGLANG_SIMULATE_ACC_LEN", "3.51"),
            pair("SGLANG_SIMULATE_ACC_METHOD", "match-expected"),
            pair("SGLANG_SIMULATE_ACC_TOKEN_MODE", "real-draft-token"),
        ]
    );
    assert_eq!(
        of(Engine::Vllm),
        [pair("rejection_sample_method", "synthetic"), pair("synthetic_acceptance_length", "3.51")]
    );
    assert_eq!(of(Engine::Trtllm), [pair("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS", "2.51")]);
    assert_eq!(of(Engine::Atom), [pair("--spec-decode-acceptance-length", "3.51")]);
    assert_eq!(
        of(Engine::Tilert),
        [pair("TILERT_SIMULATE_ACC_LEN", "3.51"), pair("TILERT_SIMULATE_ACC_METHOD", "match-expected")]
    );
}

#[test]
fn values_in_use_with_tensorrt_llm() {
    for (accept_length, value) in [
        (2.49, "1.49"),
        (4.06, "3.06"),
        (3.61, "2.61"),
        (2.99, "1.99"),
        (2.78, "1.78"),
        (3.8, "2.8"),
        (4.0, "3"),
    ] {
        assert_eq!(worked(Engine::Trtllm, accept_length, 8)[0].1, value);
    }
}

#[test]
fn a_length_above_the_maximum() {
    let target = Target::explicit(6.5, 6).unwrap();
    for (engine, clamps) in [
        (Engine::Sglang, true),
        (Engine::Trtllm, true),
        (Engine::Vllm, false),
        (Engine::Atom, false),
        (Engine::Tilert, false),
    ] {
        match settings(&Server::new(engine), &target) {
            Ok(settings) => {
                assert!(clamps, "{engine}");
                assert_eq!(settings.warnings[0].code, WarningCode::ClampedToMax);
            }
            Err(error) => {
                assert!(!clamps, "{engine}");
                assert!(
                    error.to_string().contains("6.5") && error.to_string().contains(engine.title()),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn the_maximum_itself_is_no_trouble() {
    let target = Target::explicit(6.0, 6).unwrap();
    for engine in Engine::ALL {
        assert_eq!(settings(&Server::new(engine), &target).unwrap().warnings, [], "{engine}");
    }
}

#[test]
fn tensorrt_llm_cannot_be_forced_to_one() {
    let target = Target::explicit(1.0, 6).unwrap();
    let settings = settings(&Server::new(Engine::Trtllm), &target).unwrap();
    assert_eq!(settings.settings, [], "0 would mean real acceptance");
    assert_eq!(settings.warnings.len(), 1);
    assert_eq!(settings.warnings[0].code, WarningCode::CannotForceOne);
    for engine in [Engine::Sglang, Engine::Vllm, Engine::Atom, Engine::Tilert] {
        assert!(worked(engine, 1.0, 6).iter().any(|(_, value)| value == "1"), "{engine}");
    }
}

#[test]
fn tensorrt_llm_readers_of_fractions() {
    let fraction = Target::explicit(3.51, 6).unwrap();
    let whole = Target::explicit(4.0, 6).unwrap();
    let codes = |server: &Server, target: &Target| {
        let settings = settings(server, target).unwrap();
        let codes: Vec<WarningCode> = settings.warnings.iter().map(|warning| warning.code).collect();
        (settings.settings.len(), codes)
    };
    let newest = Server::new(Engine::Trtllm);
    assert_eq!(codes(&newest, &fraction), (1, vec![]));
    // Whether a version is from before the change is not known: set it, and say so.
    let stated = newest.clone().version("1.2.0".parse().unwrap());
    assert_eq!(codes(&stated, &fraction), (1, vec![WarningCode::FractionIgnored]));
    assert_eq!(codes(&stated, &whole), (1, vec![]));
    // Certain to be ignored: nothing to set.
    let two = Server { models: Some(Models::Two), ..newest };
    assert_eq!(codes(&two, &fraction), (0, vec![WarningCode::FractionIgnored]));
    assert_eq!(codes(&two, &whole), (1, vec![]));
}

#[test]
fn versions_of_engines_that_are_known_by_date() {
    let target = Target::explicit(3.51, 6).unwrap();
    for engine in [Engine::Vllm, Engine::Atom] {
        let newest = settings(&Server::new(engine), &target).unwrap();
        assert_eq!(newest.warnings, [], "{engine}");
        let stated = settings(&Server::new(engine).version("0.19.0".parse().unwrap()), &target).unwrap();
        assert_eq!(stated.settings, newest.settings);
        assert_eq!(stated.warnings.len(), 1);
        assert_eq!(stated.warnings[0].code, WarningCode::VersionNotPlaced);
        assert!(stated.warnings[0].message.contains('#'), "names the change: {}", stated.warnings[0].message);
    }
}

#[test]
fn an_evaluation_run_of_vllm_rejects_by_block() {
    let removals = unset(Engine::Vllm, None);
    let instead: Vec<_> = removals.iter().map(|removal| (removal.name, removal.instead)).collect();
    assert_eq!(
        instead,
        [
            ("rejection_sample_method", Some("block")),
            ("synthetic_acceptance_length", None),
            ("synthetic_acceptance_rates", None),
        ]
    );
}

proptest! {
    /// The engine reads back the target within six digits, in its own unit.
    #[test]
    fn the_number_means_the_target(server in server(), length in 1.0_f64..9.0) {
        let target = Target::explicit(length, 9).unwrap();
        let settings = settings(&server, &target).unwrap();
        if let Some(number) = the_number(&settings) {
            let unit = if server.engine == Engine::Trtllm { 1.0 } else { 0.0 };
            prop_assert!((number + unit - length).abs() <= length * 5.000_001e-6, "{} for {}", number, length);
        }
    }

    /// Golden cells have two decimals: those come back exactly, also through TensorRT-LLM's subtraction.
    #[test]
    fn two_decimals_come_back_exactly(hundredths in 101_u32..=900) {
        let target = Target::explicit(f64::from(hundredths) / 100.0, 9).unwrap();
        for engine in Engine::ALL {
            let number = the_number(&settings(&Server::new(engine), &target).unwrap()).unwrap();
            let unit = if engine == Engine::Trtllm { 100.0 } else { 0.0 };
            let read = (number * 100.0).round() + unit;
            prop_assert!((read - f64::from(hundredths)).abs() < 1e-9);
            prop_assert!(the_number(&settings(&Server::new(engine), &target).unwrap()).unwrap().to_string().len() <= 4);
        }
    }

    /// Nothing set means that a warning says why, and a setting of every run is cleared for an evaluation.
    #[test]
    fn nothing_is_silent(server in server(), length in 1.0_f64..9.0) {
        let target = Target::explicit(length, 9).unwrap();
        let settings = settings(&server, &target).unwrap();
        prop_assert!(!settings.settings.is_empty() || !settings.warnings.is_empty());
        for setting in &settings.settings {
            let cleared = settings.unset.iter().any(|removal| removal.name == setting.name);
            prop_assert!(cleared, "{} survives an evaluation", setting.name);
        }
    }

    /// No length that the engine would refuse gets through, and none that it takes is refused.
    #[test]
    fn refusals_are_those_of_the_engine(server in server(), length in 1.0_f64..12.0, max in 1_u32..12) {
        let target = Target::explicit(length, max).unwrap();
        let takes_any = matches!(server.engine, Engine::Sglang | Engine::Trtllm);
        prop_assert_eq!(settings(&server, &target).is_ok(), takes_any || length <= f64::from(max));
    }
}
