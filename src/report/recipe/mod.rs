//! What the formats need to know of a check of recipes.

use crate::golden::Severity;
use crate::recipe::{Allowed, Finding, Note};

/// A check of recipes, as reports show it.
#[derive(Clone, Debug, Default)]
pub struct CheckRun {
    /// Files that were read as recipes, launchers and their like.
    pub files: Vec<String>,
    /// Servers over all files and variants.
    pub servers: usize,
    /// Findings that nobody sanctioned.
    pub findings: Vec<Finding>,
    /// Sanctioned findings with the entry that does.
    pub allowed: Vec<(Finding, Allowed)>,
    /// What else there is to know.
    pub notes: Vec<Note>,
    /// Files that could not be read, and why.
    pub errors: Vec<String>,
    /// Whether a file could not be followed to its end.
    pub is_undecided: bool,
    /// Files of another kind.
    pub unknown: Vec<String>,
}

impl CheckRun {
    /// How many findings have a severity.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// The result in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let plural =
            |count: usize, one: &str| if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") };
        let mut parts = vec![
            plural(self.count(Severity::Error), "error"),
            plural(self.count(Severity::Warning), "warning"),
            plural(self.count(Severity::Note), "note"),
        ];
        if !self.allowed.is_empty() {
            parts.push(format!("{} allowed", self.allowed.len()));
        }
        format!(
            "{}, {}: {}",
            plural(self.files.len(), "file"),
            plural(self.servers, "server"),
            parts.join(", ")
        )
    }
}
