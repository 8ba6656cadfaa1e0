//! Numbers as `%g` of C and Python writes them: what launchers write into settings.

use std::fmt;

/// Digits that `%g` keeps.
const DIGITS: i32 = 6;

/// A finite number shown as `%g` shows it: six significant digits, no trailing zeros, an exponent only below 0.0001 and
/// from a million on.
///
/// Six digits also hide what binary subtraction leaves behind:
///
/// ```
/// use accsim::engine::General;
///
/// assert_eq!(General(3.0).to_string(), "3");
/// assert_eq!(General(2.5).to_string(), "2.5");
/// assert_eq!(2.78 - 1.0, 1.7799999999999998);
/// assert_eq!(General(2.78 - 1.0).to_string(), "1.78");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct General(pub f64);

impl fmt::Display for General {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rust rounds the exact binary value once, as C does; the decimal exponent is that of the rounded number.
        let scientific = format!("{:.*e}", 5, self.0);
        let Some((mantissa, exponent)) = scientific.split_once('e') else {
            // Infinities and NaN have no exponent.
            return f.write_str(&scientific);
        };
        let exponent: i32 = exponent.parse().map_err(|_| fmt::Error)?;
        if (-4..DIGITS).contains(&exponent) {
            let decimals = usize::try_from(DIGITS - 1 - exponent).map_err(|_| fmt::Error)?;
            f.write_str(without_trailing_zeros(&format!("{:.decimals$}", self.0)))
        } else {
            let sign = if exponent < 0 { '-' } else { '+' };
            write!(f, "{}e{sign}{:02}", without_trailing_zeros(mantissa), exponent.unsigned_abs())
        }
    }
}

fn without_trailing_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Printed by Python 3's `'%g' % x`.
    const PRINTED_BY_PYTHON: &[(&str, &str)] = &[
        ("0.0", "0"),
        ("1.0", "1"),
        ("3.0", "3"),
        ("2.5", "2.5"),
        ("3.51", "3.51"),
        ("1.7799999999999998", "1.78"),
        ("2.8", "2.8"),
        ("0.51", "0.51"),
        ("0.30000000000000004", "0.3"),
        ("0.0001", "0.0001"),
        ("9.9999e-05", "9.9999e-05"),
        ("9.99999e-05", "9.99999e-05"),
        ("9.999999e-05", "0.0001"),
        ("9.9999949e-05", "9.99999e-05"),
        ("1e-05", "1e-05"),
        ("1.5e-07", "1.5e-07"),
        ("999999.0", "999999"),
        ("999999.5", "1e+06"),
        ("999999.4999", "999999"),
        ("1000000.0", "1e+06"),
        ("1234567.0", "1.23457e+06"),
        ("123456.5", "123456"),
        ("123457.5", "123458"),
        ("100000.0", "100000"),
        ("12345.65", "12345.6"),
        ("3.425", "3.425"),
        ("2.0000005", "2"),
        ("2.00000049", "2"),
        ("0.3333333333333333", "0.333333"),
        ("0.6666666666666666", "0.666667"),
        ("0.663333333", "0.663333"),
        ("0.397142857142857", "0.397143"),
        ("4.000001", "4"),
        ("4.0000001", "4"),
        ("-0.0", "-0"),
        ("-1.5", "-1.5"),
        ("-1e-09", "-1e-09"),
        ("1e100", "1e+100"),
        ("5e-324", "4.94066e-324"),
        ("1.7976931348623157e308", "1.79769e+308"),
        ("65536.0", "65536"),
        ("7.779999999999999", "7.78"),
        ("100000.0", "100000"),
        ("1000000.0", "1e+06"),
        ("0.000123456789", "0.000123457"),
        ("0.5", "0.5"),
        ("123.456789", "123.457"),
        ("6.0", "6"),
    ];

    #[test]
    fn equals_what_python_prints() {
        for (number, text) in PRINTED_BY_PYTHON {
            assert_eq!(General(number.parse().unwrap()).to_string(), *text, "{number}");
        }
    }

    #[test]
    fn worked_values_of_the_settings() {
        for (accept_length, drafts) in
            [(3.51, "2.51"), (2.78, "1.78"), (3.8, "2.8"), (2.49, "1.49"), (4.06, "3.06")]
        {
            assert_eq!(General(accept_length - 1.0).to_string(), drafts);
        }
    }

    proptest! {
        /// Independent of floating-point formatting: hundredths written with integer arithmetic.
        #[test]
        fn hundredths_print_as_integers_do(hundredths in 0_u32..=999_999) {
            let (whole, cents) = (hundredths / 100, hundredths % 100);
            let expected = match (cents / 10, cents % 10) {
                (0, 0) => format!("{whole}"),
                (tenths, 0) => format!("{whole}.{tenths}"),
                (tenths, rest) => format!("{whole}.{tenths}{rest}"),
            };
            prop_assert_eq!(General(f64::from(hundredths) / 100.0).to_string(), expected);
        }

        /// A digit of six is off by at most half of its place.
        #[test]
        fn reads_back_within_six_digits(number in -1e12_f64..1e12, scale in -20_i32..20) {
            let number = number * 10_f64.powi(scale);
            let read: f64 = General(number).to_string().parse().unwrap();
            prop_assert!((read - number).abs() <= number.abs() * 5.000_001e-6, "{} became {}", number, read);
        }

        /// Nothing to trim is left, and no more than six digits.
        #[test]
        fn is_as_short_as_it_can_be(number in -1e12_f64..1e12) {
            let text = General(number).to_string();
            let mantissa = text.split('e').next().unwrap();
            prop_assert!(!mantissa.contains('.') || !mantissa.ends_with(['0', '.']), "{}", text);
            let digits = mantissa.trim_start_matches(['-', '0', '.']).chars().filter(char::is_ascii_digit).count();
            prop_assert!(digits <= 6, "{}", text);
        }
    }
}
