//! What all followers of one law in one run share.

use std::sync::{Arc, OnceLock};

use super::law::DrawLaw;
use super::line::Printer;
use super::odds::{Odds, Tails};
use super::resync::{self, MOST_DRAWS_AHEAD};
use super::sequence::{Sampler, Sequence};

/// Lines looked ahead where 16 are plenty, and at most.
const LEAST_AHEAD: f64 = 32.0;
const MOST_AHEAD: f64 = 512.0;

/// Lines that are waited for at most, where few of them are steady.
const MOST_AWAITED: usize = 512;

/// A law in one run, with all that can be worked out before the first line.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) law: DrawLaw,
    pub(super) seed: u64,
    pub(super) sampler: Arc<Sampler>,
    pub(super) printer: Printer,
    pub(super) odds: Odds,
    /// Decimal logarithm of the chance that two draws are the same.
    pub(super) log10_beside: f64,
    /// The odds as a table, once a search asks for it.
    tails: OnceLock<Tails>,
    /// Draws of a line.
    pub(super) interval: usize,
    /// Lines to wait for before a line that fails is decided about, and at most.
    pub(super) ahead: usize,
    pub(super) most_awaited: usize,
}

impl Script {
    pub(super) fn new(law: DrawLaw, seed: u64, interval: u32) -> Self {
        let odds = Odds::new(&law, interval);
        let steps = usize::try_from(interval.max(1)).unwrap_or(usize::MAX);
        // Twice the lines that a multiple of the interval takes to be believed.
        let needed = 2.0 * -resync::BELIEVED_AT / (-odds.log10_line()).max(1e-3);
        let ahead = crate::law::whole32(needed.clamp(LEAST_AHEAD, MOST_AHEAD).ceil());
        let most_awaited = MOST_AWAITED.min((MOST_DRAWS_AHEAD / steps).max(2));
        let ahead = usize::try_from(ahead).unwrap_or(32).min(most_awaited);
        let support = law.acceptance().support();
        Self {
            law,
            seed,
            sampler: Arc::new(Sampler::new(&law)),
            printer: Printer::new(interval, *support.start(), *support.end()),
            odds,
            log10_beside: Odds::new(&law, 1).log10_line(),
            tails: OnceLock::new(),
            interval: steps,
            ahead,
            most_awaited,
        }
    }

    pub(super) fn sequence(&self) -> Sequence {
        Sequence::with(self.seed, Arc::clone(&self.sampler))
    }

    /// [`Odds::log10_tail`] for those who ask often.
    pub(super) fn log10_tail(&self, exact: u64, lines: u64) -> f64 {
        self.tails.get_or_init(|| Tails::new(self.odds)).log10(exact, lines)
    }

    pub(super) fn steps(&self) -> u64 {
        u64::try_from(self.interval).unwrap_or(u64::MAX)
    }
}
