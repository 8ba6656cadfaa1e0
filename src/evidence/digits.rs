//! Numbers at known places of a line, eight digits at a time.

use fearless_simd::{Bytes, Simd, SimdBase, u16x16, u32x8, u64x4};

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
        let word = word(line, self.digits.word) & self.digits.mask;
        if word != self.last.0 {
            self.last = (word, number(word));
        }
        self.last.1
    }
}

/// A number as [`Four`] reads it. Of a number with two decimals, in hundredths, the eight bytes that end with the decimals
/// are read, five digits before the point among them.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::evidence) struct Number {
    word: usize,
    /// What keeps the digits that stay where they are, and those that move over the point.
    stay: u64,
    move_on: u64,
    /// Bits that the number has whatever the line says.
    fixed: u32,
}

/// Four numbers of one line, read together.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::evidence) struct Four {
    words: [usize; 4],
    stay: [u64; 4],
    move_on: [u64; 4],
    fixed: [u32; 4],
}

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
        number(word(line, self.word) & self.mask)
    }
}

/// What is left of an ASCII digit.
const ONES: u64 = 0x0f0f_0f0f_0f0f_0f0f;

impl From<Digits> for Number {
    fn from(Digits { word, mask }: Digits) -> Self {
        Self { word, stay: mask & ONES, move_on: 0, fixed: 0 }
    }
}

impl Number {
    /// The number that stands at `at` of a line, when it is one to five digits, a point and two digits.
    pub(in crate::evidence) fn decimal(raw: &[u8], at: usize, len: usize) -> Option<Self> {
        let digits = len.checked_sub(3).filter(|digits| (1..=5).contains(digits))?;
        let [b'.', b'0'..=b'9', b'0'..=b'9'] = raw.get(at + digits..at + len)? else { return None };
        raw.get(at..at + digits)?.iter().all(u8::is_ascii_digit).then_some(())?;
        // What stands before the point moves over it.
        let Digits { word, mask } = Digits::ending_at(at + len, digits + 2)?;
        let behind_point = 0xffff_0000_0000_0000;
        Some(Self { word, stay: mask & behind_point & ONES, move_on: mask & !behind_point & ONES, fixed: 0 })
    }

    /// A number that the line does not say.
    pub(in crate::evidence) fn constant(fixed: u32) -> Self {
        Self { fixed, ..Self::default() }
    }
}

impl Four {
    pub(in crate::evidence) fn new(numbers: [Number; 4]) -> Self {
        Self {
            words: numbers.map(|number| number.word),
            stay: numbers.map(|number| number.stay),
            move_on: numbers.map(|number| number.move_on),
            fixed: numbers.map(|number| number.fixed),
        }
    }

    /// The numbers.
    #[expect(clippy::inline_always, reason = "only what is inlined is compiled for the vectors at hand")]
    #[inline(always)]
    pub(in crate::evidence) fn read<S: Simd>(&self, simd: S, line: &Window) -> [u32; 4] {
        // Not by `map`, which is too large to be compiled for the vectors at hand.
        let [a, b, c, d] = self.words;
        let words = [word(line, a), word(line, b), word(line, c), word(line, d)];
        let words = u64x4::load_array(simd, words);
        let (stay, move_on) = (u64x4::load_array(simd, self.stay), u64x4::load_array(simd, self.move_on));
        let ones: u16x16<S> = ((words & stay) | ((words << 8) & move_on)).bitcast();
        let pairs = (ones * 10 + (ones >> 8)) & 0x00ff;
        // Of each two lanes the second one stands for the later digits.
        let later: u16x16<S> = (pairs.bitcast::<u32x8<S>>() >> 16).bitcast();
        let fours: u32x8<S> = (pairs * 100 + later).bitcast::<u32x8<S>>() & 0xffff;
        let later: u32x8<S> = (fours.bitcast::<u64x4<S>>() >> 32).bitcast();
        let all = fours * 10_000 + later;
        let [first, _, second, _, third, _, fourth, _] = all.to_array();
        let [a, b, c, d] = self.fixed;
        [first | a, second | b, third | c, fourth | d]
    }
}

/// Eight bytes of a line.
#[inline]
fn word(line: &Window, at: usize) -> u64 {
    // The remainder changes nothing, and shows that the place is inside.
    line.get(at % MAX_LINE..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u64::from_le_bytes(*word))
}

/// The number of eight digits, zero bytes among them.
#[inline]
fn number(word: u64) -> u32 {
    let ones = word & ONES;
    let pairs = ones.wrapping_mul(10).wrapping_add(ones >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    let all = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff;
    u32::try_from(all).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};

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
    }

    #[test]
    fn four_numbers_are_read_together() {
        for text in ["3.52", "0.00", "99.09", "1234.56", "12345.67"] {
            let line = format!("accept len: {text}, #running-req: 9876543, x: {text}");
            let decimal = Number::decimal(line.as_bytes(), 12, text.len()).unwrap();
            let at = line.find("987").unwrap();
            let running = Digits::at(line.as_bytes(), at, 7).unwrap().into();
            let last = Number::decimal(line.as_bytes(), line.len() - text.len(), text.len()).unwrap();
            let four = Four::new([running, decimal, Number::constant(u32::MAX), last]);
            let expected = text.replace('.', "").parse().unwrap();
            for level in [Level::new(), Level::baseline()] {
                let read = dispatch!(level, simd => four.read(simd, &window(&line)));
                assert_eq!(read, [9_876_543, expected, u32::MAX, expected], "{text}");
            }
        }
        let nothing = dispatch!(Level::new(), simd => Four::default().read(simd, &window("1")));
        assert_eq!((Digits::default().read(&window("1")), nothing), (0, [0; 4]));
    }

    #[test]
    fn what_is_no_such_number() {
        for text in ["", "123456789", "1x", "1.5"] {
            assert!(Digits::at(format!("#queue-req: {text}").as_bytes(), 12, text.len()).is_none(), "{text}");
        }
        for text in ["3.5", "3.525", "123456.00", ".52", "3,52"] {
            let line = format!("accept len: {text}");
            assert!(Number::decimal(line.as_bytes(), 12, text.len()).is_none(), "{text}");
        }
    }
}
