//! What holds for every input.

use std::collections::BTreeMap;

use accsim::golden::{
    AcceptLength, Catalogue, Cell, CellValue, Cells, Curve, Header, Query, Thinking, parse_curve,
};
use accsim::yaml::Position;
use proptest::prelude::*;

use super::support::cells;

fn written() -> impl Strategy<Value = Curve> {
    let cell = (1_u32..40).prop_flat_map(|k| (Just(k), 100_u32..=(k + 1) * 100));
    let mode = proptest::collection::vec((cell, 0_u8..8), 1..9).prop_map(|rows| -> Cells {
        rows.into_iter()
            .map(|((k, hundredths), empty)| {
                let value = AcceptLength::new(f64::from(hundredths) / 100.0).unwrap();
                let value = if empty == 0 { CellValue::Unmeasured } else { CellValue::Measured(value) };
                (k, Cell { at: Position::START, value })
            })
            .collect()
    });
    let names = "[a-zA-Z0-9 .:#'\"\\\\\u{e9}-][a-zA-Z0-9 .:#'\"\\\\\u{e9}_-]{0,12}";
    let modes = (proptest::option::of(mode.clone()), proptest::option::of(mode.clone()), mode);
    (names, modes).prop_map(|(model, (on, off, unstated))| {
        let all = [(Thinking::On, on), (Thinking::Off, off), (Thinking::Unstated, Some(unstated))];
        let modes: BTreeMap<Thinking, Cells> =
            all.into_iter().filter_map(|(mode, cells)| Some((mode, cells?))).collect();
        let header = Header::default();
        Curve { name: "demo".to_owned(), model, method: None, modes, header, provenance: None }
    })
}

/// Modes and values without positions.
fn values(curve: &Curve) -> Vec<(Thinking, u32, CellValue)> {
    let modes = curve.modes.iter();
    modes.flat_map(|(mode, cells)| cells.iter().map(|(k, cell)| (*mode, *k, cell.value.clone()))).collect()
}

proptest! {
    #[test]
    fn a_written_curve_loads_back_equal(curve in written()) {
        let text = curve.to_string();
        let parsed = parse_curve("demo", text.as_bytes());
        let read = parsed.curve.map_err(|issue| TestCaseError::fail(format!("{issue}\n{text}")))?;
        prop_assert_eq!(&read.model, &curve.model);
        prop_assert_eq!(values(&read), values(&curve), "{}", text);
        prop_assert_eq!(read.to_string(), text);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let parsed = parse_curve("demo_mtp", &bytes);
        prop_assert!(parsed.curve.is_ok() || !parsed.issues.is_empty());
    }

    #[test]
    fn arbitrary_yaml_never_panics(words in proptest::collection::vec(
        proptest::sample::select(vec![
            "demo", "thinking_on", "thinking_off", "_m", ": ", ":\n  ", ":\n    ", "\n    ", "\n  ", "\n", "1", "2",
            "3", "2.83", "1,78", ".nan", "null", "'3'", "- ", "[", "]", "{", "}", ", ", "&a ", "*a", "<<", "\t",
            "# thinking_on k=3: accepted=5; drafts=2\n", "# PROVISIONAL\n", "# x chat_template_kwargs: {\"a\": [\n",
        ]),
        0..40,
    )) {
        let parsed = parse_curve("demo_mtp", words.concat().as_bytes());
        for value in parsed.curve.iter().flat_map(|curve| curve.modes.values()).flatten() {
            if let (k, Some(value)) = (value.0, value.1.accept_length()) {
                prop_assert!(value.get() >= 1.0 && value.get() <= f64::from(*k) + 1.0);
            }
        }
    }

    /// Whatever is asked, the answer is a cell of the table: nothing is interpolated, borrowed or made up.
    #[test]
    fn every_answer_is_a_cell(
        prefix in proptest::sample::select(vec![
            "dsv4", "dsv41flash", "glm5.2", "glm5.3", "qwen3.5", "kimik3", "kimik2.5", "minimaxm3", "qwen3.8next",
            "dsv4dspark", "glm5", "kimik2.7", "dsv", "",
        ]),
        method in proptest::sample::select(vec!["mtp", "eagle", "NEXTN", "eagle3", "dspark", "ngram"]),
        draft_length in 0_u32..12,
        off in any::<bool>(),
        draft_model in proptest::option::of(proptest::sample::select(vec!["a-GQA", "b"])),
        draft_sample_method in proptest::option::of(proptest::sample::select(vec!["greedy", "probabilistic", "x"])),
    ) {
        let thinking = if off { Thinking::Off } else { Thinking::On };
        let query = Query { prefix, method, draft_length, thinking, draft_model, draft_sample_method };
        if let Ok(found) = Catalogue::builtin().lookup(&query) {
            let cell = found.target.cell().unwrap();
            let shown = found.target.accept_length().to_string();
            let in_table = cells().any(|row| row == (cell.curve.as_str(), thinking, draft_length, shown.as_str()));
            prop_assert!(in_table, "{:?}", query);
        }
    }
}
