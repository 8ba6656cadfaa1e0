//! Text for logs in bulk: digits by hand, fixed texts in chunks, one buffer that is used again and again.

use crate::law::{float, printed};

/// Bytes of a chunk of fixed text: the texts between two numbers are shorter.
const CHUNK: usize = 32;

/// Room that every line starts with; what is longer asks for more.
const LINE_ROOM: usize = 4096;

/// A fixed text of at most 32 bytes, copied whole whatever its length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    bytes: [u8; CHUNK],
    len: usize,
}

impl Piece {
    /// Cuts a text of any length into pieces; none for no text.
    pub(super) fn split(text: &str) -> impl Iterator<Item = Self> + '_ {
        text.as_bytes().chunks(CHUNK).map(Self::of)
    }

    /// The first 32 bytes of a text.
    fn of(text: &[u8]) -> Self {
        let mut bytes = [0; CHUNK];
        bytes.iter_mut().zip(text).for_each(|(to, byte)| *to = *byte);
        Self { bytes, len: text.len().min(CHUNK) }
    }
}

/// A buffer of lines. Numbers and pieces are stored in chunks of a fixed size that may reach beyond their end: what
/// follows overwrites the rest.
#[derive(Debug, Default)]
pub(super) struct Text {
    bytes: Vec<u8>,
    len: usize,
}

impl Text {
    /// What was written.
    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }

    /// Bytes written.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Forgets what was written and keeps the room.
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Makes room for one line.
    pub(super) fn begin_line(&mut self) {
        self.reserve(LINE_ROOM);
    }

    fn reserve(&mut self, more: usize) {
        if self.bytes.len() - self.len < more {
            self.bytes.resize(self.len + more.max(self.bytes.len()), 0);
        }
    }

    /// Room for one line behind what was written. What is put there counts once [`Text::advance`] says how long it is.
    #[inline]
    pub(super) fn room(&mut self) -> Option<&mut Room> {
        self.begin_line();
        self.bytes.get_mut(self.len..).and_then(<[u8]>::first_chunk_mut)
    }

    /// The line that was put into the room is so long.
    #[inline]
    pub(super) fn advance(&mut self, len: usize) {
        self.len += len.min(LINE_ROOM);
    }

    /// Stores a chunk of which the first `len` bytes count.
    #[inline]
    pub(super) fn chunk<const N: usize>(&mut self, chunk: &[u8; N], len: usize) {
        if let Some(to) = self.bytes.get_mut(self.len..).and_then(<[u8]>::first_chunk_mut) {
            *to = *chunk;
            self.len += len;
        }
    }

    /// Appends a piece. Like a chunk, it needs the room of [`Text::begin_line`].
    #[inline]
    pub(super) fn piece(&mut self, piece: &Piece) {
        self.chunk(&piece.bytes, piece.len);
    }

    /// Appends bytes of any length.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len() + LINE_ROOM);
        if let Some(to) = self.bytes.get_mut(self.len..self.len + bytes.len()) {
            to.copy_from_slice(bytes);
            self.len += bytes.len();
        }
    }

    /// Appends one byte.
    #[inline]
    pub(super) fn byte(&mut self, byte: u8) {
        self.chunk(&[byte], 1);
    }

    /// Appends a whole number.
    pub(super) fn integer(&mut self, number: u64) {
        if let Some(room) = self.room() {
            let len = put_integer(room, 0, number);
            self.advance(len);
        }
    }

    /// Appends the last `width` digits of a number, up to eight, with leading zeros.
    #[inline]
    pub(super) fn padded(&mut self, number: u64, width: usize) {
        let cut = 8 - width.clamp(1, 8);
        let shift = u32::try_from(8 * cut).unwrap_or(0);
        let text = (eight_digits(number % 100_000_000) + ZEROS) >> shift;
        self.chunk(&text.to_le_bytes(), 8 - cut);
    }

    /// Appends a number of hundredths with its point: 352 is `3.52`.
    pub(super) fn hundredths(&mut self, hundredths: u64) {
        if let Some(room) = self.room() {
            let len = put_hundredths(room, 0, hundredths);
            self.advance(len);
        }
    }

    /// Appends a number of thousandths: 543 is `0.543`.
    pub(super) fn thousandths(&mut self, thousandths: u64) {
        self.integer(thousandths / 1000);
        self.byte(b'.');
        self.padded(thousandths % 1000, 3);
    }

    /// Appends a number of tenths: 388 is `38.8`.
    pub(super) fn tenths(&mut self, tenths: u64) {
        self.integer(tenths / 10);
        self.byte(b'.');
        self.padded(tenths % 10, 1);
    }
}

/// Room for one line. The functions below put text at a place in it and return the place behind; what has no room any
/// more is dropped.
pub(super) type Room = [u8; LINE_ROOM];

/// Stores a chunk of which the first `len` bytes count.
#[inline]
pub(super) fn put_chunk<const N: usize>(room: &mut Room, at: usize, chunk: &[u8; N], len: usize) -> usize {
    if let Some(to) = room.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *to = *chunk;
        at + len
    } else {
        at
    }
}

/// Puts a piece.
#[inline]
pub(super) fn put_piece(room: &mut Room, at: usize, piece: &Piece) -> usize {
    put_chunk(room, at, &piece.bytes, piece.len)
}

/// Puts a whole number.
#[inline]
pub(super) fn put_integer(room: &mut Room, at: usize, number: u64) -> usize {
    // Most numbers of a log are small; they need no more than this.
    if let Ok(digit @ 0..10) = u8::try_from(number) {
        put_chunk(room, at, &[b'0' + digit], 1)
    } else {
        put_long_integer(room, at, number)
    }
}

#[inline(never)]
fn put_long_integer(room: &mut Room, at: usize, number: u64) -> usize {
    if number < 100_000_000 {
        // At least one digit stays: the last.
        let digits = eight_digits(number);
        let zeros = (digits | 1 << 56).trailing_zeros() / 8;
        let text = (digits + ZEROS) >> (8 * zeros);
        return put_chunk(room, at, &text.to_le_bytes(), 8 - usize::try_from(zeros).unwrap_or(0));
    }
    let at = put_long_integer(room, at, number / 100_000_000);
    let text = eight_digits(number % 100_000_000) + ZEROS;
    put_chunk(room, at, &text.to_le_bytes(), 8)
}

/// Puts a number of hundredths with its point.
#[inline]
pub(super) fn put_hundredths(room: &mut Room, at: usize, hundredths: u64) -> usize {
    let whole = hundredths / 100;
    let [tens, ones] = two_digits(hundredths - 100 * whole);
    if let Ok(digit @ 0..10) = u8::try_from(whole) {
        return put_chunk(room, at, &[b'0' + digit, b'.', tens, ones], 4);
    }
    let at = put_long_integer(room, at, whole);
    put_chunk(room, at, &[b'.', tens, ones, 0], 3)
}

/// `00000000`.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Eight decimal digits of a number below 10^8, the highest in the lowest byte, each as its value.
#[inline]
fn eight_digits(number: u64) -> u64 {
    // Two numbers of four digits, then four of two, then eight of one, each step for all lanes at once.
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x7f_0000_007f;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((twos - 10 * tens) << 8)
}

/// Eight decimal digits of a number below 10^8 as text, the highest in the lowest byte.
#[inline]
pub(super) fn digits(number: u64) -> u64 {
    eight_digits(number) + ZEROS
}

/// The digits of a number below 100, as text.
#[inline]
pub(super) fn two_digits(number: u64) -> [u8; 2] {
    let number = u8::try_from(number).unwrap_or(0);
    [b'0' + number / 10, b'0' + number % 10]
}

/// The hundredths that `"%.2f" % (numerator / denominator)` shows, as [`printed`] has them; 0 for a quotient of
/// nothing.
#[inline]
pub(super) fn quotient(numerator: u64, denominator: u64) -> u64 {
    if denominator == 0 {
        return 0;
    }
    decimals(float(numerator) / float(denominator), 100)
        .unwrap_or_else(|| large_quotient(numerator, denominator))
}

/// The number of 1/`scale` parts that a value shows when it is rounded to them: the exact value of the double, ties to
/// even, as C and Python do it. A scale is at most 1000; `None` for a value of 2^53 or more, or below 0.
#[inline]
pub(super) fn decimals(value: f64, scale: u64) -> Option<u64> {
    const MANTISSA_BITS: u32 = 52;
    /// The exponent field of a double with no bits behind its point.
    const WHOLE: u64 = 1075;

    let bits = value.to_bits();
    let shift = WHOLE.wrapping_sub(bits >> MANTISSA_BITS);
    match u32::try_from(shift) {
        Ok(shift @ 1..64) => {
            // 53 bits times 1000 fit: the value is scaled / 2^shift exactly.
            let scaled = (bits & ((1 << MANTISSA_BITS) - 1) | 1 << MANTISSA_BITS) * scale.min(1000);
            let floor = scaled >> shift;
            let rest = scaled - (floor << shift);
            let half = 1 << (shift - 1);
            Some(floor + u64::from(rest > half || (rest == half && floor % 2 == 1)))
        }
        // Less than 2^-11: less than half of 1/1000.
        Ok(64..=1075) => Some(0),
        _ => None,
    }
}

#[cold]
fn large_quotient(numerator: u64, denominator: u64) -> u64 {
    printed(numerator, denominator).map_or_else(|| (numerator / denominator).saturating_mul(100), u64::from)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(write: impl FnOnce(&mut Text)) -> String {
        let mut text = Text::default();
        text.begin_line();
        write(&mut text);
        String::from_utf8(text.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn numbers_at_the_edges() {
        for number in [0, 9, 10, 99, 100, 9999, 10_000, 99_999_999, 100_000_000, 100_000_001, u64::MAX] {
            assert_eq!(text(|text| text.integer(number)), number.to_string());
        }
        assert_eq!(text(|text| text.padded(7, 3)), "007");
        assert_eq!(text(|text| text.tenths(388)), "38.8");
        assert_eq!(text(|text| text.thousandths(64)), "0.064");
        assert_eq!(quotient(1, 0), 0);
        assert_eq!(quotient(177, 40), 442);
        assert_eq!((decimals(0.0, 100), decimals(5e-324, 1000)), (Some(0), Some(0)));
        assert_eq!((decimals(-1.0, 100), decimals(f64::NAN, 100)), (None, None));
        assert_eq!((decimals(0.0005, 1000), decimals(0.000_49, 1000)), (Some(1), Some(0)));
        assert_eq!(quotient(1, 100_000), 0);
        assert_eq!(quotient(1 << 53, 1), 100 << 53);
        assert_eq!(quotient(u64::MAX, 1), u64::MAX);
    }

    #[test]
    fn pieces_overlap_and_do_not_harm() {
        let long = "x".repeat(130);
        let written = text(|text| {
            Piece::split(&long).for_each(|piece| text.piece(&piece));
            text.piece(&Piece::of(b", a: "));
            text.integer(5);
            text.byte(b'\n');
        });
        assert_eq!(written, format!("{long}, a: 5\n"));
        assert_eq!(Piece::split("").count(), 0);
    }

    #[test]
    fn the_buffer_grows() {
        let line = "0123456789".repeat(1000);
        let written = text(|text| (0..5).for_each(|_| text.put(line.as_bytes())));
        assert_eq!(written, line.repeat(5));
    }

    proptest! {
        #[test]
        fn integers_are_those_of_the_standard_library(number in any::<u64>(), shift in 0_u32..64) {
            let number = number >> shift;
            prop_assert_eq!(text(|text| text.integer(number)), number.to_string());
        }

        #[test]
        fn hundredths_have_two_decimals(hundredths in any::<u64>(), shift in 0_u32..64) {
            let hundredths = hundredths >> shift;
            let expected = format!("{}.{:02}", hundredths / 100, hundredths % 100);
            prop_assert_eq!(text(|text| text.hundredths(hundredths)), expected);
        }

        /// Rust's own formatting rounds the exact value too.
        #[test]
        fn decimals_are_those_of_the_standard_library(value in 0.0_f64..1e9, places in 1_u32..4) {
            let expected = format!("{value:.*}", usize::try_from(places).unwrap()).replace('.', "");
            prop_assert_eq!(decimals(value, 10_u64.pow(places)), expected.parse().ok());
        }

        /// 64 bits give what 128 give, on ties too.
        #[test]
        fn quotients_are_printed_exactly(numerator in 0_u64..1_000_000, denominator in 1_u64..5_000) {
            prop_assert_eq!(Some(quotient(numerator, denominator)), printed(numerator, denominator).map(u64::from));
        }
    }
}
