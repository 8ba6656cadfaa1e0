//! Settings as text to paste, to source or to merge: one file per format.

mod args;
mod docker;
mod dotenv;
mod export;
mod format;
mod unset;
mod yaml;

pub use format::{FormatRefused, SettingsFormat};
pub use unset::write_unset;
