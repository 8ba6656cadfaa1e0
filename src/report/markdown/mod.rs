//! Markdown to paste into a pull request or a sign-off.

mod audit;
mod escape;
mod signoff;

pub use audit::write_audit;
#[cfg(feature = "cli")]
pub(crate) use escape::{code, prose};
pub use signoff::{write_launch_diff, write_signoff};
