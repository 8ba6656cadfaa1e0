//! Where the emitter takes accept lengths from.

use crate::law::Draws;

/// The draws of one process, in order. A draw is an accept length: tokens that a request emits in a verify step, the
/// target model's own included, so at least 1.
pub trait DrawStream: Send {
    /// The next draw.
    fn draw(&mut self) -> u32;

    /// The sum of the next `count` draws.
    ///
    /// Two processes that share their draws split the same sequence at different steps; a stream that is handed out
    /// for that must give the same sum however it is split.
    fn sum(&mut self, count: u64) -> u64 {
        (0..count).map(|_| u64::from(self.draw())).sum()
    }

    /// The sum of `count` draws that nobody else takes: a stream may draw the sum and not the draws. It need be no part
    /// of the sequence of the other methods.
    fn window(&mut self, count: u64) -> u64 {
        self.sum(count)
    }

    /// Counts the next `count` draws by their accept length: `lengths[i]` grows by the draws of length i + 1, the last
    /// entry by all longer ones.
    fn tally(&mut self, count: u64, lengths: &mut [u64]) {
        for _ in 0..count {
            let index = usize::try_from(self.draw().saturating_sub(1)).unwrap_or(usize::MAX);
            let last = lengths.len().saturating_sub(1);
            if let Some(slot) = lengths.get_mut(index.min(last)) {
                *slot += 1;
            }
        }
    }
}

/// Hands out the streams of a log's processes.
pub trait DrawSource: Sync {
    /// The draws of one process.
    type Stream: DrawStream;

    /// The stream with number `rank` of the log's server number `server`, both from 0. The same numbers give the same
    /// sequence; ranks that share their draws are all given number 0.
    fn stream(&self, server: u32, rank: u32) -> Self::Stream;

    /// What one draw of that server decides.
    fn draws(&self, server: u32) -> Draws;

    /// The longest draw of that server, at least 1.
    fn longest(&self, server: u32) -> u32;
}

/// A small generator for what is not acceptance: lengths of requests, arrival delays, jitter, damage. `SplitMix64` (Steele, Lea, Flood
/// 2014): one addition and one mixing a number, any start is as good as any other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mixer(u64);

impl Mixer {
    /// A generator for one purpose of one log.
    pub(super) fn new(seed: u64, purpose: u64) -> Self {
        Self(mixed(seed ^ mixed(purpose)))
    }

    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    /// A number from `low` to `high`, both included.
    #[inline]
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        let span = u128::from(high.saturating_sub(low)) + 1;
        // The high half of a product: uniform to 2^-64 of the span.
        low + u64::try_from((u128::from(self.next()) * span) >> 64).unwrap_or(0)
    }
}

#[inline]
fn mixed(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting(u32);

    impl DrawStream for Counting {
        fn draw(&mut self) -> u32 {
            self.0 += 1;
            self.0
        }
    }

    #[test]
    fn sums_and_tallies_are_of_the_sequence() {
        assert_eq!(Counting(0).sum(4), 10);
        let mut lengths = [0; 3];
        Counting(0).tally(5, &mut lengths);
        assert_eq!(lengths, [1, 1, 3]);
        Counting(0).tally(5, &mut []);
    }

    /// The values that `SplitMix64` gives for a state of 0, as its authors publish them.
    #[test]
    fn the_mixer_keeps_its_values() {
        let mut mixer = Mixer(0);
        assert_eq!(mixer.next(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mixer.next(), 0x6e78_9e6a_a1b9_65f4);
        let mut mixer = Mixer::new(7, 1);
        for _ in 0..1000 {
            assert!((3..=5).contains(&mixer.between(3, 5)));
            assert_eq!(mixer.between(9, 9), 9);
        }
        assert_eq!(Mixer::new(0, 0).between(0, u64::MAX), Mixer::new(0, 0).next());
    }
}
