//! Numbers as engines print them.

use crate::law::float;

/// The largest power of ten that a double holds exactly.
const MOST_DECIMALS: u32 = 22;

/// A printed decimal number: digits, and how many of them stand behind the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::evidence) struct Decimal {
    digits: u64,
    decimals: u32,
    /// Bytes that it takes.
    pub(in crate::evidence) len: usize,
}

impl Decimal {
    /// The number that `text` begins with; without a sign, and of at most 18 digits. Longer ones are cut behind that.
    pub(in crate::evidence) fn read(text: &[u8]) -> Option<Self> {
        let (mut digits, mut decimals, mut count) = (0_u64, 0, 0);
        let mut point = None;
        let mut len = 0;
        for byte in text {
            match byte {
                b'0'..=b'9' => {
                    if count < 18 {
                        digits = digits * 10 + u64::from(byte - b'0');
                        count += u32::from(digits > 0);
                        decimals += u32::from(point.is_some());
                    } else if point.is_none() {
                        return None;
                    }
                }
                b'.' if point.is_none() && text.get(len + 1).is_some_and(u8::is_ascii_digit) && len > 0 => {
                    point = Some(len);
                }
                _ => break,
            }
            len += 1;
        }
        (len > 0).then_some(Self { digits, decimals, len })
    }

    /// The value, the nearest double.
    pub(in crate::evidence) fn get(self) -> f64 {
        self.shifted(0)
    }

    /// The value divided by a hundred: of a percentage.
    pub(in crate::evidence) fn percent(self) -> f64 {
        self.shifted(2)
    }

    /// The whole number that it is.
    pub(in crate::evidence) fn whole(self) -> Option<u64> {
        (self.decimals == 0).then_some(self.digits)
    }

    fn shifted(self, by: u32) -> f64 {
        let decimals = (self.decimals + by).min(MOST_DECIMALS);
        // Both are whole and exact, so the quotient is the nearest double.
        float(self.digits) / 10_f64.powi(i32::try_from(decimals).unwrap_or(0))
    }
}

/// The whole number that `text` begins with.
pub(in crate::evidence) fn integer<T: TryFrom<u64>>(text: &[u8]) -> Option<T> {
    T::try_from(Decimal::read(text)?.whole()?).ok()
}

/// What stands behind `name` in `text`, white space aside.
pub(in crate::evidence) fn behind<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let at = memchr::memmem::find(text, name)?;
    text.get(at + name.len()..).map(<[u8]>::trim_ascii_start)
}

/// ASCII text as a string; other bytes become replacement characters.
pub(in crate::evidence) fn owned(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_numbers() {
        let read = |text: &str| Decimal::read(text.as_bytes());
        assert_eq!(read("38.8%").map(Decimal::percent), Some(0.388));
        assert_eq!(read("0.005060911178588867s").map(Decimal::get), Some(0.005_060_911_178_588_867));
        assert_eq!(read("45810.21428108215ms").map(Decimal::get), Some(45_810.214_281_082_15));
        assert_eq!(read("66, ").and_then(Decimal::whole), Some(66));
        assert_eq!(read("66.5").and_then(Decimal::whole), None);
        assert_eq!(read("7.").map(|number| number.len), Some(1));
        assert_eq!(read("1234567890123456789012"), None);
        assert_eq!(read(".5"), None);
        assert_eq!(read("nan"), None);
        assert_eq!(integer::<u32>(b"4294967296"), None);
    }
}
