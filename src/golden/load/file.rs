//! A curve file as a whole: YAML, header, one model key.

use std::collections::BTreeMap;

use crate::yaml::{self, Entry, Node};

use super::super::{Cells, Curve, CurveIssue, Header, IssueKind, Provenance, Severity, Thinking, provenance};
use super::checks;

/// What became of one curve file.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The curve, or the finding that makes the file as a whole unusable. A faulty cell does not.
    pub curve: Result<Curve, CurveIssue>,
    /// Findings in the order of the file, that of an unusable file included.
    pub issues: Vec<CurveIssue>,
}

impl Parsed {
    /// The gravest severity among the findings.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.issues.iter().map(CurveIssue::severity).max()
    }
}

/// Reads a curve file; `name` is the file name without its extension.
///
/// The current form and the older ones are accepted (flat list, plain map: mode `unstated`).
///
/// ```
/// use accsim::golden::{IssueCode, Thinking, parse_curve};
///
/// let parsed = parse_curve("demo_mtp", b"demo-model:\n  thinking_on:\n    1: 1.80\n    2: 1,78\n");
/// let curve = parsed.curve.unwrap();
/// assert_eq!(curve.model, "demo-model");
/// assert_eq!(curve.values(Thinking::On).count(), 1);
/// assert_eq!(parsed.issues[0].code(), IssueCode::NotANumber);
/// assert_eq!(parsed.issues[0].at.map(|at| at.line), Some(4));
/// ```
#[must_use]
pub fn parse_curve(name: &str, bytes: &[u8]) -> Parsed {
    let root = match yaml::parse_bytes(bytes) {
        Ok(root) => root,
        Err(error) => {
            let issue = CurveIssue::from(error);
            return Parsed { curve: Err(issue.clone()), issues: vec![issue] };
        }
    };
    // The tree could not have been read from anything but UTF-8.
    let header = Header::parse(&String::from_utf8_lossy(bytes));
    let mut loader = Loader { modes: BTreeMap::new(), issues: Vec::new() };
    let model = loader.file(&root);
    checks::falls(&loader.modes, &mut loader.issues);
    checks::counters(&header, &loader.modes, &mut loader.issues);
    let curve = model.map(|model| {
        let method = method_in(name).or(header.method.clone());
        Curve { name: name.to_owned(), model, method, modes: loader.modes, header, provenance: None }
    });
    let mut issues = loader.issues;
    issues.extend(curve.as_ref().err().cloned());
    issues.sort_by_key(|issue| (issue.at.is_none(), issue.at));
    Parsed { curve, issues }
}

/// Reads a provenance file and compares it with the curve of the same name, where there is one.
pub fn check_provenance(
    name: &str,
    bytes: &[u8],
    curve: Option<&Curve>,
) -> Result<(Provenance, Vec<CurveIssue>), CurveIssue> {
    let read = provenance::read(bytes)?;
    let issues = checks::provenance(name, &read, curve);
    Ok((read, issues))
}

/// What was taken in so far.
pub(super) struct Loader {
    pub(super) modes: BTreeMap<Thinking, Cells>,
    issues: Vec<CurveIssue>,
}

impl Loader {
    pub(super) fn report(&mut self, at: yaml::Position, kind: IssueKind) {
        self.issues.push(CurveIssue { at: Some(at), kind });
    }

    /// The model's name, once its value was taken in.
    fn file(&mut self, root: &Node) -> Result<String, CurveIssue> {
        let unusable = |at, kind| Err(CurveIssue { at: Some(at), kind });
        let Node::Mapping(root) = root else {
            return unusable(root.at(), IssueKind::NoModelKey(root.kind()));
        };
        let (metadata, models): (Vec<&Entry>, Vec<&Entry>) =
            root.entries.iter().partition(|entry| entry.key.text.starts_with('_'));
        for entry in metadata {
            self.report(entry.key.at, IssueKind::MetadataKey(entry.key.text.to_string()));
        }
        match models.as_slice() {
            [] => unusable(root.at, IssueKind::OnlyMetadataKeys),
            [model] => {
                self.model(&model.value);
                Ok(model.key.text.to_string())
            }
            [_, second, ..] => {
                let names = models.iter().map(|entry| entry.key.text.to_string()).collect();
                unusable(second.key.at, IssueKind::SeveralModelKeys(names))
            }
        }
    }
}

/// The drafting method that a curve name carries: its first part with a known name.
pub(super) fn method_in(name: &str) -> Option<String> {
    const METHODS: [&str; 3] = ["mtp", "eagle3", "dspark"];
    name.split(['_', '-']).find(|part| METHODS.contains(part)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_finding_is_the_gravest() {
        let worst = |text: &str| parse_curve("demo_mtp", text.as_bytes()).worst();
        let curve = "demo-model:\n  thinking_on:\n    1: 1.80\n    2: 2.40\n";
        assert_ne!(worst(curve), Some(Severity::Error));
        assert_eq!(worst(&format!("{curve}    3: 1,78\n    4: 2.60\n")), Some(Severity::Error));
    }
}
