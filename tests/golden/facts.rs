//! The provenance files hold every fact of the survey.

use accsim::golden::{Catalogue, Provenance, Status};
use serde_json::{Map, Value, json};

use super::support::shared;

fn provenance(name: &str) -> Provenance {
    let catalogue = Catalogue::builtin();
    catalogue.get(name).unwrap().load().curve.as_ref().unwrap().provenance.clone().unwrap()
}

#[test]
fn every_curve_has_a_status_and_agrees_with_its_provenance() {
    let catalogue = Catalogue::builtin();
    let mut statuses = Vec::new();
    for entry in catalogue.entries() {
        let loaded = entry.load();
        assert_eq!(loaded.provenance_issues, [], "{}", entry.name());
        let curve = loaded.curve.as_ref().unwrap();
        statuses.push((curve.name.as_str(), curve.status().unwrap()));
        let provenance = curve.provenance.as_ref().unwrap();
        let header = curve.header.source_run.as_ref().map(|run| run.id.as_str());
        assert_eq!(header, provenance.source.source_run.as_deref(), "{}", entry.name());
        assert_eq!(curve.header.provisional, curve.status() == Some(Status::Provisional));
        assert_eq!(curve.header.dataset.as_ref(), Some(&provenance.dataset));
        assert_eq!(curve.header.output_len, Some(provenance.output_len));
    }
    let of = |status| statuses.iter().filter(|(_, found)| *found == status).count();
    assert_eq!((of(Status::Committed), of(Status::Provisional), of(Status::Retired)), (10, 1, 1));
    assert!(statuses.contains(&("glm5.3_mtp", Status::Provisional)));
    assert!(statuses.contains(&("kimik2.5_eagle3", Status::Retired)));
}

#[test]
fn a_provenance_reads_back_typed() {
    let flash = provenance("dsv41flash_dspark");
    assert_eq!(flash.image.as_deref(), Some("vllm/vllm-openai:deepseekv41-flash-0909"));
    assert_eq!(flash.source.source_run.as_deref(), Some("34493175056"));
    assert!(!flash.source.read_from_upstream);
    assert_eq!(flash.attestation.cells[&accsim::golden::Thinking::On], [5]);
}

/// The survey's sampling of three curves is text; the files hold it as numbers.
fn sampling(survey: &Value) -> Value {
    const MODES: [&str; 2] = ["thinking_on", "thinking_off"];
    let mut scopes: Map<String, Value> = Map::new();
    let mut set = |scope: &str, name: &str, value: Value| {
        scopes.entry(scope).or_insert_with(|| json!({}))[name] = value;
    };
    for (name, value) in survey.as_object().unwrap() {
        for mode in MODES.iter().filter(|mode| value.get(**mode).is_some()) {
            if name != "sampling" {
                set(mode, name, value[*mode].clone());
                continue;
            }
            let words: Vec<&str> = value[*mode].as_str().unwrap().split_whitespace().collect();
            for pair in words.chunks(2).take(4) {
                let name = if pair[0] == "temp" { "temperature" } else { pair[0] };
                set(mode, name, serde_json::from_str(pair[1]).unwrap());
            }
        }
        if !value.is_object() {
            set("all", name, value.clone());
        }
    }
    Value::Object(scopes)
}

#[test]
fn every_fact_of_the_survey_is_kept() {
    let Some(text) = shared("data/golden/curves.json") else { return };
    let survey: Value = serde_json::from_str(&text).unwrap();
    let catalogue = Catalogue::builtin();
    for curve in survey["curves"].as_array().unwrap() {
        let name = curve["curve"].as_str().unwrap();
        if catalogue.get(name).is_none() {
            assert_eq!(curve["status"], "proposed", "{name}");
            continue;
        }
        let kept = serde_json::to_value(provenance(name)).unwrap();
        let mut expected = json!({ "source": {}, "attestation": {} });
        for (key, value) in curve.as_object().unwrap() {
            match key.as_str() {
                // The cells stand in the curve file, whose name is this one.
                "modes" => {}
                "file" => assert_eq!(value, &json!(format!("{name}.yaml"))),
                "metadata" => {
                    for (key, value) in value.as_object().unwrap() {
                        expected[key] = if key == "sampling" { sampling(value) } else { value.clone() };
                    }
                }
                "provenance" => {
                    for (key, value) in value.as_object().unwrap() {
                        let (room, key) = match key.as_str() {
                            "attested_independently" => ("attestation", "independent"),
                            "attested_cells" => ("attestation", "cells"),
                            "attested_by" => ("attestation", "by"),
                            "internal_check" => ("attestation", "internal_check"),
                            key => ("source", key),
                        };
                        expected[room][key] = value.clone();
                    }
                }
                key => expected[key] = value.clone(),
            }
        }
        assert_eq!(kept, expected, "{name}");
    }
}
