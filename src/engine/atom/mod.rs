//! ATOM: one command-line argument, one draw per request and position.

pub mod facts;
mod settings;

pub(crate) use settings::{UNSET, settings};
