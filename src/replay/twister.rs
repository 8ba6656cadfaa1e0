//! MT19937 (Matsumoto and Nishimura 1998), a block of 624 words at a time: the generator that PyTorch uses on the CPU.
//!
//! Crates hand out one word after the other. Here whole blocks are made by slices that run side by side, which the
//! compiler turns into vector instructions: an audit draws hundreds of millions of words.

/// Words of a block.
pub(super) const BLOCK: usize = 624;

/// Distance of the word that is mixed in.
pub(super) const MIDDLE: usize = 397;

const UPPER: u32 = 0x8000_0000;
const LOWER: u32 = 0x7fff_ffff;
const TWIST: u32 = 0x9908_b0df;
const INIT: u32 = 1_812_433_253;

/// The state of the generator.
#[derive(Clone, Debug)]
pub(super) struct Twister {
    state: [u32; BLOCK],
}

impl Twister {
    /// The state that a seed begins with. PyTorch takes the low 32 bits.
    pub(super) fn new(seed: u32) -> Self {
        let mut state = [0; BLOCK];
        let mut word = seed;
        for (slot, index) in state.iter_mut().zip(0_u32..) {
            if index > 0 {
                word = next_initial(word, index);
            }
            *slot = word;
        }
        Self { state }
    }

    /// The next 624 words.
    pub(super) fn block(&mut self, out: &mut [u32; BLOCK]) {
        self.twist();
        for (slot, word) in out.iter_mut().zip(&self.state) {
            *slot = temper(*word);
        }
    }

    /// Passes over a block.
    pub(super) fn skip_block(&mut self) {
        self.twist();
    }

    fn twist(&mut self) {
        let old = self.state;
        let mut new = [0; BLOCK];
        let successors = || old.iter().zip(old.iter().skip(1));
        // The first words mix in old ones; from there on, new ones: three stretches in which nothing waits for another.
        let (first, rest) = new.split_at_mut(BLOCK - MIDDLE);
        fill(first, successors(), old.iter().skip(MIDDLE));
        let (second, third) = rest.split_at_mut(BLOCK - MIDDLE);
        fill(second, successors().skip(BLOCK - MIDDLE), first.iter());
        fill(third, successors().skip(2 * (BLOCK - MIDDLE)), second.iter());
        // The last word's successor is the first of the new block.
        if let (Some(next), Some(middle)) = (new.first().copied(), new.get(MIDDLE - 1).copied())
            && let (Some(own), Some(last)) = (old.last(), new.last_mut())
        {
            *last = twisted(*own, next, middle);
        }
        self.state = new;
    }
}

fn fill<'a>(
    out: &mut [u32],
    successors: impl Iterator<Item = (&'a u32, &'a u32)>,
    middle: impl Iterator<Item = &'a u32>,
) {
    for ((slot, (own, next)), middle) in out.iter_mut().zip(successors).zip(middle) {
        *slot = twisted(*own, *next, *middle);
    }
}

/// The word of the initial state with number `index`, from the one before.
#[inline]
pub(super) fn next_initial(word: u32, index: u32) -> u32 {
    INIT.wrapping_mul(word ^ (word >> 30)).wrapping_add(index)
}

/// A word of the next block.
#[inline]
pub(super) fn twisted(own: u32, next: u32, middle: u32) -> u32 {
    let joint = (own & UPPER) | (next & LOWER);
    middle ^ (joint >> 1) ^ ((joint & 1).wrapping_neg() & TWIST)
}

/// What is handed out for a word of the state.
#[inline]
pub(super) fn temper(word: u32) -> u32 {
    let word = word ^ (word >> 11);
    let word = word ^ (word << 7 & 0x9d2c_5680);
    let word = word ^ (word << 15 & 0xefc6_0000);
    word ^ (word >> 18)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 10,000th word for the seed 5489 is a requirement on C++'s `std::mt19937` (ISO C++, [rand.predef]).
    #[test]
    fn the_ten_thousandth_word_is_the_standards() {
        let mut twister = Twister::new(5489);
        let mut block = [0; BLOCK];
        (0..9_999 / BLOCK).for_each(|_| twister.skip_block());
        twister.block(&mut block);
        assert_eq!(block[9_999 % BLOCK], 4_123_659_995);
    }

    /// Word by word, in place, as it is published.
    #[test]
    fn blocks_are_those_of_the_plain_way() {
        for seed in [0, 1, 320_846_001, u32::MAX] {
            let mut twister = Twister::new(seed);
            let mut plain = twister.state;
            let mut block = [0; BLOCK];
            for _ in 0..5 {
                twister.block(&mut block);
                for index in 0..BLOCK {
                    let (next, middle) = ((index + 1) % BLOCK, (index + MIDDLE) % BLOCK);
                    plain[index] = twisted(plain[index], plain[next], plain[middle]);
                    assert_eq!(block[index], temper(plain[index]));
                }
            }
        }
    }
}
