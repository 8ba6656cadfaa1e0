//! A batch that advances as one: every request gains the same draw.
//!
//! The batch stands at a place on a line and moves along by each draw. A request is two places on it: where it ends, and
//! where its context would have begun. So a step moves one number, and who is done is read off a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::batch::{Emitted, Finished};
use super::jobs::Jobs;

/// Where a request ends, its slot and epoch, and its context less the place at which it joined.
type End = Reverse<(u64, u32, u32, i64)>;

#[derive(Debug)]
pub(super) struct Shared {
    /// Tokens that any request has gained since the batch was new.
    place: u64,
    running: u32,
    /// Entries of requests that left are void.
    ends: BinaryHeap<End>,
    /// (context - place when it joined, slot, epoch), where the longest context matters.
    starts: Option<BinaryHeap<(i64, u32, u32)>>,
    /// Sum of context - place at joining over all that run.
    offset: i64,
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl Shared {
    pub(super) fn new(longest: bool) -> Self {
        Self {
            place: 0,
            running: 0,
            ends: BinaryHeap::new(),
            starts: longest.then(BinaryHeap::new),
            offset: 0,
        }
    }

    pub(super) fn len(&self) -> u32 {
        self.running
    }

    pub(super) fn join(&mut self, slot: u32, epoch: u32, left: u32, context: u32) {
        let end = self.place + u64::from(left);
        let start = i64::from(context) - signed(self.place);
        self.ends.push(Reverse((end, slot, epoch, start)));
        if let Some(starts) = &mut self.starts {
            starts.push((start, slot, epoch));
        }
        self.offset += start;
        self.running += 1;
    }

    pub(super) fn leave(&mut self, slot: u32, epoch: u32) -> Option<(u32, u32)> {
        let entry = self.ends.iter().find(|entry| (entry.0.1, entry.0.2) == (slot, epoch))?;
        let Reverse((end, _, _, start)) = *entry;
        self.offset -= start;
        self.running = self.running.saturating_sub(1);
        let left = u32::try_from(end.saturating_sub(self.place)).unwrap_or(u32::MAX);
        let context = u32::try_from(start + signed(self.place)).unwrap_or(u32::MAX);
        Some((left, context))
    }

    pub(super) fn kv_tokens(&self) -> u64 {
        let moved = i64::from(self.running).saturating_mul(signed(self.place));
        u64::try_from(self.offset + moved).unwrap_or(0)
    }

    pub(super) fn longest(&mut self, jobs: &Jobs) -> u64 {
        let Some(starts) = &mut self.starts else { return 0 };
        while let Some((_, slot, epoch)) = starts.peek() {
            if jobs.holds(*slot, *epoch) {
                break;
            }
            starts.pop();
        }
        starts.peek().and_then(|(start, ..)| u64::try_from(start + signed(self.place)).ok()).unwrap_or(0)
    }

    #[inline]
    pub(super) fn step(&mut self, draw: u32, jobs: &Jobs, finished: &mut Vec<Finished>) -> Emitted {
        let accepted = u64::from(draw) * u64::from(self.running);
        self.place += u64::from(draw);
        let mut cut = 0;
        while let Some(Reverse((end, slot, epoch, start))) = self.ends.peek().copied() {
            let holds = jobs.holds(slot, epoch);
            if holds && end > self.place {
                break;
            }
            self.ends.pop();
            if holds {
                cut += self.place - end;
                self.offset -= start;
                self.running = self.running.saturating_sub(1);
                finished.push(Finished { slot });
            }
        }
        Emitted { accepted, tokens: accepted - cut }
    }
}
