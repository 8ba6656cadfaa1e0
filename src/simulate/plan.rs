//! What to simulate.

use crate::law::AcceptanceLaw;

/// Most replicates.
const MOST_REPLICATES: u32 = 1_000_000;

/// Most streams: replicates times ranks that draw for themselves.
const MOST_STREAMS: u64 = 1 << 24;

/// Most draws of all streams together: counts stay whole numbers in a double.
const MOST_DRAWS: u64 = 1 << 53;

/// A law, a load and a seed.
///
/// ```
/// use accsim::law::{AcceptanceLaw, Setting};
/// use accsim::simulate::Plan;
///
/// let law = AcceptanceLaw::match_expected(Setting::new(3.51, 6)?);
/// let simulation = Plan { steps: 1_000_000, seed: 7, ..Plan::new(law) }.run()?;
/// assert_eq!(simulation.sample.draws(), 1_000_000);
/// assert!((simulation.line.sd() - 0.079).abs() < 5e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The law of one draw.
    pub law: AcceptanceLaw,
    /// Verify steps of each rank.
    pub steps: u64,
    /// Requests in the batch of every step.
    pub batch: u32,
    /// Ranks of the server that log.
    pub ranks: u32,
    /// Whether the ranks draw one sequence, and so count once.
    pub ranks_share_draws: bool,
    /// Runs of the server, each with draws of its own.
    pub replicates: u32,
    /// What all draws follow from.
    pub seed: u64,
    /// Verify steps between two lines of the log (`decode_log_interval`).
    pub interval: u32,
}

/// Why a plan cannot be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Something that there must be one of.
    #[error("{0} must be at least 1")]
    Zero(&'static str),
    /// More replicates than allowed.
    #[error("{found} replicates are more than {MOST_REPLICATES}")]
    Replicates {
        /// Replicates asked for.
        found: u32,
    },
    /// More streams than allowed.
    #[error("{replicates} replicates of {ranks} ranks are more than {MOST_STREAMS} sequences of draws")]
    Streams {
        /// Replicates asked for.
        replicates: u32,
        /// Ranks that draw for themselves.
        ranks: u32,
    },
    /// More draws than can be counted.
    #[error("steps times requests, ranks and replicates are more than 2^53 draws")]
    Draws,
}

impl Plan {
    /// One rank that serves one request for 100,000 steps and logs every 40th, once, from seed 0.
    #[must_use]
    pub fn new(law: AcceptanceLaw) -> Self {
        Self {
            law,
            steps: 100_000,
            batch: 1,
            ranks: 1,
            ranks_share_draws: true,
            replicates: 1,
            seed: 0,
            interval: 40,
        }
    }

    /// Sequences of draws that one run has: one where the ranks share.
    #[must_use]
    pub fn sequences(&self) -> u32 {
        if self.ranks_share_draws { 1 } else { self.ranks }
    }

    /// Draws of one sequence: steps, or requests in steps.
    #[must_use]
    pub fn draws(&self) -> u64 {
        self.law.draws_of(self.steps, self.batch)
    }

    /// Checks that everything can be drawn and counted.
    pub(super) fn check(&self) -> Result<(), PlanError> {
        let ones = [
            ("steps", self.steps == 0),
            ("the batch", self.batch == 0),
            ("ranks", self.ranks == 0),
            ("replicates", self.replicates == 0),
            ("the interval", self.interval == 0),
        ];
        if let Some((name, _)) = ones.into_iter().find(|(_, is_zero)| *is_zero) {
            return Err(PlanError::Zero(name));
        }
        if self.replicates > MOST_REPLICATES {
            return Err(PlanError::Replicates { found: self.replicates });
        }
        let streams = u64::from(self.replicates) * u64::from(self.sequences());
        if streams > MOST_STREAMS {
            return Err(PlanError::Streams { replicates: self.replicates, ranks: self.sequences() });
        }
        let draws = u128::from(self.draws()) * u128::from(streams);
        if draws > u128::from(MOST_DRAWS) { Err(PlanError::Draws) } else { Ok(()) }
    }
}
