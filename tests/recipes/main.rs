//! Recipes and launchers through the program: what is found, and what is written.

// Helpers outside `#[test]` functions may do what tests may do: a failed assumption is a failed test.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
// Test texts are put together where they are read.
#![allow(clippy::format_push_string, clippy::format_collect)]

mod base;
mod ci;
mod config;
mod expected;
mod files;
mod formats;
mod given;
mod inject;
mod launchers;
mod mistakes;
mod places;
mod program;
mod properties;
mod unread;
mod values;
mod wrappers;
