//! Counts lines. The memchr crate does too, but pays for a population count that the oldest processors lack.

use fearless_simd::{Level, Simd, SimdBase, SimdMask, dispatch};

/// Vectors compared in one round.
const AT_ONCE: usize = 4;

/// Rounds after which the counters of single lanes could overflow.
const MOST_ROUNDS: usize = 255 / AT_ONCE;

/// How many lines end in `text`.
pub(in crate::evidence) fn line_breaks(text: &[u8]) -> u64 {
    dispatch!(Level::new(), simd => line_breaks_by(simd, text))
}

/// As [`line_breaks`], by these vectors.
#[expect(clippy::inline_always, reason = "only what is inlined is compiled for the vectors at hand")]
#[inline(always)]
pub(in crate::evidence) fn line_breaks_by<S: Simd>(simd: S, text: &[u8]) -> u64 {
    let mut count = 0;
    let mut rest = text;
    // By hand: the methods of iterators are too large to be compiled for the vectors at hand.
    while rest.len() >= S::u8s::LEN {
        let mut lanes = S::i8s::splat(simd, 0);
        let mut left = MOST_ROUNDS;
        while let (1.., Some((chunks, behind))) = (left, rest.split_at_checked(AT_ONCE * S::u8s::LEN)) {
            let mut number = 0;
            while number < AT_ONCE {
                lanes -= breaks_at(simd, chunks, number * S::u8s::LEN);
                number += 1;
            }
            left -= 1;
            rest = behind;
        }
        while let (1.., Some((chunk, behind))) = (left, rest.split_at_checked(S::u8s::LEN)) {
            lanes -= breaks_at(simd, chunk, 0);
            left -= 1;
            rest = behind;
        }
        for lane in lanes.as_slice() {
            count += u64::from(lane.cast_unsigned());
        }
    }
    for byte in rest {
        count += u64::from(*byte == b'\n');
    }
    count
}

/// One less than nothing in each lane that holds a line break.
#[expect(clippy::inline_always, reason = "only what is inlined is compiled for the vectors at hand")]
#[inline(always)]
fn breaks_at<S: Simd>(simd: S, bytes: &[u8], at: usize) -> S::i8s {
    let bytes = S::u8s::from_slice(simd, bytes.get(at..at + S::u8s::LEN).unwrap_or(&[]));
    bytes.simd_eq(b'\n').to_vector()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_counted_one_by_one(text in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..300)) {
            let expected = text.split(|byte| *byte == b'\n').count() - 1;
            prop_assert_eq!(usize::try_from(line_breaks(&text)), Ok(expected));
            let narrow = dispatch!(Level::baseline(), simd => line_breaks_by(simd, &text));
            prop_assert_eq!(usize::try_from(narrow), Ok(expected));
        }
    }

    #[test]
    fn lanes_do_not_overflow() {
        assert_eq!(line_breaks(&vec![b'\n'; 100_003]), 100_003);
    }
}
