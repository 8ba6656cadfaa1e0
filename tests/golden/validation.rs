//! The rules of the curve format, one test a row of the table.

use accsim::golden::{Catalogue, Status, Thinking, parse_curve};

use super::support::{found, parse};

fn cells(yaml: &str) -> String {
    format!("demo:\n  thinking_on:\n{yaml}")
}

/// Usable draft lengths of `thinking_on`, in runs.
fn usable(text: &str) -> String {
    parse(text).curve.unwrap().draft_lengths(Thinking::On).to_string()
}

#[test]
fn a_clean_file_has_no_findings() {
    let parsed = parse(&cells("    1: 1.81\n    2: 2.43\n"));
    assert_eq!(parsed.issues, []);
    assert_eq!(parsed.worst(), None);
    let curve = parsed.curve.unwrap();
    assert_eq!((curve.name.as_str(), curve.model.as_str()), ("demo_mtp", "demo"));
    assert_eq!(curve.method.as_deref(), Some("mtp"));
    assert_eq!(curve.status(), None);
}

#[test]
fn duplicate_keys_are_errors_at_every_level() {
    let parsed = parse(&cells("    3: 2.83\n    3: 2.78\n"));
    assert!(parsed.curve.is_err());
    assert_eq!(found(&parsed.issues), [("duplicate-key", "error", 4, 5)]);
    let message = parsed.issues[0].to_string();
    assert!(message.contains("'3'") && message.contains("line 3"), "{message}");

    for text in [
        "demo: {thinking_on: {1: 1.8}, thinking_on: {1: 1.9}}",
        "demo: {thinking_on: {1: 1.8}}\ndemo: {thinking_on: {1: 1.8}}",
        "demo: {thinking_on: {3: 2.8, \"3\": 2.8}}",
        "demo: {3: 2.8, 03: 2.8}",
    ] {
        let parsed = parse(text);
        assert!(parsed.curve.is_err(), "{text}");
        assert_eq!(parsed.issues[0].code().name(), "duplicate-key", "{text}");
    }
}

#[test]
fn a_draft_length_twice_in_the_list_form_spoils_that_cell_alone() {
    let parsed = parse("demo: [{1: 1.90}, {2: 2.60}, {1: 1.95}]");
    assert_eq!(found(&parsed.issues), [("duplicate-key", "error", 1, 31)]);
    assert_eq!(parsed.curve.unwrap().draft_lengths(Thinking::Unstated).to_string(), "2");
}

#[test]
fn values_that_are_no_accept_length_spoil_their_cell_alone() {
    for (value, code) in [
        (".nan", "not-finite"),
        (".inf", "not-finite"),
        ("-.inf", "not-finite"),
        ("-2.4", "out-of-range"),
        ("0.99", "out-of-range"),
        ("3.01", "out-of-range"),
        ("1,78", "not-a-number"),
        ("1.780,5", "not-a-number"),
        ("2.43 tokens", "not-a-number"),
        ("'2.43x'", "not-a-number"),
        ("[2.43]", "wrong-shape"),
        ("{2: 2.43}", "wrong-shape"),
    ] {
        let text = cells(&format!("    1: 1.81\n    2: {value}\n"));
        let parsed = parse(&text);
        assert_eq!(found(&parsed.issues), [(code, "error", 4, 8)], "{value}");
        assert_eq!(usable(&text), "1", "{value}");
    }
    assert_eq!(parse(&cells("    2: 3.00\n    3: 1\n    4: 5.0\n")).issues.len(), 1, "3 to 1 is a fall");
}

#[test]
fn a_decimal_comma_in_flow_form_is_not_read_as_two_entries() {
    let text = "demo: {thinking_on: {1: 1,78, 2: 2.43}}";
    let parsed = parse(text);
    assert_eq!(found(&parsed.issues), [("not-a-number", "error", 1, 25)]);
    assert!(parsed.issues[0].to_string().contains("'1,78'"), "{}", parsed.issues[0]);
    assert_eq!(usable(text), "2");
    let spaced = parse("demo: {thinking_on: {1: 1, 78: }}");
    assert_eq!(found(&spaced.issues), [("unmeasured", "warning", 1, 30)]);
}

#[test]
fn no_value_is_unmeasured() {
    for value in ["", "null", "~", "''"] {
        let text = cells(&format!("    1: 1.81\n    2: {value}\n"));
        let parsed = parse(&text);
        let [(code, severity, line, _)] = found(&parsed.issues)[..] else { panic!("{value}") };
        assert_eq!((code, severity, line), ("unmeasured", "warning", 4), "{value}");
        assert_eq!(usable(&text), "1", "{value}");
    }
}

#[test]
fn exactly_one_model_key() {
    for (text, code, line) in [
        ("", "no-model-key", 1),
        ("# nothing\n", "no-model-key", 1),
        ("- 1\n", "no-model-key", 1),
        ("demo\n", "no-model-key", 1),
        ("a: {1: 1.8}\nb: {1: 1.8}\n", "several-model-keys", 2),
    ] {
        let parsed = parse(text);
        assert!(parsed.curve.is_err(), "{text:?}");
        assert_eq!(parsed.issues.len(), 1, "{text:?}");
        let issue = &parsed.issues[0];
        assert_eq!((issue.code().name(), issue.at.unwrap().line), (code, line), "{text:?}");
        assert_eq!(issue.severity().name(), "error");
    }
    let message = parse("a: {1: 1.8}\nb: {1: 1.8}\n").issues[0].to_string();
    assert!(message.contains("'a', 'b'"), "{message}");
    let parsed = parse("_metadata: {x: 1}\n");
    assert!(parsed.curve.is_err());
    assert!(parsed.issues.iter().any(|issue| issue.code().name() == "no-model-key"));
}

#[test]
fn a_metadata_key_loads_with_a_warning() {
    let parsed = parse("_metadata:\n  draft-model: D\ndemo:\n  thinking_on:\n    1: 1.81\n_more: 1\n");
    assert_eq!(found(&parsed.issues), [("metadata-key", "warning", 1, 1), ("metadata-key", "warning", 6, 1)]);
    assert_eq!(parsed.curve.unwrap().model, "demo");
}

#[test]
fn unknown_and_empty_modes() {
    let parsed = parse("demo:\n  thinking_on:\n    1: 1.81\n  thinking:\n    1: 1.9\n");
    assert_eq!(found(&parsed.issues), [("unknown-mode", "error", 4, 3)]);
    assert_eq!(parsed.curve.unwrap().draft_lengths(Thinking::On).to_string(), "1");

    for (text, code) in [
        ("demo:\n  thinking_on:\n", "empty-mode"),
        ("demo:\n  thinking_on: {}\n", "empty-mode"),
        ("demo:\n  thinking_on: 3\n", "wrong-shape"),
        ("demo:\n  thinking_on: [{1: 1.8}]\n", "wrong-shape"),
        ("demo:\n", "wrong-shape"),
        ("demo: {}\n", "wrong-shape"),
        ("demo: []\n", "wrong-shape"),
        ("demo: 3\n", "wrong-shape"),
        ("demo: [1.9]\n", "wrong-shape"),
        ("demo:\n  Thinking_On: {1: 1.8}\n", "unknown-mode"),
        ("demo:\n  mode:\n", "unknown-mode"),
    ] {
        let parsed = parse(text);
        assert_eq!(parsed.issues.len(), 1, "{text:?}: {:?}", parsed.issues);
        assert_eq!(parsed.issues[0].code().name(), code, "{text:?}");
        assert_eq!(parsed.issues[0].severity().name(), "error", "{text:?}");
    }
}

#[test]
fn draft_lengths_are_positive_integers() {
    for key in ["3.0", "true", "0", "-1", "x", "03", "1e0"] {
        let text = cells(&format!("    1: 1.81\n    {key}: 2.43\n"));
        assert_eq!(found(&parse(&text).issues), [("bad-draft-length", "error", 4, 5)], "{key}");
        assert_eq!(usable(&text), "1", "{key}");
        let plain = parse(&format!("demo:\n  1: 1.81\n  {key}: 2.43\n"));
        assert_eq!(found(&plain.issues), [("bad-draft-length", "error", 3, 3)], "{key}");
    }
}

#[test]
fn quoted_numbers_are_read_with_a_note() {
    let text = cells("    \"1\": '1.78'\n    '2': 2.38\n    3: \"2.83\"\n");
    let parsed = parse(&text);
    assert_eq!(
        found(&parsed.issues),
        [
            ("quoted-number", "note", 3, 5),
            ("quoted-number", "note", 3, 10),
            ("quoted-number", "note", 4, 5),
            ("quoted-number", "note", 5, 8),
        ]
    );
    assert_eq!(usable(&text), "1-3");
}

#[test]
fn byte_order_mark_crlf_and_blanks_are_accepted() {
    let text = "\u{feff}# dataset: coding\r\ndemo:\r\n  thinking_on:   \r\n    1: 1.81  \r\n    2: 2.43";
    let parsed = parse(text);
    assert_eq!(parsed.issues, []);
    let curve = parsed.curve.unwrap();
    assert_eq!(curve.draft_lengths(Thinking::On).to_string(), "1-2");
    assert_eq!(curve.header.dataset.as_deref(), Some("coding"));
}

#[test]
fn a_tab_as_indentation_names_its_line() {
    let parsed = parse("demo:\n  thinking_on:\n\t1: 1.78\n\t2: 2.38\n");
    assert!(parsed.curve.is_err());
    assert_eq!(found(&parsed.issues), [("tab-indentation", "error", 3, 1)]);
    assert!(parsed.issues[0].to_string().contains("tab"));
}

#[test]
fn anchors_aliases_and_merge_keys_keep_every_key() {
    let parsed = parse(
        "demo:\n  thinking_on: &on\n    1: 1.78\n    3: 2.83\n  thinking_off:\n    <<: *on\n    3: 2.93\n",
    );
    assert_eq!(parsed.issues, []);
    let curve = parsed.curve.unwrap();
    let off: Vec<String> = curve.values(Thinking::Off).map(|(k, value)| format!("{k} {value}")).collect();
    assert_eq!(off, ["1 1.78", "3 2.93"]);

    // A base beside the model is a second top-level key, which the launch resolver refuses.
    let parsed = parse("base: &b {1: 1.78}\ndemo: {thinking_on: *b}\n");
    assert_eq!(found(&parsed.issues), [("several-model-keys", "error", 2, 1)]);
    // A key that starts with `_` may hold one.
    let parsed = parse("_base: &b {1: 1.78}\ndemo: {thinking_on: *b}\n");
    assert_eq!(found(&parsed.issues), [("metadata-key", "warning", 1, 1)]);
    assert_eq!(parsed.curve.unwrap().draft_lengths(Thinking::On).to_string(), "1");
}

#[test]
fn a_falling_curve_is_legal_and_noted() {
    let parsed = parse(&cells("    6: 3.77\n    7: 3.73\n    8: 3.47\n"));
    assert_eq!(found(&parsed.issues), [("falls", "note", 4, 8), ("falls", "note", 5, 8)]);
    let message = parsed.issues[0].kind.to_string();
    assert_eq!(message, "thinking_on falls from draft length 6 (3.77) to 7 (3.73), by 0.04");
    // Over a gap too; an equal value is no fall.
    assert_eq!(parse(&cells("    2: 2.55\n    5: 2.55\n    9: 2.54\n")).issues.len(), 1);
}

#[test]
fn more_than_two_decimals_are_a_warning() {
    let parsed = parse(&cells("    1: 1.805\n    2: 2.430\n"));
    assert_eq!(found(&parsed.issues), [("many-decimals", "warning", 3, 8)]);
    assert_eq!(parsed.curve.unwrap().values(Thinking::On).count(), 2);
}

#[test]
fn mode_order_gaps_and_missing_modes_are_legal() {
    let parsed = parse("demo:\n  thinking_off:\n    7: 3.67\n  thinking_on:\n    1: 1.8\n    4: 3.2\n");
    assert_eq!(parsed.issues, []);
    assert_eq!(parse("demo: {thinking_off: {7: 3.67}}").issues, []);
}

#[test]
fn the_older_forms_load_as_unstated() {
    for text in [
        "deepseek-v4-pro:\n  - 1: 1.90\n  - 2: 2.60\n",
        "deepseek-v4-pro: [ {1: 1.90}, {2: 2.60} ]\n",
        "deepseek-v4-pro: {1: 1.90, 2: 2.60}\n",
        "deepseek-v4-pro:\n  1: 1.90\n  2: 2.60\n",
    ] {
        let parsed = parse_curve("speedbench-reference-al", text.as_bytes());
        assert_eq!(parsed.issues, [], "{text}");
        let curve = parsed.curve.unwrap();
        let values: Vec<String> =
            curve.values(Thinking::Unstated).map(|(k, value)| format!("{k} {value}")).collect();
        assert_eq!(values, ["1 1.90", "2 2.60"], "{text}");
        assert_eq!(curve.method, None, "{text}");
    }
}

#[test]
fn header_counters_are_checked_against_their_cell() {
    let header = |accepted: u32| {
        format!("# thinking_on k=3: AR=0.5; accepted={accepted}; proposed=254985; drafts=84995\n")
    };
    let file = |accepted| format!("{}demo: {{thinking_on: {{3: 2.52}}}}\n", header(accepted));
    assert_eq!(parse(&file(128_899)).issues, []);
    let parsed = parse(&file(133_034));
    assert_eq!(found(&parsed.issues), [("counters-disagree", "warning", 2, 25)]);
    assert!(parsed.issues[0].to_string().contains("2.5652"), "{}", parsed.issues[0]);
}

#[test]
fn a_header_alone_can_make_a_curve_provisional() {
    let curve = parse("# PROVISIONAL: copied\ndemo: {thinking_on: {3: 2.99}}\n").curve.unwrap();
    assert_eq!(curve.status(), Some(Status::Provisional));
}

#[test]
fn the_compiled_in_curves_have_only_notes() {
    for entry in Catalogue::builtin().entries() {
        let loaded = entry.load();
        assert!(loaded.issues.iter().all(|issue| issue.code().name() == "falls"), "{}", entry.name());
        assert_eq!(loaded.provenance_issues, []);
    }
}
