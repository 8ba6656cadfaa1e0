//! Whether servers of all points were started alike.

use std::collections::BTreeMap;

use super::arguments::each_server;
use crate::evidence::Mode;
use crate::signoff::facts::{Argument, Point, Run, Server};
use crate::signoff::item::{Evidence, Outcome, Weighing, counted};
use crate::signoff::profile::check::ArgumentsEqual;
use crate::signoff::read::underscored;

pub(in crate::signoff) fn arguments_equal(run: &Run, rule: &ArgumentsEqual) -> Outcome {
    let mut weighing = Weighing::default();
    let except: Vec<String> = rule.except.iter().map(|name| underscored(name)).collect();
    // Those that do the same work are compared, each with the first.
    let mut first: BTreeMap<Option<Mode>, (&Point, &Server)> = BTreeMap::new();
    let (mut compared, mut differing) = (0, Vec::new());
    each_server(run, &mut weighing, |point, server, weighing| {
        if !server.is_whole {
            weighing.miss(format!("{}: its server_args line is cut", point.label()));
            return;
        }
        let Some((other_point, other)) = first.get(&server.mode).copied() else {
            first.insert(server.mode, (point, server));
            return;
        };
        compared += 1;
        for (name, mine, theirs) in differences(server, other) {
            if except.contains(&name) {
                if !differing.contains(&name) {
                    differing.push(name);
                }
                continue;
            }
            let evidence = [mine, theirs].into_iter().flatten().map(|argument| {
                let value = argument.value.as_deref().unwrap_or("(not shown: no rule names it)");
                Evidence::at(run, argument.place, format!("{name}={value}"))
            });
            let evidence: Vec<Evidence> = evidence.collect();
            weighing.fail(
                format!("{name} differs between {} and {}", other_point.label(), point.label()),
                evidence,
            );
        }
    });
    if compared == 0 && !run.points.is_empty() {
        weighing.miss("one server alone: there is none to compare it with; give the logs of all points");
    }
    differing.sort();
    let differing = if differing.is_empty() {
        String::new()
    } else {
        format!("; as the profile allows, these differ: {}", differing.join(", "))
    };
    weighing.conclude(format!("equal over {}{differing}", counted(compared + first.len(), "server")))
}

/// Names of which two servers have different values, or which one alone has.
fn differences<'a>(
    mine: &'a Server,
    theirs: &'a Server,
) -> Vec<(String, Option<&'a Argument>, Option<&'a Argument>)> {
    let of = |server: &'a Server| -> BTreeMap<&'a str, &'a Argument> {
        server.arguments.iter().map(|argument| (argument.name.as_str(), argument)).collect()
    };
    let (mine, theirs) = (of(mine), of(theirs));
    let mut names: Vec<&str> = mine.keys().chain(theirs.keys()).copied().collect();
    names.sort_unstable();
    names.dedup();
    names
        .into_iter()
        .map(|name| (name.to_owned(), mine.get(name).copied(), theirs.get(name).copied()))
        .filter(|(_, mine, theirs)| {
            mine.map(|argument| argument.digest) != theirs.map(|argument| argument.digest)
        })
        .collect()
}
