//! JSON of servers, clients and exports: one value, or many behind each other. Read as a stream: an export of gigabytes
//! costs the memory of its series.

#[macro_use]
mod scalars;

mod bounded;
mod document;
mod export;
mod guard;
mod object;
mod parts;

pub use document::{JsonEnd, read_json};
