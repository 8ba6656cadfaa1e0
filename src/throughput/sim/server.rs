//! What is simulated: the cost of a step, the law of its draws, and the limits of the batch.

use crate::law::AcceptanceLaw;
use crate::throughput::step::{PrefillLaw, StepLaw, is_cost};

use super::error::SimError;

/// Most ranks.
const MOST_RANKS: u32 = 1024;

/// Most requests that a rank runs at a time.
const MOST_RUNNING: u32 = 1 << 20;

/// A server.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// Time of a step.
    pub step: StepLaw,
    /// Cost of prefill, wherever it is done.
    pub prefill: PrefillLaw,
    /// Draft tokens a request and step (k).
    pub drafts: u32,
    /// Tokens verified a request and step (q).
    pub verified: u32,
    /// How many tokens a step emits.
    pub law: AcceptanceLaw,
    /// Where and how prompts are prefilled.
    pub prefilling: Prefilling,
    /// Most requests that one rank runs at a time.
    pub most_running: u32,
    /// KV tokens of one rank; none for a pool that never fills.
    pub pool: Option<Pool>,
    /// Share of every prompt found in the prefix cache, unless a trace says otherwise.
    pub cached: f64,
    /// Data-parallel ranks that step together at the pace of the slowest.
    pub ranks: u32,
    /// Whether ranks draw one sequence while none is idle, as real ones do.
    pub ranks_share_draws: bool,
    /// Whether the next step is launched before the results of the last are looked at: who is done stays for one step more.
    pub overlap: bool,
}

/// Where and how prompts are prefilled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefilling {
    /// Decoding waits: batches of at most so many prompt tokens (and at least one request), before any step.
    Blocking {
        /// Prompt tokens of a batch.
        batch_tokens: u32,
    },
    /// Every step takes so many prompt tokens along and lasts longer by their cost.
    Chunked {
        /// Prompt tokens of a step.
        tokens: u32,
    },
    /// Other servers prefill: so many at a time, one request each; the first token comes from there.
    Elsewhere {
        /// Prompts prefilled at a time.
        workers: u32,
    },
}

/// The KV pool of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Tokens that it holds.
    pub tokens: u64,
    /// What happens when it is full.
    pub when_full: WhenFull,
}

/// What happens when the pool is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// A request is admitted when its whole length fits beside those of all that run; it waits till then.
    Queue,
    /// A request is admitted when its prompt fits. When a step might not fit, the request that joined last goes back to the
    /// head of the queue, keeps its tokens, and prefills them again later.
    Retract,
}

impl Server {
    /// A colocated server without a limit on KV tokens that prefills 8192 prompt tokens at a time.
    #[must_use]
    pub fn new(step: StepLaw, prefill: PrefillLaw, drafts: u32, law: AcceptanceLaw) -> Self {
        Self {
            step,
            prefill,
            drafts,
            verified: drafts.saturating_add(1),
            law,
            prefilling: Prefilling::Blocking { batch_tokens: 8192 },
            most_running: 4096,
            pool: None,
            cached: 0.0,
            ranks: 1,
            ranks_share_draws: true,
            overlap: false,
        }
    }

    /// The longest draw.
    pub(super) fn longest_draw(&self) -> u32 {
        *self.law.support().end()
    }

    /// Checks everything that a run relies on.
    pub(super) fn check(&self) -> Result<(), SimError> {
        let number = SimError::number;
        if !self.step.is_physical() {
            return Err(number("a coefficient of the step law", f64::NAN, "finite numbers of at least 0"));
        }
        let costs = [("p0", self.prefill.p0_s), ("p1", self.prefill.p1_s)];
        if let Some((what, value)) = costs.into_iter().find(|(_, cost)| !is_cost(*cost)) {
            return Err(number(what, value, "a finite number of at least 0"));
        }
        let least = self.step.fixed_s(1, self.drafts, self.verified);
        if least < 1e-7 {
            return Err(number("the time of a step without context", least, "at least 1e-7 s"));
        }
        if self.longest_draw() > self.verified {
            return Err(SimError::TooLongDraw { longest: self.longest_draw(), verified: self.verified });
        }
        if !(0.0..=1.0).contains(&self.cached) {
            return Err(number("the share of cached prompt tokens", self.cached, "a share from 0 to 1"));
        }
        let zero = |what, value: u32, most: u32, expected| {
            if value == 0 || value > most { Err(number(what, f64::from(value), expected)) } else { Ok(()) }
        };
        zero("the number of ranks", self.ranks, MOST_RANKS, "from 1 to 1024")?;
        zero("the most running requests", self.most_running, MOST_RUNNING, "from 1 to 1048576")?;
        match self.prefilling {
            Prefilling::Blocking { batch_tokens: tokens } | Prefilling::Chunked { tokens } => {
                zero("the prompt tokens of a batch", tokens, u32::MAX, "at least 1")
            }
            Prefilling::Elsewhere { workers } => {
                zero("the prefill workers", workers, MOST_RUNNING, "from 1 to 1048576")
            }
        }
    }
}
