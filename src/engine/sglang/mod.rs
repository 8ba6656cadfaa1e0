//! SGLang: environment variables that the scheduler reads at import, one draw per verify step for the whole batch.

pub mod facts;
mod max;
mod prediction;
pub(crate) mod rows;
mod settings;

use super::{EngineVersion, Release};

pub use max::MaxRule;
pub(crate) use prediction::predict;
pub(crate) use settings::{doubt, names_read, settings, unset};

/// The last release whose source was read for the tables of [`facts`].
pub const LAST_READ: Release = Release::new(0, 5, 23);

/// Whether nobody has read this version: it is newer than [`LAST_READ`], and what the tables say of it is a guess.
#[must_use]
pub fn is_beyond(version: &EngineVersion) -> bool {
    version.is_after(LAST_READ)
}
