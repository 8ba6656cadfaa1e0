//! Two launches, compared flag by flag: aliases, quoting, order and defaults do not count.

mod defaults;
mod diff;
mod flags;
mod names;
mod read;
mod value;

pub use diff::{LaunchRules, launch_diff};
pub(in crate::signoff) use read::open_quote;
pub use read::{Launch, LaunchError, Launches, Setting, read_launches};
pub use value::LaunchValue;
