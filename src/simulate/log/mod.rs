//! Logs that a server could have written: what an engine prints of the accept lengths that were drawn.
//!
//! A plan says which engine and version, which servers, load and damage; a [`DrawSource`] gives the accept lengths;
//! [`write_log`] writes the text and says what it holds.

mod atom;
mod damage;
mod draws;
mod emit;
mod error;
mod law;
mod load;
mod page;
mod seeded;
mod sglang;
mod summary;
mod tally;
mod text;
mod time;
mod vllm;

pub use atom::{AtomLog, AtomPlan, Forced};
pub use damage::{Damage, DamageError, Rate, Wrapper};
pub use draws::{DrawSource, DrawStream};
pub use emit::{LogPlan, write_log, write_log_with};
pub use error::PlanError;
pub use law::{LawSource, LawStream};
pub use load::Load;
pub use seeded::{SeededSource, SeededStream};
pub use sglang::{
    Caps, Device, NEWEST, Noise, OLDEST, Parallel, Pause, Pools, Role, Run, SglangLog, SglangPlan,
    Speculation, sglang_releases,
};
pub use summary::{DamageCounts, Fate, RankSummary, Summary, Window};
pub use time::{LocalTime, LocalTimeError};
pub use vllm::{VllmEra, VllmLog, VllmPause, VllmPlan};
