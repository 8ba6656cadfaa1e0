//! The other engines: what their lines say, and what an audit makes of them.

#![cfg(feature = "cli")]
// Helpers outside `#[test]` functions may do what tests may do: a failed assumption is a failed test.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../common/schema.rs"]
mod schema;

mod audits;
mod findings;
mod lines;
mod mixtures;
mod rounds;
mod servers;
mod support;
mod times;
