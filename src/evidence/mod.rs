//! What a server left behind: bytes in, records out. No statistics and no policy.

mod record;
mod sglang;
mod source;
mod tags;

pub use record::{
    DecodeLine, Graph, GraphLabel, Hundredths, Place, PrefillLine, Record, ServerStart, SkipReason, Timestamp,
};
pub use sglang::{Field, Fields, Scanner};
pub use source::{
    Failure, Format, Group, Input, Limit, Limits, LogFile, Mode, PassedOver, PointBy, Progress, ReadError,
    Reader, Why, WorkerName, group,
};
pub use tags::{Tag, Tags};
