//! Numbers on the command line, and what is said of words that are none.

use std::num::IntErrorKind;
use std::ops::{Bound, RangeBounds};

/// Reads a whole number of `range`, which ends at the latest where `T` does.
pub(crate) fn whole<T: TryFrom<u64>>(
    range: impl RangeBounds<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    let least = match range.start_bound() {
        Bound::Included(least) => *least,
        Bound::Excluded(below) => below.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let most = match range.end_bound() {
        Bound::Included(most) => Some(*most),
        Bound::Excluded(above) => Some(above.saturating_sub(1)),
        Bound::Unbounded => None,
    };
    move |text| {
        let parsed = text.trim().parse::<u64>();
        let within =
            parsed.as_ref().ok().filter(|number| (least..=most.unwrap_or(u64::MAX)).contains(number));
        if let Some(number) = within.and_then(|number| T::try_from(*number).ok()) {
            return Ok(number);
        }
        Err(match (most, parsed.map_err(|error| *error.kind())) {
            (Some(most), _) => format!("expected a whole number from {least} to {most}"),
            (None, Ok(0) | Err(IntErrorKind::Empty | IntErrorKind::InvalidDigit)) => {
                format!("expected a whole number, {least} or more")
            }
            (None, _) => "the number is too large".to_owned(),
        })
    }
}

/// Reads a number with decimals. What is not finite is left to those who know why it cannot be.
pub(crate) fn decimal(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| "expected a number like 3.51".to_owned())
}

/// Reads a finite number with decimals.
pub(crate) fn finite(text: &str) -> Result<f64, String> {
    decimal(text)
        .ok()
        .filter(|value| value.is_finite())
        .ok_or_else(|| "expected a number like 3.51".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_and_what_is_said_of_others() {
        let from_one = whole::<u32>(1..);
        assert_eq!(from_one("4"), Ok(4));
        for text in ["0", "-1", "x", "", "3.5", "1e6"] {
            assert_eq!(from_one(text), Err("expected a whole number, 1 or more".to_owned()), "{text}");
        }
        for text in ["4294967296", "99999999999999999999"] {
            assert_eq!(from_one(text), Err("the number is too large".to_owned()), "{text}");
        }
        let ranks = whole::<u32>(1..=65_536);
        assert_eq!(ranks("65536"), Ok(65_536));
        for text in ["0", "65537", "x"] {
            assert_eq!(ranks(text), Err("expected a whole number from 1 to 65536".to_owned()), "{text}");
        }
        assert_eq!(whole::<u64>(..)("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(whole::<u64>(..)("-1"), Err("expected a whole number, 0 or more".to_owned()));
    }

    #[test]
    fn decimals() {
        assert_eq!((decimal("3.51"), finite("3")), (Ok(3.51), Ok(3.0)));
        assert!(decimal("nan").is_ok_and(f64::is_nan) && finite("nan").is_err());
        assert_eq!(decimal("3,51"), Err("expected a number like 3.51".to_owned()));
    }
}
