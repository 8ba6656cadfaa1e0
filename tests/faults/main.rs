//! What happens when the world goes wrong: reads that fail, files that change while they are read, disks that are full, processes
//! that are ended at any write, clocks that go backwards, readers that leave, names that are no text.
//!
//! `shim.c`, loaded in front of the C library, makes the system fail where a test wants it to; so it is the program itself that is
//! tested, with nothing in it for tests. `source.rs` does the same to the library, by a reader that fails.

#![cfg(feature = "cli")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "Clippy's leave for tests ends at the test functions; their helpers fail the same way"
)]

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod journal;
#[path = "../sources/pack.rs"]
#[allow(dead_code, reason = "the tests of the readers use the rest")]
mod pack;
#[cfg(unix)]
mod program;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod reading;
mod source;
#[cfg(unix)]
mod surroundings;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod writing;
