//! Reports of `accsim audit`, in every format: snapshots of what people read, and what programs must be able to read.
//!
//! `SNAPSHOTS=overwrite cargo test --test reports` writes the snapshots anew; read the difference before committing it.

#![cfg(feature = "cli")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "Clippy's leave for tests ends at the test functions; their helpers fail the same way"
)]

mod form;
#[cfg(unix)]
mod hostile;
mod html;
#[path = "../common/schema.rs"]
mod schema;
mod snapshots;
mod streams;
mod support;
