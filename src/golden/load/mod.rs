//! From the text of a curve file to a curve, and everything that is odd about it.

mod checks;
mod file;
mod forms;

pub use file::{Parsed, check_provenance, parse_curve};
