//! JSON. A document begins with `"schema_version": 1` and ends with a line end; records are one object a line.

mod audit;
pub mod curves;
mod document;
mod env;
mod records;

pub use audit::AuditDocument;
pub use document::{SCHEMA_VERSION, write};
pub use env::EnvDocument;
pub use records::write_record;
