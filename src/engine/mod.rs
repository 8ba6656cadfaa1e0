//! What each engine reads, in which unit, and what its versions do with it. No I/O.
//!
//! [`settings`] goes from a target to settings, [`law_for`] from settings to the law that a server draws from, or to the
//! reason why there is none. The facts about versions stand in one table per engine:
//! [`sglang::facts`], [`vllm::facts`], [`trtllm::facts`], [`atom::facts`].

pub mod atom;
mod doubt;
mod drafter;
mod fact;
mod injected;
mod kind;
mod law;
mod number;
mod prediction;
mod python;
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
pub use injected::Injected;
pub use kind::{Engine, UnknownEngine};
pub use law::law_for;
pub use number::General;
pub use prediction::{
    Crash, Otherwise, Outcome, Prediction, PredictionNote, RankDraws, RealReason, Refusal, Unknown, When,
};
pub use server::{Models, Server};
pub use settings::{
    Removal, Setting, SettingKind, SettingValue, Settings, SettingsError, Warning, WarningCode, settings,
    unset,
};
pub use version::{EngineVersion, EngineVersionError, Release};
