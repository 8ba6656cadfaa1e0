//! `--verbose`: the lines of logs that were skipped, one by one.

use std::io::Write;

use crate::report::excerpt::excerpt;

/// Lines shown in one run.
pub(crate) const SHOWN: usize = 100;

/// The first skipped lines, and how many more there are.
#[derive(Debug, Default)]
pub(crate) struct SkippedReport {
    lines: Vec<String>,
    more: u64,
}

impl SkippedReport {
    /// Adds a line: its file, its number, why it was skipped, its text.
    pub(crate) fn add(&mut self, file: &str, line: u64, kind: &str, text: &[u8]) {
        if self.lines.len() < SHOWN {
            self.lines.push(format!("skipped: {file}:{line}: {kind}: {}", excerpt(text)));
        } else {
            self.more += 1;
        }
    }

    /// Adds lines of which no more is known than their number.
    pub(crate) fn add_more(&mut self, lines: u64) {
        self.more += lines;
    }

    /// Writes the lines, and how many more there are.
    pub(crate) fn write(&self, err: &mut dyn Write) {
        // A closed stderr is nobody's loss: the result stands elsewhere.
        for line in &self.lines {
            let _ = writeln!(err, "{line}");
        }
        if self.more > 0 {
            let lines = if self.more == 1 { "line is" } else { "lines are" };
            let _ = writeln!(err, "note: {} more skipped {lines} not shown", self.more);
        }
    }
}
