//! Annotations of a GitHub Actions workflow: `::error file=..,line=..,title=..::message`.

mod audit;
mod command;
mod recipe;

pub use audit::write_audit;
pub use recipe::write_check;
