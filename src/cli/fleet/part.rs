//! Documents of parts: points whose verdict is still to come, with all that it takes.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::{Context as _, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::audit::{LogPart, PartError, RivalCell, Scope};
use crate::cli::audit::catalogue_mark;
use crate::report::fleet::FleetPoint;

/// Version of the form.
const VERSION: u64 = 1;

/// Bytes of a point's logs in a document: with what else there is of a point it stays under 64 KiB.
const MOST_LOGS: usize = 59_500;

/// Bytes of a point with the verdict of one pass.
const MOST: usize = 64_500;

/// How often the logs of a point are made smaller; as many logs as need more are so many names alone.
const MOST_HALVINGS: u32 = 9;

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
    /// Stands for all that the row says: parts of rows that say the same are of one point.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(in crate::cli) run: String,
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
    /// Stands for all the others: what is damaged does not fit it.
    #[serde(default)]
    pub(in crate::cli) sum: String,
}

impl PartPoint {
    /// The point, ready to be written.
    pub(in crate::cli) fn sealed(mut self) -> Self {
        self.sum = self.sum_of();
        self
    }

    fn sum_of(&self) -> String {
        let logs: Vec<_> = self.logs.iter().map(|log| (log.number, log.part.id(), log.part.own())).collect();
        let all = (
            &self.name,
            (self.row, &self.run, self.place),
            &self.one_pass,
            &self.labels,
            &self.flags,
            &self.told,
            self.told_max,
            logs,
            &self.failures,
        );
        // Texts and numbers: nothing that JSON cannot say.
        super::identity::hash(&serde_json::to_vec(&all).unwrap_or_default())
    }

    /// Points with equal ones are parts of one point.
    pub(super) fn key(&self) -> PointKey {
        (self.name.clone(), self.run.clone(), self.flags.clone())
    }

    /// Whether the parts hold every record of all logs, and fit into a document as they are.
    pub(in crate::cli) fn is_kept_whole(&self) -> bool {
        self.has_all_records() && self.logs_len() <= MOST_LOGS
    }

    /// Whether the parts hold every record of all logs.
    pub(super) fn has_all_records(&self) -> bool {
        self.logs.iter().all(|log| log.part.is_whole())
    }

    /// Logs of which only sums, or nothing, is here.
    pub(super) fn summed(&self) -> usize {
        self.logs.iter().filter(|log| !log.part.is_whole()).count()
    }

    fn logs_len(&self) -> usize {
        self.logs.iter().map(|log| log.part.written_len()).sum()
    }

    /// The point made small enough for a document: all its logs lose the same.
    pub(in crate::cli) fn bounded(mut self, scope: &Scope) -> Result<Self, PartError> {
        if self.is_kept_whole() {
            self.one_pass = None;
            return Ok(self);
        }
        let all = std::mem::take(&mut self.logs);
        // The verdict of one pass goes before records.
        let most = match self.one_pass {
            None => MOST_LOGS,
            Some(_) => {
                MOST.saturating_sub(serde_json::to_vec(&self).map_or(0, |bytes| bytes.len())).min(MOST_LOGS)
            }
        };
        self.logs.clone_from(&all);
        for halvings in 1..=MOST_HALVINGS {
            if self.logs_len() <= most {
                break;
            }
            let halved = |log: &PointLog| {
                log.part.halved(halvings, scope).map(|part| PointLog { number: log.number, part })
            };
            self.logs = all.iter().map(halved).collect::<Result<_, _>>()?;
        }
        Ok(self)
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
        self.row = match (self.row, other.row) {
            (Some(own), Some(more)) => Some(own.min(more)),
            (own, more) => own.or(more),
        };
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
        self.logs.sort_by_cached_key(|log| {
            // Of parts of one log the fullest.
            let fullness = Reverse((log.part.is_whole(), log.part.len()));
            (place_in_walk(log.part.name(), log.number), log.part.id().to_owned(), fullness)
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

/// Writes a document point by point.
pub(in crate::cli) struct PartWriter<'a> {
    out: &'a mut dyn Write,
    between: &'static str,
}

impl<'a> PartWriter<'a> {
    pub(in crate::cli) fn new(out: &'a mut dyn Write) -> io::Result<Self> {
        write!(out, "{{\"accsim_part\":{VERSION},\"points\":[")?;
        Ok(Self { out, between: "\n" })
    }

    pub(in crate::cli) fn point(&mut self, point: &PartPoint) -> io::Result<()> {
        write!(self.out, "{}", self.between)?;
        self.between = ",\n";
        serde_json::to_writer(&mut *self.out, point)?;
        Ok(())
    }

    pub(in crate::cli) fn finish(self) -> io::Result<()> {
        writeln!(self.out, "\n]}}")
    }
}

/// Reads a document, all of it or nothing.
pub(super) fn read(bytes: &[u8]) -> anyhow::Result<Vec<PartPoint>> {
    #[derive(Deserialize)]
    struct Head {
        accsim_part: u64,
    }
    #[derive(Deserialize)]
    struct Document {
        points: Vec<PartPoint>,
    }
    let head: Head = match serde_json::from_slice(bytes) {
        Ok(head) => head,
        Err(error) if error.is_eof() => bail!("the part ends early"),
        Err(_) => bail!("not a part that audit --partial wrote"),
    };
    ensure!(
        head.accsim_part <= VERSION,
        "it has version {}, and this program reads parts up to version {VERSION}",
        head.accsim_part
    );
    let document: Document = serde_json::from_slice(bytes).context("the part is damaged")?;
    for point in &document.points {
        ensure!(
            point.sum == point.sum_of(),
            "the part is damaged: point '{}' is not as it was written",
            point.name
        );
    }
    Ok(document.points)
}
