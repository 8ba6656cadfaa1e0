//! TensorRT-LLM: one environment variable that counts accepted drafts (accept length minus 1), one draw per request.

pub mod facts;
mod settings;

pub(crate) use settings::{UNSET, settings};
