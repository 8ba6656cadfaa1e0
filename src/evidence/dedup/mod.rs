//! Lines that say again what another line said: copies by other ranks of one scheduler, and logs that were joined twice.

mod deduplicator;
mod fingerprint;
mod ranks;
mod table;
#[cfg(test)]
mod tests;
mod voices;
mod waiting;

pub use deduplicator::{Deduplicator, Novelty};
