//! Numbers for documents.

/// `value` with 12 significant digits: what binary arithmetic leaves behind the 12th (0.4900000000000002) says nothing, and
/// may differ from machine to machine.
pub(in crate::report) fn tidy(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

/// A printed value: `3.52`.
pub(super) fn hundredths(value: u32) -> String {
    format!("{}.{:02}", value / 100, value % 100)
}

#[cfg(test)]
mod tests {
    use super::tidy;

    #[test]
    fn digits_that_say_nothing_go() {
        for (value, expected) in [
            (1.0 - (3.51 - 3.0), 0.49),
            (3.51 - 3.0, 0.51),
            (1.0 / 3.0, 0.333_333_333_333),
            (0.0, 0.0),
            (-2.5, -2.5),
            (1.234_567_890_123_456e-7, 1.234_567_890_12e-7),
        ] {
            assert!((tidy(value) - expected).abs() <= 0.0, "{value}");
        }
        assert!(tidy(f64::INFINITY).is_infinite());
    }
}
