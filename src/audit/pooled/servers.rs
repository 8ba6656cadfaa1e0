//! The servers behind the windows of a log: told apart by their process and by how much they draft a step.

use crate::evidence::{Place, Window};
use crate::law::float;

use super::super::explain::{count, error, warning};
use super::super::finding::{Finding, FindingCode};

/// Servers that are told apart; more of them say no more.
const MOST: usize = 64;

/// Servers that a finding names.
const NAMED: usize = 4;

/// All servers of vLLM or ATOM that wrote a log, in the order of their first window.
#[derive(Clone, Debug, Default)]
pub(in crate::audit) struct DraftServers {
    known: Vec<DraftServer>,
    last: Option<(Option<u64>, Option<u32>)>,
}

/// The windows of one process with one draft length.
#[derive(Clone, Copy, Debug)]
struct DraftServer {
    pid: Option<u64>,
    draft_length: Option<u32>,
    first: Place,
    accepted: u64,
    /// N, or the middle of its bounds.
    steps: f64,
}

impl DraftServers {
    /// Takes a window of a process with a draft length, as far as these are known.
    pub(super) fn add(&mut self, place: Place, key: (Option<u64>, Option<u32>), window: &Window) {
        self.last = Some(key);
        let (low, high) = window.steps.bounds();
        let steps = f64::midpoint(float(low), float(high));
        let is_same = |server: &&mut DraftServer| {
            (server.pid, server.draft_length) == key && server.first.file == place.file
        };
        if let Some(server) = self.known.iter_mut().find(is_same) {
            server.accepted = server.accepted.saturating_add(window.accepted);
            server.steps += steps;
        } else if self.known.len() < MOST {
            let (pid, draft_length) = key;
            self.known.push(DraftServer {
                pid,
                draft_length,
                first: place,
                accepted: window.accepted,
                steps,
            });
        }
    }

    /// Whether a line is of another server than the last window: of another process, or with another draft length.
    pub(super) fn is_another(&self, pid: Option<u64>, draft_length: Option<u32>) -> bool {
        let differs =
            |last: Option<u64>, now: Option<u64>| last.zip(now).is_some_and(|(last, now)| last != now);
        self.last.is_some_and(|(last_pid, last_length)| {
            differs(last_pid, pid) || differs(last_length.map(u64::from), draft_length.map(u64::from))
        })
    }

    /// The first window whose draft length is not that of the windows before it.
    fn other_length(&self) -> Option<&DraftServer> {
        let lengths = || self.known.iter().filter(|server| server.draft_length.is_some());
        let first = lengths().next()?;
        lengths().find(|server| server.draft_length != first.draft_length)
    }

    /// Whether windows of several draft lengths are there: their accept lengths are no one sample.
    pub(super) fn is_mixed(&self) -> bool {
        self.other_length().is_some()
    }

    /// What is to be said of them.
    pub(super) fn finding(&self) -> Option<Finding> {
        if let Some(other) = self.other_length() {
            let is_one_process = self
                .known
                .iter()
                .any(|server| server.pid == other.pid && server.draft_length != other.draft_length);
            let code =
                if is_one_process { FindingCode::ConfigChangedMidRun } else { FindingCode::MultipleServers };
            let message = format!(
                "windows of several draft lengths are here: {}; they are no one sample, and their accept lengths do not \
                 compare; audit each part apart, by --point-by segment or each server's log alone",
                self.named()
            );
            return Some(error(code, Some(other.first), message));
        }
        let (first, second) = self.restarted()?;
        let message = format!(
            "processes {first} and {} wrote windows of the same draft length to one log: a server that was started anew, or \
             two of them; they are judged together, so make sure that all belong to this run",
            second.pid.unwrap_or_default()
        );
        Some(warning(FindingCode::MultipleServers, Some(second.first), message))
    }

    /// Two processes of one file.
    fn restarted(&self) -> Option<(u64, &DraftServer)> {
        self.known.iter().enumerate().find_map(|(index, server)| {
            let before = self.known.get(..index)?.iter().find_map(|before| {
                let is_other = before.first.file == server.first.file && before.pid != server.pid;
                before.pid.filter(|_| is_other && server.pid.is_some())
            })?;
            Some((before, server))
        })
    }

    fn named(&self) -> String {
        let mut parts: Vec<String> = self.known.iter().take(NAMED).map(DraftServer::named).collect();
        if let Some(more) = self.known.len().checked_sub(NAMED).filter(|more| *more > 0) {
            parts.push(format!("{more} more"));
        }
        parts.join("; ")
    }
}

impl DraftServer {
    fn named(&self) -> String {
        let drafts = self.draft_length.map_or_else(
            || "an unknown number of drafts a step".to_owned(),
            |length| format!("{} a step", count(length.into(), "draft")),
        );
        let process = self.pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
        let mean = 1.0 + float(self.accepted) / self.steps.max(1.0);
        format!("{drafts}{process} show {mean:.3} over {:.0} steps", self.steps)
    }
}
