//! What an ATOM log shall hold, checked.

use crate::simulate::log::{Damage, LocalTime, PlanError};

/// What an ATOM log shall hold. [`AtomPlan::new`] checks it.
#[derive(Clone, Debug, PartialEq)]
pub struct AtomLog {
    /// When the log begins; ATOM writes the time of day.
    pub start: LocalTime,
    /// K: tokens drafted per request and step, 1 to 64.
    pub draft_length: u32,
    /// Schedulers that write to the log, 1 to 4096. Their lines do not say whose they are.
    pub schedulers: u32,
    /// Requests that run at a time, 1 to 65536.
    pub running: u32,
    /// Intervals of 1000 sequence-steps of each scheduler.
    pub intervals: u64,
    /// What the server says at its start when acceptance is forced.
    pub forced: Option<Forced>,
    /// What happened to the file. Only wrappers and CR LF: the rest is about SGLang's lines.
    pub damage: Damage,
    /// Seed of everything but the acceptance.
    pub seed: u64,
}

/// Forced acceptance as the server's own line has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Forced {
    /// Tokens per step, the target model's own included.
    pub accept_length: f64,
    /// Probability that the first one, two, ... drafts are all accepted.
    pub rates: Vec<f64>,
}

impl Forced {
    /// The rates of floor or ceil: as many ones as drafts are always accepted, a fraction, then zeros.
    #[must_use]
    pub fn at(accept_length: f64, draft_length: u32) -> Self {
        let drafts = accept_length - 1.0;
        let rates = (0..draft_length)
            .map(|position| {
                let rate = (drafts - f64::from(position)).clamp(0.0, 1.0);
                // The line shows 0.78 for a length of 3.78.
                (rate * 1e10).round() / 1e10
            })
            .collect();
        Self { accept_length, rates }
    }
}

impl AtomLog {
    /// One scheduler with 16 requests and free acceptance.
    #[must_use]
    pub fn new(start: LocalTime, draft_length: u32, intervals: u64) -> Self {
        Self {
            start,
            draft_length,
            schedulers: 1,
            running: 16,
            intervals,
            forced: None,
            damage: Damage::default(),
            seed: 0,
        }
    }
}

/// An [`AtomLog`] that can be written.
#[derive(Clone, Debug)]
pub struct AtomPlan {
    log: AtomLog,
}

impl AtomPlan {
    /// Checks a log.
    pub fn new(log: AtomLog) -> Result<Self, PlanError> {
        PlanError::range("the draft length", log.draft_length, 1, 64)?;
        PlanError::range("schedulers", log.schedulers, 1, 4096)?;
        PlanError::range("running requests", log.running, 1, 1 << 16)?;
        log.damage.check_wrappers()?;
        Ok(Self { log })
    }

    /// What it was made of.
    #[must_use]
    pub fn log(&self) -> &AtomLog {
        &self.log
    }
}
