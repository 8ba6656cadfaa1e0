//! The answer to one question: what would be drawn, and what would a log show?

use crate::engine::{Prediction, PredictionNote, Server};
use crate::evidence::Hundredths;
use crate::golden::GoldenCell;

use super::plan::Plan;
use super::simulation::Simulation;

/// What a target leads to.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The accept length that was asked for, in tokens per verify step.
    pub accept_length: f64,
    /// The most tokens that a verify step emits.
    pub max_accept_length: u32,
    /// The golden cell, where the target is one.
    pub cell: Option<GoldenCell>,
    /// The server, and what it does with the target; none where only a law was asked for.
    pub engine: Option<(Server, Prediction)>,
    /// What is worth knowing of a law without an engine.
    pub notes: Vec<PredictionNote>,
    /// What was drawn; none where the server draws from no law.
    pub drawn: Option<(Plan, Simulation)>,
    /// What decode lines will read, where the server's random seed is known.
    pub seeded: Option<SeededLines>,
}

/// The decode lines of a server with a known random seed, as long as its batch does not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeededLines {
    /// The seed.
    pub seed: u64,
    /// What each line prints.
    pub lines: Vec<Hundredths>,
}
