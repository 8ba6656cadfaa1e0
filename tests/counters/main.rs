//! Counters, requests and endpoints: what is read, what is summed, what is refused.

#![cfg(feature = "cli")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "Clippy's leave for tests ends at the test functions; their helpers fail the same way"
)]

#[path = "../common/aiperf.rs"]
mod aiperf;
mod audit;
mod bounded;
mod cases;
mod collect;
mod endpoints;
mod largest;
mod matrix;
mod properties;
mod records;
mod support;
mod table;
