//! What nothing may set.

use super::arguments::{each_server, value};
use super::settings::{need_points, shown, shows_environment};
use crate::signoff::facts::{Facts, Point, Run, Seen};
use crate::signoff::item::{Evidence, Outcome, Weighing, counted};
use crate::signoff::profile::check::ForbiddenArguments;
use crate::signoff::read::{is_any, underscored};

/// Facts of everything, each with the name of whom they are of.
fn everywhere(run: &Run) -> impl Iterator<Item = (String, &Facts)> {
    let of = |point: &'_ Point| point.label();
    let points = run.points.iter().map(move |point| (of(point), &point.facts));
    let evaluations = run.evaluations.iter().map(|point| (point.name.clone(), &point.facts));
    std::iter::once(("the run".to_owned(), &run.shared)).chain(points).chain(evaluations)
}

/// How many files of each kind were looked at.
fn looked_at(run: &Run) -> String {
    let logs = run.points.iter().chain(&run.evaluations).map(|point| point.servers.len()).sum::<usize>();
    let (mut environments, mut launchers, mut recipes) = (0, 0, 0);
    for (_, facts) in everywhere(run) {
        environments += facts.environments.len();
        launchers += facts.launchers.len();
        recipes += facts.recipes.len();
    }
    let counts = [(recipes, "recipe or config"), (environments, "environment"), (launchers, "launcher")];
    let mut parts: Vec<String> = counts
        .iter()
        .map(|(count, noun)| match (*count, *noun) {
            (count, "recipe or config") if count != 1 => format!("{count} recipes and configs"),
            (count, noun) => counted(count, noun),
        })
        .collect();
    parts.push(counted(logs, "server log"));
    parts.join(", ")
}

pub(in crate::signoff) fn forbidden_variables(run: &Run, names: &[String]) -> Outcome {
    let mut weighing = Weighing::default();
    need_points(run, &mut weighing);
    let has_shared = shows_environment(&run.shared);
    let shows_everything = has_shared || run.points.iter().all(|point| shows_environment(&point.facts));
    for (whose, facts) in everywhere(run) {
        for sighting in &facts.sightings {
            if sighting.seen != Seen::Variable || !is_any(names, &sighting.name) {
                continue;
            }
            let evidence = shown(run, sighting);
            let what = format!(
                "{whose}: {}={} in {}",
                sighting.name,
                sighting.value,
                sighting.origin.with_article()
            );
            match &sighting.condition {
                None => weighing.fail(what, [evidence]),
                // Where the environment is shown, it says what came of the condition.
                Some(_) if shows_everything => {}
                Some(condition) => {
                    weighing.doubt(format!("{what}, only where {condition} holds"), [evidence]);
                }
            }
        }
    }
    for point in &run.points {
        let label = point.label();
        if point.servers.is_empty() {
            weighing.miss(format!("{label}: no server log"));
        }
        if !has_shared && !shows_environment(&point.facts) {
            weighing.miss(format!("{label}: no environment dump or trace, so what is absent cannot be seen"));
        }
    }
    weighing.conclude(format!("none of {} in {}", names.join(", "), looked_at(run)))
}

pub(in crate::signoff) fn forbidden_arguments(run: &Run, rule: &ForbiddenArguments) -> Outcome {
    let mut weighing = Weighing::default();
    let names: Vec<String> = rule.names.iter().map(|name| underscored(name)).collect();
    let is_harmless = |value: &str| {
        let bare: String = value.chars().filter(|letter| !letter.is_whitespace()).collect();
        rule.harmless.contains(&bare)
    };
    each_server(run, &mut weighing, |point, server, weighing| {
        for name in &names {
            let Some((argument, value)) = value(server, name) else { continue };
            let evidence = Evidence::at(run, argument.place, format!("{name}={value}"));
            if is_harmless(value) {
                weighing.show(evidence);
            } else {
                weighing.fail(format!("{}: {name}={value}", point.label()), [evidence]);
            }
        }
        if !server.is_whole {
            weighing.miss(format!("{}: its server_args line is cut", point.label()));
        }
    });
    for (whose, facts) in everywhere(run) {
        for sighting in &facts.sightings {
            let is_asked = sighting.seen == Seen::Argument && names.contains(&sighting.name);
            if is_asked && !is_harmless(&sighting.value) {
                let origin = sighting.origin.with_article();
                let what = format!("{whose}: {}={} in {origin}", sighting.name, sighting.value);
                match &sighting.condition {
                    None => weighing.fail(what, [shown(run, sighting)]),
                    Some(condition) => {
                        let what = format!("{what}, only where {condition} holds");
                        weighing.doubt(what, [shown(run, sighting)]);
                    }
                }
            }
        }
    }
    weighing.conclude(format!("none in {}", looked_at(run)))
}
