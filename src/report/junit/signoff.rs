//! Items of a sign-off as test cases.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use crate::report::SignoffRun;
use crate::report::excerpt::printable;
use crate::signoff::{Item, Status};

/// The suite, and the class of its cases.
const SUITE: &str = "accsim signoff";

/// Writes each item as a test case: what fails is a failure, what cannot be decided an error and not skipped. A file
/// that could not be read to its end is a case with an error of its own.
pub fn write_signoff(run: &SignoffRun<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut suite = TestSuite::new(SUITE);
    suite.add_property(Property::new("profile", printable(&run.signoff.profile)));
    suite.add_property(("status", run.signoff.status().name()));
    for point in &run.signoff.points {
        suite.add_property(Property::new("point", printable(point)));
    }
    for evaluation in &run.signoff.evaluations {
        suite.add_property(Property::new("evaluation", printable(evaluation)));
    }
    for note in run.notes {
        suite.add_property(Property::new("note", printable(note)));
    }
    for item in &run.signoff.items {
        suite.add_test_case(case(item));
    }
    for error in run.errors {
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

fn case(item: &Item) -> TestCase {
    let kind = match item.status {
        Status::Holds => None,
        Status::Fails => Some(NonSuccessKind::Failure),
        Status::CannotDecide => Some(NonSuccessKind::Error),
    };
    let status = kind.map_or_else(TestCaseStatus::success, |kind| {
        let mut status = TestCaseStatus::non_success(kind);
        status
            .set_type(item.status.name())
            .set_message(printable(&item.message))
            .set_description(quotes(item));
        status
    });
    let mut case = TestCase::new(printable(&item.id), status);
    case.set_classname(SUITE);
    case.add_property(Property::new("title", printable(&item.title)));
    if item.status == Status::Holds {
        case.add_property(Property::new("message", printable(&item.message)));
        case.set_system_out(quotes(item));
    }
    case
}

/// Quotes, one a line.
fn quotes(item: &Item) -> String {
    let lines = item.evidence.iter().map(|evidence| {
        let line = evidence.line.map_or_else(String::new, |line| format!(":{line}"));
        printable(&format!("{}{line}: {}", evidence.file, evidence.value))
    });
    lines.collect::<Vec<_>>().join("\n")
}
