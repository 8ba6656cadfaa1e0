//! Annotations of a GitHub Actions workflow: `::error file=..,line=..,title=..::message`.

mod audit;
mod command;

pub use audit::write_audit;
