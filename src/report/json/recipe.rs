//! Findings of `recipe check`.

use serde::Serialize;

use crate::recipe::{Allowed, Evidence, Finding, Note};
use crate::report::recipe::CheckRun;

use super::number::tidy;

/// The document of one check.
#[derive(Debug, Serialize)]
pub struct CheckDocument<'a> {
    files: usize,
    servers: usize,
    findings: Vec<FindingEntry<'a>>,
    allowed: Vec<AllowedEntry<'a>>,
    notes: Vec<NoteEntry<'a>>,
    unknown: &'a [String],
    errors: &'a [String],
}

#[derive(Debug, Serialize)]
struct FindingEntry<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    variant: Option<&'a str>,
    role: &'static str,
    engine: Option<&'static str>,
    draft_length: Option<u32>,
    curve: Option<&'a str>,
    thinking: &'static str,
    pinned: Option<f64>,
    expected: Option<f64>,
    code: &'static str,
    severity: &'static str,
    message: &'a str,
    evidence: Vec<EvidenceEntry<'a>>,
}

#[derive(Debug, Serialize)]
struct EvidenceEntry<'a> {
    part: &'static str,
    file: &'a str,
    line: usize,
    column: usize,
    value: &'a str,
}

#[derive(Debug, Serialize)]
struct AllowedEntry<'a> {
    #[serde(flatten)]
    finding: FindingEntry<'a>,
    reason: &'a str,
    expires: String,
}

#[derive(Debug, Serialize)]
struct NoteEntry<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    message: &'a str,
}

impl<'a> CheckDocument<'a> {
    /// The document of a check.
    #[must_use]
    pub fn new(run: &'a CheckRun) -> Self {
        Self {
            files: run.files.len(),
            servers: run.servers,
            findings: run.findings.iter().map(FindingEntry::from).collect(),
            allowed: run.allowed.iter().map(AllowedEntry::from).collect(),
            notes: run.notes.iter().map(NoteEntry::from).collect(),
            unknown: &run.unknown,
            errors: &run.errors,
        }
    }
}

impl<'a> From<&'a Finding> for FindingEntry<'a> {
    fn from(finding: &'a Finding) -> Self {
        Self {
            file: &finding.file,
            line: finding.at.line,
            column: finding.at.column,
            variant: finding.variant.as_deref(),
            role: finding.role.name(),
            engine: finding.engine.map(crate::engine::Engine::name),
            draft_length: finding.draft_length,
            curve: finding.curve.as_deref(),
            thinking: finding.thinking.key(),
            pinned: finding.pinned.map(tidy),
            expected: finding.expected.map(tidy),
            code: finding.code.name(),
            severity: finding.severity.name(),
            message: &finding.message,
            evidence: finding.evidence.iter().map(|part| EvidenceEntry::new(part, &finding.file)).collect(),
        }
    }
}

impl<'a> EvidenceEntry<'a> {
    fn new(part: &'a Evidence, file: &'a str) -> Self {
        Self {
            part: part.part,
            file: part.file.as_deref().unwrap_or(file),
            line: part.at.line,
            column: part.at.column,
            value: &part.value,
        }
    }
}

impl<'a> From<&'a (Finding, Allowed)> for AllowedEntry<'a> {
    fn from((finding, allowed): &'a (Finding, Allowed)) -> Self {
        Self { finding: finding.into(), reason: &allowed.reason, expires: allowed.expires.to_string() }
    }
}

impl<'a> From<&'a Note> for NoteEntry<'a> {
    fn from(note: &'a Note) -> Self {
        Self { file: &note.file, line: note.at.line, column: note.at.column, message: &note.message }
    }
}
