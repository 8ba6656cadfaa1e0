//! What a server left behind: bytes in, records out. No statistics and no policy.

mod record;
mod tags;

pub use record::{
    DecodeLine, Graph, GraphLabel, Hundredths, Place, PrefillLine, Record, ServerStart, SkipReason,
};
pub use tags::{Tag, Tags};
