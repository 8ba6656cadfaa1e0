//! `JUnit` files, as CI systems read them.

mod audit;
mod signoff;

pub use audit::write_audit;
pub use signoff::write_signoff;
