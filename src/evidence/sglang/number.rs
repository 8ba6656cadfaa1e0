//! Numbers as the engine prints them. A number counts only when it is complete: a cut `3.` is not 3.

use crate::evidence::Hundredths;

/// What stands where a number should.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number<T> {
    /// A complete, finite number.
    Finite(T),
    /// `nan`, `inf`, `-inf`.
    NotFinite,
    /// A complete number below zero: what an engine prints when its own accounts are wrong.
    Negative,
    /// Cut, spliced with something else, or no number at all.
    Damaged,
}

impl<T> Number<T> {
    /// The value of a complete number, `None` inside for one that no count or share can be; `None` for damage.
    #[allow(clippy::option_option)] // Two questions: is it a number, and which.
    pub(super) fn present(self) -> Option<Option<T>> {
        match self {
            Self::Finite(value) => Some(Some(value)),
            Self::NotFinite | Self::Negative => Some(None),
            Self::Damaged => None,
        }
    }
}

/// Reads an unsigned integer that fills `text` up to white space or its end.
pub(super) fn integer(text: &[u8]) -> Option<u64> {
    let (value, rest) = digits(text)?;
    ends(rest).then_some(value)
}

/// As [`integer`], where it fits 32 bits.
pub(super) fn integer32(text: &[u8]) -> Option<u32> {
    integer(text).and_then(|value| u32::try_from(value).ok())
}

/// As [`integer`], with a sign or without.
pub(super) fn count(text: &[u8]) -> Number<u64> {
    match (integer(text), text.strip_prefix(b"-").and_then(integer)) {
        (Some(value), _) => Number::Finite(value),
        (None, Some(_)) => Number::Negative,
        (None, None) => Number::Damaged,
    }
}

/// Reads a number with exactly two decimals: no release prints more or fewer, so another count of them is a cut.
pub(super) fn hundredths(text: &[u8]) -> Number<Hundredths> {
    let Some((whole, tens, ones)) = two_decimals(text) else {
        return odd(text);
    };
    let total = whole.checked_mul(100).map(|whole| whole + u64::from(tens) * 10 + u64::from(ones));
    // The largest number stands for none elsewhere.
    match total.and_then(|total| u32::try_from(total).ok()).filter(|total| *total < u32::MAX) {
        Some(total) => Number::Finite(Hundredths::new(total)),
        None => Number::Damaged,
    }
}

/// Reads a number with exactly two decimals as the double nearest to it.
pub(super) fn double(text: &[u8]) -> Number<f64> {
    if two_decimals(text).is_none() {
        return odd(text);
    }
    let end = text.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.').unwrap_or(text.len());
    let word = text.get(..end).and_then(|word| std::str::from_utf8(word).ok());
    match word.and_then(|word| word.parse().ok()) {
        Some(value) => Number::Finite(value),
        None => Number::Damaged,
    }
}

/// The parts of `12.34`: 12, 3, 4.
fn two_decimals(text: &[u8]) -> Option<(u64, u8, u8)> {
    let (whole, rest) = digits(text)?;
    let (decimals, rest) = rest.strip_prefix(b".")?.split_first_chunk::<2>()?;
    let [tens, ones] = decimals;
    let are_digits = tens.is_ascii_digit() && ones.is_ascii_digit();
    (are_digits && ends(rest)).then(|| (whole, tens - b'0', ones - b'0'))
}

/// Reads `True` or `False`.
pub(super) fn boolean(text: &[u8]) -> Option<bool> {
    [(&b"True"[..], true), (b"False", false)]
        .into_iter()
        .find_map(|(word, value)| text.strip_prefix(word).filter(|rest| ends(rest)).map(|_| value))
}

fn digits(text: &[u8]) -> Option<(u64, &[u8])> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at_checked(count)?;
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    Some((digits.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')), rest))
}

/// Whether a value may end here: `rest` is what follows it inside its field.
fn ends(rest: &[u8]) -> bool {
    rest.first().is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b'%')
}

/// What is no plain number: `nan`, `-0.01`, damage.
fn odd<T>(text: &[u8]) -> Number<T> {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let word = [&b"nan"[..], b"inf"].into_iter().find_map(|word| unsigned.strip_prefix(word));
    match word {
        Some(rest) if ends(rest) => Number::NotFinite,
        None if unsigned.len() < text.len() && two_decimals(unsigned).is_some() => Number::Negative,
        _ => Number::Damaged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_number_is_no_number() {
        for text in ["3.", "", ".5", "2.5", "2.496", "3,52", "3.5x", "3.52[2026", "3e5", "99999999999.00"] {
            assert_eq!(hundredths(text.as_bytes()), Number::Damaged, "{text}");
        }
        for text in ["", "8x", "-1", "8.", "99999999999999999999", "0\\n"] {
            assert_eq!(integer(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn complete_numbers_are_read_exactly() {
        assert_eq!(hundredths(b"3.52"), Number::Finite(Hundredths::new(352)));
        assert_eq!(hundredths(b"0.00 "), Number::Finite(Hundredths::new(0)));
        assert_eq!(hundredths(b"97.10%"), Number::Finite(Hundredths::new(9710)));
        assert_eq!(integer(b"8 [repeated 3x across cluster]"), Some(8));
        assert_eq!(double(b"1523.77"), Number::Finite(1523.77));
        assert_eq!(boolean(b"True"), Some(true));
        assert_eq!(boolean(b"Truest"), None);
    }

    #[test]
    fn not_finite_is_told_from_damage() {
        assert_eq!(hundredths(b"nan"), Number::NotFinite);
        assert_eq!(double(b"-inf"), Number::NotFinite);
        assert_eq!(double(b"nank"), Number::Damaged);
        assert_eq!(double(b"1.2."), Number::Damaged);
        assert_eq!(double(b"585"), Number::Damaged);
    }

    #[test]
    fn below_zero_is_complete() {
        assert_eq!(hundredths(b"-0.01"), Number::Negative);
        assert_eq!(hundredths(b"-0.0"), Number::Damaged);
        assert_eq!(count(b"-3"), Number::Negative);
        assert_eq!(count(b"-"), Number::Damaged);
        assert_eq!(count(b"3"), Number::Finite(3));
    }
}
