//! Logs of ATOM: acceptance statistics in pairs, of an interval and since the start, and the line that says that
//! acceptance is forced.

mod plan;
mod write;

pub use plan::{AtomLog, AtomPlan, Forced};

pub(super) use write::write;
