//! Points of an audit as test cases.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use crate::audit::{PointReport, Verdict};
use crate::report::audit::{
    AuditRun, Summary, basis, batches, decimal, injected, mechanism, server, side_by_side, target,
};
use crate::report::excerpt::printable;

/// The suite, and the class of its cases.
const SUITE: &str = "accsim audit";

/// Writes each point as a test case: `inconsistent` is a failure. `insufficient` and `unauditable` are errors, not
/// skipped: what nobody could judge must not look like what passed. A file that could not be read to its end is a case
/// with an error of its own.
pub fn write_audit(run: &AuditRun<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut suite = TestSuite::new(SUITE);
    suite.add_property(("verdict", run.verdict.name()));
    suite.add_property(Property::new("summary", Summary::of(run.points).to_string()));
    for note in run.notes {
        suite.add_property(Property::new("note", printable(note)));
    }
    for point in run.points {
        suite.add_test_case(case(run, point));
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

fn case(run: &AuditRun<'_>, point: &PointReport) -> TestCase {
    let mut case = TestCase::new(printable(&point.name), status(run, point));
    case.set_classname(SUITE);
    case.add_properties(properties(run, point));
    if point.verdict == Verdict::Consistent && !point.findings.is_empty() {
        case.set_system_out(findings(run, point));
    }
    case
}

fn status(run: &AuditRun<'_>, point: &PointReport) -> TestCaseStatus {
    let kind = match point.verdict {
        Verdict::Consistent => return TestCaseStatus::success(),
        Verdict::Inconsistent => NonSuccessKind::Failure,
        Verdict::Insufficient | Verdict::Unauditable => NonSuccessKind::Error,
    };
    let mut status = TestCaseStatus::non_success(kind);
    status
        .set_type(point.verdict.name())
        .set_message(printable(&point.reason.to_string()))
        .set_description(findings(run, point));
    status
}

/// Findings, one a line.
fn findings(run: &AuditRun<'_>, point: &PointReport) -> String {
    let lines = point.findings.iter().map(|finding| {
        let at = finding.evidence.map_or_else(String::new, |place| format!(" ({})", run.place(place)));
        printable(&format!("{}: {}: {}{at}", finding.severity, finding.code, finding.message))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn properties(run: &AuditRun<'_>, point: &PointReport) -> Vec<Property> {
    let interval = point.accept_len.as_ref().and_then(|accept_len| accept_len.interval);
    let settings = injected(point);
    let lines = point.replay.as_ref().and_then(|replay| side_by_side(run, replay));
    let known = [
        ("target", point.target.as_ref().map(target)),
        ("judged by", point.target.as_ref().map(|_| basis(point))),
        ("server", server(point)),
        ("injected", (!settings.is_empty()).then(|| settings.join(" "))),
        ("accept_len mean", point.accept_len.as_ref().map(|accept_len| decimal(accept_len.mean))),
        ("accept_len interval", interval.map(|it| format!("{} to {}", decimal(it.low), decimal(it.high)))),
        ("batch", batches(point)),
        ("mechanism", mechanism(point)),
        ("replay", point.told_replay().map(ToString::to_string)),
        ("printed", lines.as_ref().map(|lines| format!("{} ({} and on)", lines.printed, lines.place))),
        ("recomputed", lines.map(|lines| lines.recomputed)),
    ];
    known.into_iter().filter_map(|(name, value)| Some(Property::new(name, printable(&value?)))).collect()
}
