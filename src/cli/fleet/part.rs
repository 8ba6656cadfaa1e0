//! Points whose verdict is still to come, with all that it takes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::audit::{LogPart, PartError, RivalCell, Scope};
use crate::cli::audit::catalogue_mark;
use crate::report::fleet::FleetPoint;

/// Bytes of a point's logs in a document, with the verdict of one pass where there is one: with what else there is of a
/// point it stays under 64 KiB.
const MOST_LOGS: usize = 59_500;

/// Name, row and flags.
pub(super) type PointKey = (String, String, BTreeMap<String, String>);

/// A setting from a file about the run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(in crate::cli) struct ToldSetting {
    pub(in crate::cli) file: String,
    /// Its number among those of the file.
    pub(in crate::cli) number: u64,
    pub(in crate::cli) name: String,
    pub(in crate::cli) value: String,
    pub(in crate::cli) line: u64,
    /// What kind of file it is, by the name that reports have.
    pub(in crate::cli) source: String,
    pub(in crate::cli) is_beside: bool,
}

/// One log of a point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::cli) struct PointLog {
    /// Its number among the logs of its archive; 0 on disk.
    pub(in crate::cli) number: u64,
    #[serde(flatten)]
    pub(in crate::cli) part: LogPart,
}

/// What one pass over all logs of a point said, where its parts do not hold every record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(in crate::cli) struct OnePass {
    /// The program and the golden cells that it rests on.
    by: String,
    /// Stands for its logs: it holds for them alone.
    of: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The point as reports print it.
    point: String,
}

/// One point, or a part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::cli) struct PartPoint {
    pub(in crate::cli) name: String,
    /// Row of the manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) row: Option<u64>,
    /// Where the row begins in the manifest: what is said of it names the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) line: Option<u64>,
    /// Stands for all that the row says: parts of rows that say the same are of one point.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(in crate::cli) run: String,
    /// The paths of the row, where they are not the point's name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(in crate::cli) paths: String,
    /// Its number among the points of its row, in the order of reading.
    #[serde(default)]
    pub(in crate::cli) place: u32,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(in crate::cli) labels: BTreeMap<String, String>,
    /// Target and rules, as the columns of a manifest.
    pub(in crate::cli) flags: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::cli) told: Vec<ToldSetting>,
    /// Most tokens of a step, where a file about the run says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) told_max: Option<u32>,
    pub(in crate::cli) logs: Vec<PointLog>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) one_pass: Option<OnePass>,
    /// What could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::cli) failures: Vec<String>,
}

impl OnePass {
    /// Bytes that it takes in a document, texts in quotes within quotes.
    fn len(&self) -> usize {
        serde_json::to_vec(self).map_or(0, |bytes| bytes.len())
    }
}

impl PartPoint {
    /// Points with equal ones are parts of one point.
    pub(super) fn key(&self) -> PointKey {
        (self.name.clone(), self.run.clone(), self.flags.clone())
    }

    /// Whether the parts hold every record of all logs, and fit into a document as they are.
    pub(in crate::cli) fn is_kept_whole(&self) -> bool {
        self.has_all_records()
            && self.logs.iter().all(|log| log.part.level() == 0)
            && self.logs_len() <= MOST_LOGS
    }

    /// Whether the parts hold every record of all logs.
    fn has_all_records(&self) -> bool {
        self.logs.iter().all(|log| log.part.is_whole())
    }

    /// Logs of which only sums, or nothing, is here.
    pub(super) fn summed(&self) -> usize {
        self.logs.iter().filter(|log| !log.part.is_whole()).count()
    }

    /// A log of which nothing is here: only a verdict of one pass tells of it.
    pub(super) fn closed_log(&self) -> Option<&str> {
        self.logs.iter().find(|log| log.part.is_closed()).map(|log| log.part.name())
    }

    fn logs_len(&self) -> usize {
        self.logs.iter().map(|log| log.part.written_len()).sum()
    }

    /// The point made small enough for a document. All its logs are of one level: the lowest at which they fit, and none
    /// below that of any of them. A log at a level is the same one by whatever way it got there, and more logs need no lower
    /// level than fewer: so what comes out depends on the parts, and not on the order or the steps in which they came
    /// together.
    pub(in crate::cli) fn bounded(mut self, scope: &Scope) -> Result<Self, PartError> {
        if self.is_kept_whole() {
            self.one_pass = None;
            return Ok(self);
        }
        let most = MOST_LOGS.saturating_sub(self.one_pass.as_ref().map_or(0, OnePass::len));
        let mut level = self.logs.iter().map(|log| log.part.level()).max().unwrap_or(0);
        loop {
            let at_level =
                |log: PointLog| Ok(PointLog { number: log.number, part: log.part.at_level(level, scope)? });
            self.logs = self.logs.into_iter().map(at_level).collect::<Result<_, PartError>>()?;
            if self.logs_len() <= most || level == LogPart::MOST_LEVELS {
                return Ok(self);
            }
            level += 1;
        }
    }

    /// What whoever writes the part has to know of a point with records that do not fit.
    pub(in crate::cli) fn unfit_note(&self) -> Option<String> {
        let what = if self.one_pass.is_some() {
            "these records do not fit: the part keeps sums of the later lines, and a verdict by lines, which stands as long as no \
             other log joins the point"
        } else {
            "these records do not fit: for a verdict by lines audit all logs of this point in one command"
        };
        (!self.is_kept_whole()).then(|| format!("note: {}: {what}", self.name))
    }

    /// Whether [`bounded`](Self::bounded) has something to do.
    pub(super) fn is_bounded(&self) -> bool {
        self.is_kept_whole() && self.one_pass.is_none()
    }

    /// Keeps what one pass over all its logs says.
    pub(in crate::cli) fn judged(
        &mut self,
        point: &FleetPoint,
        notes: &[String],
        cells: &[RivalCell],
    ) -> serde_json::Result<()> {
        self.one_pass = Some(OnePass {
            by: catalogue_mark(cells),
            of: self.of_logs(),
            notes: notes.to_vec(),
            point: serde_json::to_string(point)?,
        });
        Ok(())
    }

    /// What one pass over just these logs said, by this program and these golden cells.
    pub(super) fn verdict(&self, mark: &str) -> Option<(FleetPoint, &[String])> {
        let pass = self.one_pass.as_ref().filter(|pass| pass.by == mark && pass.of == self.of_logs())?;
        Some((serde_json::from_str(&pass.point).ok()?, &pass.notes))
    }

    fn of_logs(&self) -> String {
        let mut ids: Vec<&str> = self.logs.iter().map(|log| log.part.id()).collect();
        ids.sort_unstable();
        super::identity::hash(ids.join(" ").as_bytes())
    }

    /// Takes in another part of the same point: what both hold is there once, and the order is that of names.
    pub(super) fn join(&mut self, other: Self) {
        let least = |own: Option<u64>, more: Option<u64>| own.into_iter().chain(more).min();
        (self.row, self.line) = (least(self.row, other.row), least(self.line, other.line));
        for (label, value) in other.labels {
            let own = self.labels.entry(label).or_insert_with(|| value.clone());
            // Parts that disagree: any rule will do that does not look at their order.
            if value < *own {
                *own = value;
            }
        }
        self.told_max = match (self.told_max, other.told_max) {
            (Some(own), Some(more)) => Some(own.min(more)),
            (own, more) => own.or(more),
        };
        self.place = self.place.min(other.place);
        if !other.paths.is_empty() && (self.paths.is_empty() || other.paths < self.paths) {
            self.paths = other.paths;
        }
        self.told.extend(other.told);
        self.logs.extend(other.logs);
        self.failures.extend(other.failures);
        self.in_order();
        // One over fewer logs holds no more: none can go away.
        let own = self.of_logs();
        let passes = [self.one_pass.take(), other.one_pass].into_iter().flatten();
        self.one_pass = passes.filter(|pass| pass.of == own).min();
    }

    /// Each log, setting and failure once, in the order of a walk through folders.
    pub(in crate::cli) fn in_order(&mut self) {
        self.told.sort();
        self.told.dedup();
        self.failures.sort();
        self.failures.dedup();
        let mut numbers: HashMap<String, u64> = HashMap::new();
        for log in &self.logs {
            let number = numbers.entry(log.part.id().to_owned()).or_insert(log.number);
            *number = log.number.min(*number);
        }
        for log in &mut self.logs {
            log.number = numbers.get(log.part.id()).copied().unwrap_or(log.number);
        }
        // Of parts of one log the smallest: the others come to it.
        self.logs.sort_by_cached_key(|log| {
            (place_in_walk(log.part.name(), log.number), log.part.id().to_owned(), Reverse(log.part.level()))
        });
        self.logs.dedup_by(|next, kept| next.part.id() == kept.part.id());
    }
}

/// What orders logs as a walk comes upon them: a folder's files before its folders, by name; those of an archive as they
/// lie in it.
fn place_in_walk(name: &str, number: u64) -> (Vec<(bool, String)>, u64, String) {
    let (outside, inside) = name.split_once("!/").unwrap_or((name, ""));
    let last = outside.split('/').count().saturating_sub(1);
    let steps = outside.split('/').enumerate().map(|(at, step)| (at < last, step.to_owned())).collect();
    (steps, number, inside.to_owned())
}
