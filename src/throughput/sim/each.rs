//! A batch in which every request draws for itself.

use crate::law::{Steps, Stream};

use super::batch::{Emitted, Finished};

#[derive(Debug)]
pub(super) struct Each {
    slots: Vec<u32>,
    left: Vec<u32>,
    contexts: Vec<u32>,
    draws: Vec<u32>,
    kv_tokens: u64,
    /// The longest context, where it matters and is known.
    longest: Option<u32>,
    asked: bool,
}

impl Each {
    pub(super) fn new(longest: bool) -> Self {
        Self {
            slots: Vec::new(),
            left: Vec::new(),
            contexts: Vec::new(),
            draws: Vec::new(),
            kv_tokens: 0,
            longest: None,
            asked: longest,
        }
    }

    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.slots.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn join(&mut self, slot: u32, left: u32, context: u32) {
        self.slots.push(slot);
        self.left.push(left);
        self.contexts.push(context);
        self.kv_tokens += u64::from(context);
        self.longest = None;
    }

    pub(super) fn leave(&mut self, slot: u32) -> Option<(u32, u32)> {
        let at = self.slots.iter().position(|found| *found == slot)?;
        self.take(at)
    }

    fn take(&mut self, at: usize) -> Option<(u32, u32)> {
        if at >= self.slots.len() {
            return None;
        }
        self.slots.swap_remove(at);
        let (left, context) = (self.left.swap_remove(at), self.contexts.swap_remove(at));
        self.kv_tokens -= u64::from(context);
        self.longest = None;
        Some((left, context))
    }

    pub(super) fn kv_tokens(&self) -> u64 {
        self.kv_tokens
    }

    pub(super) fn longest(&mut self) -> u64 {
        if !self.asked {
            return 0;
        }
        let contexts = &self.contexts;
        u64::from(*self.longest.get_or_insert_with(|| contexts.iter().copied().max().unwrap_or(0)))
    }

    pub(super) fn step(&mut self, draws: &mut Steps<Stream>, finished: &mut Vec<Finished>) -> Emitted {
        self.draws.resize(self.slots.len(), 0);
        draws.fill(&mut self.draws);
        let (mut accepted, mut kept, mut done) = (0_u64, 0_u64, false);
        for ((draw, left), context) in self.draws.iter().zip(&mut self.left).zip(&mut self.contexts) {
            let taken = (*draw).min(*left);
            *left -= taken;
            *context += taken;
            accepted += u64::from(*draw);
            kept += u64::from(taken);
            done |= *left == 0;
        }
        self.kv_tokens += kept;
        self.longest = None;
        if done {
            for at in (0..self.slots.len()).rev() {
                if self.left.get(at) == Some(&0)
                    && let Some(slot) = self.slots.get(at).copied()
                {
                    finished.push(Finished { slot });
                    self.take(at);
                }
            }
        }
        Emitted { accepted, tokens: kept }
    }
}
