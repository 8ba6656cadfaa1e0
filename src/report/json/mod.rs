//! JSON documents. Every one begins with `"schema_version": 1` and ends with a line end.

mod audit;
mod check;
pub mod curves;
mod document;
mod env;
mod number;
mod prediction;
mod simulate;

pub use audit::write_audit;
pub use check::CheckDocument;
pub use document::{SCHEMA_VERSION, write};
pub use env::EnvDocument;
pub use simulate::SimulateDocument;
