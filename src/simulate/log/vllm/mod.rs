//! Logs of vLLM: the engine's line and the window of speculative decoding behind it, in the words of every era.

mod era;
mod plan;
mod write;

pub use era::VllmEra;
pub use plan::{VllmLog, VllmPause, VllmPlan};

pub(super) use write::write;
