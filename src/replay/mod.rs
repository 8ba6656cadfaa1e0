//! SGLang's own random draws, recomputed from the seed that its log prints, and laid against the decode lines.

mod law;
mod line;
mod numbers;
mod odds;
mod reach;
mod rounding;
mod sequence;
mod thresholds;
mod twister;

pub use law::{DrawLaw, DrawMethod};
pub use sequence::Sequence;
