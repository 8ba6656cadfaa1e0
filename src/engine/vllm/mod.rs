//! vLLM: two keys of the speculative configuration, one draw per request and position.

pub mod facts;
mod prediction;
mod settings;

pub(crate) use prediction::predict;
pub(crate) use settings::{LENGTH, METHOD, UNSET, doubt, settings};
