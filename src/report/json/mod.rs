//! JSON documents, one file per kind of result.

mod audit;
mod env;

pub use audit::write_audit;
pub use env::write_env;
