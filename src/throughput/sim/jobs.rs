//! Requests in the server, by slot.

use super::arrivals::Arrived;
use super::traffic::Request;

/// A request from its arrival to its last token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) request: Request,
    pub(super) arrival_s: f64,
    /// How many were sent before it.
    pub(super) number: u64,
    /// When the first token came.
    pub(super) first_s: Option<f64>,
    /// Tokens that it has, as of its last admission or retraction.
    pub(super) generated: u32,
    /// Goes up whenever the slot leaves a batch: what was noted under another number is void.
    pub(super) epoch: u32,
    pub(super) running: bool,
}

/// Slots; one that is free is used again.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    slots: Vec<Job>,
    free: Vec<u32>,
}

impl Jobs {
    pub(super) fn insert(&mut self, arrived: Arrived) -> u32 {
        let Arrived { request, arrival_s, first_s, number } = arrived;
        let generated = u32::from(first_s.is_some());
        let job = Job { request, arrival_s, number, first_s, generated, epoch: 0, running: false };
        if let Some(slot) = self.free.pop() {
            if let Some(old) = self.get_mut(slot) {
                *old = Job { epoch: old.epoch.wrapping_add(1), ..job };
            }
            return slot;
        }
        self.slots.push(job);
        u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
    }

    pub(super) fn get(&self, slot: u32) -> Option<&Job> {
        self.slots.get(usize::try_from(slot).ok()?)
    }

    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut Job> {
        self.slots.get_mut(usize::try_from(slot).ok()?)
    }

    /// Takes a finished job out.
    pub(super) fn remove(&mut self, slot: u32) -> Option<Job> {
        let job = self.get_mut(slot)?;
        job.running = false;
        job.epoch = job.epoch.wrapping_add(1);
        let job = *job;
        self.free.push(slot);
        Some(job)
    }

    /// Whether a note about a running job still holds.
    pub(super) fn holds(&self, slot: u32, epoch: u32) -> bool {
        self.get(slot).is_some_and(|job| job.running && job.epoch == epoch)
    }
}
