//! What differs, and whether it may.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::defaults::{default_of, is_worked_out};
use super::read::{Launch, Launches, Setting};
use super::value::LaunchValue;
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
            let is_worked_out = what == What::Arguments && self.is_worked_out(name, a, b);
            let values = if is_worked_out || what == What::Environment {
                (value(a), value(b))
            } else {
                (value(a).or_else(|| self.default(name, b)), value(b).or_else(|| self.default(name, a)))
            };
            let is_open = [&values.0, &values.1].iter().any(|value| **value == Some(LaunchValue::Unresolved));
            if values.0 == values.1 && !is_open {
                same += 1;
                continue;
            }
            // What a server worked out for itself was not given by anybody.
            if is_worked_out {
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
            } else if what == What::Arguments && self.is_unknown(&values) {
                let given = if a.is_some() { &first } else { &second };
                weighing.doubt(
                    format!("{name}={given} stands on one side alone, and its default is not known"),
                    evidence,
                );
            } else if is_open {
                weighing.miss(format!("{name} is resolved at run time; give the trace of the run"));
            } else {
                weighing.fail(format!("{name}: {first} against {second}"), evidence);
            }
        }
        // Those that are not expected come first.
        let rows = table.get_mut(1..).unwrap_or(&mut []);
        rows.sort_by(|left, right| left.last().cmp(&right.last()));
        let noun = if what == What::Arguments { "arguments" } else { "variables" };
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

    /// What a flag is that nobody gives: as the engine's table says. Without one, `None` is what nobody gave, and what a
    /// server prints as `False` without being told is off.
    fn default(&self, name: &str, other: Option<&Setting>) -> Option<LaunchValue> {
        let (left, right) = (self.left.1, self.right.1);
        let engine = left.engine.or(right.engine);
        let known = engine.and_then(|engine| default_of(engine, name)).map(LaunchValue::of);
        known.or_else(|| {
            let other = &other?.value;
            let is_printed = left.is_resolved || right.is_resolved;
            let plain: &[&str] = if is_printed { &["False", "None"] } else { &["None"] };
            plain.iter().map(|value| LaunchValue::of(value)).find(|value| value == other)
        })
    }

    /// Whether a value that stands in a server's own line alone was worked out by the server.
    fn is_worked_out(&self, name: &str, a: Option<&Setting>, b: Option<&Setting>) -> bool {
        let (setting, launch) = match (a, b) {
            (Some(setting), None) if self.left.1.is_resolved => (setting, self.left.1),
            (None, Some(setting)) if self.right.1.is_resolved => (setting, self.right.1),
            _ => return false,
        };
        // A model that drafts for itself is its own draft.
        let model = launch.arguments.get("model_path");
        let is_own_draft =
            name == "speculative_draft_model_path" && model.is_some_and(|model| model.value == setting.value);
        (is_worked_out(name) || is_own_draft) && !self.profile.forbids_argument(name)
    }

    /// Whether one side alone gives a value of which nobody knows whether it is the default: one that a server's own line
    /// shows, or a switch that is turned off.
    fn is_unknown(&self, values: &(Option<LaunchValue>, Option<LaunchValue>)) -> bool {
        let (value, is_resolved) = match values {
            (Some(value), None) => (value, self.left.1.is_resolved),
            (None, Some(value)) => (value, self.right.1.is_resolved),
            _ => return false,
        };
        is_resolved || *value == LaunchValue::of("False")
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
