//! What servers and requests say in figures: counters and gauges, statistics of requests, documents of an engine's own
//! endpoints. Text of Prometheus, JSON and Parquet come in, records go out: sums, never a mean of means.

mod counts;
mod difference;
mod exposition;
mod family;
mod figures;
mod json;
mod parquet;
mod recognise;
mod series;
mod snapshot;
mod text;

pub use counts::{Contradiction, Counts};
pub use difference::{Counted, Difference, DifferenceError, difference};
pub use exposition::{Exposed, LineFault, Sample, parse_line};
pub use family::{Exporter, Family, Role};
pub use figures::{CounterRecord, DebugStats, IterationStats, RequestFigures, ServerInfo};
pub use json::{JsonEnd, read_json};
pub use series::{SeriesKey, Track};
pub use snapshot::{Form, ModelCounts, Moment, Scrape, Snapshot, Span};
pub use text::{TextRead, read_text};

pub(in crate::evidence) use self::parquet::{Export, read_parquet};
pub(in crate::evidence) use recognise::{Document, LOOK, recognise};
