//! The draw of `multinomial`: a normal number around the target, clamped and rounded; exact, and mostly without
//! logarithms and cosines.
//!
//! A pair of normal numbers is a radius times cosine and sine. Both factors are known beforehand to within a range of their
//! uniform number; where the ends of the product round to the same length, that is the draw. About one draw in two hundred
//! is computed as the engine does it.

use std::f64::consts::TAU;
use std::sync::LazyLock;

use super::numbers::{normals, radius, single, uniform};

/// Ranges of a uniform number, and how its first word leads to one.
const RANGES: usize = 2048;
const HEAD: u32 = (1 << 21) - 1;
const RANGE_SHIFT: u32 = 21 - 11;

/// Added at both ends: the products are in float32, and so is the sum with a target up to 255.
const SLACK: f32 = 1e-4;

/// Adding and subtracting it rounds a small float32 to a whole number, half to even.
const WHOLE: f32 = 12_582_912.0;

/// Least and greatest value over each range.
#[derive(Clone, Debug)]
struct Ranges {
    cosine: [[f32; 2]; RANGES],
    sine: [[f32; 2]; RANGES],
    radius: [[f32; 2]; RANGES],
}

static RANGE: LazyLock<Box<Ranges>> = LazyLock::new(|| {
    let mut ranges =
        Box::new(Ranges { cosine: [[0.0; 2]; RANGES], sine: [[0.0; 2]; RANGES], radius: [[0.0; 2]; RANGES] });
    let edge = |index: u32| f64::from(index) / 2048.0;
    let ordered = |left: f64, right: f64| [single(left.min(right)), single(left.max(right))];
    // Turning points stand at edges, so both functions are monotonic within a range.
    for (slot, index) in ranges.cosine.iter_mut().zip(0..) {
        *slot = ordered(libm::cos(TAU * edge(index)), libm::cos(TAU * edge(index + 1)));
    }
    for (slot, index) in ranges.sine.iter_mut().zip(0..) {
        *slot = ordered(libm::sin(TAU * edge(index)), libm::sin(TAU * edge(index + 1)));
    }
    for (slot, index) in ranges.radius.iter_mut().zip(0..) {
        // The last range has no end: always computed.
        *slot = [single(radius(edge(index))), single(radius(edge(index + 1)))];
    }
    ranges
});

/// A clamped and rounded normal variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounding {
    target: f64,
    /// The same in float32, for the ranges.
    center: f32,
    max: f32,
}

impl Rounding {
    pub(super) fn new(target: f64, max: u32) -> Self {
        Self { target, center: single(target), max: single(f64::from(max)) }
    }

    /// Draws two lengths from every four words.
    pub(super) fn fill(self, words: &[u32], out: &mut Vec<u8>) {
        let ranges = &**RANGE;
        let (pairs, _) = words.as_chunks::<4>();
        out.extend(pairs.iter().flat_map(|pair| self.pair(*pair, ranges)));
    }

    #[inline]
    fn pair(self, words: [u32; 4], ranges: &Ranges) -> [u8; 2] {
        let range = |word: u32| usize::try_from((word & HEAD) >> RANGE_SHIFT).unwrap_or(0);
        let find = |table: &[[f32; 2]; RANGES], word: u32| {
            table.get(range(word)).copied().unwrap_or([f32::NEG_INFINITY, f32::INFINITY])
        };
        let radius = find(&ranges.radius, words[2]);
        let cosine = self.certain(radius, find(&ranges.cosine, words[0]));
        let sine = self.certain(radius, find(&ranges.sine, words[0]));
        match (cosine, sine) {
            (Some(first), Some(second)) => [first, second],
            _ => self.pair_exactly(words),
        }
    }

    /// The length, where both ends of the range give the same.
    #[inline]
    fn certain(self, [near, far]: [f32; 2], [low, high]: [f32; 2]) -> Option<u8> {
        let low = self.center + low * if low < 0.0 { far } else { near } - SLACK;
        let high = self.center + high * if high < 0.0 { near } else { far } + SLACK;
        let [low, high] = [low, high].map(|end| end.clamp(1.0, self.max) + WHOLE);
        // Whole numbers of this size have their own bits.
        (low.to_bits() == high.to_bits()).then(|| byte(low - WHOLE))
    }

    /// As PyTorch and the engine compute it: the sum in double, clamped and rounded in float32.
    #[cold]
    fn pair_exactly(self, words: [u32; 4]) -> [u8; 2] {
        let pair = normals(uniform(words[0], words[1]), uniform(words[2], words[3]));
        pair.map(|normal| byte(single(normal + self.target).clamp(1.0, self.max).round_ties_even()))
    }
}

/// A whole number from 1 to 255.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
fn byte(value: f32) -> u8 {
    value as u8
}

#[cfg(test)]
mod tests {
    use super::super::twister::{BLOCK, Twister};
    use super::*;

    #[test]
    fn the_fast_way_is_the_exact_way() {
        let mut twister = Twister::new(7);
        let mut words = [0; BLOCK];
        for (target, max) in [(3.51, 6), (2.78, 3), (1.0, 4), (0.5, 2), (4.0, 4), (250.5, 255)] {
            let law = Rounding::new(target, max);
            let mut computed = 0;
            for _ in 0..600 {
                twister.block(&mut words);
                for pair in words.as_chunks::<4>().0 {
                    let exact = law.pair_exactly(*pair);
                    assert_eq!(law.pair(*pair, &RANGE), exact, "{target} {max}");
                    // Bits that the generator does not use say nothing.
                    assert_eq!(
                        law.pair(pair.map(|word| word & HEAD), &RANGE),
                        law.pair_exactly(pair.map(|word| word & HEAD))
                    );
                    computed += u32::from(exact[0] > 0);
                }
            }
            assert_eq!(computed, 600 * 156);
        }
    }

    /// The ranges hold what they are for: numbers at and beside their edges.
    #[test]
    fn ranges_hold_their_numbers() {
        for index in 0..2048_u32 {
            for inside in [0.0, 1e-9, 0.5, 1.0 - 1e-9] {
                let number = (f64::from(index) + inside) / 2048.0;
                let at = usize::try_from(index).unwrap();
                for (range, value) in [
                    (RANGE.cosine[at], libm::cos(TAU * number)),
                    (RANGE.sine[at], libm::sin(TAU * number)),
                    (RANGE.radius[at], radius(number)),
                ] {
                    let slack = 1e-6 * (1.0 + value.abs());
                    assert!(f64::from(range[0]) - slack <= value && value <= f64::from(range[1]) + slack);
                }
            }
        }
    }
}
