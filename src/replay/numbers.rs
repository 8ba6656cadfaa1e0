//! From words to numbers, in PyTorch's arithmetic: what is double there is double here, what is rounded to float32 there
//! is rounded here.
//!
//! Logarithm, sine and cosine are those of `libm`, in plain arithmetic, so that the bits do not depend on the machine. They
//! may differ from a C library's in the last bit of a double, 29 bits below the last bit of the float32 that counts.

use std::f64::consts::TAU;

/// 2^-53.
const UNIT: f64 = 1.0 / 9_007_199_254_740_992.0;

/// A uniform number in [0, 1): the low 53 bits of two words.
#[inline]
pub(super) fn uniform(high: u32, low: u32) -> f64 {
    let bits = (u64::from(high) << 32 | u64::from(low)) & ((1 << 53) - 1);
    crate::law::float(bits) * UNIT
}

/// Rounds to the nearest float32.
#[expect(clippy::cast_possible_truncation, reason = "rounding to float32 is what is wanted")]
#[inline]
pub(super) fn single(value: f64) -> f32 {
    value as f32
}

/// Exponential(1) in float32.
#[inline]
pub(super) fn exponential(uniform: f64) -> f32 {
    single(-libm::log1p(-uniform))
}

/// Two standard normal numbers by Box and Muller, in double.
#[inline]
pub(super) fn normals(first: f64, second: f64) -> [f64; 2] {
    let radius = radius(second);
    let (sine, cosine) = libm::sincos(TAU * first);
    [radius * cosine, radius * sine]
}

/// How far from the origin the pair of normal numbers lies.
#[inline]
pub(super) fn radius(uniform: f64) -> f64 {
    (-2.0 * libm::log1p(-uniform)).sqrt()
}
