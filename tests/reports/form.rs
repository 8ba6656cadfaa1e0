//! What programs read: each format is what its readers expect.

use quick_junit::{NonSuccessKind, Report, TestCaseStatus};
use serde_json::Value;

use crate::schema;
use crate::support::{GOLDEN, SEVERAL, run, stdout};

const VERDICTS: [&str; 5] = ["consistent", "consistent", "consistent", "inconsistent", "unauditable"];

#[test]
fn json_follows_its_schema() {
    for line in
        [SEVERAL, GOLDEN, "audit e3k5_al351.log base.log", "audit e3k5_al351.log --accept-length 3.51"]
    {
        let document: Value = serde_json::from_str(&stdout(&run(&format!("{line} --json")))).unwrap();
        assert!(schema::is_audit(&document), "{line}");
        assert_eq!(schema::faults(&document), Vec::<String>::new(), "{line}");
    }
}

/// A schema that lets everything pass would prove nothing.
#[test]
fn the_schema_refuses_what_is_not_so() {
    let document: Value = serde_json::from_str(&stdout(&run(&format!("{SEVERAL} --json")))).unwrap();
    let spoilt = |path: &str, key: &str, value: Option<Value>| {
        let mut document = document.clone();
        let object = document.pointer_mut(path).unwrap().as_object_mut().unwrap();
        match value {
            Some(value) => object.insert(key.to_owned(), value),
            None => object.remove(key),
        };
        schema::faults(&document)
    };
    for (path, key, value) in [
        ("", "verdict", Some("fine".into())),
        ("", "schema_version", Some(2.into())),
        ("", "surprise", Some(true.into())),
        ("/points/0", "decode_lines", Some((-1).into())),
        ("/points/0/accept_len", "mean", Some("3.5".into())),
        ("/points/0/ranks/0", "accept_len", None),
        ("/points/0/line", "interval_source", Some("guessed".into())),
        ("/points/0/mechanism/log_likelihood", "magic", Some(1.into())),
        ("/points/3/findings/0", "code", Some("unheard-of".into())),
        ("/points/3/findings/0/evidence", "line", Some(0.into())),
        ("/target", "accept_length", Some(Value::Null)),
    ] {
        assert_eq!(spoilt(path, key, value).len(), 1, "{path}/{key}");
    }
}

#[test]
fn junit_says_what_failed_and_what_could_not_be_judged() {
    let report = Report::deserialize_from_str(&stdout(&run(&format!("{SEVERAL} --format junit")))).unwrap();
    assert_eq!((report.tests, report.failures, report.errors), (5, 1, 1));
    let cases = &report.test_suites[0].test_cases;
    let found: Vec<&str> = cases
        .iter()
        .map(|case| match &case.status {
            TestCaseStatus::Success { .. } => "consistent",
            TestCaseStatus::NonSuccess { kind: NonSuccessKind::Failure, ty, .. } => {
                assert_eq!(ty.as_ref().unwrap().as_str(), "inconsistent");
                "inconsistent"
            }
            TestCaseStatus::NonSuccess { ty, .. } => ty.as_ref().unwrap().as_str(),
            TestCaseStatus::Skipped { .. } => "skipped",
        })
        .collect();
    assert_eq!(found, VERDICTS);
    assert_eq!(cases[3].name.as_str(), "dspark_k5_al351.log");
}

#[test]
fn csv_is_one_line_a_point() {
    let shown = stdout(&run(&format!("{SEVERAL} --format csv")));
    assert_eq!(shown.lines().count(), 6);
    let mut table = csv::Reader::from_reader(shown.as_bytes());
    let heads = table.headers().unwrap().clone();
    let column = |name: &str| heads.iter().position(|head| head == name).unwrap();
    let rows: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    let verdicts: Vec<&str> = rows.iter().map(|row| &row[column("verdict")]).collect();
    assert_eq!(verdicts, VERDICTS);
    assert_eq!(&rows[2][column("ranks")], "2");
    assert_eq!(&rows[3][column("errors")], "target-rounded");
    assert_eq!(&rows[3][column("accept_len_mean")], "4.0");
    assert_eq!(&rows[4][column("accept_len_mean")], "");
}

/// The page that users read lists the columns in their order.
#[test]
fn the_page_lists_the_columns() {
    let shown = stdout(&run(&format!("{GOLDEN} --format csv")));
    let columns: Vec<&str> = shown.lines().next().unwrap().split(',').collect();
    let page = std::fs::read_to_string(format!("{}/docs/reports.md", crate::support::ROOT)).unwrap();
    let section = page.split("\n## ").find(|section| section.starts_with("CSV")).unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let listed: Vec<&str> = rows
        .filter_map(|row| row.split_once(" |"))
        .flat_map(|(names, _)| names.split(", "))
        .map(|name| name.trim_matches('`'))
        .collect();
    assert_eq!(listed, columns);
}

#[test]
fn github_annotations_come_with_the_gravest_first() {
    let shown = stdout(&run(&format!("{SEVERAL} --format github")));
    let lines: Vec<&str> = shown.lines().collect();
    let (last, annotations) = lines.split_last().unwrap();
    assert_eq!(
        *last,
        "inconsistent: 3 of 5 points consistent; mean accept len 3.502 to 4.000 on 4 of 5 points; the others have none"
    );
    let levels: Vec<&str> =
        annotations.iter().map(|line| line.strip_prefix("::").unwrap().split_once(' ').unwrap().0).collect();
    let grouped: Vec<&str> = levels.chunk_by(|left, right| left == right).map(|group| group[0]).collect();
    // Verdicts, then findings.
    assert_eq!(grouped, ["error", "warning", "error", "warning", "notice"]);
    assert!(
        annotations[0]
            .starts_with("::error file=dspark_k5_al351.log,line=1,title=inconsistent::dspark_k5_al351.log: ")
    );
}
