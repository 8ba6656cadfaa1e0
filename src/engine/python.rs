//! Numbers as Python reads them: the engines hand their settings to `float()` and `int()`.

/// What `float(text)` gives; none where it raises. White space around the number and single underscores between digits
/// are allowed; so are `inf`, `infinity` and `nan` in any letter case. A decimal comma is not.
pub(crate) fn float(text: &str) -> Option<f64> {
    without_underscores(text.trim())?.parse().ok()
}

/// What `int(text)` gives; none where it raises or where the number has more than 64 bits.
pub(crate) fn int(text: &str) -> Option<i64> {
    let text = without_underscores(text.trim())?;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(&text);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// The text without its underscores, where each stands between two digits.
fn without_underscores(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_digit =
        |index: Option<usize>| index.and_then(|index| bytes.get(index)).is_some_and(u8::is_ascii_digit);
    let fits = |(index, byte): (usize, &u8)| {
        *byte != b'_' || (is_digit(index.checked_sub(1)) && is_digit(index.checked_add(1)))
    };
    bytes.iter().enumerate().all(fits).then(|| text.replace('_', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Python 3 answers.
    #[test]
    fn floats() {
        for (text, value) in [
            ("3.51", 3.51),
            (" 3.51\n", 3.51),
            ("+3", 3.0),
            ("-1", -1.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("1e1", 10.0),
            ("1_0.5", 10.5),
            ("inf", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
        ] {
            assert!(float(text).is_some_and(|found| found.total_cmp(&value).is_eq()), "{text}");
        }
        assert!(float("NaN").is_some_and(f64::is_nan));
        for text in ["", " ", "3,51", "3.51x", "1__0", "_1", "1_", "1_.5", "0x10", "three", "3 .51", "1e"] {
            assert_eq!(float(text), None, "{text}");
        }
    }

    #[test]
    fn ints() {
        for (text, value) in [("2", 2), (" -3 ", -3), ("+4", 4), ("1_000", 1000), ("007", 7)] {
            assert_eq!(int(text), Some(value), "{text}");
        }
        for text in ["1.49", "2.0", "", "-", "1e3", "0x1", "99999999999999999999"] {
            assert_eq!(int(text), None, "{text}");
        }
    }
}
