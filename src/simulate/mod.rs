//! The simulator: what an engine does with a target, and what its server would have logged.

pub mod log;
