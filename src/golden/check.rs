//! Checking files and directories of curves.

use std::path::{Path, PathBuf};

use super::builtin::BUILTIN;
use super::directory::{DirectoryError, PROVENANCE_DIR, ReadError, curve_files, read_file};
use super::{Curve, CurveIssue, IssueKind, Severity, check_provenance, is_curve_name, parse_curve};

/// What a check found.
#[derive(Debug, Default)]
pub struct Checked {
    /// Files that were checked.
    pub files: usize,
    /// Findings in the order of the files.
    pub findings: Vec<FileIssue>,
    /// Files that could not be read.
    pub unreadable: Vec<(PathBuf, ReadError)>,
}

/// A finding with its file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileIssue {
    /// The file, for display.
    pub file: String,
    /// The finding.
    pub issue: CurveIssue,
}

impl Checked {
    /// Checks the compiled-in curves.
    #[must_use]
    pub fn builtin() -> Self {
        let mut checked = Self::default();
        for file in BUILTIN {
            let label = format!("golden_al/{}.yaml", file.name);
            let curve = checked.curve(&label, file.name, file.curve.as_bytes());
            let label = format!("golden_al/{PROVENANCE_DIR}/{}.yaml", file.name);
            checked.provenance(&label, file.name, file.provenance.as_bytes(), curve.as_ref());
        }
        checked
    }

    /// Checks the text of one curve file; `name` is the curve's, or what stands for it.
    pub fn text(&mut self, file: &str, name: &str, bytes: &[u8]) {
        self.curve(file, name, bytes);
    }

    /// Checks a file, or every YAML file in a directory and below it.
    pub fn path(&mut self, path: &Path) -> Result<(), DirectoryError> {
        if !path.is_dir() {
            self.file(path);
            return Ok(());
        }
        for file in curve_files(path)? {
            self.file(&file);
        }
        Ok(())
    }

    /// How many findings have this severity.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.issue.severity() == severity).count()
    }

    /// A file in `provenance/` describes the curve of its name one directory up; any other file is a curve.
    fn file(&mut self, path: &Path) {
        let bytes = match read_file(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.unreadable.push((path.to_owned(), error));
                return;
            }
        };
        let label = path.display().to_string();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let parent = path.parent().unwrap_or(Path::new(""));
        if parent.file_name().is_some_and(|name| name == PROVENANCE_DIR) {
            let curve = parent.parent().map(|above| above.join(format!("{stem}.yaml")));
            let curve = curve.and_then(|curve| read_file(&curve).ok());
            let curve = curve.and_then(|bytes| parse_curve(&stem, &bytes).curve.ok());
            self.provenance(&label, &stem, &bytes, curve.as_ref());
        } else {
            if !is_curve_name(&stem) || path.extension().is_none_or(|extension| extension != "yaml") {
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
                let kind = IssueKind::FileName(name.unwrap_or_default());
                self.report(&label, CurveIssue { at: None, kind });
            }
            self.curve(&label, &stem, &bytes);
        }
    }

    fn curve(&mut self, file: &str, name: &str, bytes: &[u8]) -> Option<Curve> {
        let parsed = parse_curve(name, bytes);
        self.files += 1;
        for issue in parsed.issues {
            self.report(file, issue);
        }
        parsed.curve.ok()
    }

    fn provenance(&mut self, file: &str, name: &str, bytes: &[u8], curve: Option<&Curve>) {
        self.files += 1;
        match check_provenance(name, bytes, curve) {
            Ok((_, issues)) => issues.into_iter().for_each(|issue| self.report(file, issue)),
            Err(issue) => self.report(file, issue),
        }
    }

    fn report(&mut self, file: &str, issue: CurveIssue) {
        self.findings.push(FileIssue { file: file.to_owned(), issue });
    }
}
