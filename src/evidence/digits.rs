//! Numbers at known places of a line, eight digits at a time.

/// Longest line whose numbers are read so.
pub(in crate::evidence) const MAX_LINE: usize = 1024;

/// A line with what stands behind it: from any place in the line on there are eight bytes.
pub(in crate::evidence) type Window = [u8; MAX_LINE + 64];

/// A number of at most eight digits, as the eight bytes that end with it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::evidence) struct Digits {
    word: usize,
    /// Keeps the bytes of the number.
    mask: u64,
}

/// A number that is mostly the same from line to line.
#[derive(Clone, Copy, Debug)]
pub(in crate::evidence) struct Repeated {
    digits: Digits,
    /// The word that was read last, and its number.
    last: (u64, u32),
}

impl Repeated {
    pub(in crate::evidence) fn new(digits: Digits) -> Self {
        Self { digits, last: (0, 0) }
    }

    #[inline]
    pub(in crate::evidence) fn read(&mut self, line: &Window) -> u32 {
        let word = self.digits.word(line) & self.digits.mask;
        if word != self.last.0 {
            self.last = (word, number(word));
        }
        self.last.1
    }
}

/// A number with two decimals, in hundredths: the eight bytes that end with the decimals, five digits before the point
/// among them.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::evidence) struct Decimal(Digits);

impl Digits {
    /// The number that stands at `at` of a line, when it is one to eight digits with as many bytes before it.
    pub(in crate::evidence) fn at(raw: &[u8], at: usize, len: usize) -> Option<Self> {
        let value = raw.get(at..at + len)?;
        if !(1..=8).contains(&len) || !value.iter().all(u8::is_ascii_digit) {
            return None;
        }
        Self::ending_at(at + len, len)
    }

    fn ending_at(end: usize, digits: usize) -> Option<Self> {
        let other_bits = 64 - 8 * u32::try_from(digits).ok()?;
        Some(Self { word: end.checked_sub(8)?, mask: u64::MAX.checked_shl(other_bits)? })
    }

    /// The number; 0 for no digits.
    #[inline]
    pub(in crate::evidence) fn read(self, line: &Window) -> u32 {
        number(self.word(line) & self.mask)
    }

    #[inline]
    fn word(self, line: &Window) -> u64 {
        // The remainder changes nothing, and shows that the place is inside.
        line.get(self.word % MAX_LINE..)
            .and_then(|rest| rest.first_chunk())
            .map_or(0, |word| u64::from_le_bytes(*word))
    }
}

impl Decimal {
    /// The number that stands at `at` of a line, when it is one to five digits, a point and two digits.
    pub(in crate::evidence) fn at(raw: &[u8], at: usize, len: usize) -> Option<Self> {
        let digits = len.checked_sub(3).filter(|digits| (1..=5).contains(digits))?;
        let [b'.', b'0'..=b'9', b'0'..=b'9'] = raw.get(at + digits..at + len)? else { return None };
        raw.get(at..at + digits)?.iter().all(u8::is_ascii_digit).then_some(())?;
        Digits::ending_at(at + len, digits + 2).map(Self)
    }

    /// The number in hundredths; 0 for no digits.
    #[inline]
    pub(in crate::evidence) fn read(self, line: &Window) -> u32 {
        let word = self.0.word(line);
        let behind_point = 0xffff_0000_0000_0000;
        // What stands before the point moves over it.
        number((word & behind_point | word << 8 & !behind_point) & self.0.mask)
    }
}

/// The number of eight digits, zero bytes among them.
#[inline]
fn number(word: u64) -> u32 {
    let ones = word & 0x0f0f_0f0f_0f0f_0f0f;
    let pairs = ones.wrapping_mul(10).wrapping_add(ones >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    let all = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff;
    u32::try_from(all).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(line: &str) -> Window {
        let mut window = [b'9'; MAX_LINE + 64];
        window[..line.len()].copy_from_slice(line.as_bytes());
        window
    }

    #[test]
    fn every_width_is_read() {
        for (text, expected) in [("7", 7), ("42", 42), ("12345", 12_345), ("98765432", 98_765_432)] {
            let line = format!("#queue-req: {text}");
            let digits = Digits::at(line.as_bytes(), 12, text.len()).unwrap();
            let mut repeated = Repeated::new(digits);
            for (line, expected) in [(line.as_str(), expected), (&line, expected), (&"0".repeat(30), 0)] {
                assert_eq!(digits.read(&window(line)), expected);
                assert_eq!(repeated.read(&window(line)), expected);
            }
        }
        for text in ["3.52", "0.00", "99.09", "1234.56", "12345.67"] {
            let line = format!("accept len: {text}, x");
            let decimal = Decimal::at(line.as_bytes(), 12, text.len()).unwrap();
            assert_eq!(Ok(decimal.read(&window(&line))), text.replace('.', "").parse());
        }
        assert_eq!((Digits::default().read(&window("1")), Decimal::default().read(&window("1"))), (0, 0));
    }

    #[test]
    fn what_is_no_such_number() {
        for text in ["", "123456789", "1x", "1.5"] {
            assert!(Digits::at(format!("#queue-req: {text}").as_bytes(), 12, text.len()).is_none(), "{text}");
        }
        for text in ["3.5", "3.525", "123456.00", ".52", "3,52"] {
            assert!(
                Decimal::at(format!("accept len: {text}").as_bytes(), 12, text.len()).is_none(),
                "{text}"
            );
        }
    }
}
