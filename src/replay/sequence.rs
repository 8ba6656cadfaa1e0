//! The draws of one process, in order, with a window into them that moves forward.

use std::sync::Arc;

use super::law::{DrawLaw, DrawMethod};
use super::rounding::Rounding;
use super::thresholds::Thresholds;
use super::twister::{BLOCK, Twister};

/// Draws kept behind the window at least: a line may have to be judged again.
const KEPT_BEHIND: u64 = 1 << 12;

/// Draws that may have become useless before they are dropped.
const USELESS: u64 = 1 << 13;

/// How a law turns words into lengths.
#[derive(Clone, Debug)]
pub(super) enum Sampler {
    /// Nothing to decide.
    Constant(u8),
    TwoPoint(Thresholds),
    Normal(Rounding),
}

impl Sampler {
    pub(super) fn new(law: &DrawLaw) -> Self {
        let byte = |length: u32| u8::try_from(length).unwrap_or(u8::MAX);
        match law.method() {
            DrawMethod::MatchExpected => {
                let setting = law.accept_length().clamp(1.0, f64::from(law.max()));
                let lo = byte(crate::law::whole32(setting));
                let weight = setting - f64::from(lo);
                if weight > 0.0 { Self::TwoPoint(Thresholds::new(lo, weight)) } else { Self::Constant(lo) }
            }
            DrawMethod::Multinomial => Self::Normal(Rounding::new(law.accept_length(), law.max())),
        }
    }

    /// Draws from each block of words.
    pub(super) fn draws_per_block(&self) -> u64 {
        match self {
            Self::Constant(_) | Self::TwoPoint(_) => 156,
            Self::Normal(_) => 312,
        }
    }

    /// The draws of some words, a multiple of four.
    pub(super) fn fill(&self, words: &[u32], out: &mut Vec<u8>) {
        match self {
            Self::Constant(length) => out.extend(std::iter::repeat_n(*length, words.len() / 4)),
            Self::TwoPoint(law) => law.fill(words, out),
            Self::Normal(law) => law.fill(words, out),
        }
    }
}

/// The accept lengths that a process with one seed draws.
///
/// ```
/// use accsim::law::Setting;
/// use accsim::replay::{DrawLaw, DrawMethod, Sequence};
///
/// let law = DrawLaw::new(DrawMethod::MatchExpected, Setting::new(3.51, 6)?).ok_or("too long")?;
/// let mut draws = Sequence::new(320_846_001, &law);
/// let sum: u32 = draws.window(0, 40).iter().map(|draw| u32::from(*draw)).sum();
/// // What the first decode line of such a server reads.
/// assert_eq!(format!("{:.2}", f64::from(sum) / 40.0), "3.62");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sequence {
    sampler: Arc<Sampler>,
    twister: Twister,
    words: Box<[u32; BLOCK]>,
    drawn: Vec<u8>,
    /// Number of the first draw that is kept.
    base: u64,
}

impl Sequence {
    /// The draws from the first one on. As PyTorch does, the low 32 bits of the seed are used.
    #[must_use]
    pub fn new(seed: u64, law: &DrawLaw) -> Self {
        Self::with(seed, Arc::new(Sampler::new(law)))
    }

    /// The same with a sampler that others use too.
    pub(super) fn with(seed: u64, sampler: Arc<Sampler>) -> Self {
        let seed = u32::try_from(seed & u64::from(u32::MAX)).unwrap_or(0);
        Self { sampler, twister: Twister::new(seed), words: Box::new([0; BLOCK]), drawn: Vec::new(), base: 0 }
    }

    /// The `count` draws from number `first` on; fewer where they are no longer kept, or too many for memory.
    ///
    /// What lies far behind the last window is forgotten.
    pub fn window(&mut self, first: u64, count: usize) -> &[u8] {
        let end = first.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        while self.end() < end {
            self.forget(first);
            let per_block = self.sampler.draws_per_block();
            if self.drawn.is_empty()
                && self.base.saturating_add(per_block) <= first.saturating_sub(KEPT_BEHIND)
            {
                // Far ahead: nobody asks for these.
                self.twister.skip_block();
                self.base += per_block;
                continue;
            }
            self.draw_block();
        }
        self.kept(first, count)
    }

    /// The same, and forgets nothing: a look ahead.
    pub(super) fn ahead(&mut self, first: u64, count: usize) -> &[u8] {
        let end = first.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        while self.end() < end {
            self.draw_block();
        }
        self.kept(first, count)
    }

    /// Number of the first draw that is kept.
    pub(super) fn kept_from(&self) -> u64 {
        self.base
    }

    /// The sum of draws ahead; `None` where they are no longer kept.
    pub(super) fn sum_ahead(&mut self, first: u64, count: usize) -> Option<u64> {
        let window = self.ahead(first, count);
        (window.len() == count).then(|| sum(window))
    }

    fn draw_block(&mut self) {
        self.twister.block(&mut self.words);
        self.sampler.fill(self.words.as_slice(), &mut self.drawn);
    }

    fn kept(&self, first: u64, count: usize) -> &[u8] {
        let start = first.checked_sub(self.base).and_then(|start| usize::try_from(start).ok());
        start.and_then(|start| self.drawn.get(start..start.checked_add(count)?)).unwrap_or(&[])
    }

    /// The sum of the same draws; `None` where they are no longer kept.
    pub(super) fn sum(&mut self, first: u64, count: usize) -> Option<u64> {
        let window = self.window(first, count);
        (window.len() == count).then(|| sum(window))
    }

    fn end(&self) -> u64 {
        self.base.saturating_add(u64::try_from(self.drawn.len()).unwrap_or(u64::MAX))
    }

    fn forget(&mut self, first: u64) {
        let useless = first.saturating_sub(KEPT_BEHIND).min(self.end()).saturating_sub(self.base);
        if useless > USELESS {
            self.drawn.drain(..usize::try_from(useless).unwrap_or(0));
            self.base += useless;
        }
    }
}

/// The tokens of a window for one request.
#[inline]
pub(super) fn sum(window: &[u8]) -> u64 {
    u64::from(window.iter().map(|draw| u32::from(*draw)).sum::<u32>())
}

#[cfg(test)]
mod tests;
