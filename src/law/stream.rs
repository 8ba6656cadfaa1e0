//! Where randomness comes from: one generator, as many independent streams as a simulation has parts.

use std::convert::Infallible;

use rand::rngs::ChaCha8Rng;
use rand::{SeedableRng as _, TryRng};

/// What makes the streams of this program differ from those of any other user of the generator.
const LABEL: [u8; 24] = *b"accsim acceptance draws1";

/// A stream of random words, fixed by seed, replicate and rank.
///
/// The generator is `ChaCha` with 8 rounds: the seed and a label are the key, replicate and rank the stream number. Two
/// streams share no word however long they run, and none tells anything about another. The words are those of the
/// published cipher, so they are the same on every machine and in every version of this crate; a change would be
/// marked value-breaking.
///
/// ```
/// use accsim::law::Stream;
/// use rand::Rng as _;
///
/// let word = |seed, replicate, rank| Stream::new(seed, replicate, rank).next_u64();
/// assert_eq!(word(1, 0, 0), 0x2693_5371_fc5d_36af);
/// assert_ne!(word(1, 0, 0), word(1, 0, 1));
/// assert_ne!(word(1, 0, 0), word(2, 0, 0));
/// ```
#[derive(Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of one rank in one replicate.
    #[must_use]
    pub fn new(seed: u64, replicate: u32, rank: u32) -> Self {
        Self::labelled(LABEL, seed, (u64::from(replicate) << 32) | u64::from(rank))
    }

    /// A stream under a label of its own.
    pub(super) fn labelled(label: [u8; 24], seed: u64, number: u64) -> Self {
        let mut key = [0; 32];
        let bytes = label.into_iter().chain(seed.to_le_bytes());
        for (slot, byte) in key.iter_mut().zip(bytes) {
            *slot = byte;
        }
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(number);
        Self(generator)
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, destination: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(destination)
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng as _;

    use super::Stream;

    /// First words of a few streams, from a separate program. They must never change: see the promise above.
    #[test]
    fn words_are_stable() {
        let words = |seed, replicate, rank| -> [u64; 3] {
            let mut stream = Stream::new(seed, replicate, rank);
            std::array::from_fn(|_| stream.next_u64())
        };
        for (stream, expected) in [
            ((0, 0, 0), [0x2648_230c_47df_c752, 0x5021_308e_bdff_920e, 0x98fe_7bf6_6f1e_5043]),
            ((1, 0, 0), [0x2693_5371_fc5d_36af, 0x655e_9d49_e28d_8f57, 0xf8ce_177e_8d5c_7532]),
            ((1, 0, 1), [0x4796_6937_1727_f1cd, 0x2a12_38dd_a518_6959, 0x4ab5_0289_6abc_7b02]),
            ((1, 1, 0), [0x6ab1_4daa_f17e_ea89, 0x6c2c_95b1_80cc_f6c7, 0x74cb_b869_bb20_0156]),
            (
                (u64::MAX, u32::MAX, u32::MAX),
                [0x8510_494a_a8f2_2b64, 0x86c7_6189_0b5d_fd5b, 0x35cf_65cf_c5d8_3cff],
            ),
        ] {
            let (seed, replicate, rank) = stream;
            let found = words(seed, replicate, rank);
            assert_eq!(found, expected, "{stream:?}");
        }
    }

    /// An independent implementation of the block function (RFC 8439, with 8 rounds, a 64-bit counter and a 64-bit
    /// stream number): the words do not depend on the crate that makes them.
    #[test]
    fn words_are_those_of_the_published_cipher() {
        /// Adds, mixes and turns four words of the state in the order of the standard.
        fn quarter(state: &mut [u32; 16], at: [usize; 4]) {
            for (sum, added, mixed, by) in [(0, 1, 3, 16), (2, 3, 1, 12), (0, 1, 3, 8), (2, 3, 1, 7)] {
                let (sum, added, mixed) = (at[sum], at[added], at[mixed]);
                state[sum] = state[sum].wrapping_add(state[added]);
                state[mixed] = (state[mixed] ^ state[sum]).rotate_left(by);
            }
        }
        let (seed, replicate, rank) = (7_u64, 3_u32, 5_u32);
        let mut key = super::LABEL.to_vec();
        key.extend(seed.to_le_bytes());
        let mut start =
            [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        for (word, bytes) in start[4..12].iter_mut().zip(key.chunks(4)) {
            *word = u32::from_le_bytes(bytes.try_into().unwrap());
        }
        (start[14], start[15]) = (rank, replicate);
        let mut x = start;
        for _ in 0..4 {
            for column in [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]] {
                quarter(&mut x, column);
            }
            for diagonal in [[0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]] {
                quarter(&mut x, diagonal);
            }
        }
        let mut stream = Stream::new(seed, replicate, rank);
        for (word, start) in x.iter().zip(start) {
            assert_eq!(stream.next_u32(), word.wrapping_add(start));
        }
    }
}
