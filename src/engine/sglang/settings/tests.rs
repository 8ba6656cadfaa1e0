use super::*;
use crate::engine::{Engine, settings as engine_settings, unset as engine_unset};

const PREFIXED: [&str; 3] =
    ["SGLANG_SIMULATE_ACC_LEN", "SGLANG_SIMULATE_ACC_METHOD", "SGLANG_SIMULATE_ACC_TOKEN_MODE"];

fn sglang(version: &str, drafter: Option<Drafter>) -> Server {
    Server { version: Some(version.parse().unwrap()), drafter, ..Server::new(Engine::Sglang) }
}

fn names_and_codes(server: &Server, accept_length: f64, max: u32) -> (Vec<&'static str>, Vec<&'static str>) {
    let target = Target::explicit(accept_length, max).unwrap();
    let settings = engine_settings(server, &target).unwrap();
    (
        settings.settings.iter().map(|setting| setting.name).collect(),
        settings.warnings.iter().map(|warning| warning.code.name()).collect(),
    )
}

fn message(server: &Server, accept_length: f64, max: u32, code: WarningCode) -> String {
    let target = Target::explicit(accept_length, max).unwrap();
    let warnings = engine_settings(server, &target).unwrap().warnings;
    warnings.into_iter().find(|warning| warning.code == code).unwrap().message
}

fn token_mode_of(server: &Server) -> &'static str {
    let target = Target::explicit(3.51, 6).unwrap();
    let settings = engine_settings(server, &target).unwrap().settings;
    match settings.into_iter().find(|setting| setting.name == PREFIXED[2]).unwrap().value {
        SettingValue::Word(word) => word,
        SettingValue::Number(number) => panic!("{number}"),
    }
}

#[test]
fn names_and_warnings_by_version() {
    let none: &[&str] = &[];
    let table: &[(&str, &[&str], &[&str])] = &[
        ("0.4.4.post4", none, &["simulation-ignored"]),
        (
            "0.4.5",
            &["SIMULATE_ACC_LEN"],
            &["legacy-variable-names", "method-default-multinomial", "token-mode-unsupported"],
        ),
        (
            "0.4.7",
            &["SIMULATE_ACC_LEN"],
            &["legacy-variable-names", "method-default-multinomial", "token-mode-unsupported"],
        ),
        (
            "0.4.8",
            &["SIMULATE_ACC_LEN", "SIMULATE_ACC_METHOD"],
            &["legacy-variable-names", "token-mode-unsupported"],
        ),
        (
            "0.5.2",
            &["SIMULATE_ACC_LEN", "SIMULATE_ACC_METHOD"],
            &["legacy-variable-names", "token-mode-unsupported"],
        ),
        ("0.5.3", &PREFIXED[..2], &["token-mode-unsupported"]),
        ("0.5.10.post1", &PREFIXED[..2], &["token-mode-unsupported"]),
        ("0.5.14", &PREFIXED[..2], &["token-mode-unsupported"]),
        ("0.5.15", &PREFIXED, none),
        ("0.5.23", &PREFIXED, none),
    ];
    for (version, names, codes) in table {
        for drafter in [None, Some(Drafter::Eagle3), Some(Drafter::Mtp), Some(Drafter::Standalone)] {
            let (found_names, found_codes) = names_and_codes(&sglang(version, drafter), 3.51, 6);
            assert_eq!(found_names, *names, "{version} {drafter:?}");
            assert_eq!(found_codes, *codes, "{version} {drafter:?}");
        }
    }
}

#[test]
fn algorithms_that_came_later() {
    for (drafter, before, first) in [
        (Drafter::Ngram, "0.5.13.post1", "0.5.14"),
        (Drafter::DFlash, "0.5.16", "0.5.17"),
        (Drafter::DSpark, "0.5.15.post1", "0.5.16"),
    ] {
        let (names, codes) = names_and_codes(&sglang(before, Some(drafter)), 3.51, 6);
        assert_eq!((names.len(), codes), (0, vec!["simulation-ignored"]), "{drafter} {before}");
        let (names, codes) = names_and_codes(&sglang(first, Some(drafter)), 3.51, 6);
        assert!(names.len() >= 2, "{drafter} {first}");
        assert!(!codes.contains(&"simulation-ignored"), "{drafter} {first}");
    }
    assert_eq!(
        message(&sglang("0.5.16", Some(Drafter::DFlash)), 3.51, 6, WarningCode::SimulationIgnored),
        "DFLASH accepts for real on SGLang 0.5.16, whatever is set; the first release that holds a target with it is \
         0.5.17"
    );
    assert_eq!(
        message(&sglang("0.5.15", Some(Drafter::DSpark)), 3.51, 6, WarningCode::SimulationIgnored),
        "SGLang 0.5.15 has no DSPARK; the first release that holds a target with it is 0.5.18"
    );
}

#[test]
fn overlap_scheduling_before_054() {
    let with = |version, overlap| Server { overlap, ..sglang(version, Some(Drafter::Eagle)) };
    let ignored = |server: &Server| names_and_codes(server, 3.51, 6).1.contains(&"simulation-ignored");
    assert!(ignored(&with("0.5.3.post3", Some(true))));
    assert!(!ignored(&with("0.5.3.post3", Some(false))));
    assert!(!ignored(&with("0.5.3.post3", None)), "off is these versions' default");
    assert!(!ignored(&with("0.5.4", Some(true))));
}

#[test]
fn dspark_of_0516_and_0517_rounds() {
    for (version, rounds) in [("0.5.16", true), ("0.5.17", true), ("0.5.18", false)] {
        let server = sglang(version, Some(Drafter::DSpark));
        let (names, codes) = names_and_codes(&server, 3.51, 6);
        assert_eq!(names, PREFIXED);
        assert_eq!(codes.contains(&"dspark-rounds-target"), rounds, "{version}");
        let (_, codes) = names_and_codes(&server, 4.0, 6);
        assert!(!codes.contains(&"dspark-rounds-target"), "a whole target has nothing to round");
        let (_, codes) = names_and_codes(&sglang(version, Some(Drafter::Eagle)), 3.51, 6);
        assert!(!codes.contains(&"dspark-rounds-target"));
    }
}

#[test]
fn what_dspark_rounds_to() {
    let server = sglang("0.5.16", Some(Drafter::DSpark));
    for (target, tokens) in
        [(1.5, 1), (2.5, 3), (2.78, 3), (3.5, 3), (3.51, 4), (3.61, 4), (4.5, 5), (4.7, 5), (8.9, 6)]
    {
        let message = message(&server, target, 6, WarningCode::DsparkRoundsTarget);
        assert!(message.contains(&format!("will emit {tokens} tokens, not {target};")), "{message}");
    }
    assert_eq!(
        message(&server, 3.51, 6, WarningCode::DsparkRoundsTarget),
        "SGLang 0.5.16 rounds a DSPARK target once and ignores the method: every step will emit 4 tokens, not 3.51; \
         0.5.18 and later hold it (sgl-project/sglang#33463)"
    );
}

#[test]
fn real_draft_tokens_only_where_they_work() {
    let ngram = sglang("0.5.15", Some(Drafter::Ngram));
    assert_eq!(token_mode_of(&ngram), "fixed");
    assert_eq!(names_and_codes(&ngram, 3.51, 6).1, ["token-mode-unsupported"]);
    let tree = Server { eagle_topk: Some(4), ..sglang("0.5.23", Some(Drafter::Eagle)) };
    assert_eq!(token_mode_of(&tree), "fixed");
    assert_eq!(names_and_codes(&tree, 3.51, 6).1, ["token-mode-unsupported"]);
    let chain = Server { eagle_topk: Some(1), ..sglang("0.5.23", Some(Drafter::Eagle)) };
    assert_eq!(token_mode_of(&chain), "real-draft-token");
    assert_eq!(names_and_codes(&chain, 3.51, 6).1, Vec::<&str>::new());
    // Never read there: harmless, and said.
    let dspark = sglang("0.5.18", Some(Drafter::DSpark));
    assert_eq!(token_mode_of(&dspark), "real-draft-token");
    assert_eq!(names_and_codes(&dspark, 3.51, 6).1, ["token-mode-unsupported"]);
    let dflash = sglang("0.5.17", Some(Drafter::DFlash));
    assert_eq!(token_mode_of(&dflash), "real-draft-token");
    assert_eq!(names_and_codes(&dflash, 3.51, 6).1, Vec::<&str>::new());
}

#[test]
fn the_clamp_was_one_token_short() {
    let clamped =
        |version, length| names_and_codes(&sglang(version, None), length, 6).1.contains(&"clamped-to-max");
    assert!(clamped("0.4.7", 5.01));
    assert!(!clamped("0.4.7", 5.0));
    assert!(!clamped("0.4.8", 6.0));
    assert!(clamped("0.4.8", 6.01));
    assert_eq!(
        message(&sglang("0.5.16", None), 5.0, 4, WarningCode::ClampedToMax),
        "SGLang 0.5.16 cuts 5 to 4, the most tokens that a step emits, without a word"
    );
    assert_eq!(
        message(&sglang("0.4.7", None), 4.0, 4, WarningCode::ClampedToMax),
        "SGLang 0.4.7 cuts 4 to 3, one token less than a step can emit, without a word"
    );
}

#[test]
fn a_pre_release_of_a_changing_release_is_in_doubt() {
    let codes = names_and_codes(&sglang("0.5.3rc0", None), 3.51, 6).1;
    assert_eq!(codes, ["version-not-placed", "legacy-variable-names", "token-mode-unsupported"]);
    let codes = names_and_codes(&sglang("0.5.18rc0", Some(Drafter::DSpark)), 3.51, 6).1;
    assert_eq!(codes, ["version-not-placed", "dspark-rounds-target", "token-mode-unsupported"]);
    // 0.5.18 changed DSPARK alone.
    assert_eq!(names_and_codes(&sglang("0.5.18rc0", Some(Drafter::Eagle)), 3.51, 6).1, Vec::<&str>::new());
}

#[test]
fn an_evaluation_clears_what_the_version_reads() {
    let cleared = |version: Option<&str>| -> Vec<&str> {
        let version = version.map(|text| text.parse().unwrap());
        engine_unset(Engine::Sglang, version.as_ref()).iter().map(|removal| removal.name).collect()
    };
    assert_eq!(cleared(None), PREFIXED);
    assert_eq!(cleared(Some("0.5.15")), PREFIXED);
    assert_eq!(cleared(Some("0.5.10")), PREFIXED[..2]);
    assert_eq!(cleared(Some("0.5.2")), ["SIMULATE_ACC_LEN", "SIMULATE_ACC_METHOD"]);
    assert_eq!(cleared(Some("0.4.5")), ["SIMULATE_ACC_LEN"]);
    assert_eq!(cleared(Some("0.4.4")), Vec::<&str>::new());
}
