//! Recipes and launchers through the program: what is found, and what is written.

// Helpers outside `#[test]` functions may do what tests may do: a failed assumption is a failed test.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod expected;
mod program;
