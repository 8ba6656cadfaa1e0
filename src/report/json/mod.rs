//! JSON documents. Every one begins with `"schema_version": 1` and ends with a line end.

mod audit;
pub mod curves;
mod document;
mod env;

pub use audit::write_audit;
pub use document::{SCHEMA_VERSION, write};
pub use env::EnvDocument;
