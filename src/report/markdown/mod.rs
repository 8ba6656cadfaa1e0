//! Markdown to paste into a pull request or a sign-off.

mod audit;
mod escape;

pub use audit::write_audit;
#[cfg(feature = "cli")]
pub(crate) use escape::{code, prose};
