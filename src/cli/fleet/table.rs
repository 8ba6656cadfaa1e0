//! Results in the order of the manifest, read from the journal whenever a format asks.

use std::io;
use std::path::Path;

use super::journal::{Journal, Spot};
use super::row::Row;
use crate::report::fleet::{FleetRow, FleetRows};

/// The rows of a shard with their places in the journal.
pub(super) struct JournalRows<'a> {
    pub(super) journal: &'a Journal,
    pub(super) rows: &'a [(&'a Row, Option<Spot>)],
    pub(super) labels: &'a [String],
    /// The folder that relative paths start from.
    pub(super) folder: &'a Path,
    /// What there is to know of the manifest itself.
    pub(super) notes: &'a [String],
}

impl FleetRows for JournalRows<'_> {
    fn labels(&self) -> &[String] {
        self.labels
    }

    fn notes(&self) -> &[String] {
        self.notes
    }

    fn each(&self, each: &mut dyn FnMut(FleetRow) -> io::Result<()>) -> io::Result<()> {
        for (row, spot) in self.rows {
            let mut out = FleetRow {
                row: Some(row.number),
                name: row.name(self.folder),
                labels: row.labels.clone(),
                ..FleetRow::default()
            };
            if let Some(spot) = spot {
                let entry = self.journal.get(*spot)?;
                (out.points, out.failures, out.notes) = (entry.points, entry.failures, entry.notes);
            }
            each(out)?;
        }
        Ok(())
    }
}
