//! What cannot be decided because a file that it rests on could not be read.

use crate::signoff::facts::{Facts, Origin, Run};
use crate::signoff::item::{Outcome, Status};
use crate::signoff::layout::FileKind;
use crate::signoff::profile::Check;

/// Files that a message names.
const MOST_NAMES: usize = 3;

/// The outcome, unless it would hold only because a file was not read.
pub(in crate::signoff) fn unless_unread(run: &Run, check: &Check, outcome: Outcome) -> Outcome {
    if outcome.status == Status::Fails {
        return outcome;
    }
    let (mut names, mut count) = (Vec::new(), 0);
    for unread in concerned(run, check).flat_map(|facts| &facts.unread) {
        if rests_on(check, unread.kind) {
            count += 1;
            if names.len() < MOST_NAMES {
                names.push(unread.to_string());
            }
        }
    }
    if names.is_empty() {
        return outcome;
    }
    let more = count - names.len();
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let what = format!("not read: {}{more}", names.join("; "));
    let message = match outcome.status {
        Status::Holds => what,
        Status::CannotDecide | Status::Fails => format!("{}; {what}", outcome.message),
    };
    Outcome { status: Status::CannotDecide, message, ..outcome }
}

/// Whose files a check looks at.
fn concerned<'a>(run: &'a Run, check: &Check) -> impl Iterator<Item = &'a Facts> {
    let (points, evaluations) = match check {
        Check::ForbiddenVariables(_) | Check::ForbiddenArguments(_) | Check::RecipePins => (true, true),
        Check::EvaluationReal | Check::EvaluationUnset(_) | Check::Scores(_) => (false, true),
        _ => (true, false),
    };
    let points = run.points.iter().filter(move |_| points);
    let evaluations = run.evaluations.iter().filter(move |_| evaluations);
    std::iter::once(&run.shared).chain(points.chain(evaluations).map(|point| &point.facts))
}

/// Whether a check may come out otherwise for what such a file says.
fn rests_on(check: &Check, kind: FileKind) -> bool {
    let is_script = matches!(kind, FileKind::Yaml(_) | FileKind::Text(Origin::Launcher));
    let is_json = matches!(kind, FileKind::Json | FileKind::JsonLines);
    match check {
        Check::GoldenLength(_)
        | Check::Variable(_)
        | Check::RecipePins
        | Check::DraftPath(_)
        | Check::Image(_) => is_script,
        Check::ForbiddenVariables(_) | Check::ForbiddenArguments(_) | Check::EvaluationUnset(_) => {
            is_script || is_json
        }
        Check::Requests(_) | Check::Scores(_) => is_json,
        Check::Pareto(_) => kind == FileKind::Table,
        Check::AcceptLength
        | Check::LargestBatch(_)
        | Check::GraphFlag
        | Check::Argument(_)
        | Check::Endpoints(_)
        | Check::EvaluationReal
        | Check::EngineVersion
        | Check::ArgumentsEqual(_) => false,
    }
}
