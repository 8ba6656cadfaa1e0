//! Paths as a repository knows them.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::report::recipe::CheckRun;

/// Names every file of a check from the top of its checkout, as code scanning and annotations want it: that of the folder
/// that the command runs in, else the file's own. A file in no checkout keeps its name.
pub(super) fn from_the_top(run: &mut CheckRun) {
    let here = std::env::current_dir().ok().and_then(|here| fs::canonicalize(here).ok());
    let mut places = Places { top: here.as_deref().and_then(top), known: HashMap::new() };
    let findings = run.findings.iter_mut().chain(run.allowed.iter_mut().map(|(finding, _)| finding));
    for finding in findings {
        finding.file = places.of(&finding.file);
        for evidence in &mut finding.evidence {
            if let Some(file) = &mut evidence.file {
                *file = places.of(file);
            }
        }
    }
    for note in &mut run.notes {
        note.file = places.of(&note.file);
    }
}

/// The path as the file system knows it; as it was named where there is no such file.
pub(super) fn whole(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

struct Places {
    /// The top of the checkout that the command runs in.
    top: Option<PathBuf>,
    known: HashMap<Arc<str>, Arc<str>>,
}

impl Places {
    fn of(&mut self, file: &Arc<str>) -> Arc<str> {
        if let Some(place) = self.known.get(file) {
            return Arc::clone(place);
        }
        let place = self.found(file).map_or_else(|| Arc::clone(file), Arc::from);
        self.known.insert(Arc::clone(file), Arc::clone(&place));
        place
    }

    fn found(&self, file: &str) -> Option<String> {
        let path = Path::new(file);
        // A link is itself where it stands, and not what it leads to.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let whole = fs::canonicalize(folder).ok()?.join(path.file_name()?);
        fs::symlink_metadata(&whole).ok()?;
        let of_file = || whole.parent().and_then(top);
        let top = self.top.clone().filter(|top| whole.starts_with(top)).or_else(of_file)?;
        let inner = whole.strip_prefix(&top).ok()?;
        let parts: Vec<String> =
            inner.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        Some(parts.join("/"))
    }
}

/// The folder at or above that holds a checkout.
fn top(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}
