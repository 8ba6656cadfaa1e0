//! Draws from a list of uniforms that is always the same.

use std::sync::Arc;

use rand::Rng as _;

use super::number::{float, whole};
use super::stream::Stream;
use super::two_point::TwoPoint;

/// Engines that draw from a fixed sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PoolKind {
    /// TensorRT-LLM: a pool of 65,536 floats with a fixed seed (NVIDIA/TensorRT-LLM#13569).
    TrtLlm,
    /// ATOM: the generator is seeded alike in every process (ROCm/ATOM#1948).
    Atom,
}

/// The two-point law drawn once a request from a fixed, repeating sequence of uniforms: the same on every rank, worker
/// and run, whatever the seed. Over a whole period its mean is off by a constant that more steps do not shrink.
///
/// Modelled: the length of the period, that it repeats, that everyone draws the same, and the size of the offset that
/// follows from the length. Not modelled: the engines' own numbers. Theirs are not known here, so the values are ours (words
/// of [`Stream`]'s generator under labels of their own, `accsim fixed pool trtllm` and `accsim fixed pool atom__`, with
/// seed 0), and so is the sign of the offset. TensorRT-LLM finds its place by a counter of calls and the slot of the request; here draws
/// follow one another. For ATOM no period is known: 2,048 makes an offset of the size seen in its documented run (target
/// 3.78: 3.7699) an ordinary one.
///
/// ```
/// use accsim::law::{Pool, PoolKind, Setting, TwoPoint};
///
/// let law = TwoPoint::new(Setting::new(3.51, 6)?);
/// let pool = Pool::new(PoolKind::TrtLlm, law);
/// assert_eq!(pool.period(), 65_536);
/// assert!(pool.offset().abs() < 0.008); // four standard deviations of 0.002
/// # Ok::<(), accsim::law::SettingError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    kind: PoolKind,
    law: TwoPoint,
    /// By number of draws from the start of a period, how many of them give the larger length.
    larger: Arc<[u32]>,
}

impl PoolKind {
    /// Draws after which the sequence repeats.
    #[must_use]
    pub fn period(self) -> u32 {
        match self {
            Self::TrtLlm => 65_536,
            Self::Atom => 2_048,
        }
    }

    fn label(self) -> [u8; 24] {
        match self {
            Self::TrtLlm => *b"accsim fixed pool trtllm",
            Self::Atom => *b"accsim fixed pool atom__",
        }
    }
}

impl Pool {
    /// The law drawn from an engine's sequence.
    #[must_use]
    pub fn new(kind: PoolKind, law: TwoPoint) -> Self {
        // A pool of 32-bit floats: 24 bits each.
        let bound = whole((law.weight() * 2_f64.powi(24)).ceil());
        let mut stream = Stream::labelled(kind.label(), 0, 0);
        let hits = (0..kind.period()).map(|_| u64::from(stream.next_u32() >> 8) < bound);
        let counts = hits.scan(0, |larger: &mut u32, hit| {
            *larger += u32::from(hit);
            Some(*larger)
        });
        Self { kind, law, larger: std::iter::once(0).chain(counts).collect() }
    }

    /// Whose sequence it is.
    #[must_use]
    pub fn kind(&self) -> PoolKind {
        self.kind
    }

    /// The law that the engine means to draw.
    #[must_use]
    pub fn law(&self) -> &TwoPoint {
        &self.law
    }

    /// Draws after which the sequence repeats.
    #[must_use]
    pub fn period(&self) -> u32 {
        self.kind.period()
    }

    /// Mean of one period minus the mean of the law, in tokens; exact for this sequence.
    #[must_use]
    pub fn offset(&self) -> f64 {
        float(self.larger_among(u64::from(self.period()))) / f64::from(self.period()) - self.law.weight()
    }

    /// Standard deviation of the offset over all sequences of this length: what is known of the engine's own.
    #[must_use]
    pub fn offset_sd(&self) -> f64 {
        (self.law.variance() / f64::from(self.period())).sqrt()
    }

    /// The length of the draw with this number, from 0 on.
    #[must_use]
    pub fn draw(&self, number: u64) -> u32 {
        let larger = self.larger_among(number.wrapping_add(1)) > self.larger_among(number);
        if larger { self.law.hi() } else { self.law.lo() }
    }

    /// The lengths of the draws from this number on, as many as there is room for.
    pub(super) fn fill(&self, number: u64, mut lengths: &mut [u32]) {
        let mut place = usize::try_from(number % u64::from(self.period())).unwrap_or(0);
        while !lengths.is_empty() {
            let counts = self.larger.get(place..).unwrap_or(&[]);
            let (part, rest) = lengths.split_at_mut(lengths.len().min(counts.len().saturating_sub(1).max(1)));
            for (length, (before, after)) in part.iter_mut().zip(counts.iter().zip(counts.iter().skip(1))) {
                *length = self.law.lo().saturating_add(after - before);
            }
            // What is left begins with a period.
            (lengths, place) = (rest, 0);
        }
    }

    /// How many of the first `draws` draws give the larger length.
    #[must_use]
    pub fn larger_among(&self, draws: u64) -> u64 {
        let after = |draws: u64| {
            let place = usize::try_from(draws).ok();
            u64::from(place.and_then(|place| self.larger.get(place)).copied().unwrap_or(0))
        };
        let period = u64::from(self.period());
        (draws / period).saturating_mul(after(period)).saturating_add(after(draws % period))
    }

    /// Mean of the first `draws` draws, in tokens.
    #[must_use]
    pub fn mean_of(&self, draws: u64) -> f64 {
        f64::from(self.law.lo()) + float(self.larger_among(draws)) / float(draws.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Setting;

    fn pool(kind: PoolKind, length: f64, max: u32) -> Pool {
        Pool::new(kind, TwoPoint::new(Setting::new(length, max).unwrap()))
    }

    /// ENGINES 3.1: "a fixed offset (sd about 0.002)"; `AUDIT_STATISTICS` 12: "up to about 0.004".
    #[test]
    fn the_offset_never_averages_out() {
        let pool = pool(PoolKind::TrtLlm, 3.51, 6);
        assert!((pool.offset_sd() - 0.002).abs() < 1e-4);
        assert!(pool.offset().abs() < 4.0 * pool.offset_sd(), "{}", pool.offset());
        let period = u64::from(pool.period());
        for periods in [1, 10, 1_000_000] {
            assert!((pool.mean_of(periods * period) - 3.51 - pool.offset()).abs() < 1e-12);
        }
    }

    /// The offset of ATOM's documented run, 3.7699 for 3.78, is within what the period allows.
    #[test]
    fn the_offset_seen_in_atom_is_an_ordinary_one() {
        let pool = pool(PoolKind::Atom, 3.78, 8);
        let seen = (3.7699 - 3.78_f64).abs();
        assert!(seen > 0.5 * pool.offset_sd() && seen < 2.0 * pool.offset_sd());
    }

    #[test]
    fn blocks_are_the_draws_one_by_one() {
        let pool = pool(PoolKind::Atom, 2.3, 4);
        for (number, many) in [(0, 5000), (2047, 1), (2047, 2), (2048, 2048), (100, 0), (999, 2500)] {
            let mut block = vec![0; many];
            pool.fill(number, &mut block);
            assert!((number..).zip(&block).all(|(number, length)| pool.draw(number) == *length), "{number}");
        }
    }

    #[test]
    fn draws_repeat_and_counts_are_theirs() {
        let pool = pool(PoolKind::Atom, 2.3, 4);
        let mut larger = 0;
        for number in 0..5000 {
            assert_eq!(pool.larger_among(number), larger);
            assert_eq!(pool.draw(number), pool.draw(number + 2048));
            larger += u64::from(pool.draw(number) == 3);
        }
        // One sequence of uniforms: another target changes thresholds, not places.
        let higher = self::pool(PoolKind::Atom, 2.4, 4);
        assert!((0..2048).all(|number| higher.draw(number) >= pool.draw(number)));
    }

    #[test]
    fn a_whole_target_has_no_offset() {
        let pool = pool(PoolKind::TrtLlm, 3.0, 6);
        assert!(pool.offset().abs() < f64::MIN_POSITIVE);
        assert_eq!(pool.draw(17), 3);
    }
}
