//! How many points have which verdict.

use std::collections::BTreeMap;
use std::io;

use super::rows::FleetRows;
use crate::audit::Verdict;

/// Counts over all rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetTally {
    /// Rows of the manifest.
    pub rows: u64,
    /// Rows of which something could not be done.
    pub failed: u64,
    /// Points.
    pub points: u64,
    /// Points by the names of their verdicts.
    pub verdicts: BTreeMap<String, u64>,
    /// The worst of them.
    pub worst: Option<Verdict>,
}

impl FleetTally {
    /// Counts.
    ///
    /// # Errors
    ///
    /// Those of [`FleetRows::each`].
    pub fn of(rows: &dyn FleetRows) -> io::Result<Self> {
        let mut tally = Self::default();
        rows.each(&mut |row| {
            tally.rows += u64::from(row.row.is_some());
            tally.failed += u64::from(!row.failures.is_empty());
            for point in &row.points {
                tally.points += 1;
                *tally.verdicts.entry(point.verdict.clone()).or_insert(0) += 1;
                tally.worst = match (tally.worst, point.verdict()) {
                    (Some(worst), Some(verdict)) => Some(worst.worst(verdict)),
                    (worst, verdict) => worst.or(verdict),
                };
            }
            Ok(())
        })?;
        Ok(tally)
    }

    /// Points with this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> u64 {
        self.verdicts.get(verdict.name()).copied().unwrap_or(0)
    }
}
