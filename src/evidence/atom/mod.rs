//! The reader of ATOM logs: `[MTP Stats ...]` lines, and the line that says what acceptance was forced.

mod forced;
mod stats;

pub use forced::AtomForced;
pub use stats::{AtomContradiction, AtomStats};
