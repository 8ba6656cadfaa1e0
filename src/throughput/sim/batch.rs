//! The running requests of one rank.

use crate::law::{AcceptanceLaw, Draws, Steps, Stream};

use super::each::Each;
use super::jobs::Jobs;
use super::shared::Shared;

/// A request that has all its tokens after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Finished {
    pub(super) slot: u32,
}

/// What a step emitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Emitted {
    /// Tokens that were accepted, whatever a last step cuts off.
    pub(super) accepted: u64,
    /// Tokens that requests got.
    pub(super) tokens: u64,
}

/// The running requests of one rank.
#[derive(Debug)]
pub(super) enum Batch {
    Shared(Shared),
    Each(Each),
}

impl Batch {
    /// An empty batch; `longest` whether anybody asks for the longest context.
    pub(super) fn new(law: &AcceptanceLaw, longest: bool) -> Self {
        match law.draws() {
            Draws::Shared => Self::Shared(Shared::new(longest)),
            Draws::PerRequest => Self::Each(Each::new(longest)),
        }
    }

    pub(super) fn len(&self) -> u32 {
        match self {
            Self::Shared(batch) => batch.len(),
            Self::Each(batch) => batch.len(),
        }
    }

    /// Adds a request that needs `left` more tokens (at least 1) and holds `context`.
    pub(super) fn join(&mut self, slot: u32, epoch: u32, left: u32, context: u32) {
        match self {
            Self::Shared(batch) => batch.join(slot, epoch, left, context),
            Self::Each(batch) => batch.join(slot, left, context),
        }
    }

    /// Takes a request out before it is done: the tokens that it still needs, and its context.
    pub(super) fn leave(&mut self, slot: u32, epoch: u32) -> Option<(u32, u32)> {
        match self {
            Self::Shared(batch) => batch.leave(slot, epoch),
            Self::Each(batch) => batch.leave(slot),
        }
    }

    /// Contexts together.
    pub(super) fn kv_tokens(&self) -> u64 {
        match self {
            Self::Shared(batch) => batch.kv_tokens(),
            Self::Each(batch) => batch.kv_tokens(),
        }
    }

    /// The longest context, where somebody asks for it.
    pub(super) fn longest(&mut self, jobs: &Jobs) -> u64 {
        match self {
            Self::Shared(batch) => batch.longest(jobs),
            Self::Each(batch) => batch.longest(),
        }
    }

    /// One step; who is done is added to `finished` and has left.
    #[inline]
    pub(super) fn step(
        &mut self,
        draws: &mut Steps<Stream>,
        jobs: &Jobs,
        finished: &mut Vec<Finished>,
    ) -> Emitted {
        match self {
            Self::Shared(batch) => batch.step(draws.draw(), jobs, finished),
            Self::Each(batch) => batch.step(draws, finished),
        }
    }
}
