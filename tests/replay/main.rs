//! Replay: logs of real servers and emitted ones laid against the server's own draws, whole and tampered with; foreign
//! logs, none of which may be proved.

// Helpers outside `#[test]` functions may do what tests may do: a failed assumption is a failed test.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[cfg(feature = "cli")]
mod command;
mod emitted;
mod foreign;
#[cfg(feature = "cli")]
mod h200;
mod pytorch;
mod removed;
mod support;
mod tampered;
