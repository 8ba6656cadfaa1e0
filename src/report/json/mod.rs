//! JSON documents, one file per kind of result.

mod env;

pub use env::write_env;
