//! Mistakes that happened with golden curves, each as the lookup that settles it.

use accsim::golden::{Catalogue, LookupError, LookupWarning, Query, Thinking, parse_curve};

use super::support::value;

#[test]
fn the_other_drafters_curve() {
    // SemiAnalysisAI/InferenceX#2734: MiniMax-M3 with the GQA drafter was pinned to 2.83.
    let gqa = Some("Inferact/MiniMax-M3-EAGLE3-GQA");
    let plain =
        Query { draft_model: Some("Inferact/MiniMax-M3-EAGLE3"), ..Query::new("minimaxm3", "eagle3", 3) };
    assert_eq!(value(&plain).unwrap(), "2.83");
    assert_eq!(value(&Query { draft_model: gqa, ..plain }).unwrap(), "2.78");

    let silent = Catalogue::builtin().lookup(&Query::new("minimaxm3", "eagle3", 3)).unwrap();
    let codes: Vec<&str> = silent.warnings.iter().map(LookupWarning::code).collect();
    assert_eq!(codes, ["draft-model-unstated"]);
}

#[test]
fn the_other_samplers_curve_and_the_other_draft_lengths_cell() {
    let kimi = |k, sampler| {
        value(&Query { draft_sample_method: Some(sampler), ..Query::new("kimik3", "dspark", k) }).unwrap()
    };
    assert_eq!(kimi(2, "probabilistic"), "2.51");
    assert_eq!(kimi(2, "greedy"), "2.45");
    // SemiAnalysisAI/InferenceX#2845: K=3 was pinned to the cell of K=6.
    assert_eq!(kimi(3, "probabilistic"), "3.00");
    assert_eq!(kimi(6, "probabilistic"), "3.75");
}

#[test]
fn the_other_modes_cell() {
    let on = Query::new("dsv4", "mtp", 3);
    assert_eq!(value(&on).unwrap(), "2.49");
    assert_eq!(value(&Query { thinking: Thinking::Off, ..on }).unwrap(), "2.97");
}

#[test]
fn a_borrowed_curve() {
    // SemiAnalysisAI/InferenceX#2286: Kimi K2.7 has no curve, and that of K2.5 is not its own.
    let error = value(&Query::new("kimik2.7", "eagle3", 4)).unwrap_err();
    assert!(matches!(error, LookupError::UnknownCurve { .. }));
    assert!(error.to_string().contains("kimik2.5_eagle3"), "the near name is named, not used: {error}");
    let retired = Catalogue::builtin().lookup(&Query::new("kimik2.5", "eagle3", 4)).unwrap();
    assert_eq!(retired.target.accept_length().to_string(), "3.24");
    assert_eq!(retired.warnings[0].code(), "retired");
}

#[test]
fn a_loose_model_match() {
    for prefix in ["dsv41", "dsv4flash", "dsv4-flash", "dsv", "glm5", "kimik"] {
        assert!(value(&Query::new(prefix, "mtp", 3)).is_err(), "{prefix}");
    }
}

#[test]
fn a_provisional_value() {
    let found = Catalogue::builtin().lookup(&Query::new("glm5.3", "mtp", 3)).unwrap();
    assert_eq!(found.target.accept_length().to_string(), "2.99");
    let [warning] = &found.warnings[..] else { panic!("{:?}", found.warnings) };
    assert_eq!((warning.code(), warning.severity().name()), ("provisional", "warning"));
    assert!(found.target.cell().unwrap().source.contains("not measured"));
}

#[test]
fn a_header_that_was_believed() {
    // The first published map said "thinking: true" above values of the other mode.
    let text = b"# thinking: true\ndeepseek-v4-pro: {1: 1.90, 2: 2.60}\n";
    let curve = parse_curve("dsv4_mtp", text).curve.unwrap();
    assert!(curve.modes.keys().eq([&Thinking::Unstated]));

    // A comment is never a value.
    let text = b"# golden AL 2.49\ndemo:\n  thinking_on:\n    # golden AL 2.49\n    3: 2.54 # was 2.49\n";
    let curve = parse_curve("demo_mtp", text).curve.unwrap();
    assert_eq!(curve.values(Thinking::On).next().unwrap().1.to_string(), "2.54");
}

#[test]
fn draft_tokens_are_not_the_draft_length() {
    // 3 steps are 4 draft tokens for the engine (3 drafts and the root); the curve counts the 3.
    assert_eq!(value(&Query::new("minimaxm3", "eagle3", 3)).unwrap(), "2.83");
    assert_eq!(value(&Query::new("minimaxm3", "eagle3", 4)).unwrap(), "3.11");
}
