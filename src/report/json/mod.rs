//! JSON. A document begins with `"schema_version": 1` and ends with a line end; records are one object a line.

mod audit;
mod check;
pub mod curves;
mod document;
mod env;
mod fleet;
mod number;
mod prediction;
mod records;
mod replay;
mod simulate;
mod throughput;

pub use audit::AuditDocument;
pub(super) use audit::point;
pub use check::CheckDocument;
pub use document::{SCHEMA_VERSION, write};
pub use env::EnvDocument;
pub use fleet::write_fleet;
pub(super) use number::tidy;
pub use records::write_record;
pub use simulate::SimulateDocument;
pub use throughput::{ModelDocument, ParetoDocument, PredictDocument, SweepDocument, ThroughputSimulation};
