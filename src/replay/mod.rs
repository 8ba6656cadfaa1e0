//! SGLang's own random draws, recomputed from the seed that its log prints, and laid against the decode lines.
//!
//! A [`Sequence`] gives the draws of a seed and a [`DrawLaw`], bit for bit as the engine draws them. A [`ReplayBuilder`]
//! takes the lines of one point while they are read, and follows them along the draws of every law that the server could
//! have been given; [`ReplayEvidence::conclude`] says what they prove. Values in, values out: no I/O.

mod builder;
mod candidates;
mod clock;
mod clues;
mod conclude;
mod effort;
mod follow;
mod law;
mod line;
mod numbers;
mod odds;
mod options;
mod outcome;
mod preview;
mod reach;
mod recover;
mod resync;
mod rounding;
mod run;
mod script;
mod search;
mod sequence;
mod tally;
mod thresholds;
mod twister;
mod windows;

pub use builder::{ReplayBuilder, ReplayEvidence, ReplayLine};
pub use clues::UnknownSeed;
pub use conclude::Claim;
pub use law::{DrawLaw, DrawMethod};
pub use options::{ReplayOptions, SEARCHED_DRAWS, StatedTarget};
pub use outcome::{Replay, ReplayReason, ReplayStatus};
pub use preview::decode_lines;
pub use recover::{Clue, FoundSeeds, RecoverError, SEEDS, SeedSearch};
pub use run::ServerDraws;
pub use sequence::Sequence;
pub use tally::{SideBySide, Slip};
