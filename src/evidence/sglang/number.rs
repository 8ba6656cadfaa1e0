//! Numbers as the engine prints them. A number counts only when it is complete: a cut `3.` is not 3.

use crate::evidence::Hundredths;

/// What stands where a number should.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number<T> {
    /// A complete, finite number.
    Finite(T),
    /// `nan`, `inf`, `-inf`.
    NotFinite,
    /// Cut, spliced with something else, or no number at all.
    Damaged,
}

impl<T> Number<T> {
    /// The value, when there is one.
    pub(super) fn finite(self) -> Option<T> {
        match self {
            Self::Finite(value) => Some(value),
            Self::NotFinite | Self::Damaged => None,
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

/// Reads a number with decimals, rounded to hundredths; the engine prints exactly two.
pub(super) fn hundredths(text: &[u8]) -> Number<Hundredths> {
    let Some((whole, rest)) = digits(text) else {
        return not_finite(text);
    };
    let Some((b'.', rest)) = rest.split_first().map(|(first, rest)| (*first, rest)) else {
        return Number::Damaged;
    };
    let decimals = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (decimals, rest) = rest.split_at_checked(decimals).unwrap_or((rest, &[]));
    if decimals.is_empty() || !ends(rest) {
        return Number::Damaged;
    }
    let mut places = decimals.iter().map(|digit| u64::from(digit - b'0'));
    let mut next = || places.next().unwrap_or(0);
    let count = next() * 10 + next() + u64::from(next() >= 5);
    let total = whole.checked_mul(100).and_then(|whole| whole.checked_add(count));
    match total.and_then(|total| u32::try_from(total).ok()) {
        Some(total) => Number::Finite(Hundredths::new(total)),
        None => Number::Damaged,
    }
}

/// Reads a number with decimals as a double.
pub(super) fn double(text: &[u8]) -> Number<f64> {
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    let (word, _) = text.split_at_checked(end).unwrap_or((text, &[]));
    let plain = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let ends_in_digit = word.last().is_some_and(u8::is_ascii_digit);
    if !word.iter().all(plain) || !ends_in_digit || word.len() > 32 {
        return not_finite(text);
    }
    match std::str::from_utf8(word).ok().and_then(|word| word.parse::<f64>().ok()) {
        Some(value) if value.is_finite() => Number::Finite(value),
        Some(_) => Number::NotFinite,
        None => Number::Damaged,
    }
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

fn not_finite<T>(text: &[u8]) -> Number<T> {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let word = [&b"nan"[..], b"inf"].into_iter().find_map(|word| unsigned.strip_prefix(word));
    match word {
        Some(rest) if ends(rest) => Number::NotFinite,
        _ => Number::Damaged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_number_is_no_number() {
        for text in ["3.", "", ".5", "3,52", "3.5x", "-1.00", "3.52[2026", "3e5", "99999999999.00"] {
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
        assert_eq!(hundredths(b"2.5"), Number::Finite(Hundredths::new(250)));
        assert_eq!(hundredths(b"2.496"), Number::Finite(Hundredths::new(250)));
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
    }
}
