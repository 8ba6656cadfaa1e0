//! `accsim signoff`: folders assembled from recorded logs, with every item decided; each mutation of an input flips its
//! own item; what is missing is never taken for true; nothing secret comes out.
//!
//! `SNAPSHOTS=overwrite cargo test --test signoff` writes the snapshots anew; read the difference before committing it.

#![cfg(feature = "cli")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "Clippy's leave for tests ends at the test functions; their helpers fail the same way"
)]

mod assembled;
mod contradictions;
mod curve;
mod formats;
mod hostile;
mod launch;
mod layouts;
mod missing;
mod mutations;
mod scripts;
mod secrets;
mod support;
