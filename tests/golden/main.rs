//! Golden curves: every cell, every rule of the file format, resolution, and the mistakes that happened.

// Helpers outside `#[test]` functions may do what tests may do: a failed assumption is a failed test.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod cells;
mod commands;
mod directory;
mod facts;
mod mistakes;
mod properties;
mod resolution;
mod support;
mod validation;
