//! Numbers at known places of a line, eight digits at a time.

/// A number of at most eight digits, as the eight bytes that end with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digits {
    word: usize,
    /// Keeps the bytes of the number.
    mask: u64,
}

/// A number with two decimals, in hundredths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal {
    /// The digits before the point: up to five of them and the decimals are read as one word, which ends behind the
    /// decimals.
    whole: Digits,
    /// Where the decimals of a longer number stand.
    decimals: Option<usize>,
}

impl Digits {
    /// The number that stands at `at`, when it is one to eight digits with as many bytes before it.
    pub(super) fn at(raw: &[u8], at: usize, len: usize) -> Option<Self> {
        let value = raw.get(at..at + len)?;
        if !(1..=8).contains(&len) || !value.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let other_bits = 64 - 8 * u32::try_from(len).ok()?;
        Some(Self { word: (at + len).checked_sub(8)?, mask: u64::MAX.checked_shl(other_bits)? })
    }

    #[inline]
    pub(super) fn read(self, text: &[u8]) -> Option<u32> {
        number(word(text, self.word)? & self.mask)
    }
}

impl Decimal {
    /// The number that stands at `at`, when it is one to seven digits, a point and two digits.
    pub(super) fn at(raw: &[u8], at: usize, len: usize) -> Option<Self> {
        let digits = len.checked_sub(3).filter(|digits| *digits <= 7)?;
        let [b'.', b'0'..=b'9', b'0'..=b'9'] = raw.get(at + digits..at + len)? else { return None };
        let whole = Digits::at(raw, at, digits)?;
        if digits > 5 {
            return Some(Self { whole, decimals: Some(at + digits + 1) });
        }
        let word = (at + len).checked_sub(8)?;
        // The bytes of the digits, moved over the point.
        let mask = u64::MAX.checked_shl(64 - 8 * u32::try_from(digits + 2).ok()?)?;
        Some(Self { whole: Digits { word, mask }, decimals: None })
    }

    #[inline]
    pub(super) fn read(self, text: &[u8]) -> Option<u32> {
        let Some(decimals) = self.decimals else {
            let word = word(text, self.whole.word)?;
            let behind_point = 0xffff_0000_0000_0000;
            return number((word & behind_point | word << 8 & !behind_point) & self.whole.mask);
        };
        let [tenths, rest] = text.get(decimals..)?.first_chunk::<2>()?;
        let decimals = u32::from(tenths & 0x0f) * 10 + u32::from(rest & 0x0f);
        Some(self.whole.read(text)? * 100 + decimals)
    }
}

#[inline]
fn word(text: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*text.get(at..)?.first_chunk()?))
}

/// The number of eight digits, zero bytes among them.
#[inline]
fn number(word: u64) -> Option<u32> {
    let ones = word & 0x0f0f_0f0f_0f0f_0f0f;
    let pairs = ones.wrapping_mul(10).wrapping_add(ones >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    let all = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff;
    u32::try_from(all).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_is_read() {
        for (text, expected) in [("7", 7), ("42", 42), ("12345", 12_345), ("98765432", 98_765_432)] {
            let line = format!("#queue-req: {text}");
            let digits = Digits::at(line.as_bytes(), 12, text.len()).unwrap();
            assert_eq!(digits.read(line.as_bytes()), Some(expected));
        }
        for text in ["3.52", "0.00", "99.09", "1234.56", "12345.67", "123456.78", "1234567.89"] {
            let line = format!("accept len: {text}, x");
            let decimal = Decimal::at(line.as_bytes(), 12, text.len()).unwrap();
            assert_eq!(decimal.read(line.as_bytes()).map(|read| read.to_string()), Some(text.replace('.', "").parse::<u32>().unwrap().to_string()));
        }
    }

    #[test]
    fn what_is_no_such_number() {
        for text in ["", "123456789", "1x", "1.5"] {
            assert!(Digits::at(format!("#queue-req: {text}").as_bytes(), 12, text.len()).is_none(), "{text}");
        }
        for text in ["3.5", "3.525", "12345678.00", ".52", "3,52"] {
            assert!(Decimal::at(format!("accept len: {text}").as_bytes(), 12, text.len()).is_none(), "{text}");
        }
    }
}
