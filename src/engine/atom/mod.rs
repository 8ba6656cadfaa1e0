//! ATOM: one command-line argument, one draw per request and position.

pub mod facts;
mod prediction;
mod settings;

pub(crate) use prediction::predict;
pub(crate) use settings::{LENGTH, UNSET, doubt, settings};
