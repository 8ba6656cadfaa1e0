//! Numbers as engines read them from settings.

/// Stands for a piece of text that only the run resolves; texts that hold it are no values. Readers refuse it in input.
pub(crate) const UNRESOLVED: char = '\u{f8ff}';

/// A finite decimal number: `3.80`, `3.8` and `3.800` are one. No comma, no unit, no hexadecimal, no infinity.
pub(crate) fn decimal(text: &str) -> Option<f64> {
    let text = text.trim();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let plain = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && unsigned.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'-' | b'+'));
    let number: f64 = plain.then(|| text.parse().ok()).flatten()?;
    number.is_finite().then_some(number)
}

/// A draft length: a positive whole number, bare. What a shell passes is never quoted by the time it arrives.
pub(crate) fn draft_length(text: &str) -> Option<u32> {
    let text = text.trim();
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().filter(|length| *length > 0)
}

/// Two decimals are what curves have: anything closer is the same value.
const SAME: f64 = 0.005;

/// Whether a pin is the value of a cell. A hair less than half a cent, so that 2.495 is not 2.49.
pub(crate) fn same(left: f64, right: f64) -> bool {
    (left - right).abs() < SAME - 1e-9
}

/// A text for a message: what the run resolves is shown as it is written.
pub(crate) fn shown(text: &str) -> String {
    text.chars().filter(|letter| *letter != UNRESOLVED).map(unmasked).collect()
}

/// Where letters stand that could be taken for structure of the text around an unresolved piece: spaces, quotes, colons.
const MASK: u32 = 0xf700;

/// A letter of an unresolved piece, so that no reader of shell, JSON or YAML stops at it.
pub(crate) fn masked(letter: char) -> char {
    let is_plain = letter.is_ascii_alphanumeric() || "$_{}()-./[]@*+=".contains(letter);
    match char::from_u32(MASK + u32::from(letter)) {
        _ if is_plain => letter,
        Some(mask) if letter.is_ascii() => mask,
        _ => '.',
    }
}

fn unmasked(letter: char) -> char {
    let ascii = u32::from(letter).checked_sub(MASK).and_then(|code| u8::try_from(code).ok());
    match ascii.filter(u8::is_ascii) {
        Some(b'\n' | b'\r' | b'\t') => ' ',
        Some(code) => char::from(code),
        None => letter,
    }
}

/// Whether only the run can tell the value.
pub(crate) fn is_unresolved(text: &str) -> bool {
    text.contains(UNRESOLVED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_has_many_spellings_and_some_texts_are_none() {
        for text in ["3.80", "3.8", "3.800", " 3.8 ", "+3.8", "38e-1"] {
            assert!((decimal(text).unwrap() - 3.8).abs() < 1e-12, "{text}");
        }
        for text in ["", "3,8", "nan", "inf", "0x3", "3.8 tokens", "1e999", "three", "\u{f8ff}$X\u{f8ff}"] {
            assert_eq!(decimal(text), None, "{text:?}");
        }
        assert_eq!(draft_length("3"), Some(3));
        for text in ["", "0", "-1", "3.0", "true", "+3", "99999999999"] {
            assert_eq!(draft_length(text), None, "{text:?}");
        }
    }

    #[test]
    fn two_decimals_decide() {
        assert!(same(2.494, 2.49) && same(2.486, 2.49));
        assert!(!same(2.495, 2.49) && !same(2.50, 2.49));
    }
}
