//! SGLang's own random draws, recomputed from the seed that its log prints, and laid against the decode lines.

mod follow;
mod law;
mod line;
mod numbers;
mod odds;
mod reach;
mod resync;
mod rounding;
mod search;
mod sequence;
mod tally;
mod thresholds;
mod twister;

pub use law::{DrawLaw, DrawMethod};
pub use sequence::Sequence;
pub use tally::{SideBySide, Slip};
