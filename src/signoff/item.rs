//! What became of each rule.

use super::facts::Run;
use super::redact::redact;
use crate::evidence::Place;

/// Evidence kept of one item.
const MOST_EVIDENCE: usize = 64;

/// Reasons that a message names one by one.
const MOST_REASONS: usize = 4;

/// Points that one reason names one by one.
const MOST_NAMES: usize = 8;

/// What a rule came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// The evidence shows it.
    Holds,
    /// Something that would decide it is missing.
    CannotDecide,
    /// The evidence shows the contrary.
    Fails,
}

impl Status {
    /// The name that programs read.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::CannotDecide => "cannot-decide",
            Self::Fails => "fails",
        }
    }
}

/// A line that shows something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The file's name.
    pub file: String,
    /// Line, from 1, where there is one.
    pub line: Option<u64>,
    /// The value it gives: only what the rule names.
    pub value: String,
}

impl Evidence {
    /// At a place of the run.
    #[must_use]
    pub fn at(run: &Run, place: Place, value: impl Into<String>) -> Self {
        Self { file: run.file(place.file).to_owned(), line: Some(place.line), value: value.into() }
    }
}

/// One rule, decided or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The rule's id.
    pub id: String,
    /// What it asks, in a few words.
    pub title: String,
    /// What it came to.
    pub status: Status,
    /// Why, or what would decide it.
    pub message: String,
    /// The lines that show it; those that fail come first.
    pub evidence: Vec<Evidence>,
    /// A table that belongs to it: its head, then its rows.
    pub table: Vec<Vec<String>>,
}

/// All items of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signoff {
    /// The profile's name.
    pub profile: String,
    /// The points that were found, each with what was found of it.
    pub points: Vec<String>,
    /// The evaluation runs that were found.
    pub evaluations: Vec<String>,
    /// The items, in the profile's order.
    pub items: Vec<Item>,
}

impl Signoff {
    /// Without what looks like a secret, in any of its texts.
    pub(super) fn redacted(mut self) -> Self {
        let hide = |text: &mut String| *text = redact(text);
        self.points.iter_mut().chain(&mut self.evaluations).for_each(hide);
        for item in &mut self.items {
            hide(&mut item.message);
            item.table.iter_mut().flatten().for_each(hide);
            for evidence in &mut item.evidence {
                hide(&mut evidence.file);
                hide(&mut evidence.value);
            }
        }
        self
    }

    /// One that fails decides; else one that cannot be decided.
    #[must_use]
    pub fn status(&self) -> Status {
        self.items.iter().map(|item| item.status).max().unwrap_or(Status::CannotDecide)
    }

    /// How many items have this status.
    #[must_use]
    pub fn count(&self, status: Status) -> usize {
        self.items.iter().filter(|item| item.status == status).count()
    }
}

/// Collects what speaks for and against one rule.
#[derive(Debug, Default)]
pub(super) struct Weighing {
    held: Vec<Evidence>,
    failed: Vec<String>,
    against: Vec<Evidence>,
    open: Vec<Evidence>,
    unknown: Vec<String>,
}

/// What a rule came to, without its name.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) status: Status,
    pub(super) message: String,
    pub(super) evidence: Vec<Evidence>,
    pub(super) table: Vec<Vec<String>>,
}

impl Weighing {
    /// A line that shows what the rule asks.
    pub(super) fn show(&mut self, evidence: Evidence) {
        if !self.held.contains(&evidence) {
            self.held.push(evidence);
        }
    }

    /// Such a line, where there is one.
    pub(super) fn show_any(&mut self, evidence: Option<Evidence>) {
        if let Some(evidence) = evidence {
            self.show(evidence);
        }
    }

    /// Something that the rule forbids.
    pub(super) fn fail(&mut self, why: impl Into<String>, evidence: impl IntoIterator<Item = Evidence>) {
        let why = why.into();
        if !self.failed.contains(&why) {
            self.failed.push(why);
        }
        self.against.extend(evidence);
    }

    /// Something that is missing, and what would tell.
    pub(super) fn miss(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.unknown.contains(&what) {
            self.unknown.push(what);
        }
    }

    /// Something that speaks both ways, with the lines that do.
    pub(super) fn doubt(&mut self, what: impl Into<String>, evidence: impl IntoIterator<Item = Evidence>) {
        self.miss(what);
        self.open.extend(evidence);
    }

    pub(super) fn has_failed(&self) -> bool {
        !self.failed.is_empty()
    }

    /// The outcome; `holds` is what to say when nothing is missing and nothing fails.
    pub(super) fn conclude(self, holds: impl Into<String>) -> Outcome {
        let (status, message) = if !self.failed.is_empty() {
            (Status::Fails, listed(&self.failed))
        } else if !self.unknown.is_empty() {
            (Status::CannotDecide, listed(&self.unknown))
        } else {
            (Status::Holds, holds.into())
        };
        let mut evidence = self.against;
        evidence.extend(self.open);
        evidence.extend(self.held);
        evidence.truncate(MOST_EVIDENCE);
        Outcome { status, message, evidence, table: Vec::new() }
    }
}

/// `1 point`, `2 points`: a number with its noun, whose plural has an `s`.
pub(super) fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}

/// Reasons in a row. What several points share is said once: `C1, C4: no decode line`.
fn listed(reasons: &[String]) -> String {
    let mut grouped: Vec<(Vec<&str>, &str)> = Vec::new();
    for reason in reasons {
        let (whose, what) = reason.split_once(": ").unwrap_or(("", reason));
        match grouped.iter_mut().find(|(_, other)| *other == what) {
            Some((all, _)) => all.push(whose),
            None => grouped.push((vec![whose], what)),
        }
    }
    let more = grouped.len().saturating_sub(MOST_REASONS);
    let shown = grouped.into_iter().take(MOST_REASONS).map(|(whose, what)| match whose.as_slice() {
        [""] => what.to_owned(),
        all if all.len() > MOST_NAMES => {
            let shown = all.get(..MOST_NAMES).unwrap_or(all).join(", ");
            format!("{shown} and {} more: {what}", all.len() - MOST_NAMES)
        }
        all => format!("{}: {what}", all.join(", ")),
    });
    let shown = shown.collect::<Vec<_>>().join("; ");
    if more > 0 { format!("{shown}; and {more} more") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_points_share_is_said_once() {
        let reasons = ["C1: no log", "C4: no log", "C8: 3.5 injected", "no table"].map(str::to_owned);
        assert_eq!(listed(&reasons), "C1, C4: no log; C8: 3.5 injected; no table");
        let many: Vec<String> = (1..=10).map(|point| format!("C{point}: no log")).collect();
        assert_eq!(listed(&many), "C1, C2, C3, C4, C5, C6, C7, C8 and 2 more: no log");
    }

    #[test]
    fn a_failure_decides_before_what_is_missing() {
        let mut weighing = Weighing::default();
        weighing.miss("a");
        assert_eq!(weighing.conclude("x").status, Status::CannotDecide);
        let mut weighing = Weighing::default();
        weighing.miss("a");
        weighing.fail("b", []);
        let outcome = weighing.conclude("x");
        assert_eq!((outcome.status, outcome.message.as_str()), (Status::Fails, "b"));
        assert_eq!(Weighing::default().conclude("x").status, Status::Holds);
    }
}
