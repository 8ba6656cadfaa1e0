//! What each engine reads, in which unit, and what its versions do with it. No I/O.
//!
//! [`settings`] goes from a target to settings. The facts about versions stand in one table per engine:
//! [`sglang::facts`], [`vllm::facts`], [`trtllm::facts`], [`atom::facts`].

pub mod atom;
mod drafter;
mod fact;
mod kind;
mod number;
mod server;
mod settings;
pub mod sglang;
pub(crate) mod tilert;
pub mod trtllm;
mod version;
pub mod vllm;

pub use drafter::{DraftFamily, Drafter, UnknownDrafter};
#[cfg(test)]
pub(crate) use fact::check as fact_check;
pub use fact::{Change, Doubt, Era, Fact, First, History};
pub use kind::{Engine, UnknownEngine};
pub use number::General;
pub use server::{Models, Server};
pub use settings::{
    Removal, Setting, SettingKind, SettingValue, Settings, SettingsError, Warning, WarningCode, settings,
    unset,
};
pub use version::{EngineVersion, EngineVersionError, Release};
