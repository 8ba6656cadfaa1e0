//! Throughput: the closed form against the simulation, calibration on what was simulated and on real logs, labels, refusals.

#![cfg(feature = "cli")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "Clippy's leave for tests ends at the test functions; their helpers fail the same way"
)]

#[path = "../../examples/accuracy/report.rs"]
mod accuracy;
mod agreement;
mod concurrency;
mod identified;
mod labels;
mod program;
mod published;
mod recovery;
mod refusals;
mod server;
mod support;
mod vllm;
mod widths;
