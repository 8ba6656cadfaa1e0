//! The acceptance laws from outside: what they draw, against distributions of another library and against real logs.

// Helpers outside `#[test]` functions may do what tests may do: a failed assumption is a failed test.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "counts of draws are positive and small"
)]

mod distribution;
mod h200;
mod lines;
mod properties;
mod stability;
mod support;
