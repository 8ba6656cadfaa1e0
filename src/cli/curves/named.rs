//! A curve by its name, or by the path of its file.

use std::io::Write;
use std::path::Path;

use anyhow::bail;

use crate::cli::catalogue;
use crate::cli::global::Global;
use crate::golden::{Catalogue, Curve, CurveIssue, Severity};

/// A usable curve with its file.
pub(super) struct Named {
    pub(super) curve: Curve,
    /// For display.
    pub(super) file: String,
    issues: Vec<CurveIssue>,
}

impl Named {
    /// A curve of the catalogue; a name that it does not know may be a path.
    pub(super) fn find(catalogue: &Catalogue, name: &str) -> anyhow::Result<Self> {
        let path = Path::new(name);
        let (file, curve, issues) = match catalogue.get(name) {
            Some(entry) => {
                let loaded = entry.load();
                (entry.file().to_owned(), loaded.curve.clone(), loaded.issues.clone())
            }
            None if path.exists() => {
                let entry = Catalogue::of_file(path);
                let loaded = entry.load();
                (name.to_owned(), loaded.curve.clone(), loaded.issues.clone())
            }
            None => match catalogue.nearest(name).as_slice() {
                [] => {
                    let known: Vec<&str> = catalogue.names().collect();
                    bail!("no golden curve and no file '{name}'; known curves: {}", known.join(", "))
                }
                nearest => {
                    bail!(
                        "no golden curve and no file '{name}'; the nearest names are {}",
                        nearest.join(", ")
                    )
                }
            },
        };
        match curve {
            Ok(curve) => Ok(Self { curve, file, issues }),
            Err(issue) => bail!("{file}: {issue}"),
        }
    }

    /// Errors and warnings of the file; notes are for `curves check`.
    pub(super) fn tell_issues(&self, global: &Global, err: &mut dyn Write) -> anyhow::Result<()> {
        for issue in self.issues.iter().filter(|issue| issue.severity() >= Severity::Warning) {
            catalogue::tell(global, issue.severity(), &format!("{}: {issue}", self.file), err)?;
        }
        Ok(())
    }
}
