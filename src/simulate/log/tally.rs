//! Counting what is written, in memory that does not grow with the log.

use std::collections::BTreeMap;

use crate::evidence::{Hundredths, Tags};

use super::summary::{DamageCounts, Fate, RankSummary, Summary, Window};

/// Printed values below it are counted in a table: no server accepts more than 63 tokens a step.
const TABLE: usize = 6400;

/// The counts so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    summary: Summary,
    /// Of the server at hand: where its ranks begin.
    first: usize,
    /// Printed values of its ranks.
    tables: Vec<Vec<u64>>,
}

impl Tally {
    /// A server starts; its ranks carry these tags.
    pub(super) fn start(&mut self, server: u32, ranks: impl Iterator<Item = Tags>) {
        self.close();
        self.first = self.summary.ranks.len();
        self.summary.servers += 1;
        self.summary.ranks.extend((0..).zip(ranks).map(|(rank, tags)| RankSummary {
            server,
            rank,
            tags,
            ..RankSummary::default()
        }));
        self.tables.resize(self.summary.ranks.len() - self.first, Vec::new());
    }

    pub(super) fn prefill(&mut self) {
        self.summary.prefill_lines += 1;
    }

    pub(super) fn other(&mut self) {
        self.summary.other_lines += 1;
    }

    /// A decode line of the server at hand.
    #[inline]
    pub(super) fn decode(&mut self, window: &Window) {
        self.summary.decode_lines += 1;
        let Ok(rank) = usize::try_from(window.rank) else { return };
        let Some(summary) = self.summary.ranks.get_mut(self.first + rank) else { return };
        summary.decode_lines += 1;
        summary.accepted += window.accepted;
        summary.request_steps += window.request_steps;
        let Some(printed) = window.accept_len else { return };
        let index = usize::try_from(printed.count()).unwrap_or(usize::MAX);
        match self.tables.get_mut(rank) {
            Some(table) if index < TABLE => {
                if table.is_empty() {
                    table.resize(TABLE, 0);
                }
                table.get_mut(index).into_iter().for_each(|count| *count += 1);
            }
            _ => *summary.printed.entry(printed).or_default() += 1,
        }
    }

    /// One copy of a decode line.
    pub(super) fn fate(&mut self, fate: Fate) {
        self.summary.damage.unreadable += u64::from(fate == Fate::Lost);
    }

    pub(super) fn damage(&mut self, counts: &DamageCounts) {
        self.summary.damage.add(counts);
    }

    pub(super) fn finish(mut self, bytes: u64) -> Summary {
        self.close();
        self.summary.bytes = bytes;
        self.summary
    }

    /// Ends the server at hand: its tables go into its summaries.
    fn close(&mut self) {
        let ranks = self.summary.ranks.iter_mut().skip(self.first);
        for (summary, table) in ranks.zip(self.tables.drain(..)) {
            let counts = (0..).zip(table).filter(|(_, count)| *count > 0);
            let counts: BTreeMap<_, _> =
                counts.map(|(printed, count)| (Hundredths::new(printed), count)).collect();
            summary.printed.extend(counts);
        }
    }
}
