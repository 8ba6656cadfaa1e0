//! Draft lengths and accept lengths as curve files write them.

use crate::yaml::Scalar;

use super::{AcceptLength, CellFault, CellValue};

/// A positive integer, bare or quoted. A leading zero is refused: YAML 1.1 readers take `010` as eight.
pub(super) fn draft_length(key: &Scalar) -> Option<u32> {
    let text = &*key.text;
    if text.starts_with('0') || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// What a cell of draft length `draft_length` holds.
pub(super) fn cell_value(value: &Scalar, draft_length: u32) -> CellValue {
    let text = &*value.text;
    if value.is_null() || text.is_empty() {
        return CellValue::Unmeasured;
    }
    if is_not_finite(text) {
        return CellValue::Refused(CellFault::NotFinite(text.to_owned()));
    }
    let Some(number) = decimal(text) else {
        return CellValue::Refused(CellFault::NotANumber(text.to_owned()));
    };
    let max = draft_length.saturating_add(1);
    let refused = CellValue::Refused(CellFault::OutOfRange { found: text.to_owned(), max });
    match AcceptLength::new(number) {
        Ok(value) if number <= f64::from(max) => CellValue::Measured(value),
        _ => refused,
    }
}

/// Whether two decimals lose something of `value`.
pub(super) fn has_more_than_two_decimals(value: AcceptLength) -> bool {
    let hundredths = value.get() * 100.0;
    (hundredths - hundredths.round()).abs() > 1e-6
}

/// A number as YAML 1.2 writes floats: sign, digits with an optional point, optional exponent.
fn decimal(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    // `f64::from_str` would also take `inf` and `nan`.
    let plain = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && unsigned.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'-' | b'+'));
    plain.then(|| text.parse().ok()).flatten()
}

/// YAML's own spellings, and those that other programs print.
fn is_not_finite(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let word = unsigned.strip_prefix('.').unwrap_or(unsigned).to_ascii_lowercase();
    matches!(word.as_str(), "nan" | "inf" | "infinity")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::yaml::{Position, ScalarStyle};

    fn scalar(text: &str) -> Scalar {
        Scalar { at: Position::START, text: Arc::from(text), style: ScalarStyle::Plain }
    }

    #[test]
    fn draft_lengths_are_positive_integers() {
        assert_eq!(draft_length(&scalar("3")), Some(3));
        assert_eq!(draft_length(&scalar("10")), Some(10));
        for text in [
            "",
            "0",
            "-1",
            "+3",
            "3.0",
            "03",
            "true",
            "x",
            "0x3",
            "3e0",
            "1_0",
            " 3",
            "4294967296",
            "\u{0663}",
        ] {
            assert_eq!(draft_length(&scalar(text)), None, "{text:?}");
        }
    }

    #[test]
    fn values_are_decimals_between_one_and_the_draft_length_plus_one() {
        let measured = |text: &str| match cell_value(&scalar(text), 3) {
            CellValue::Measured(value) => Some(value.to_string()),
            _ => None,
        };
        for (text, shown) in [
            ("2.83", "2.83"),
            ("1", "1.00"),
            ("4", "4.00"),
            ("3.800", "3.80"),
            ("2.8e0", "2.80"),
            ("+3.", "3.00"),
        ] {
            assert_eq!(measured(text).as_deref(), Some(shown), "{text:?}");
        }
        for text in ["1,78", "2.83 tok", "2 830", "1_0", "x", "0x2", "2.8.3", "e1", "--2", "2e"] {
            let value = cell_value(&scalar(text), 3);
            assert_eq!(value, CellValue::Refused(CellFault::NotANumber(text.into())), "{text:?}");
        }
        for text in [".nan", ".NaN", "nan", ".inf", "-.inf", "+.Inf", "Infinity"] {
            let value = cell_value(&scalar(text), 3);
            assert_eq!(value, CellValue::Refused(CellFault::NotFinite(text.into())), "{text:?}");
        }
        for text in ["0.99", "4.01", "-2.83", "0", "1e999"] {
            let value = cell_value(&scalar(text), 3);
            assert_eq!(
                value,
                CellValue::Refused(CellFault::OutOfRange { found: text.into(), max: 4 }),
                "{text:?}"
            );
        }
        for text in ["", "~", "null", "NULL"] {
            assert_eq!(cell_value(&scalar(text), 3), CellValue::Unmeasured, "{text:?}");
        }
    }

    #[test]
    fn decimals_are_counted_by_value() {
        let many = |value: f64| has_more_than_two_decimals(AcceptLength::new(value).unwrap());
        assert!(!many(2.83) && !many(4.0) && !many(1.07) && !many(3.1));
        assert!(many(2.834) && many(2.8301));
    }
}
