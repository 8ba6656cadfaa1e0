//! Verdicts on logs that grow, looked at after every line.

use std::fmt::Write as _;

use accsim::audit::Verdict;
use rayon::prelude::*;

use crate::run::{Auditor, Load};
use crate::tally::is_beyond;
use crate::truth::{ASKED, Asked, Truth};

/// Lines of each rank after which a log that is not decided is left.
const LINES: u64 = 300;

/// One kind of log.
pub(crate) struct Row {
    truth: Truth,
    prefills: bool,
    audits: u32,
    consistent: u32,
    inconsistent: u32,
    /// Looks after which half of those that were decided were so.
    median: u64,
}

/// Every kind of log, each so many times.
pub(crate) fn measure(auditor: &Auditor, audits: u32) -> Vec<Row> {
    let kinds =
        [Truth::Honest, Truth::OffByMargin].into_iter().flat_map(|truth| [(truth, true), (truth, false)]);
    kinds
        .map(|(truth, prefills)| {
            let asked: Vec<&Asked> = ASKED.iter().filter(|asked| truth.differs(asked)).collect();
            let outcomes: Vec<(Verdict, u64)> = (0..audits)
                .into_par_iter()
                .map(|number| {
                    let index = usize::try_from(number).unwrap();
                    let load = Load::number(truth, index / asked.len());
                    auditor.follow(truth, asked[index % asked.len()], load, LINES, number, prefills)
                })
                .collect();
            let count = |wanted| {
                u32::try_from(outcomes.iter().filter(|(verdict, _)| *verdict == wanted).count()).unwrap()
            };
            let (consistent, inconsistent) = (count(Verdict::Consistent), count(Verdict::Inconsistent));
            let mut looks: Vec<u64> = outcomes
                .iter()
                .filter(|(verdict, _)| *verdict != Verdict::Insufficient)
                .map(|(_, looks)| *looks)
                .collect();
            looks.sort_unstable();
            let median = looks.get(looks.len() / 2).copied().unwrap_or(0);
            let row = Row { truth, prefills, audits, consistent, inconsistent, median };
            eprintln!("growing, {}", row.line());
            row
        })
        .collect()
}

impl Row {
    fn line(&self) -> String {
        format!(
            "{} | {} | {} | {} | {} | {}",
            self.truth.name(),
            if self.prefills { "yes" } else { "no" },
            self.consistent,
            self.inconsistent,
            self.audits - self.consistent - self.inconsistent,
            self.median
        )
    }
}

/// What is beyond the promised bounds, by more than the noise of so many audits.
pub(crate) fn beyond_bounds(rows: &[Row]) -> Vec<String> {
    rows.iter()
        .filter_map(|row| {
            let (count, share) = match row.truth {
                Truth::Honest => (row.inconsistent, 0.001),
                _ => (row.consistent, 0.05),
            };
            is_beyond(count, row.audits, share)
                .then(|| format!("a growing log, {}: wrong {count} of {}", row.truth.name(), row.audits))
        })
        .collect()
}

/// The section of the page.
pub(crate) fn section(page: &mut String, rows: &[Row]) {
    let audits = rows.first().map_or(0, |row| row.audits);
    write!(
        page,
        "\n## Logs that grow\n\n`accsim audit --follow` looks again and again. Here it looks after every decode line, and stops as \
         soon as it has decided, or\nafter {LINES} lines of each rank. The same targets, batches and ranks in turn; each row is {audits} logs. \
         Servers that do not log their\nprefills show less of how the batch changed between two lines. *Looks* is the median of those that \
         were decided.\n\nPromised, over all looks together: the same as for one.\n\n\
         | what the server does | prefill lines | consistent | inconsistent | undecided | looks |\n|---|---|---|---|---|---|\n"
    )
    .unwrap();
    for row in rows {
        writeln!(page, "| {} |", row.line()).unwrap();
    }
}
