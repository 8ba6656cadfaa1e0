//! A curve in memory.

use std::collections::BTreeMap;
use std::fmt;

use crate::yaml::Position;

use super::{AcceptLength, CellFault, Header, Provenance, Status, Thinking};

/// The cells of one thinking mode by draft length (tokens drafted per verify step).
pub type Cells = BTreeMap<u32, Cell>;

/// A golden curve: the accept lengths of one model with one drafting method.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The file name without its extension.
    pub name: String,
    /// The file's one model key.
    pub model: String,
    /// Drafting method in lower case, from the provenance, the name or the header.
    pub method: Option<String>,
    /// Cells by thinking mode; a mode that the file names is here even when it holds no cell.
    pub modes: BTreeMap<Thinking, Cells>,
    /// What the comments above the model key say.
    pub header: Header,
    /// What the file beside the curve says.
    pub provenance: Option<Provenance>,
}

/// One cell as the file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Where the value stands.
    pub at: Position,
    /// What stands there.
    pub value: CellValue,
}

/// What a cell holds.
#[derive(Clone, Debug, PartialEq)]
pub enum CellValue {
    /// A value in [1, K + 1].
    Measured(AcceptLength),
    /// `null` or nothing.
    Unmeasured,
    /// Something that no lookup may return.
    Refused(CellFault),
}

impl Cell {
    /// The value, where the cell has a usable one.
    #[must_use]
    pub fn accept_length(&self) -> Option<AcceptLength> {
        match self.value {
            CellValue::Measured(value) => Some(value),
            CellValue::Unmeasured | CellValue::Refused(_) => None,
        }
    }
}

impl Curve {
    /// Whether the values are in force: from the provenance, else `Provisional` when the header says so.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        let header = self.header.provisional.then_some(Status::Provisional);
        self.provenance.as_ref().map(|provenance| provenance.status).or(header)
    }

    /// The usable values of a mode, in the order of draft lengths.
    pub fn values(&self, thinking: Thinking) -> impl Iterator<Item = (u32, AcceptLength)> + '_ {
        let cells = self.modes.get(&thinking).into_iter().flatten();
        cells.filter_map(|(draft_length, cell)| Some((*draft_length, cell.accept_length()?)))
    }

    /// The draft lengths of a mode that a lookup can return.
    #[must_use]
    pub fn draft_lengths(&self, thinking: Thinking) -> DraftLengths {
        DraftLengths(self.values(thinking).map(|(draft_length, _)| draft_length).collect())
    }

    /// Where the values come from, for display: a run, a repository at a commit, and the file.
    #[must_use]
    pub fn source(&self, file: &str) -> String {
        let run = self.provenance.as_ref().and_then(|provenance| provenance.source.source_run.as_deref());
        let run = run.or(self.header.source_run.as_ref().map(|run| run.id.as_str()));
        let mut parts = Vec::new();
        if self.status() == Some(Status::Provisional) {
            parts.push("not measured, copied".to_owned());
        }
        parts.extend(run.map(|run| format!("GitHub Actions run {run}")));
        parts.extend(self.header.source_evidence.clone());
        if let Some(provenance) = &self.provenance {
            parts.push(format!("{} at {}", provenance.source.repository, provenance.source.commit));
        }
        if parts.is_empty() { file.to_owned() } else { format!("{} ({file})", parts.join("; ")) }
    }
}

/// Draft lengths in order; displayed in runs: `1-5, 7`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DraftLengths(pub Vec<u32>);

impl fmt::Display for DraftLengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("no usable cell");
        }
        let runs = self.0.chunk_by(|left, right| left.checked_add(1) == Some(*right));
        for (index, run) in runs.enumerate() {
            let gap = if index == 0 { "" } else { ", " };
            match run {
                [only] => write!(f, "{gap}{only}")?,
                [first, .., last] => write!(f, "{gap}{first}-{last}")?,
                [] => {}
            }
        }
        Ok(())
    }
}

/// Whether `name` can be a curve's: lower-case letters, digits, `_`, `.` and `-`, so that it never leaves a directory.
#[must_use]
pub fn is_curve_name(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draft_lengths_are_shown_in_runs() {
        let shown = |lengths: &[u32]| DraftLengths(lengths.to_vec()).to_string();
        assert_eq!(shown(&[1, 2, 3, 4, 5]), "1-5");
        assert_eq!(shown(&[7]), "7");
        assert_eq!(shown(&[1, 2, 4, 6, 7]), "1-2, 4, 6-7");
        assert_eq!(shown(&[]), "no usable cell");
        assert_eq!(shown(&[u32::MAX]), "4294967295");
    }

    #[test]
    fn curve_names_cannot_leave_a_directory() {
        assert!(is_curve_name("dsv4-pro-0813-dspark"));
        assert!(is_curve_name("glm5.2_mtp"));
        for name in ["", "a/b", "..\\x", "GLM", "a b", "a\u{e9}", "a\n"] {
            assert!(!is_curve_name(name), "{name:?}");
        }
    }
}
