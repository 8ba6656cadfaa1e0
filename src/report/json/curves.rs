//! Golden curves and cells as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::golden::{
    AcceptLength, Cell, CellDifference, Checked, Curve, Header, Lookup, LookupWarning, Provenance, Status,
    Target, TargetOrigin, Thinking,
};

/// `curves list`.
#[derive(Debug, Serialize)]
pub struct CurveList {
    curves: Vec<CurveSummary>,
}

#[derive(Debug, Serialize)]
struct CurveSummary {
    curve: String,
    model: String,
    method: Option<String>,
    status: Option<Status>,
    modes: BTreeMap<Thinking, Vec<u32>>,
    source: String,
}

impl CurveList {
    /// Curves with their files; draft lengths are those that a lookup can return.
    pub fn new<'a>(curves: impl IntoIterator<Item = (&'a Curve, &'a str)>) -> Self {
        let curves = curves.into_iter().map(|(curve, file)| CurveSummary {
            curve: curve.name.clone(),
            model: curve.model.clone(),
            method: curve.method.clone(),
            status: curve.status(),
            modes: curve.modes.keys().map(|mode| (*mode, curve.draft_lengths(*mode).0)).collect(),
            source: curve.source(file),
        });
        Self { curves: curves.collect() }
    }
}

/// `curves show`: cells as numbers, `null` where there is no usable value.
#[derive(Debug, Serialize)]
pub struct CurveDocument<'a> {
    curve: &'a str,
    model: &'a str,
    method: Option<&'a str>,
    status: Option<Status>,
    modes: BTreeMap<Thinking, BTreeMap<u32, Option<f64>>>,
    source: String,
    header: &'a Header,
    provenance: Option<&'a Provenance>,
}

impl<'a> CurveDocument<'a> {
    /// A curve with its file.
    #[must_use]
    pub fn new(curve: &'a Curve, file: &str) -> Self {
        let modes = curve.modes.iter().map(|(mode, cells)| {
            let value = |cell: &Cell| cell.accept_length().map(AcceptLength::get);
            (*mode, cells.iter().map(|(draft_length, cell)| (*draft_length, value(cell))).collect())
        });
        Self {
            curve: &curve.name,
            model: &curve.model,
            method: curve.method.as_deref(),
            status: curve.status(),
            modes: modes.collect(),
            source: curve.source(file),
            header: &curve.header,
            provenance: curve.provenance.as_ref(),
        }
    }
}

/// A target as `curves lookup` prints it; the golden fields of an explicit one are null.
#[derive(Debug, Serialize)]
pub struct TargetDocument<'a> {
    curve: Option<&'a str>,
    model: Option<&'a str>,
    method: Option<&'a str>,
    thinking: Option<Thinking>,
    draft_length: Option<u32>,
    accept_length: f64,
    max_accept_length: u32,
    source: &'a str,
}

impl<'a> TargetDocument<'a> {
    /// The source of an explicit target is the word `explicit`.
    #[must_use]
    pub fn new(target: &'a Target) -> Self {
        let cell = target.cell();
        Self {
            curve: cell.map(|cell| cell.curve.as_str()),
            model: cell.map(|cell| cell.model.as_str()),
            method: cell.map(|cell| cell.method.as_str()),
            thinking: cell.map(|cell| cell.thinking),
            draft_length: cell.map(|cell| cell.draft_length),
            accept_length: target.accept_length().get(),
            max_accept_length: target.max_accept_length(),
            source: match target.origin() {
                TargetOrigin::Golden(cell) => &cell.source,
                TargetOrigin::Explicit => "explicit",
                TargetOrigin::Injected { place, .. } => place,
            },
        }
    }
}

/// `curves lookup`.
#[derive(Debug, Serialize)]
pub struct LookupDocument<'a> {
    #[serde(flatten)]
    target: TargetDocument<'a>,
    warnings: Vec<WarningDocument>,
}

#[derive(Debug, Serialize)]
struct WarningDocument {
    code: &'static str,
    severity: &'static str,
    message: String,
}

impl<'a> LookupDocument<'a> {
    /// A found cell with what its user should know.
    #[must_use]
    pub fn new(lookup: &'a Lookup) -> Self {
        let warning = |warning: &LookupWarning| WarningDocument {
            code: warning.code(),
            severity: warning.severity().name(),
            message: warning.to_string(),
        };
        let warnings = lookup.warnings.iter().map(warning).collect();
        Self { target: TargetDocument::new(&lookup.target), warnings }
    }
}

/// `curves check`.
#[derive(Debug, Serialize)]
pub struct CheckDocument {
    files: usize,
    findings: Vec<FindingDocument>,
}

#[derive(Debug, Serialize)]
struct FindingDocument {
    file: String,
    line: Option<usize>,
    column: Option<usize>,
    code: &'static str,
    severity: &'static str,
    message: String,
}

impl CheckDocument {
    /// Everything that a check found.
    #[must_use]
    pub fn new(checked: &Checked) -> Self {
        let findings = checked.findings.iter().map(|finding| FindingDocument {
            file: finding.file.clone(),
            line: finding.issue.at.map(|at| at.line),
            column: finding.issue.at.map(|at| at.column),
            code: finding.issue.code().name(),
            severity: finding.issue.severity().name(),
            message: finding.issue.kind.to_string(),
        });
        Self { files: checked.files, findings: findings.collect() }
    }
}

/// `curves diff`: `a` and `b` are the accept lengths, `difference` is b - a.
#[derive(Debug, Serialize)]
pub struct DiffDocument<'a> {
    a: &'a str,
    b: &'a str,
    equal: bool,
    differences: Vec<DifferenceDocument>,
}

#[derive(Debug, Serialize)]
struct DifferenceDocument {
    thinking: Thinking,
    draft_length: u32,
    a: Option<f64>,
    b: Option<f64>,
    difference: Option<f64>,
}

impl<'a> DiffDocument<'a> {
    /// The cells on which the curves called `a` and `b` differ.
    #[must_use]
    pub fn new(a: &'a str, b: &'a str, differences: &[CellDifference]) -> Self {
        let document = |cell: &CellDifference| DifferenceDocument {
            thinking: cell.thinking,
            draft_length: cell.draft_length,
            a: cell.left.map(AcceptLength::get),
            b: cell.right.map(AcceptLength::get),
            // Differences of two-decimal values have two decimals: 0.05, not 0.04999999999999982.
            difference: cell.difference().map(|difference| (difference * 1e6).round() / 1e6),
        };
        let equal = differences.is_empty();
        Self { a, b, equal, differences: differences.iter().map(document).collect() }
    }
}
