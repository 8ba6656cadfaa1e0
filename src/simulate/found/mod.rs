//! Settings as they stand in files: environments, traces of a shell, what `accsim env --json` printed, and recipes.

mod command;
mod document;
mod error;
mod knobs;
mod mapping;
mod recipe;
mod role;
mod shell;
mod spec;

pub use document::parse_env;
pub use error::{FoundError, FoundErrorKind};
pub use recipe::{Recipe, parse_recipe};
pub use role::{FoundSetting, NearMiss, Role};
