//! What each engine reads, in which unit, and what its versions do with it. No I/O.

mod drafter;

pub use drafter::{DraftFamily, Drafter, UnknownDrafter};
