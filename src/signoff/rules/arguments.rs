//! Arguments that servers echo.

use super::settings::need_points;
use crate::evidence::Mode;
use crate::signoff::facts::{Argument, Origin, Point, Run, Seen, Server, Sighting};
use crate::signoff::item::{Evidence, Outcome, Weighing};
use crate::signoff::profile::check::{ArgumentIs, DraftPath};
use crate::signoff::read::underscored;

/// Whether two paths are one, but for a slash at the end.
fn is_same(path: &str, other: &str) -> bool {
    path.trim_end_matches('/') == other.trim_end_matches('/')
}

/// Every server of a point, those that only prefill among them; says what is missing where there is none.
pub(super) fn each_server<'a>(
    run: &'a Run,
    weighing: &mut Weighing,
    mut see: impl FnMut(&'a Point, &'a Server, &mut Weighing),
) {
    need_points(run, weighing);
    for point in &run.points {
        if point.servers.is_empty() {
            weighing.miss(format!("{}: no server log", point.label()));
        }
        for server in &point.servers {
            if server.started.is_none() {
                weighing.miss(format!("{}: its log has no server_args line", point.label()));
            } else {
                see(point, server, weighing);
            }
        }
    }
}

pub(super) fn value<'a>(server: &'a Server, name: &str) -> Option<(&'a Argument, &'a str)> {
    let argument = server.arguments.iter().find(|argument| argument.name == name)?;
    Some((argument, argument.value.as_deref()?))
}

pub(in crate::signoff) fn argument(run: &Run, rule: &ArgumentIs) -> Outcome {
    let mut weighing = Weighing::default();
    let name = underscored(&rule.name);
    let (mut seen, mut absent) = (Vec::new(), 0);
    each_server(run, &mut weighing, |point, server, weighing| {
        let label = point.label();
        match value(server, &name) {
            Some((argument, value)) => {
                let evidence = Evidence::at(run, argument.place, format!("{name}={value}"));
                if rule.equals.iter().any(|wanted| wanted == value) {
                    weighing.show(evidence);
                    if !seen.contains(&value) {
                        seen.push(value);
                    }
                } else {
                    let wanted = rule.equals.join(" or ");
                    weighing.fail(format!("{label}: {name} is {value}, expected {wanted}"), [evidence]);
                }
            }
            None if rule.may_be_absent && server.is_whole => absent += 1,
            None if server.is_whole => {
                weighing.miss(format!("{label}: its server_args line has no {name}"));
            }
            None => weighing.miss(format!("{label}: its server_args line is cut before {name}")),
        }
    });
    let absent = match (absent, seen.is_empty()) {
        (0, _) => String::new(),
        (_, true) => format!("{name} is no argument of this release"),
        (count, false) => format!("; no argument of the release of {count}"),
    };
    let values = if seen.is_empty() { String::new() } else { format!("{name}={}", seen.join(" or ")) };
    weighing.conclude(format!("{values}{absent}"))
}

pub(in crate::signoff) fn draft_path(run: &Run, rule: &DraftPath) -> Outcome {
    let mut weighing = Weighing::default();
    let (draft, model) = (underscored(&rule.draft), underscored(&rule.model));
    let mut how = Vec::new();
    each_server(run, &mut weighing, |point, server, weighing| {
        let label = point.label();
        let Some((argument, path)) = value(server, &draft) else {
            weighing.miss(format!("{label}: its server_args line has no {draft}"));
            return;
        };
        let evidence = Evidence::at(run, argument.place, format!("{draft}={path}"));
        let own = value(server, &model).map(|(_, path)| path);
        // What recipe, configuration or launcher say that it drafts with.
        let said = point.facts.sightings.iter().chain(&run.shared.sightings).filter(|seen| {
            let is_text = matches!(seen.origin, Origin::Recipe | Origin::Config | Origin::Launcher);
            let is_sound = seen.condition.is_none() && !seen.value.starts_with('(') && seen.value != "None";
            is_text && is_sound && seen.seen == Seen::Argument && !seen.is_prefill && seen.name == draft
        });
        let said: Vec<&Sighting> = said.collect();
        let in_recipe = said.iter().find(|seen| is_same(&seen.value, path));
        let is_stated = rule.stated.iter().chain(&run.stated.draft_paths).any(|stated| is_same(stated, path));
        // What only prefills may draft nothing where the rest does.
        let drafts_nothing = path == "None" && server.mode == Some(Mode::Prefill);
        let wanted = &run.stated.draft_paths;
        let contradicts = !wanted.is_empty() && !wanted.iter().any(|stated| is_same(stated, path));
        let why = if drafts_nothing {
            "no draft model of its own".to_owned()
        } else if contradicts {
            let stated = wanted.join(" or ");
            weighing.fail(format!("{label}: drafts with {path}, --draft-path states {stated}"), [evidence]);
            return;
        } else if is_stated {
            format!("{path} as stated")
        } else if let Some(seen) = in_recipe {
            weighing.show(Evidence::at(run, seen.place, format!("{draft}: {path}")));
            format!("{path} as the {} states", seen.origin.name())
        } else if let Some(other) = said.first() {
            let origin = other.origin.name();
            let drafts = if path == "None" {
                "has no draft of its own".to_owned()
            } else {
                format!("drafts with {path}")
            };
            weighing.fail(
                format!("{label}: {drafts}, the {origin} states {}", other.value),
                [evidence, Evidence::at(run, other.place, format!("{draft}: {}", other.value))],
            );
            return;
        } else if path == "None" {
            "no draft model of its own".to_owned()
        } else if own.is_some_and(|own| is_same(own, path)) {
            format!("equal to {model}")
        } else if run.pins.is_empty() {
            // A recipe may state it.
            let own = own.unwrap_or("unknown");
            weighing.doubt(
                format!("{label}: drafts with {path}, the model is {own}, and no recipe was found that states that; give --recipe FILE"),
                [evidence],
            );
            return;
        } else {
            let own = own.unwrap_or("unknown");
            weighing.fail(
                format!("{label}: drafts with {path}, the model is {own}, and neither recipe nor profile states that"),
                [evidence],
            );
            return;
        };
        weighing.show(evidence);
        if !how.contains(&why) {
            how.push(why);
        }
    });
    weighing.conclude(how.join("; "))
}
