//! Every cell of every compiled-in curve against tables that were not made from it.

use std::collections::BTreeSet;

use accsim::golden::{Catalogue, Query, Thinking};
use serde_json::Value;

use super::support::{cells, shared};

type Row = (String, Thinking, u32, String);

fn compiled_in() -> BTreeSet<Row> {
    let catalogue = Catalogue::builtin();
    let mut rows = BTreeSet::new();
    for entry in catalogue.entries() {
        let curve = entry.load().curve.as_ref().unwrap();
        for (mode, cells) in &curve.modes {
            for (draft_length, cell) in cells {
                let value = cell.accept_length().unwrap();
                rows.insert((curve.name.clone(), *mode, *draft_length, value.to_string()));
            }
        }
    }
    rows
}

#[test]
fn every_cell_is_that_of_the_table() {
    let table: BTreeSet<Row> =
        cells().map(|(curve, mode, k, value)| (curve.to_owned(), mode, k, value.to_owned())).collect();
    assert_eq!(table.len(), 129);
    assert_eq!(compiled_in(), table);
}

#[test]
fn every_cell_is_that_of_the_survey() {
    let Some(text) = shared("data/golden/curves.json") else { return };
    let survey: Value = serde_json::from_str(&text).unwrap();
    let mut rows = BTreeSet::new();
    for curve in survey["curves"].as_array().unwrap() {
        if !["committed", "provisional", "retired"].contains(&curve["status"].as_str().unwrap()) {
            continue;
        }
        for (mode, cells) in curve["modes"].as_object().unwrap() {
            let mode = if mode == "thinking_on" { Thinking::On } else { Thinking::Off };
            for (draft_length, value) in cells.as_object().unwrap() {
                let name = curve["curve"].as_str().unwrap().to_owned();
                let value = format!("{:.2}", value.as_f64().unwrap());
                rows.insert((name, mode, draft_length.parse().unwrap(), value));
            }
        }
    }
    assert_eq!(compiled_in(), rows);
}

#[test]
fn every_cell_answers_its_question() {
    const KIMI: &str = "kimik3_dspark_probabilistic_sample_method_block_rejection_sample_method";
    let question = |curve: &str| match curve {
        "dsv4-pro-0813-dspark" => ("dsv4", "dspark", None, None),
        "dsv41flash_dspark" => ("dsv41flash", "dspark", None, None),
        "dsv4_mtp" => ("dsv4", "mtp", None, None),
        "glm5.2_mtp" => ("glm5.2", "mtp", None, None),
        "glm5.3_mtp" => ("glm5.3", "mtp", None, None),
        "kimik2.5_eagle3" => ("kimik2.5", "eagle3", None, None),
        "kimik3_dspark" => ("kimik3", "dspark", None, Some("greedy")),
        KIMI => ("kimik3", "dspark", None, Some("probabilistic")),
        "minimaxm3_eagle3" => ("minimaxm3", "eagle3", None, None),
        "minimaxm3_eagle3_gqa" => ("minimaxm3", "eagle3", Some("MiniMax-M3-EAGLE3-GQA"), None),
        "qwen3.5_mtp" => ("qwen3.5", "mtp", None, None),
        "qwen3.8next_mtp" => ("qwen3.8next", "mtp", None, None),
        other => panic!("no question leads to {other}"),
    };
    let catalogue = Catalogue::builtin();
    for (curve, thinking, draft_length, value) in cells() {
        let (prefix, method, draft_model, draft_sample_method) = question(curve);
        let query = Query { prefix, method, draft_length, thinking, draft_model, draft_sample_method };
        let found = catalogue.lookup(&query).unwrap().target;
        assert_eq!(found.accept_length().to_string(), value, "{query:?}");
        assert_eq!(found.max_accept_length(), draft_length + 1);
        let cell = found.cell().unwrap();
        assert_eq!((cell.curve.as_str(), cell.thinking, cell.draft_length), (curve, thinking, draft_length));
    }
}
