//! The reader of vLLM logs, of every era: `SpecDecoding metrics`, the engine line beside it, and what was configured.

mod adjacent;
mod check;
mod config;
mod engine;
mod prefix;
mod spec;
#[cfg(test)]
mod tests;

pub use adjacent::Adjacent;
pub use check::VllmContradiction;
pub(in crate::evidence) use config::{WORDS as CONFIG_WORDS, settings};
pub use engine::VllmEngine;
pub use spec::VllmSpec;
