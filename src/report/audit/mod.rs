//! What every format of an audit's report shares: the results, and the words for them.

mod replay;
mod run;
mod summary;
mod words;

pub use run::AuditRun;

pub(super) use replay::{side_by_side, slips};
pub(super) use summary::{Summary, batches};
pub(in crate::report) use words::{
    basis, confidence, decimal, graphs, injected, interval_kind, interval_source, mechanism, per_line,
    server, skipped, source_of_target, target, thousands,
};
