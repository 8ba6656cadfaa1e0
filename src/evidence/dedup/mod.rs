//! Lines that say again what another line said: copies by other ranks of one scheduler, and logs that were joined twice.

mod deduplicator;
mod fingerprint;
mod older;
mod ranks;
mod source;
mod table;
#[cfg(test)]
mod tests;
mod time;
mod voices;
mod waiting;

pub(crate) use source::Source;
pub(crate) use time::Time;
pub(crate) use waiting::message_identity;

pub use deduplicator::{Deduplicator, Novelty};
