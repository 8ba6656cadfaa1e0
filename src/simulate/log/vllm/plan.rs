//! What a vLLM log shall hold, checked.

use super::era::VllmEra;
use crate::simulate::log::{Damage, Load, LocalTime, PlanError};

/// What a vLLM log shall hold. [`VllmPlan::new`] checks it.
#[derive(Clone, Debug, PartialEq)]
pub struct VllmLog {
    /// Whose lines are written.
    pub era: VllmEra,
    /// When the log begins; vLLM writes no year.
    pub start: LocalTime,
    /// K: tokens drafted per request and verify step, 1 to 64.
    pub draft_length: u32,
    /// Engines of the server, 1 to 4096.
    pub engines: u32,
    /// The process that writes, from 0.11 on; none in offline use.
    pub process: Option<u32>,
    /// Windows of each engine in which it drafted.
    pub windows: u64,
    /// Seconds of a window, 1 to 3600; the server's default is 10.
    pub window_seconds: u32,
    /// What clients ask of each engine; a cycle is counted in windows.
    pub load: Load,
    /// Times without a request, in the order of the windows they follow.
    pub pauses: Vec<VllmPause>,
    /// What happened to the file. Only wrappers and CR LF: the rest is about SGLang's lines.
    pub damage: Damage,
    /// Seed of everything but the acceptance.
    pub seed: u64,
}

/// Windows without a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VllmPause {
    /// The windows before it.
    pub after_windows: u64,
    /// How many it lasts.
    pub windows: u32,
}

impl VllmLog {
    /// One engine with 16 requests, in windows of ten seconds.
    #[must_use]
    pub fn new(era: VllmEra, start: LocalTime, draft_length: u32, windows: u64) -> Self {
        Self {
            era,
            start,
            draft_length,
            engines: 1,
            process: Some(1),
            windows,
            window_seconds: 10,
            load: Load::constant(16),
            pauses: Vec::new(),
            damage: Damage::default(),
            seed: 0,
        }
    }
}

/// A [`VllmLog`] that can be written.
#[derive(Clone, Debug)]
pub struct VllmPlan {
    log: VllmLog,
}

impl VllmPlan {
    /// Checks a log.
    pub fn new(log: VllmLog) -> Result<Self, PlanError> {
        PlanError::range("the draft length", log.draft_length, 1, 64)?;
        PlanError::range("engines", log.engines, 1, 4096)?;
        PlanError::range("seconds of a window", log.window_seconds, 1, 3600)?;
        log.load.check()?;
        log.damage.check_wrappers()?;
        Ok(Self { log })
    }

    /// What it was made of.
    #[must_use]
    pub fn log(&self) -> &VllmLog {
        &self.log
    }
}
