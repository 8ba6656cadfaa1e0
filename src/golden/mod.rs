//! Golden curves: the file format, the compiled-in catalogue, and the resolution of a prefix, method and draft
//! length to one cell. No network and no clock.

mod accept_length;
mod target;

pub use accept_length::{AcceptLength, AcceptLengthError};
pub use target::{GoldenCell, Target, TargetError, TargetOrigin, Thinking};
