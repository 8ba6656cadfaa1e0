//! A curve file and its provenance, as texts that a check has passed.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use crate::golden::{
    AcceptLength, Attestation, Cell, CellValue, Cells, Curve, CurveIssue, Header, Provenance, Sampling,
    SamplingScope, Severity, Source, Status, Thinking, check_provenance, is_curve_name, parse_curve,
};
use crate::yaml::Position;

use super::matrix::{Matrix, MatrixCell};

/// The texts of the two files of a curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurveFiles {
    /// `NAME.yaml`
    pub curve: String,
    /// `provenance/NAME.yaml`
    pub provenance: String,
}

/// Why a curve cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// No lookup would find it.
    #[error(
        "{0:?} is no name of a curve: expected letters in lower case, digits, dots, dashes and underscores"
    )]
    Name(String),
    /// What was written does not pass its own check.
    #[error("the curve does not pass its check: {0}")]
    Check(Box<CurveIssue>),
    /// The provenance cannot be put into YAML.
    #[error("the provenance cannot be written: {0}")]
    Provenance(#[from] serde_yaml::Error),
}

impl CurveFiles {
    /// The files of the curve `name` with all cells of a matrix. They pass `curves check` without an error or a warning.
    pub fn of(name: &str, matrix: &Matrix) -> Result<Self, WriteError> {
        if !is_curve_name(name) {
            return Err(WriteError::Name(name.to_owned()));
        }
        let mut curve = header(matrix);
        curve.push_str(&cells(name, matrix).to_string());
        let provenance = serde_yaml::to_string(&provenance(name, matrix))?;
        let parsed = parse_curve(name, curve.as_bytes());
        let mut issues = parsed.issues;
        let read = parsed.curve.map_err(|issue| WriteError::Check(Box::new(issue)))?;
        match check_provenance(name, provenance.as_bytes(), Some(&read)) {
            Ok((_, more)) => issues.extend(more),
            Err(issue) => issues.push(issue),
        }
        match issues.into_iter().find(|issue| issue.severity() != Severity::Note) {
            Some(issue) => Err(WriteError::Check(Box::new(issue))),
            None => Ok(Self { curve, provenance }),
        }
    }
}

/// The cells, each with two decimals.
fn cells(name: &str, matrix: &Matrix) -> Curve {
    let mut modes: BTreeMap<Thinking, Cells> = BTreeMap::new();
    for cell in &matrix.cells {
        let rounded = format!("{:.2}", cell.measured.accept_length).parse().ok();
        let value = match rounded.and_then(|rounded| AcceptLength::new(rounded).ok()) {
            Some(length) => CellValue::Measured(length),
            None => CellValue::Unmeasured,
        };
        let at = Position { line: 1, column: 1 };
        modes.entry(cell.thinking).or_default().insert(cell.draft_length, Cell { at, value });
    }
    Curve {
        name: name.to_owned(),
        model: matrix.about.model.clone(),
        method: None,
        modes,
        header: Header::default(),
        provenance: None,
    }
}

fn header(matrix: &Matrix) -> String {
    let mut text = String::new();
    // Writing to a text does not fail.
    let _ = write_header(&mut text, matrix);
    text
}

fn write_header(out: &mut String, Matrix { about, cells }: &Matrix) -> fmt::Result {
    match &about.source.source_run {
        Some(run) => writeln!(out, "# Source GitHub Actions run: {run}")?,
        None => writeln!(
            out,
            "# Source evidence: {} at {} ({})",
            about.source.repository, about.source.commit, about.source.place
        )?,
    }
    write!(out, "# dataset: {}", about.dataset)?;
    let of = |scope| about.sampling.get(&scope).copied().unwrap_or_default();
    for (name, value) in parameters(of(SamplingScope::All)) {
        write!(out, " | {name}: {value}")?;
    }
    writeln!(out, " | output_len: {}", about.output_len)?;
    for (scope, mode) in
        [(SamplingScope::ThinkingOn, Thinking::On), (SamplingScope::ThinkingOff, Thinking::Off)]
    {
        let own = parameters(of(scope));
        if !own.is_empty() {
            let own: Vec<String> = own.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
            writeln!(out, "# {mode}: {}", own.join(", "))?;
        }
    }
    for (mode, arguments) in &about.chat_template_kwargs {
        let arguments = serde_json::to_string(arguments).unwrap_or_default();
        writeln!(out, "# {mode} chat_template_kwargs: {arguments}")?;
    }
    write!(out, "# speculative-config: method={}", about.method)?;
    if let Some(sampler) = about.draft_sample_method {
        write!(out, " | draft_sample_method={}", sampler.name())?;
    }
    if let Some(method) = &about.rejection_sample_method {
        write!(out, " | rejection_sample_method={method}")?;
    }
    writeln!(out)?;
    let (model, server) = about.measured_on.split_once(',').unwrap_or((&about.measured_on, ""));
    writeln!(out, "# Measured on {} ({})", model.trim(), server.trim())?;
    if let Some(image) = &about.image {
        writeln!(out, "# image: {image}")?;
    }
    if let Some(draft) = &about.draft_model {
        writeln!(out, "# Draft model: {draft}")?;
    }
    for MatrixCell { thinking, draft_length, measured } in cells {
        let counts = &measured.difference.counts;
        write!(out, "# {thinking} k={draft_length}:")?;
        if let Some(rate) = counts.draft_accept_rate() {
            write!(out, " AR={rate:.4};")?;
        }
        write!(out, " accepted={};", measured.accepted)?;
        if let Some(drafted) = counts.drafted {
            write!(out, " proposed={drafted};")?;
        }
        writeln!(out, " drafts={}", measured.drafts)?;
    }
    writeln!(out, "# key = num_speculative_tokens; value = golden AL")
}

fn parameters(sampling: Sampling) -> Vec<(&'static str, String)> {
    let number = |value: Option<f64>| value.map(|value| format!("{value:?}"));
    [
        ("temperature", number(sampling.temperature)),
        ("top_p", number(sampling.top_p)),
        ("top_k", sampling.top_k.map(|value| value.to_string())),
        ("presence_penalty", number(sampling.presence_penalty)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

fn provenance(name: &str, Matrix { about, .. }: &Matrix) -> Provenance {
    let source_run = about.source.source_run.as_deref().map(|run| {
        let path = run.split(['?', '#']).next().unwrap_or(run).trim_end_matches('/');
        path.rsplit('/').next().unwrap_or(path).to_owned()
    });
    Provenance {
        curve: name.to_owned(),
        status: Status::Committed,
        model: about.model.clone(),
        method: about.method.clone(),
        draft_model: about.draft_model.clone(),
        draft_sample_method: about.draft_sample_method,
        draft_sample_method_note: None,
        rejection_sample_method: about.rejection_sample_method.clone(),
        image: about.image.clone(),
        dataset: about.dataset.clone(),
        output_len: about.output_len,
        measured_on: about.measured_on.clone(),
        sampling: about.sampling.clone(),
        chat_template_kwargs: about.chat_template_kwargs.clone(),
        source: Source {
            repository: about.source.repository.clone(),
            commit: about.source.commit.clone(),
            place: about.source.place.clone(),
            source_run,
            first_commit: None,
            pull_request: None,
            read_from_upstream: true,
        },
        attestation: Attestation {
            independent: false,
            cells: BTreeMap::new(),
            by: Vec::new(),
            internal_check: Some(
                "each cell against the counter line in the head of the curve file".to_owned(),
            ),
        },
        note: about.note.clone(),
    }
}
