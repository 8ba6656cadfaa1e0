//! SARIF 2.1.0, as GitHub code scanning takes it.

mod recipe;

pub use recipe::write_check;
