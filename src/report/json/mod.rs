//! JSON documents. Every one begins with `"schema_version": 1` and ends with a line end.

mod audit;
pub mod curves;
mod document;
mod env;

pub use audit::AuditDocument;
pub use document::{SCHEMA_VERSION, write};
pub use env::EnvDocument;
