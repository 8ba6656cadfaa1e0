//! The draw of `match-expected`: exact, and mostly without logarithms.
//!
//! The engine compares `p0 / q0` with `p1 / q1` in float32, q0 and q1 being two exponentials. In exact arithmetic that is
//! `u1 >= 1 - (1 - u0)^(p1 / p0)`: a bound on the second uniform number that grows with the first. For each of 1024 ranges
//! of u0 the bound's ends are known beforehand. What lies outside them is decided by the top 21 bits of u1; about one draw
//! in a thousand lies between and is computed as the engine does it.

use super::numbers::{exponential, single, uniform};
/// Bits of a uniform number that stand in its first word.
const HEAD_BITS: u32 = 21;
const HEAD: u32 = (1 << HEAD_BITS) - 1;

/// Ranges of the first number, and the bits that are left in its head.
const RANGES: usize = 1024;
const RANGE_SHIFT: u32 = HEAD_BITS - 10;

/// Slack in units of 2^-21. Four roundings to float32 move the bound by a relative 2^-22 of an exponential, so by less
/// than a fifth of a unit; cutting a number to its head moves it by less than one.
const SLACK: f64 = 2.0;

/// Two neighbouring lengths and what decides between them.
#[derive(Clone, Debug)]
pub(super) struct Thresholds {
    lo: u8,
    /// Weights of the smaller and the larger length.
    weights: [f32; 2],
    /// For each range: below the first the larger length, from the second on the smaller one.
    bounds: Box<[[u32; 2]; RANGES]>,
}

impl Thresholds {
    /// `weight` is `L' - lo` as a double.
    pub(super) fn new(lo: u8, weight: f64) -> Self {
        let weights = [single(1.0 - weight), single(weight)];
        let power = f64::from(weights[1]) / f64::from(weights[0]);
        let bound = |edge: u32| {
            let share = f64::from(edge) / f64::from(1_u32 << 10);
            // 1 - (1 - share)^power; the edge 1 gives 1.
            -libm::expm1(power * libm::log1p(-share)) * f64::from(1_u32 << HEAD_BITS)
        };
        let mut bounds = Box::new([[0; 2]; RANGES]);
        for (slot, range) in bounds.iter_mut().zip(0_u32..) {
            let low = (bound(range) - SLACK).max(0.0).floor();
            let high = (bound(range + 1) + SLACK).ceil();
            *slot = [crate::law::whole32(low), crate::law::whole32(high)];
        }
        Self { lo, weights, bounds }
    }

    /// Draws a length from every four words.
    pub(super) fn fill(&self, words: &[u32], out: &mut Vec<u8>) {
        let (draws, _) = words.as_chunks::<4>();
        out.extend(draws.iter().map(|draw| self.lo.wrapping_add(u8::from(self.is_larger(*draw)))));
    }

    #[inline]
    fn is_larger(&self, draw: [u32; 4]) -> bool {
        let range = usize::try_from((draw[0] & HEAD) >> RANGE_SHIFT).unwrap_or(0);
        let [low, high] = self.bounds.get(range).copied().unwrap_or([0, u32::MAX]);
        let head = draw[2] & HEAD;
        // Two comparisons and no branch that half of the draws would take: only the rare one is predicted.
        if head.wrapping_sub(low) < high.wrapping_sub(low) {
            self.is_larger_exactly(draw)
        } else {
            head < low
        }
    }

    /// The comparison as PyTorch makes it: `probs / exponential`, then the first of the largest.
    #[cold]
    fn is_larger_exactly(&self, draw: [u32; 4]) -> bool {
        let [first, second] =
            [exponential(uniform(draw[0], draw[1])), exponential(uniform(draw[2], draw[3]))];
        // Not `<`: PyTorch takes a NaN (0 / 0) for the largest.
        let is_smaller = self.weights[0] / first >= self.weights[1] / second;
        !is_smaller
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::twister::{BLOCK, Twister};
    use super::*;

    /// Every draw of many blocks, for weights from one end to the other.
    #[test]
    fn the_fast_way_is_the_exact_way() {
        let mut twister = Twister::new(7);
        let mut words = [0; BLOCK];
        for weight in [1e-9, 0.0005, 0.01, 0.29, 0.49, 3.51 - 3.0, 0.78, 0.99, 0.999_999, 1.0 - 1e-12] {
            let law = Thresholds::new(3, weight);
            for _ in 0..400 {
                twister.block(&mut words);
                for draw in words.as_chunks::<4>().0 {
                    assert_eq!(law.is_larger(*draw), law.is_larger_exactly(*draw), "{weight} {draw:?}");
                }
            }
        }
    }

    proptest! {
        /// Beside the bound, where rounding decides: the head of the second number as close as it gets.
        #[test]
        fn draws_beside_the_bound_are_exact(
            weight in 0.0001_f64..0.9999, first in any::<u32>(), rest in any::<[u32; 2]>(), step in -6_i64..6,
        ) {
            let law = Thresholds::new(3, weight);
            let power = f64::from(law.weights[1]) / f64::from(law.weights[0]);
            let bound = -libm::expm1(power * libm::log1p(-uniform(first, rest[0]))) * 2_097_152.0;
            let head = i64::from(crate::law::whole32(bound)) + step;
            let Ok(head) = u32::try_from(head.clamp(0, i64::from(HEAD))) else { return Ok(()) };
            let draw = [first, rest[0], head, rest[1]];
            prop_assert_eq!(law.is_larger(draw), law.is_larger_exactly(draw));
        }
    }
}
