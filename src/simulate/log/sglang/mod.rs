//! Logs of SGLang servers, releases 0.3.6 to 0.5.23.

mod arguments;
mod batch;
mod last;
mod line;
mod plan;
mod prefix;
mod rank;
mod run;
mod schedule;
mod shape;
mod style;
mod table;
mod template;
mod write;

pub use plan::{Device, Noise, Parallel, Pools, Role, SglangLog, SglangPlan};
pub use run::{Caps, Pause, Run, Speculation};
pub use table::{NEWEST, OLDEST, sglang_releases};

pub(super) use write::write;
