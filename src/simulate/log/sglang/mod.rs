//! Logs of SGLang servers, releases 0.3.6 to 0.5.23.

mod arguments;
mod batch;
mod line;
mod plan;
mod prefix;
mod rank;
mod schedule;
mod shape;
mod style;
mod template;
mod write;

pub use plan::{
    Caps, Device, Load, Noise, Parallel, Pause, PlanError, Pools, Role, Run, SglangLog, SglangPlan, Speculation,
};
pub use shape::{NEWEST, OLDEST, sglang_releases};

pub(super) use rank::step_us;
pub(super) use write::write;
