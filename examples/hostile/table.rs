//! What all commands did, as docs/SECURITY.md shows it.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::corpus::Kind;
use crate::run::{MEMORY, Outcome, SECONDS};

/// Faults that are shown in words.
const SHOWN: usize = 40;

pub(crate) struct Table {
    files: usize,
    rows: BTreeMap<Kind, Row>,
    faults: Vec<String>,
}

#[derive(Default)]
struct Row {
    runs: usize,
    exits: [usize; 4],
    memory: u64,
    time: Duration,
    faults: usize,
}

impl Table {
    pub(crate) fn new(files: usize, outcomes: &[Outcome]) -> Self {
        let mut table = Self { files, rows: BTreeMap::new(), faults: Vec::new() };
        for outcome in outcomes {
            let row = table.rows.entry(outcome.kind).or_default();
            row.runs += 1;
            row.memory = row.memory.max(outcome.memory);
            row.time = row.time.max(outcome.time);
            if let Some(count) = usize::try_from(outcome.exit).ok().and_then(|exit| row.exits.get_mut(exit)) {
                *count += 1;
            }
            if let Some(fault) = &outcome.fault {
                row.faults += 1;
                table.faults.push(format!("{fault} ({})", outcome.damage));
            }
        }
        table
    }

    pub(crate) fn holds(&self) -> bool {
        self.faults.is_empty()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} files, each command under {} MiB of memory and {SECONDS} s of processor time:\n",
            self.files,
            MEMORY >> 20
        )?;
        writeln!(
            f,
            "| files made of | runs | exit 0 | 1 | 2 | 3 | most memory, MiB | longest, s | promises broken |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|---|---|")?;
        for (kind, row) in &self.rows {
            let [done, wrong, refused, undecided] = row.exits;
            writeln!(
                f,
                "| {} | {} | {done} | {wrong} | {refused} | {undecided} | {} | {:.2} | {} |",
                kind.name(),
                row.runs,
                row.memory >> 20,
                row.time.as_secs_f64(),
                row.faults
            )?;
        }
        for fault in self.faults.iter().take(SHOWN) {
            writeln!(f, "\nbroken: {fault}")?;
        }
        Ok(())
    }
}
