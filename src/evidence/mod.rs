//! What a server left behind: bytes in, records out. No statistics and no policy.

mod batch;
mod dedup;
mod digits;
mod follow;
mod pattern;
mod record;
mod sglang;
mod source;
mod tags;

pub use batch::{Batch, CompactLine, Mark, Part};
pub use dedup::{Deduplicator, Novelty};
pub(crate) use dedup::{Source, Time, message_identity};
pub use follow::{FollowError, Follower, Polled, Unfollowed};
pub use record::{
    CacheFlush, DecodeLine, EchoedSetting, Graph, GraphLabel, Hundredths, Place, PrefillFigures, PrefillLine,
    Record, RecordKind, RecordSink, ServerStart, SkipReason, Skipped, Timestamp,
};
pub use sglang::{Field, Fields, Scanner};
pub(crate) use source::escaped;
pub use source::{
    Failure, Format, Group, Input, Limit, Limits, LogFile, Mode, PassedOver, PointBy, Progress, ReadError,
    Reader, Why, WorkerName, group, point_name,
};
pub use tags::{Tag, Tags};
