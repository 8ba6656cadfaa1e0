//! Results in the formats that people and programs read. One directory per format, one file per kind of result; no
//! decisions.

pub mod csv;
pub(crate) mod excerpt;
pub mod json;
mod other_fields;
pub mod plot;
pub mod settings;
pub mod text;
