//! Every rule of a profile, over the facts of a run.

use super::facts::{Point, Run};
use super::item::{Item, Outcome, Signoff, counted};
use super::profile::{Check, Profile};
use super::rules;

/// Decides each rule, in the profile's order. What is missing makes an item undecidable and never true.
///
/// ```
/// use accsim::signoff::{Profile, Run, Status, decide};
///
/// let profile = Profile::builtin("agentx").ok_or("no such profile")?;
/// let signoff = decide(&profile, &Run::default());
/// assert_eq!(signoff.status(), Status::CannotDecide);
/// assert!(signoff.items.iter().all(|item| item.status == Status::CannotDecide));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn decide(profile: &Profile, run: &Run) -> Signoff {
    let items = profile.rules.iter().map(|rule| {
        let outcome = outcome(&rule.check, run);
        let Outcome { status, message, evidence, table } = rules::unless_unread(run, &rule.check, outcome);
        Item { id: rule.id.clone(), title: rule.title.clone(), status, message, evidence, table }
    });
    Signoff {
        profile: profile.name.clone(),
        items: items.collect(),
        points: run.points.iter().map(|point| found(run, point)).collect(),
        evaluations: run.evaluations.iter().map(|point| found(run, point)).collect(),
    }
    .redacted()
}

fn outcome(check: &Check, run: &Run) -> Outcome {
    match check {
        Check::GoldenLength(names) => rules::golden_length(run, &names.names),
        Check::Variable(variable) => rules::variable(run, variable),
        Check::AcceptLength => rules::accept_length(run),
        Check::LargestBatch(batch) => rules::largest_batch(run, batch),
        Check::GraphFlag => rules::graph_flag(run),
        Check::Argument(argument) => rules::argument(run, argument),
        Check::DraftPath(path) => rules::draft_path(run, path),
        Check::ForbiddenVariables(names) => rules::forbidden_variables(run, &names.names),
        Check::ForbiddenArguments(arguments) => rules::forbidden_arguments(run, arguments),
        Check::Endpoints(endpoints) => rules::endpoints(run, endpoints),
        Check::EvaluationReal => rules::evaluation_real(run),
        Check::EvaluationUnset(knobs) => rules::evaluation_unset(run, knobs),
        Check::Scores(scores) => rules::scores(run, scores),
        Check::Requests(requests) => rules::requests(run, requests),
        Check::Image(image) => rules::image(run, image),
        Check::EngineVersion => rules::engine_version(run),
        Check::Pareto(pareto) => rules::pareto_coverage(run, pareto),
        Check::RecipePins => rules::recipe_pins(run),
        Check::ArgumentsEqual(equal) => rules::arguments_equal(run, equal),
    }
}

/// What was found of a point, so that a reader sees what was taken for what.
fn found(run: &Run, point: &Point) -> String {
    let mut parts = Vec::new();
    let logs: Vec<&str> =
        point.servers.iter().flat_map(|server| &server.report.files).map(|file| run.file(*file)).collect();
    let count = |what: &str, count: usize| match count {
        0 => format!("no {what}"),
        some => counted(some, what),
    };
    parts.push(count("server log", logs.len()));
    parts.push(count("environment", point.facts.environments.len()));
    if !point.facts.launchers.is_empty() {
        parts.push(count("launcher", point.facts.launchers.len()));
    }
    parts.push(count("client export", point.facts.clients.len()));
    if !point.facts.scores.is_empty() {
        parts.push(count("score", point.facts.scores.len()));
    }
    if !point.facts.recipes.is_empty() {
        parts.push(count("recipe", point.facts.recipes.len()));
    }
    let concurrency = point.concurrency.map_or_else(String::new, |number| format!(" (C{number})"));
    format!("{}{concurrency}: {}", point.name, parts.join(", "))
}
