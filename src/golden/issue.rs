//! What a check of a curve file can find.

use std::fmt;

use crate::yaml::{NodeKind, Position, YamlError, YamlErrorKind, quoted};

use super::{AcceptLength, Thinking};

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Legal, and worth knowing.
    Note,
    /// Usable, and likely not meant.
    Warning,
    /// Wrong.
    Error,
}

impl Severity {
    /// `error`, `warning` or `note`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One finding in a curve file or in the provenance beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveIssue {
    /// Where it stands; `None` when it concerns the file as a whole.
    pub at: Option<Position>,
    /// What was found, and what was expected.
    pub kind: IssueKind,
}

/// Why a cell cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CellFault {
    /// Text, a decimal comma, a unit.
    #[error("not a number: found {}; expected a decimal such as 2.83", quoted(.0))]
    NotANumber(String),
    /// NaN or an infinity.
    #[error("not finite: found {}; expected a decimal such as 2.83", quoted(.0))]
    NotFinite(String),
    /// Below 1 or above K + 1.
    #[error("outside [1, {max}]: found {found}; a verify step emits 1 to {max} tokens")]
    OutOfRange {
        /// The value as it stands.
        found: String,
        /// Most tokens of one verify step: draft length + 1.
        max: u32,
    },
    /// A list or a mapping.
    #[error("found {}; expected a decimal such as 2.83", .0.name())]
    NotScalar(NodeKind),
    /// A second value for the same draft length (older list form): neither is the golden one.
    #[error("two values: the second is {}; expected one", quoted(.0))]
    Duplicate(String),
}

/// A kind of finding; the rules are those of the launch resolver of SemiAnalysisAI/InferenceX.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IssueKind {
    /// The file could not be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// The text is no acceptable YAML.
    #[error("{0}")]
    Yaml(YamlErrorKind),
    /// The file holds a list or a single value, or nothing.
    #[error("found {}; expected one model key", .0.name())]
    NoModelKey(NodeKind),
    /// Every top-level key starts with `_`.
    #[error("found no model key beside the keys that start with '_'; expected one")]
    OnlyMetadataKeys,
    /// The launch resolver wants exactly one.
    #[error("found several top-level keys ({}); expected exactly one model key", list(.0))]
    SeveralModelKeys(Vec<String>),
    /// A key that starts with `_` (SemiAnalysisAI/InferenceX#2394).
    #[error("the key {} beside the model key: the launch resolver refuses such a file", quoted(.0))]
    MetadataKey(String),
    /// Nothing below the model key.
    #[error("found {} below the model key; expected thinking_on and/or thinking_off", .0.name())]
    NoModes(NodeKind),
    /// Neither `thinking_on` nor `thinking_off`.
    #[error("unknown thinking mode {}; expected thinking_on or thinking_off", quoted(.0))]
    UnknownMode(String),
    /// A mode without cells.
    #[error("{0} holds no cell; expected draft lengths with accept lengths")]
    EmptyMode(Thinking),
    /// A mode that is no mapping.
    #[error("{mode} holds {}; expected draft lengths with accept lengths", .found.name())]
    ModeNotMapping {
        /// The mode.
        mode: Thinking,
        /// What it holds.
        found: NodeKind,
    },
    /// An entry of the older list form that is no `{K: AL}`.
    #[error("found {} in the list; expected entries such as {{1: 1.90}}", .0.name())]
    ListItemNotMapping(NodeKind),
    /// Zero, negative, a fraction, a word.
    #[error("draft length {}; expected a positive integer such as 3", quoted(.0))]
    DraftLength(String),
    /// The same draft length in two entries of the older list form.
    #[error("duplicate draft length {draft_length}; it already stands at {first}")]
    DuplicateDraftLength {
        /// The draft length.
        draft_length: u32,
        /// Where it stands first.
        first: Position,
    },
    /// A cell that no lookup may return.
    #[error("{mode} {draft_length}: {fault}")]
    Cell {
        /// The cell's mode.
        mode: Thinking,
        /// The cell's draft length.
        draft_length: u32,
        /// What is wrong.
        fault: CellFault,
    },
    /// `null` or nothing as a value.
    #[error("{mode} {draft_length}: unmeasured (no value); a lookup of it is refused")]
    Unmeasured {
        /// The cell's mode.
        mode: Thinking,
        /// The cell's draft length.
        draft_length: u32,
    },
    /// More than two decimals.
    #[error("{mode} {draft_length}: found {found}; golden values have two decimals")]
    ManyDecimals {
        /// The cell's mode.
        mode: Thinking,
        /// The cell's draft length.
        draft_length: u32,
        /// The value as it stands.
        found: String,
    },
    /// A draft length or a value in quotes.
    #[error("{mode} {draft_length}: {} is quoted; read as a number", quoted(.found))]
    Quoted {
        /// The cell's mode.
        mode: Thinking,
        /// The cell's draft length.
        draft_length: u32,
        /// The text between the quotes.
        found: String,
    },
    /// A longer draft with a smaller value: legal, real data does it.
    #[error(
        "{mode} falls from draft length {from} ({from_value}) to {to} ({to_value}), by {:.2}",
        .from_value.get() - .to_value.get()
    )]
    Falls {
        /// The mode.
        mode: Thinking,
        /// The shorter draft length.
        from: u32,
        /// Its value.
        from_value: AcceptLength,
        /// The longer draft length.
        to: u32,
        /// Its value.
        to_value: AcceptLength,
    },
    /// The header's counters give another value than the cell.
    #[error(
        "{mode} {draft_length}: the header counts 1 + {accepted}/{drafts} = {counted:.4}; the cell says {cell}"
    )]
    CountersDisagree {
        /// The cell's mode.
        mode: Thinking,
        /// The cell's draft length.
        draft_length: u32,
        /// Accepted draft tokens.
        accepted: u64,
        /// Verify steps.
        drafts: u64,
        /// 1 + accepted / drafts.
        counted: f64,
        /// The cell's value.
        cell: AcceptLength,
    },
    /// No lookup can name this file.
    #[error("the name {} cannot be looked up; expected [a-z0-9_.-]+ and '.yaml'", quoted(.0))]
    FileName(String),
    /// The provenance file does not have the expected fields.
    #[error("{0}")]
    Provenance(String),
    /// The provenance says something else than the curve.
    #[error("the provenance says {field} {}; the curve says {}", quoted(.found), quoted(.expected))]
    ProvenanceDisagrees {
        /// The field.
        field: &'static str,
        /// What the provenance says.
        found: String,
        /// What the curve says.
        expected: String,
    },
    /// The provenance attests a cell that the curve does not have.
    #[error("the provenance attests {mode} {draft_length}; the curve has no such cell")]
    AttestedCellAbsent {
        /// The mode.
        mode: Thinking,
        /// The draft length.
        draft_length: u32,
    },
}

/// Stable names of the findings, as JSON and scripts see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IssueCode {
    /// The file could not be read.
    Unreadable,
    /// No acceptable YAML.
    InvalidYaml,
    /// A tab in the indentation.
    TabIndentation,
    /// A key or a draft length twice.
    DuplicateKey,
    /// No model key.
    NoModelKey,
    /// More than one model key.
    SeveralModelKeys,
    /// A key that starts with `_`.
    MetadataKey,
    /// Nothing below the model key, or below a mode, that could be cells.
    WrongShape,
    /// A mode of another name.
    UnknownMode,
    /// A mode without cells.
    EmptyMode,
    /// No positive integer.
    BadDraftLength,
    /// Text where a number should be.
    NotANumber,
    /// NaN or an infinity.
    NotFinite,
    /// Outside [1, K + 1].
    OutOfRange,
    /// No value.
    Unmeasured,
    /// More than two decimals.
    ManyDecimals,
    /// A number in quotes.
    QuotedNumber,
    /// A value below that of a shorter draft.
    Falls,
    /// Header counters and cell differ.
    CountersDisagree,
    /// A file name that no lookup can use.
    FileName,
    /// Provenance that cannot be read or contradicts the curve.
    Provenance,
}

impl IssueCode {
    /// The name in lower case with dashes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::InvalidYaml => "invalid-yaml",
            Self::TabIndentation => "tab-indentation",
            Self::DuplicateKey => "duplicate-key",
            Self::NoModelKey => "no-model-key",
            Self::SeveralModelKeys => "several-model-keys",
            Self::MetadataKey => "metadata-key",
            Self::WrongShape => "wrong-shape",
            Self::UnknownMode => "unknown-mode",
            Self::EmptyMode => "empty-mode",
            Self::BadDraftLength => "bad-draft-length",
            Self::NotANumber => "not-a-number",
            Self::NotFinite => "not-finite",
            Self::OutOfRange => "out-of-range",
            Self::Unmeasured => "unmeasured",
            Self::ManyDecimals => "many-decimals",
            Self::QuotedNumber => "quoted-number",
            Self::Falls => "falls",
            Self::CountersDisagree => "counters-disagree",
            Self::FileName => "file-name",
            Self::Provenance => "provenance",
        }
    }
}

impl fmt::Display for IssueCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl CurveIssue {
    /// The stable name of the finding.
    #[must_use]
    pub fn code(&self) -> IssueCode {
        match &self.kind {
            IssueKind::Unreadable(_) => IssueCode::Unreadable,
            IssueKind::Yaml(YamlErrorKind::Tab) => IssueCode::TabIndentation,
            IssueKind::Yaml(YamlErrorKind::DuplicateKey { .. })
            | IssueKind::DuplicateDraftLength { .. }
            | IssueKind::Cell { fault: CellFault::Duplicate(_), .. } => IssueCode::DuplicateKey,
            IssueKind::Yaml(_) => IssueCode::InvalidYaml,
            IssueKind::NoModelKey(_) | IssueKind::OnlyMetadataKeys => IssueCode::NoModelKey,
            IssueKind::SeveralModelKeys(_) => IssueCode::SeveralModelKeys,
            IssueKind::MetadataKey(_) => IssueCode::MetadataKey,
            IssueKind::NoModes(_)
            | IssueKind::ModeNotMapping { .. }
            | IssueKind::ListItemNotMapping(_)
            | IssueKind::Cell { fault: CellFault::NotScalar(_), .. } => IssueCode::WrongShape,
            IssueKind::UnknownMode(_) => IssueCode::UnknownMode,
            IssueKind::EmptyMode(_) => IssueCode::EmptyMode,
            IssueKind::DraftLength(_) => IssueCode::BadDraftLength,
            IssueKind::Cell { fault: CellFault::NotANumber(_), .. } => IssueCode::NotANumber,
            IssueKind::Cell { fault: CellFault::NotFinite(_), .. } => IssueCode::NotFinite,
            IssueKind::Cell { fault: CellFault::OutOfRange { .. }, .. } => IssueCode::OutOfRange,
            IssueKind::Unmeasured { .. } => IssueCode::Unmeasured,
            IssueKind::ManyDecimals { .. } => IssueCode::ManyDecimals,
            IssueKind::Quoted { .. } => IssueCode::QuotedNumber,
            IssueKind::Falls { .. } => IssueCode::Falls,
            IssueKind::CountersDisagree { .. } => IssueCode::CountersDisagree,
            IssueKind::FileName(_) => IssueCode::FileName,
            IssueKind::Provenance(_)
            | IssueKind::ProvenanceDisagrees { .. }
            | IssueKind::AttestedCellAbsent { .. } => IssueCode::Provenance,
        }
    }

    /// How much it weighs.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self.code() {
            IssueCode::QuotedNumber | IssueCode::Falls => Severity::Note,
            IssueCode::MetadataKey
            | IssueCode::Unmeasured
            | IssueCode::ManyDecimals
            | IssueCode::CountersDisagree
            | IssueCode::FileName => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// Whether someone who looks up this cell should hear of it.
    #[must_use]
    pub(super) fn concerns(&self, thinking: Thinking, wanted: u32) -> bool {
        match &self.kind {
            IssueKind::Cell { mode, draft_length, .. }
            | IssueKind::Unmeasured { mode, draft_length }
            | IssueKind::ManyDecimals { mode, draft_length, .. }
            | IssueKind::Quoted { mode, draft_length, .. }
            | IssueKind::CountersDisagree { mode, draft_length, .. } => {
                *mode == thinking && *draft_length == wanted
            }
            // The value is golden although a shorter draft has a larger one.
            IssueKind::Falls { .. } => false,
            _ => true,
        }
    }
}

impl fmt::Display for CurveIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(at) => write!(f, "{at}: {}", self.kind),
            None => write!(f, "{}", self.kind),
        }
    }
}

impl From<YamlError> for CurveIssue {
    fn from(error: YamlError) -> Self {
        Self { at: Some(error.at), kind: IssueKind::Yaml(error.kind) }
    }
}

fn list(names: &[String]) -> String {
    const MOST: usize = 5;
    let mut shown: Vec<String> = names.iter().take(MOST).map(|name| quoted(name)).collect();
    if let Some(more) = names.len().checked_sub(MOST).filter(|more| *more > 0) {
        shown.push(format!("{more} more"));
    }
    shown.join(", ")
}
