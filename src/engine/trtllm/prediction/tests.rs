use super::super::super::{Engine, law_for};
use super::*;

fn predict(server: &Server, text: &str) -> Prediction {
    let mut injected = Injected::default();
    injected.set(SettingKind::Env, VARIABLE, text);
    law_for(server, 6, &injected)
}

fn one_model() -> Server {
    Server::new(Engine::Trtllm)
}

fn two_model() -> Server {
    Server { models: Some(Models::Two), ..one_model() }
}

/// The variable counts drafts: 2.51 is an accept length of 3.51.
#[test]
fn drafts_become_lengths() {
    for (text, mean) in [("2.51", 3.51), ("1.49", 2.49), ("1", 2.0), ("5", 6.0), ("7", 6.0), (" 2.5 ", 3.5)] {
        let found = predict(&one_model(), text);
        let law = found.outcome.law().unwrap();
        assert!((law.mean() - mean).abs() < 1e-12, "{text}");
        assert!(matches!(law, AcceptanceLaw::Pool(_)));
        assert!(found.notes.contains(&PredictionNote::FixedSequence));
        assert_eq!(found.ranks, RankDraws::Alike);
    }
    assert!((predict(&one_model(), "2.99").asked.unwrap() - 3.99).abs() < 1e-12);
    assert!(predict(&one_model(), "7").notes.iter().any(|note| note.code() == "clamped-to-max"));
}

#[test]
fn zero_is_off_and_what_cannot_be_read_is_real() {
    for text in ["0", "0.0"] {
        let outcome = predict(&one_model(), text).outcome;
        assert!(matches!(outcome, Outcome::RealAcceptance { reason: RealReason::NoDrafts { .. } }), "{text}");
    }
    for text in ["2,51", "", "x"] {
        let outcome = predict(&one_model(), text).outcome;
        assert!(
            matches!(outcome, Outcome::RealAcceptance { reason: RealReason::Unreadable { .. } }),
            "{text}"
        );
    }
    for text in ["-1", "nan", "inf"] {
        assert!(matches!(predict(&one_model(), text).outcome, Outcome::NotKnown { .. }), "{text}");
    }
    let unset = law_for(&one_model(), 6, &Injected::default()).outcome;
    assert!(matches!(unset, Outcome::RealAcceptance { reason: RealReason::NotSet }));
}

/// The integer reader: a fraction is real acceptance.
#[test]
fn the_two_model_path_reads_integers() {
    let outcome = predict(&two_model(), "1.49").outcome;
    assert!(matches!(outcome, Outcome::RealAcceptance { reason: RealReason::NoInteger { .. } }));
    assert_eq!(predict(&two_model(), "2").outcome.law().unwrap().support(), 3..=3);
}

#[test]
fn a_stated_version_may_read_integers_alone() {
    let server = one_model().version("1.2.0".parse().unwrap());
    let found = predict(&server, "2.51");
    assert!(found.outcome.law().is_some());
    assert!(matches!(found.otherwise[0].outcome, Outcome::RealAcceptance { .. }));
    assert!(predict(&server, "2").otherwise.is_empty());
}
