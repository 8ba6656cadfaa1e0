//! `JUnit` files, as CI systems read them.

mod audit;

pub use audit::write_audit;
