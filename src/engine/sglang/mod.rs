//! SGLang: environment variables that the scheduler reads at import, one draw per verify step for the whole batch.

pub mod facts;
mod max;
mod prediction;
pub(crate) mod rows;
mod settings;

pub use max::MaxRule;
pub(crate) use prediction::predict;
pub(crate) use settings::{doubt, names_read, settings, unset};
