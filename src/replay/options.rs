//! What the caller knows about a server's draws.

/// Draws that are searched for the start of a log whose first lines are lost.
pub const SEARCHED_DRAWS: u64 = 1_000_000;

/// What to look for, and how far.
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    /// The target that the server was meant to have.
    pub stated: Option<StatedTarget>,
    /// Accept lengths that it may have been given instead: those of the golden cells.
    pub cells: Vec<f64>,
    /// The seed, for servers whose arguments do not name one.
    pub seed: Option<u64>,
    /// Verify steps per decode line, where the caller knows better than the log.
    pub decode_log_interval: Option<u32>,
    /// Draws to search for a lost start; 0 for none.
    pub search_limit: u64,
    /// Keep the first steady lines of a server without a seed, for a search through all seeds.
    pub keep_clues: bool,
    /// Decimal logarithm of the seeds that were tried before `seed` was given: its price.
    pub seed_charge: f64,
}

/// A target before the log is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatedTarget {
    /// Tokens a step.
    pub accept_length: f64,
    /// Most tokens of a step; `None` leaves it to the server's arguments.
    pub max_accept_length: Option<u32>,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        Self {
            stated: None,
            cells: Vec::new(),
            seed: None,
            decode_log_interval: None,
            search_limit: SEARCHED_DRAWS,
            keep_clues: false,
            seed_charge: 0.0,
        }
    }
}
