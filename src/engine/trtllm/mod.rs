//! TensorRT-LLM: one environment variable that counts accepted drafts (accept length minus 1), one draw per request.

pub mod facts;
mod prediction;
mod settings;

pub(crate) use prediction::predict;
pub(crate) use settings::{UNSET, VARIABLE, doubt, settings};
