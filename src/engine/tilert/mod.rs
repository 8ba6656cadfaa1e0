//! TileRT: two environment variables of the decode role, known through benchmark recipes only. Its versions, the range
//! it takes and its log are not known, so there is no table of facts.

mod prediction;
mod settings;

pub(crate) use prediction::predict;
pub(crate) use settings::{LENGTH, METHOD, UNSET, settings};
