//! Audits of whole fleets: a manifest of runs worked through in one process, a journal to go on from, shards for many
//! machines, and the merging of what they wrote. What one run shows is `audit`'s to say.

mod document;
mod flags;
mod identity;
mod journal;
mod manifest;
mod merge;
mod part;
mod row;
mod run;
mod spelling;
mod table;

pub(super) use document::PartWriter;
pub(super) use flags::FleetFlags;
pub(super) use identity::hash;
pub(super) use merge::{MergeArgs, run as merge};
pub(super) use part::{PartPoint, PointLog, ToldSetting};
pub(super) use run::{check_binary, run};
pub(super) use spelling::spelled;
