//! Emitted logs, read back: by the library's own reader where there is one, by a parser of the test's own elsewhere.

// Helpers outside `#[test]` functions may do what tests may do: a failed assumption is a failed test.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "counts of lines are positive and small"
)]

mod atom;
mod audits;
mod damaged;
mod looks;
#[cfg(feature = "cli")]
mod program;
mod properties;
mod round_trip;
mod sglang;
mod support;
mod vllm;
