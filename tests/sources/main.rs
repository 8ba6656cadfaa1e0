//! Where logs come from: files, directories and streams, packed in whatever way, whole and broken, kind and hostile.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "Clippy's leave for tests ends at the test functions; their helpers fail the same way"
)]

mod broken;
#[cfg(feature = "cli")]
mod command;
mod directories;
mod entries;
mod formats;
mod limits;
mod pack;
mod parallel;
mod properties;
mod read;
#[cfg(feature = "cli")]
#[path = "../common/schema.rs"]
mod schema;
mod threads;
