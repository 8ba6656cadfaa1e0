//! `JUnit` files, as CI systems read them.

mod audit;
mod recipe;

pub use audit::write_audit;
pub use recipe::write_check;
