//! What all commands did, as docs/SECURITY.md shows it.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::format::Format;
use crate::run::{Fault, MEMORY, Outcome, SECONDS};

/// Faults that are shown in words.
const SHOWN: usize = 40;

pub(crate) struct Table {
    files: usize,
    formats: BTreeMap<Format, Row>,
    commands: BTreeMap<&'static str, Row>,
    faults: Vec<Fault>,
}

#[derive(Default)]
struct Row {
    runs: usize,
    exits: [usize; 4],
    memory: u64,
    time: Duration,
    faults: usize,
    /// Runs by command, or by format.
    by: BTreeMap<&'static str, usize>,
}

impl Row {
    fn add(&mut self, outcome: &Outcome, by: &'static str) {
        self.runs += 1;
        self.memory = self.memory.max(outcome.memory);
        self.time = self.time.max(outcome.time);
        if let Some(count) = usize::try_from(outcome.exit).ok().and_then(|exit| self.exits.get_mut(exit)) {
            *count += 1;
        }
        self.faults += usize::from(outcome.fault.is_some());
        *self.by.entry(by).or_default() += 1;
    }

    fn by(&self) -> String {
        let runs: Vec<_> = self.by.iter().map(|(name, runs)| format!("{name} {runs}")).collect();
        runs.join(", ")
    }
}

impl Table {
    pub(crate) fn new(files: usize, outcomes: &[Outcome]) -> Self {
        let mut table =
            Self { files, formats: BTreeMap::new(), commands: BTreeMap::new(), faults: Vec::new() };
        for outcome in outcomes {
            table.formats.entry(outcome.format).or_default().add(outcome, outcome.command);
            table.commands.entry(outcome.command).or_default().add(outcome, outcome.format.name());
            table.faults.extend(outcome.fault.clone());
        }
        table
    }

    pub(crate) fn holds(&self) -> bool {
        self.faults.is_empty()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs: usize = self.formats.values().map(|row| row.runs).sum();
        writeln!(
            f,
            "{} files, {runs} runs, each under {} MiB of memory and {SECONDS} s of processor time:\n",
            self.files,
            MEMORY >> 20
        )?;
        rows(f, "files made of", self.formats.iter().map(|(format, row)| (format.name(), row)))?;
        writeln!(f)?;
        rows(f, "command", self.commands.iter().map(|(command, row)| (*command, row)))?;
        writeln!(f, "\nRuns of each command on files of each format:\n")?;
        writeln!(f, "| files made of | runs |\n|---|---|")?;
        for (format, row) in &self.formats {
            writeln!(f, "| {} | {} |", format.name(), row.by())?;
        }
        for fault in self.faults.iter().take(SHOWN) {
            writeln!(f, "\nbroken: {fault}")?;
        }
        Ok(())
    }
}

fn rows<'a>(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    rows: impl Iterator<Item = (&'a str, &'a Row)>,
) -> fmt::Result {
    writeln!(f, "| {title} | runs | exit 0 | 1 | 2 | 3 | most memory, MiB | longest, s | promises broken |")?;
    writeln!(f, "|---|---|---|---|---|---|---|---|---|")?;
    for (name, row) in rows {
        let [done, wrong, refused, undecided] = row.exits;
        let (memory, time) = (row.memory >> 20, row.time.as_secs_f64());
        writeln!(
            f,
            "| {name} | {} | {done} | {wrong} | {refused} | {undecided} | {memory} | {time:.2} | {} |",
            row.runs, row.faults
        )?;
    }
    Ok(())
}
