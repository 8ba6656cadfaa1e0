//! Evidence that comes as sums of accepted drafts and verify steps: the windows of vLLM and ATOM logs, counters, requests.
//! It is judged by what each request draws for itself, not by lines of a batch that shares its draws.
//!
//! Whoever reads sums fills a [`PooledEvidence`] and gives it to
//! [`Observed::add_pooled`](super::Observed::add_pooled); [`judge`](super::judge()) does the rest.

mod agreement;
mod cumulative;
mod estimate;
mod evidence;
mod explain;
mod gather;
mod judge;
mod law;
mod mark;
mod servers;
mod sources;
#[cfg(test)]
mod tests;
mod tolerance;

pub(super) use agreement::{Laws, compare};
pub use evidence::{PooledEvidence, PooledRank, PooledSource};
pub(super) use explain::{export, left_out, others};
pub(super) use gather::{Gather, LineLog};
pub(super) use judge::judge;
