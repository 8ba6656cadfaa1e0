//! JSON. A document begins with `"schema_version": 1` and ends with a line end; records are one object a line.

mod audit;
mod check;
mod collect;
pub(super) mod counters;
pub mod curves;
mod document;
mod engines;
mod env;
mod fleet;
mod number;
mod pooled;
mod prediction;
pub mod recipe;
mod records;
mod replay;
mod signoff;
mod simulate;
mod throughput;

pub use audit::AuditDocument;
pub(super) use audit::point;
pub use check::CheckDocument;
pub use collect::CollectDocument;
pub use document::{SCHEMA_VERSION, write};
pub(super) use engines::EngineFields;
pub use env::EnvDocument;
pub use fleet::write_fleet;
pub(super) use number::tidy;
pub use records::write_record;
pub use signoff::SignoffDocument;
pub use simulate::SimulateDocument;
pub use throughput::{ModelDocument, ParetoDocument, PredictDocument, SweepDocument, ThroughputSimulation};
