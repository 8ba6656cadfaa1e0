//! Results in the formats that people and programs read. One directory per format, one file per kind of result; no
//! decisions.

mod audit;
pub mod csv;
pub(crate) mod excerpt;
pub mod fleet;
pub mod github;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
mod other_fields;
pub mod parquet;
pub mod plot;
pub mod recipe;
pub mod sarif;
pub mod settings;
mod signoff;
pub mod text;

pub use audit::AuditRun;
pub use signoff::SignoffRun;
