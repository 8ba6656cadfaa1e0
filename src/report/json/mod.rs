//! JSON documents. Every one begins with `"schema_version": 1` and ends with a line end.

pub mod curves;
mod document;

pub use document::{SCHEMA_VERSION, write};
