//! What differs, and whether it may.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::defaults::default_of;
use super::read::{Launch, Launches, Setting};
use super::value::LaunchValue;
use crate::engine::Engine;
use crate::signoff::item::{Evidence, Item, Signoff, Weighing};
use crate::signoff::profile::Profile;
use crate::signoff::read::underscored;

/// What a profile says about launches that are compared. A name may end in `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LaunchRules {
    /// Arguments that may differ.
    #[serde(default)]
    pub expected: Vec<String>,
    /// Variables that may differ.
    #[serde(default)]
    pub expected_variables: Vec<String>,
    /// Arguments whose values are shown besides those that rules name.
    #[serde(default)]
    pub shown: Vec<String>,
    /// Variables whose values are shown besides those that rules name.
    #[serde(default)]
    pub shown_variables: Vec<String>,
}

/// What stands in place of a value that no rule names.
const HIDDEN: &str = "(not shown: no rule names it)";

/// What stands in place of a value that a side does not give.
const ABSENT: &str = "(absent)";

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Arguments,
    Environment,
}

/// Compares two launches by a profile: an item for arguments and one for the environment of each role.
#[must_use]
pub fn launch_diff(profile: &Profile, left: (&str, &Launches), right: (&str, &Launches)) -> Signoff {
    let mut items = Vec::new();
    let (a, b) = (&left.1.launches, &right.1.launches);
    let pairs: Vec<(Option<&Launch>, Option<&Launch>)> = if let ([one], [other]) =
        (a.as_slice(), b.as_slice())
    {
        vec![(Some(one), Some(other))]
    } else {
        let roles: BTreeSet<Option<&str>> = a.iter().chain(b).map(|launch| launch.role).collect();
        let of = |all: &'_ [Launch], role: Option<&str>| all.iter().position(|launch| launch.role == role);
        roles
            .into_iter()
            .map(|role| (of(a, role).and_then(|at| a.get(at)), of(b, role).and_then(|at| b.get(at))))
            .collect()
    };
    for (one, other) in &pairs {
        let role = if pairs.len() > 1 { one.or(*other).and_then(|launch| launch.role) } else { None };
        let suffix = role.map_or_else(String::new, |role| format!("-{role}"));
        let title = |what: &str| role.map_or_else(|| what.to_owned(), |role| format!("{what} of {role}"));
        match (one, other) {
            (Some(one), Some(other)) => {
                let sides = Sides { profile, left: (left.0, one), right: (right.0, other) };
                items.push(sides.item(
                    format!("launch-arguments{suffix}"),
                    title("launch arguments"),
                    What::Arguments,
                ));
                items.push(sides.item(
                    format!("launch-environment{suffix}"),
                    title("environment"),
                    What::Environment,
                ));
            }
            (one, _) => {
                let mut weighing = Weighing::default();
                let has = if one.is_some() { left.0 } else { right.0 };
                weighing.fail(format!("only {has} starts this role"), []);
                let outcome = weighing.conclude("");
                items.push(Item {
                    id: format!("launch-arguments{suffix}"),
                    title: title("launch arguments"),
                    status: outcome.status,
                    message: outcome.message,
                    evidence: Vec::new(),
                    table: Vec::new(),
                });
            }
        }
    }
    Signoff {
        profile: profile.name.clone(),
        points: vec![format!("A: {}", left.0), format!("B: {}", right.0)],
        evaluations: Vec::new(),
        items,
    }
    .redacted()
}

struct Sides<'a> {
    profile: &'a Profile,
    left: (&'a str, &'a Launch),
    right: (&'a str, &'a Launch),
}

impl Sides<'_> {
    fn item(&self, id: String, title: String, what: What) -> Item {
        let mut weighing = Weighing::default();
        let mut table = vec![["name", "A", "B", "expected"].map(str::to_owned).to_vec()];
        let (mut same, mut expected, mut resolved) = (0_u64, 0_u64, 0_u64);
        let (left, right) = (self.left.1, self.right.1);
        if what == What::Arguments
            && let (Some(one), Some(other)) = (left.engine, right.engine)
            && one != other
        {
            weighing.fail(format!("A starts {one}, B starts {other}"), []);
        }
        if what == What::Environment {
            for (name, launch) in [(self.left.0, left), (self.right.0, right)] {
                if launch.has_no_environment {
                    weighing.miss(format!("{name} does not show its environment"));
                }
            }
            if left.has_no_environment || right.has_no_environment {
                let outcome = weighing.conclude("");
                let (status, message) = (outcome.status, outcome.message);
                return Item { id, title, status, message, evidence: Vec::new(), table: Vec::new() };
            }
        }
        let of = |launch: &'_ Launch| match what {
            What::Arguments => launch.arguments.clone(),
            What::Environment => launch.environment.clone(),
        };
        let (mine, theirs) = (of(left), of(right));
        let names: BTreeSet<&String> = mine.keys().chain(theirs.keys()).collect();
        for name in names {
            let (a, b) = (mine.get(name), theirs.get(name));
            let default = |other: Option<&Setting>| match what {
                What::Arguments => self.default(name, other),
                What::Environment => None,
            };
            let values = (value(a).or_else(|| default(b)), value(b).or_else(|| default(a)));
            let is_open = [&values.0, &values.1].iter().any(|value| **value == Some(LaunchValue::Unresolved));
            if values.0 == values.1 && !is_open {
                same += 1;
                continue;
            }
            // What a server worked out for itself was not given by anybody.
            let is_worked_out = what == What::Arguments
                && ((a.is_none() && right.is_resolved) || (b.is_none() && left.is_resolved));
            if is_worked_out && !self.is_forbidden(name) {
                resolved += 1;
                continue;
            }
            let may = self.may_differ(name, what);
            let is_shown = may || self.is_shown(name, what);
            let text = |value: &Option<LaunchValue>| match value {
                None => ABSENT.to_owned(),
                Some(_) if !is_shown => HIDDEN.to_owned(),
                Some(value) => value.to_string(),
            };
            let (first, second) = (text(&values.0), text(&values.1));
            let evidence = [(self.left.0, a, &first), (self.right.0, b, &second)];
            let evidence = evidence.into_iter().filter_map(|(file, setting, value)| {
                let line = Some(setting?.line);
                Some(Evidence { file: file.to_owned(), line, value: format!("{name}={value}") })
            });
            table.push(vec![
                name.clone(),
                first.clone(),
                second.clone(),
                if may { "yes" } else { "no" }.to_owned(),
            ]);
            if may {
                expected += 1;
                for evidence in evidence {
                    weighing.show(evidence);
                }
            } else if is_open {
                weighing.miss(format!("{name} is resolved at run time; give the trace of the run"));
            } else {
                weighing.fail(format!("{name}: {first} against {second}"), evidence);
            }
        }
        // Those that are not expected come first.
        let rows = table.get_mut(1..).unwrap_or(&mut []);
        rows.sort_by(|left, right| left.last().cmp(&right.last()));
        let noun = match what {
            What::Arguments => "arguments",
            What::Environment => "variables",
        };
        let resolved = if resolved > 0 {
            format!("; {resolved} that only a server's own line has were not compared")
        } else {
            String::new()
        };
        let outcome =
            weighing.conclude(format!("{same} {noun} equal, {expected} differ as expected{resolved}"));
        Item {
            id,
            title,
            status: outcome.status,
            message: outcome.message,
            evidence: outcome.evidence,
            table: if table.len() > 1 { table } else { Vec::new() },
        }
    }

    /// What a flag is that nobody gives. `False` and `None` are what a switch and an option are by default.
    fn default(&self, name: &str, other: Option<&Setting>) -> Option<LaunchValue> {
        let is_sglang =
            [self.left.1, self.right.1].iter().any(|launch| launch.engine == Some(Engine::Sglang));
        let known = default_of(name).filter(|_| is_sglang).map(LaunchValue::of);
        known.or_else(|| {
            let other = &other?.value;
            let plain = ["False", "None"].map(LaunchValue::of);
            plain.into_iter().find(|value| value == other)
        })
    }

    fn may_differ(&self, name: &str, what: What) -> bool {
        let rules = &self.profile.launch;
        match what {
            What::Arguments => matches(&rules.expected, &underscored(name)),
            What::Environment => matches(&rules.expected_variables, name),
        }
    }

    fn is_shown(&self, name: &str, what: What) -> bool {
        let rules = &self.profile.launch;
        match what {
            What::Arguments => matches(&rules.shown, &underscored(name)) || self.profile.names_argument(name),
            What::Environment => matches(&rules.shown_variables, name) || self.profile.names_variable(name),
        }
    }

    /// Whether a rule cares for an argument whoever set it.
    fn is_forbidden(&self, name: &str) -> bool {
        self.profile.forbids_argument(name)
    }
}

fn value(setting: Option<&Setting>) -> Option<LaunchValue> {
    setting.map(|setting| setting.value.clone())
}

/// Whether one of the patterns is the name; `*` at the end stands for the rest.
fn matches(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| {
        let pattern = pattern.trim_start_matches('-');
        let is_like = |pattern: &str| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == pattern,
        };
        is_like(pattern) || is_like(&pattern.replace('-', "_"))
    })
}
