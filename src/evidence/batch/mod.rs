//! What a block of a log says, in bulk: the records of a block together, decode lines as small plain values, texts as
//! places in the block. It is what is handed from the threads that read to the one that adds up.

mod breaks;
mod compact;
mod found;
mod view;

pub(in crate::evidence) use breaks::{line_breaks, line_breaks_by};
pub use compact::CompactLine;
pub(in crate::evidence) use compact::{ABSENT, Base, Iteration, Shape, Spot, index};
pub(in crate::evidence) use found::{Findings, Stand};
pub use view::{Batch, Mark, Part};
