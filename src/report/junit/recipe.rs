//! Files of `recipe check` as test cases.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use crate::golden::Severity;
use crate::recipe::Finding;
use crate::report::excerpt::printable;
use crate::report::recipe::CheckRun;
use crate::report::text::recipe::subject;

/// The suite, and the class of its cases.
const SUITE: &str = "accsim recipe check";

/// Writes each file as a test case; one with an error fails. What a file has besides is its output. A file that could not
/// be read is a case with an error of its own.
pub fn write_check(run: &CheckRun, out: &mut dyn Write) -> io::Result<()> {
    let mut suite = TestSuite::new(SUITE);
    suite.add_property(Property::new("summary", run.summary()));
    let mut files: Vec<&str> = run.files.iter().map(String::as_str).collect();
    // A finding may stand in a master configuration.
    files.extend(run.findings.iter().map(|finding| &*finding.file));
    files.sort_unstable();
    files.dedup();
    for file in files {
        let findings: Vec<&Finding> = run.findings.iter().filter(|finding| *finding.file == *file).collect();
        suite.add_test_case(case(file, &findings));
    }
    for error in &run.errors {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("unreadable").set_message(printable(error));
        let mut case = TestCase::new(printable(error), status);
        case.set_classname("reading");
        suite.add_test_case(case);
    }
    let mut report = Report::new(SUITE);
    report.add_test_suite(suite);
    report.serialize(out).map_err(io::Error::other)
}

fn case(file: &str, findings: &[&Finding]) -> TestCase {
    let lines: Vec<String> = findings
        .iter()
        .map(|finding| {
            let place = format!("{}:{}:{}", finding.file, finding.at.line, finding.at.column);
            let what =
                format!("{}: {}: {}{}", finding.severity, finding.code, subject(finding), finding.message);
            printable(&format!("{place}: {what}"))
        })
        .collect();
    let first = findings.iter().find(|finding| finding.severity == Severity::Error);
    let status = match first {
        Some(first) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status
                .set_type(first.code.name())
                .set_message(printable(&first.message))
                .set_description(lines.join("\n"));
            status
        }
        None => TestCaseStatus::success(),
    };
    let mut case = TestCase::new(printable(file), status);
    case.set_classname(SUITE);
    if first.is_none() && !lines.is_empty() {
        case.set_system_out(lines.join("\n"));
    }
    case
}
