//! Conversions between counts and doubles, in one place.

/// A count as a double: exact below 2^53, the nearest double above.
#[expect(clippy::cast_precision_loss, reason = "counts of lines and steps stay far below 2^53")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

/// The whole part of a double; what is negative or no number becomes 0, what is too large the largest count.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, as said above"
)]
pub(crate) fn whole(value: f64) -> u64 {
    value as u64
}

/// [`whole`] for the smaller type.
pub(crate) fn whole32(value: f64) -> u32 {
    u32::try_from(whole(value)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{float, whole, whole32};

    #[test]
    fn conversions_saturate() {
        assert_eq!(whole(-1.0), 0);
        assert_eq!(whole(f64::NAN), 0);
        assert_eq!(whole(3.99), 3);
        assert_eq!(whole32(1e12), u32::MAX);
        assert!((float(1 << 52) - 4_503_599_627_370_496.0).abs() < 0.5);
    }
}
