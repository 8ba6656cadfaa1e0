//! What a log holds: the counts that a reader should find.

use std::collections::BTreeMap;

use crate::evidence::{Hundredths, Tags};

/// What was drawn and written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Bytes of the log.
    pub bytes: u64,
    /// Decode lines, or windows of other engines, each counted once however many copies of it were printed.
    pub decode_lines: u64,
    /// Prefill lines, likewise.
    pub prefill_lines: u64,
    /// Starts of a server.
    pub servers: u64,
    /// All other lines.
    pub other_lines: u64,
    /// By server, then by rank.
    pub ranks: Vec<RankSummary>,
    /// What was done to the lines.
    pub damage: DamageCounts,
}

/// The decode lines of one rank of one server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankSummary {
    /// Number of the server, from 0.
    pub server: u32,
    /// Number of the rank or engine, from 0.
    pub rank: u32,
    /// The tags of its lines; of the first copy where there are several.
    pub tags: Tags,
    /// Decode lines.
    pub decode_lines: u64,
    /// A: tokens accepted in the windows that were printed, the target model's own included.
    pub accepted: u64,
    /// C: batch sizes summed over the steps of those windows.
    pub request_steps: u64,
    /// How many lines print which accept length; empty without speculation.
    pub printed: BTreeMap<Hundredths, u64>,
}

/// One decode line, or one window of another engine, as it was drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Number of the server, from 0.
    pub server: u32,
    /// Number of the rank or engine, from 0.
    pub rank: u32,
    /// Requests in the batch of its last step.
    pub running: u64,
    /// Requests that wait.
    pub queue: u64,
    /// Tokens in the cache: those of all pools; 0 where no line prints them.
    pub tokens: u64,
    /// A: tokens accepted, the target model's own included.
    pub accepted: u64,
    /// C: batch sizes summed over its steps.
    pub request_steps: u64,
    /// `accept len`; none without speculation.
    pub accept_len: Option<Hundredths>,
    /// `accept rate`, where the release prints it.
    pub accept_rate: Option<Hundredths>,
    /// What became of its lines.
    pub fate: Fate,
}

/// What became of a decode line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It can be read.
    Whole,
    /// It was written twice.
    Repeated,
    /// It cannot be read.
    Lost,
}

/// What was done to lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DamageCounts {
    /// Lines cut before their last field.
    pub truncated: u64,
    /// Lines with another one in their middle.
    pub interleaved: u64,
    /// Lines written twice.
    pub duplicated: u64,
    /// Lines without a break behind them.
    pub glued: u64,
    /// Lines with colours.
    pub coloured: u64,
    /// Lines in two parts.
    pub split: u64,
    /// Decode lines that a reader finds and cannot read, copies counted.
    pub unreadable: u64,
}

impl DamageCounts {
    pub(super) fn add(&mut self, other: &Self) {
        self.truncated += other.truncated;
        self.interleaved += other.interleaved;
        self.duplicated += other.duplicated;
        self.glued += other.glued;
        self.coloured += other.coloured;
        self.split += other.split;
        self.unreadable += other.unreadable;
    }
}
