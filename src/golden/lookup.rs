//! One cell for one question, or why there is none.

use std::fmt;

use crate::yaml::quoted;

use super::resolution::{DraftSampler, curves_by_rule, resolve};
use super::{
    Catalogue, Cell, CellValue, Curve, CurveIssue, DraftLengths, Entry, GoldenCell, Severity, Status, Target,
    TargetError, Thinking,
};

/// What a caller knows about its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query<'a> {
    /// Model prefix: `dsv41flash`, `glm5.2`.
    pub prefix: &'a str,
    /// Drafting method in any letter case; `eagle` and `nextn` are aliases.
    pub method: &'a str,
    /// Tokens drafted per verify step.
    pub draft_length: u32,
    /// Thinking mode.
    pub thinking: Thinking,
    /// The draft model's name, where it is known.
    pub draft_model: Option<&'a str>,
    /// The draft sampler's name, where it is known.
    pub draft_sample_method: Option<&'a str>,
}

impl<'a> Query<'a> {
    /// A question with thinking on, which says nothing of draft model and sampler.
    #[must_use]
    pub fn new(prefix: &'a str, method: &'a str, draft_length: u32) -> Self {
        let thinking = Thinking::On;
        Self { prefix, method, draft_length, thinking, draft_model: None, draft_sample_method: None }
    }
}

/// A found cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    /// The accept length with its cell.
    pub target: Target,
    /// What its user should know.
    pub warnings: Vec<LookupWarning>,
}

/// What the user of a found cell should know.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LookupWarning {
    /// The value was copied from another curve.
    #[error("{curve} is provisional: its values were copied, not measured")]
    Provisional {
        /// The curve.
        curve: String,
    },
    /// The model is no longer benchmarked.
    #[error("{curve} is retired: its model is no longer benchmarked")]
    Retired {
        /// The curve.
        curve: String,
    },
    /// The file is of an older form without modes.
    #[error("{curve} states no thinking mode; its only value was taken for {wanted}")]
    Unstated {
        /// The curve.
        curve: String,
        /// The mode that was asked for.
        wanted: Thinking,
    },
    /// The draft model decides between two curves and was not given.
    #[error(
        "{curve} is the curve of draft models without '{part}' in their name; those with it have {other}"
    )]
    DraftModelUnstated {
        /// The curve that was taken.
        curve: String,
        /// The part of the name that decides.
        part: &'static str,
        /// The other curve.
        other: &'static str,
    },
    /// A finding about the cell or about the file as a whole.
    #[error("{file}: {issue}")]
    Issue {
        /// The file.
        file: String,
        /// The finding.
        issue: CurveIssue,
    },
}

impl LookupWarning {
    /// Stable name for JSON and scripts.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Provisional { .. } => "provisional",
            Self::Retired { .. } => "retired",
            Self::Unstated { .. } => "unstated-mode",
            Self::DraftModelUnstated { .. } => "draft-model-unstated",
            Self::Issue { issue, .. } => issue.code().name(),
        }
    }

    /// How much it weighs; never an error, since the cell itself is usable.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Self::Provisional { .. } | Self::Unstated { .. } => Severity::Warning,
            Self::Retired { .. } | Self::DraftModelUnstated { .. } => Severity::Note,
            Self::Issue { issue, .. } => issue.severity().min(Severity::Warning),
        }
    }
}

/// Why there is no cell: what was asked for, what exists, and the nearest valid choice.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LookupError {
    /// A prefix or method that no file can be named after.
    #[error("{} is no model prefix or method; expected lower-case letters, digits, '_', '.' and '-'", quoted(.name))]
    InvalidName {
        /// The name.
        name: String,
    },
    /// The draft sampler decides between two curves and is unknown.
    #[error("{}", sampler(.prefix, .method, .found.as_deref(), .choices))]
    Sampler {
        /// Model prefix.
        prefix: String,
        /// Drafting method.
        method: String,
        /// What was given.
        found: Option<String>,
        /// Samplers with their curves.
        choices: &'static [(DraftSampler, &'static str)],
    },
    /// No curve of that name.
    #[error("no golden curve {}{}", quoted(.curve), unknown(.same_prefix, .nearest, *.known))]
    UnknownCurve {
        /// The name.
        curve: String,
        /// Curves of the same model prefix.
        same_prefix: Vec<String>,
        /// Curves with a similar name.
        nearest: Vec<String>,
        /// How many curves there are.
        known: usize,
    },
    /// The curve's file as a whole is unusable.
    #[error("the golden curve {curve} cannot be used: {file}: {issue}")]
    Unusable {
        /// The curve.
        curve: String,
        /// Its file.
        file: String,
        /// What makes it unusable.
        issue: Box<CurveIssue>,
    },
    /// The curve has other modes.
    #[error("no golden cell for {wanted}; {curve} has {}", modes(.available))]
    NoMode {
        /// The curve.
        curve: String,
        /// The mode that was asked for.
        wanted: Thinking,
        /// The modes that it has.
        available: Vec<Available>,
    },
    /// The mode has other draft lengths.
    #[error("no golden cell for draft length {draft_length}; {curve} ({}) has {}", .available.thinking, .available.draft_lengths)]
    NoCell {
        /// The curve.
        curve: String,
        /// The draft length that was asked for.
        draft_length: u32,
        /// What the mode has.
        available: Available,
    },
    /// The cell holds nothing, or nothing usable.
    #[error("{file}: the cell of draft length {draft_length} cannot be used, {why}; {curve} ({}) has {}", .available.thinking, .available.draft_lengths)]
    BadCell {
        /// The curve.
        curve: String,
        /// Its file with line and column.
        file: String,
        /// The draft length that was asked for.
        draft_length: u32,
        /// What is wrong with the cell.
        why: String,
        /// What else the mode has.
        available: Available,
    },
    /// The cell is no target; a cell of [1, K + 1] always is one.
    #[error(transparent)]
    Target(#[from] TargetError),
}

/// A mode of a curve with its usable draft lengths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Available {
    /// The mode.
    pub thinking: Thinking,
    /// The draft lengths.
    pub draft_lengths: DraftLengths,
}

impl fmt::Display for Available {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.thinking, self.draft_lengths)
    }
}

impl Catalogue {
    /// The golden cell for a question. There is no interpolation, no other mode, no other model's curve and no
    /// default cell.
    ///
    /// ```
    /// use accsim::golden::{Catalogue, Query};
    ///
    /// let catalogue = Catalogue::builtin();
    /// let found = catalogue.lookup(&Query::new("dsv41flash", "dspark", 5))?;
    /// assert_eq!(found.target.accept_length().to_string(), "3.51");
    ///
    /// let refused = catalogue.lookup(&Query::new("dsv41flash", "dspark", 6)).unwrap_err();
    /// assert_eq!(
    ///     refused.to_string(),
    ///     "no golden cell for draft length 6; dsv41flash_dspark (thinking_on) has 1-5"
    /// );
    /// # Ok::<(), accsim::golden::LookupError>(())
    /// ```
    pub fn lookup(&self, query: &Query<'_>) -> Result<Lookup, LookupError> {
        let resolved = resolve(query.prefix, query.method, query.draft_model, query.draft_sample_method)?;
        let entry = self.get(&resolved.curve).ok_or_else(|| self.unknown(&resolved.curve, query.prefix))?;
        let curve = usable(entry)?;
        let thinking = mode(curve, query.thinking)?;
        let found = curve.modes.get(&thinking).and_then(|cells| cells.get(&query.draft_length));
        let available = Available { thinking, draft_lengths: curve.draft_lengths(thinking) };
        let Some(cell) = found else {
            let curve = resolved.curve;
            return Err(LookupError::NoCell { curve, draft_length: query.draft_length, available });
        };
        let refuse = |why| bad_cell(entry, cell, query.draft_length, why, available);
        let accept_length = match &cell.value {
            CellValue::Measured(accept_length) => *accept_length,
            CellValue::Unmeasured => return Err(refuse("unmeasured (no value)".to_owned())),
            CellValue::Refused(fault) => return Err(refuse(fault.to_string())),
        };
        let mut warnings = warnings(entry, curve, query, thinking);
        if let Some((part, other)) = resolved.undecided_draft_model
            && self.get(other).is_some()
        {
            warnings.push(LookupWarning::DraftModelUnstated { curve: resolved.curve.clone(), part, other });
        }
        let cell = GoldenCell {
            curve: resolved.curve,
            model: curve.model.clone(),
            method: resolved.method,
            thinking,
            draft_length: query.draft_length,
            source: curve.source(entry.file()),
        };
        Ok(Lookup { target: Target::golden(accept_length, cell)?, warnings })
    }

    fn unknown(&self, curve: &str, prefix: &str) -> LookupError {
        let start = format!("{prefix}_");
        let by_rule = curves_by_rule(prefix);
        let same_prefix = |name: &&str| name.starts_with(&start) || by_rule.contains(name);
        let same_prefix = self.names().filter(same_prefix).map(str::to_owned).collect();
        let nearest = super::nearest::nearest(curve, self.names());
        LookupError::UnknownCurve {
            curve: curve.to_owned(),
            same_prefix,
            nearest,
            known: self.names().count(),
        }
    }
}

fn usable(entry: &Entry) -> Result<&Curve, LookupError> {
    entry.load().curve.as_ref().map_err(|issue| LookupError::Unusable {
        curve: entry.name().to_owned(),
        file: entry.file().to_owned(),
        issue: Box::new(issue.clone()),
    })
}

/// The mode that answers: the wanted one, or `unstated` in a file that has no other.
fn mode(curve: &Curve, wanted: Thinking) -> Result<Thinking, LookupError> {
    if curve.modes.contains_key(&wanted) {
        return Ok(wanted);
    }
    if curve.modes.keys().eq([&Thinking::Unstated]) {
        return Ok(Thinking::Unstated);
    }
    let available = curve.modes.keys();
    let available = available
        .map(|mode| Available { thinking: *mode, draft_lengths: curve.draft_lengths(*mode) })
        .collect();
    Err(LookupError::NoMode { curve: curve.name.clone(), wanted, available })
}

fn bad_cell(entry: &Entry, cell: &Cell, draft_length: u32, why: String, available: Available) -> LookupError {
    let file = format!("{}:{}:{}", entry.file(), cell.at.line, cell.at.column);
    LookupError::BadCell { curve: entry.name().to_owned(), file, draft_length, why, available }
}

fn warnings(entry: &Entry, curve: &Curve, query: &Query<'_>, thinking: Thinking) -> Vec<LookupWarning> {
    let name = || curve.name.clone();
    let mut warnings = Vec::new();
    match curve.status() {
        Some(Status::Provisional) => warnings.push(LookupWarning::Provisional { curve: name() }),
        Some(Status::Retired) => warnings.push(LookupWarning::Retired { curve: name() }),
        Some(Status::Committed) | None => {}
    }
    if thinking != query.thinking {
        warnings.push(LookupWarning::Unstated { curve: name(), wanted: query.thinking });
    }
    let loaded = entry.load();
    let of_cell = loaded.issues.iter().filter(|issue| issue.concerns(thinking, query.draft_length));
    warnings.extend(
        of_cell.map(|issue| LookupWarning::Issue { file: entry.file().to_owned(), issue: issue.clone() }),
    );
    warnings.extend(
        loaded
            .provenance_issues
            .iter()
            .map(|issue| LookupWarning::Issue { file: entry.provenance_file(), issue: issue.clone() }),
    );
    warnings
}

fn sampler(
    prefix: &str,
    method: &str,
    found: Option<&str>,
    choices: &[(DraftSampler, &'static str)],
) -> String {
    let choices: Vec<String> =
        choices.iter().map(|(sampler, curve)| format!("{sampler} ({curve})")).collect();
    let found = found.map_or_else(|| "none was given".to_owned(), |found| format!("found {}", quoted(found)));
    format!(
        "the curve of {prefix} {method} depends on the draft sample method and {found}; choose {}",
        choices.join(" or ")
    )
}

fn unknown(same_prefix: &[String], nearest: &[String], known: usize) -> String {
    match (same_prefix, nearest) {
        ([_, ..], _) => format!("; this prefix has {}", same_prefix.join(", ")),
        ([], [_, ..]) => format!("; the nearest names are {}", nearest.join(", ")),
        ([], []) => format!(
            "; none of the {known} known curves has a similar name (accsim curves list names them all)"
        ),
    }
}

fn modes(available: &[Available]) -> String {
    if available.is_empty() {
        return "no mode".to_owned();
    }
    available.iter().map(Available::to_string).collect::<Vec<_>>().join(" and ")
}
