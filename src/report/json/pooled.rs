//! Sums of accepted drafts and steps.

use serde::Serialize;

use crate::evidence::{Pool, Position};

use super::number::tidy;

/// What engines that print or count sums show.
#[derive(Debug, Serialize)]
pub(super) struct PooledEntry {
    windows: u64,
    accepted: u64,
    drafted: u64,
    steps_low: u64,
    steps_high: u64,
    draft_length: Option<u32>,
    per_position: Vec<f64>,
    histogram: Vec<u64>,
}

impl PooledEntry {
    pub(super) fn of(pool: &Pool) -> Self {
        Self {
            windows: pool.windows,
            accepted: pool.accepted,
            drafted: pool.drafted,
            steps_low: pool.steps_low,
            steps_high: pool.steps_high,
            draft_length: pool.draft_length(),
            per_position: pool.positions.iter().map(Position::share).map(tidy).collect(),
            histogram: pool.whole_histogram().map(<[u64]>::to_vec).unwrap_or_default(),
        }
    }
}
