//! What recipes and launchers pin, whether it is the golden value, and how to write it there.
//!
//! Readers turn a file into variants of launches: servers with their arguments and environments, every value with its
//! place. [`read`] knows the formats; [`judge`] holds a file against the golden curves; [`inject`] changes a recipe and
//! leaves every other byte alone. No I/O.

mod allow;
mod compose;
mod config;
mod context;
mod dockerfile;
mod dotenv;
mod dotted;
mod file;
mod finding;
pub mod inject;
mod json;
mod judge;
mod launch;
mod master;
mod merge;
mod model;
mod number;
mod prefix;
mod resolve;
mod selector;
mod shell;
mod source;
mod srt;
mod thinking;
mod told;
mod unique;
mod variants;

pub use allow::{Allowed, Date, DateError};
pub use config::{Config, ConfigError, PathRule, Scenario};
pub use file::{MOST_BYTES, ReadError, is_candidate, is_excluded, read, read_within};
pub use finding::{Evidence, Finding, FindingCode, Note};
pub(crate) use json::of_node;
pub use judge::{Judged, Options, judge};
pub use launch::engine_of_framework;
pub use master::{Master, MasterError, MasterPin, parse_master};
pub(crate) use model::Variant;
pub use model::{Document, Kind, Role};
pub use selector::{Selector, SelectorError};
pub(crate) use shell::is_sound as is_sound_shell;
pub use shell::{Reached, ReachedKind, Way, reaching};
pub use told::{Told, ToldError, ToldSetting};
