//! What `collect` measured.

use std::collections::BTreeMap;

use serde::Serialize;

use super::tidy;
use crate::collect::Measured;

/// One accept length and the sums behind it.
#[derive(Debug, Serialize)]
pub struct CollectDocument<'a> {
    engine: &'static str,
    model: Option<&'a str>,
    accepted: u64,
    drafts: u64,
    accept_length: f64,
    drafted: Option<u64>,
    draft_length: Option<u32>,
    draft_accept_rate: Option<f64>,
    per_position: Vec<f64>,
    distribution: &'a BTreeMap<u32, u64>,
    series: u32,
}

impl<'a> CollectDocument<'a> {
    /// The document.
    #[must_use]
    pub fn of(measured: &'a Measured) -> Self {
        let difference = &measured.difference;
        let counts = &difference.counts;
        Self {
            engine: difference.exporter.name(),
            model: difference.model.as_deref(),
            accepted: measured.accepted,
            drafts: measured.drafts,
            accept_length: tidy(measured.accept_length),
            drafted: counts.drafted,
            draft_length: counts.draft_length(),
            draft_accept_rate: counts.draft_accept_rate().map(tidy),
            per_position: counts.rates().into_iter().map(tidy).collect(),
            distribution: &counts.histogram,
            series: difference.series,
        }
    }
}
