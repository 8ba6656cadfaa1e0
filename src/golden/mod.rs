//! Golden curves: the file format, the compiled-in catalogue, and the resolution of a prefix, method and draft
//! length to one cell. No network and no clock; `directory` alone touches the file system.

mod accept_length;
mod builtin;
mod catalogue;
mod check;
mod curve;
mod diff;
mod directory;
mod header;
mod issue;
mod load;
mod lookup;
mod nearest;
mod number;
mod provenance;
mod resolution;
mod sampling;
mod target;
mod write;

pub use accept_length::{AcceptLength, AcceptLengthError};
pub use catalogue::{Catalogue, CatalogueOrigin, Entry, Loaded};
pub use check::{Checked, FileIssue};
pub use curve::{Cell, CellValue, Cells, Curve, DraftLengths, is_curve_name};
pub use diff::{CellDifference, differences};
pub use directory::{DirectoryError, PROVENANCE_DIR, ReadError, curve_files, read_file};
pub use header::{CounterLine, Header, MeasuredOn, ModeHeader, SourceRun};
pub use issue::{CellFault, CurveIssue, IssueCode, IssueKind, Severity};
pub use load::{Parsed, check_provenance, parse_curve};
pub use lookup::{Available, Lookup, LookupError, LookupWarning, Query};
pub use provenance::{Attestation, Provenance, Source, Status};
pub use resolution::{
    CURVE_RULES, CurveRule, DraftSampler, METHOD_ALIASES, MethodAlias, Pick, Resolved, resolve,
};
pub use sampling::{Sampling, SamplingScope};
pub use target::{GoldenCell, SettingSource, Target, TargetError, TargetOrigin, Thinking};
