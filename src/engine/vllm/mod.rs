//! vLLM: two keys of the speculative configuration, one draw per request and position.

pub mod facts;
mod settings;

pub(crate) use settings::{UNSET, settings};
