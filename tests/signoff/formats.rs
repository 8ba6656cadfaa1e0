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

#[test]
fn two_formats_are_refused() {
    let folder = Folder::several_points();
    for line in [
        "signoff run --json --format junit",
        "signoff run --format markdown --json",
        "signoff launch-diff run/recipe.yaml run/recipe.yaml --json --format junit",
    ] {
        let output = folder.run(line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        let error = text(&output.stderr);
        assert!(error.contains("--json is short for --format json and goes with no other format"), "{error}");
    }
    assert_eq!(folder.run(&format!("signoff run {FLAGS} --json --format json")).status.code(), Some(0));
}

#[test]
fn a_bad_table_is_refused_in_plain_words() {
    let folder = Folder::several_points();
    for (bytes, part) in [
        (&b"concurrency,tps_per_gpu\n1,\xff\xfe\n"[..], "line 2: no text in UTF-8; expected a CSV table"),
        (&b"concurrency,tps_per_gpu\n1,2\n1,2,3\n"[..], "line 3: found 3 cells, the head has 2"),
    ] {
        std::fs::write(folder.path.join("bad.csv"), bytes).unwrap();
        let output = folder.run(&format!("signoff run {FLAGS} --points bad.csv"));
        assert_eq!(output.status.code(), Some(2));
        let error = text(&output.stderr);
        assert!(error.contains(&format!("bad.csv: {part}")), "{error}");
    }
}
