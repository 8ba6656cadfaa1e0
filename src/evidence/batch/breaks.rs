//! Counts lines. The memchr crate does too, but pays for a population count that the oldest processors lack.

use fearless_simd::{Level, Simd, SimdBase, SimdMask, dispatch};

/// Vectors compared in one round.
const AT_ONCE: usize = 4;

/// Rounds from which on it pays to count in every lane for itself, and after which such a counter could overflow.
const LEAST_ROUNDS: usize = 8;
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
    while rest.len() >= LEAST_ROUNDS * AT_ONCE * S::u8s::LEN {
        let mut lanes = S::i8s::splat(simd, 0);
        let mut left = MOST_ROUNDS;
        while let (1.., Some((chunks, behind))) = (left, rest.split_at_checked(AT_ONCE * S::u8s::LEN)) {
            let mut number = 0;
            while number < AT_ONCE {
                lanes -= breaks_at::<S>(simd, chunks, number * S::u8s::LEN).to_vector();
                number += 1;
            }
            left -= 1;
            rest = behind;
        }
        for lane in lanes.as_slice() {
            count += u64::from(lane.cast_unsigned());
        }
    }
    while let Some((_, behind)) = rest.split_at_checked(S::u8s::LEN) {
        count += u64::from(breaks_at::<S>(simd, rest, 0).to_bitmask().count_ones());
        rest = behind;
    }
    if let Some(last) = text.len().checked_sub(S::u8s::LEN) {
        // What is left, with what was counted before it.
        let counted = u32::try_from(S::u8s::LEN - rest.len()).unwrap_or(u64::BITS);
        let breaks = breaks_at::<S>(simd, text, last).to_bitmask();
        return count + u64::from(breaks.checked_shr(counted).unwrap_or(0).count_ones());
    }
    for byte in rest {
        count += u64::from(*byte == b'\n');
    }
    count
}

/// Whether each lane of the vector that begins there holds a line break.
#[expect(clippy::inline_always, reason = "only what is inlined is compiled for the vectors at hand")]
#[inline(always)]
fn breaks_at<S: Simd>(simd: S, bytes: &[u8], at: usize) -> <S::u8s as SimdBase<S>>::Mask {
    S::u8s::from_slice(simd, bytes.get(at..at + S::u8s::LEN).unwrap_or(&[])).simd_eq(b'\n')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_counted_one_by_one(text in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..3000)) {
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
