//! Counts lines. The memchr crate does too, but pays for a population count that the oldest processors lack.

use wide::u8x16;

/// Bytes compared at a time.
const LANES: usize = 16;

/// Chunks after which the counters of single lanes could overflow.
const MOST_CHUNKS: usize = 255;

/// How many lines end in `text`.
pub(in crate::evidence) fn line_breaks(text: &[u8]) -> u64 {
    let (chunks, rest) = text.as_chunks::<LANES>();
    let line_break = u8x16::splat(b'\n');
    let mut count = rest.iter().map(|byte| u64::from(*byte == b'\n')).sum();
    for chunks in chunks.chunks(MOST_CHUNKS) {
        let mut lanes = u8x16::default();
        for chunk in chunks {
            // A lane that is equal has all bits set: one less.
            lanes -= u8x16::new(*chunk).simd_eq(line_break);
        }
        count += lanes.to_array().into_iter().map(u64::from).sum::<u64>();
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::line_breaks;

    proptest! {
        #[test]
        fn as_counted_one_by_one(text in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..300)) {
            let expected = text.split(|byte| *byte == b'\n').count() - 1;
            prop_assert_eq!(usize::try_from(line_breaks(&text)), Ok(expected));
        }
    }

    #[test]
    fn lanes_do_not_overflow() {
        assert_eq!(line_breaks(&vec![b'\n'; 100_003]), 100_003);
    }
}
