//! What programs read.

use quick_junit::Report;

use crate::support::{FLAGS, Folder, snapshot, text};

#[test]
fn junit_has_a_case_for_each_item() {
    let folder = Folder::several_points();
    folder.edit("run/c4/env.txt", "LEN=3.51", "LEN=3.61");
    folder.remove("run/points.csv");
    let output = folder.run(&format!("signoff run {FLAGS} --format junit"));
    assert_eq!(output.status.code(), Some(1));
    let shown = text(&output.stdout);
    let report = Report::deserialize_from_str(&shown).unwrap();
    let cases = &report.test_suites[0].test_cases;
    assert_eq!(cases.len(), 23);
    assert_eq!((report.failures, report.errors), (1, 1), "{shown}");
    snapshot("failing.junit.xml", shown);
}

#[test]
fn a_document_is_written_whole_to_a_file() {
    let folder = Folder::several_points();
    let output = folder.run(&format!("signoff run {FLAGS} --json -o out.json"));
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    let document: serde_json::Value = serde_json::from_str(&folder.read("out.json")).unwrap();
    assert_eq!(document["schema_version"], 1);
    assert_eq!(document["status"], "holds");
}

/// Markup, control characters and links in names of files stay text.
#[test]
fn hostile_names_are_shown_as_text() {
    let folder = Folder::empty();
    let log = std::fs::read(crate::support::h200().join("e3k5_al351.log")).unwrap();
    let point = folder.path.join("run").join("<b>|`c4");
    std::fs::create_dir_all(&point).unwrap();
    std::fs::write(point.join("server.log"), log).unwrap();
    let output = folder.run("signoff run");
    let shown = text(&output.stdout);
    assert!(!shown.contains("<b>"), "{shown}");
}
