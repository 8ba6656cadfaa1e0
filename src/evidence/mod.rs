//! What a server left behind: bytes in, records out. No statistics and no policy.

mod atom;
mod batch;
mod counters;
mod decimal;
mod dedup;
mod digits;
mod engine_line;
mod follow;
mod pattern;
mod pool;
mod record;
mod sglang;
mod source;
mod tags;
mod trtllm;
mod vllm;

pub use atom::{AtomContradiction, AtomForced, AtomStats};
pub use batch::{Batch, CompactLine, Mark, Part};
pub use counters::{
    Contradiction, Counted, CounterRecord, Counts, DebugStats, Difference, DifferenceError, Exporter,
    Exposed, Family, Form, IterationStats, JsonEnd, LineFault, ModelCounts, Moment, RequestFigures, Role,
    Sample, Scrape, SeriesKey, ServerInfo, Snapshot, Span, TextRead, Track, difference, parse_line,
    read_json, read_text,
};
pub use dedup::{Deduplicator, Novelty};
pub(crate) use dedup::{Source, Time, message_identity};
pub use engine_line::EngineLine;
pub use follow::{FollowError, Follower, Polled, Unfollowed};
pub use pool::{Pool, Position, Spread, StepCount, Window};
pub use record::{
    CacheFlush, DecodeLine, EchoedSetting, Graph, GraphLabel, Hundredths, Place, PrefillFigures, PrefillLine,
    Record, RecordKind, RecordSink, ServerStart, SkipReason, Skipped, Timestamp,
};
pub(crate) use sglang::leading_tokens;
pub use sglang::{Field, Fields, Scanner, server_arguments};
pub use source::{
    Failure, Format, Group, Input, Limit, Limits, LogFile, Mode, PassedOver, PointBy, Progress, ReadError,
    Reader, SnapshotError, TextSink, Why, WorkerName, group, point_name, read_snapshot,
};
pub(crate) use source::{JSON_BROKEN, JSON_CUT, TEXT_CUT, escaped};
pub use tags::{Tag, Tags};
pub use trtllm::TrtllmIteration;
pub use vllm::{Adjacent, VllmContradiction, VllmEngine, VllmSpec};
