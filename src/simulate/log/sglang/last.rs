//! A decode line made from an earlier one. From line to line digits change and seldom how many there are: the earlier
//! line is copied as a whole, and the numbers that differ are put over its own.

use crate::simulate::log::text::{Room, digits, put_chunk};

/// Longest line that is copied, without its prefix.
const LONGEST: usize = 256;

/// Numbers of a line.
pub(super) const NUMBERS: usize = 8;

/// Digits that one word holds.
const MOST_DIGITS: u32 = 8;

/// How a number is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As digits.
    Whole,
    /// As digits with a point before the last two.
    Hundredths,
    /// As a word, which another number may make longer.
    Word,
}

/// The numbers of a line, by the place of their slot in the table of slots.
pub(super) type Numbers = [u64; NUMBERS];

/// A number of a line that was written: which one, its form, and where it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub(super) slot: usize,
    pub(super) form: Form,
    pub(super) at: usize,
}

/// The last line of a server that was put together piece by piece.
#[derive(Debug)]
pub(super) struct Last {
    server: u32,
    text: [u8; LONGEST],
    /// Bytes of it.
    len: usize,
    /// Its numbers; none before there is a line.
    places: Vec<Place>,
}

/// One number of the line: eight bytes from its first digit on, and which numbers have as many digits.
#[derive(Clone, Copy, Debug)]
struct Place {
    slot: usize,
    at: usize,
    number: u64,
    /// The smallest number with as many digits, and how many there are.
    low: u64,
    count: u64,
    /// Bits that its eight digits lose.
    shift: u32,
    /// Digits before the point.
    before: u64,
    /// The point, and the text behind the number.
    fixed: u64,
    /// Whether it is a number of hundredths below 10.
    is_small: bool,
}

/// The text of every number of hundredths below 10, the first digit in the lowest byte: lengths, rates and shares.
static SMALL: [u32; 1000] = {
    let mut table = [0; 1000];
    let mut number = 0;
    while number < 1000 {
        let (ones, tenths, hundredths) = (number / 100, number / 10 % 10, number % 10);
        #[expect(clippy::indexing_slicing, reason = "checked when it is compiled")]
        {
            table[number as usize] = 0x3030_2e30 + ones + (tenths << 16) + (hundredths << 24);
        }
        number += 1;
    }
    table
};

impl Default for Last {
    fn default() -> Self {
        Self { server: 0, text: [0; LONGEST], len: 0, places: Vec::with_capacity(NUMBERS) }
    }
}

impl Last {
    /// Puts a line with these numbers if it is as long as the last one, and returns its length.
    #[inline]
    pub(super) fn put(&self, server: u32, numbers: &Numbers, room: &mut Room) -> Option<usize> {
        let number = |place: &Place| numbers.get(place.slot % NUMBERS).copied().unwrap_or(0);
        let fits = self.places.iter().all(|place| number(place).wrapping_sub(place.low) < place.count);
        if !fits || self.places.is_empty() || self.server != server {
            return None;
        }
        put_chunk(room, 0, &self.text, self.len);
        for place in &self.places {
            let number = number(place);
            if number != place.number {
                put_chunk(room, place.at, &place.text(number), 0);
            }
        }
        Some(self.len)
    }

    /// Remembers a line that was put together; forgets the one before where this one cannot be copied.
    pub(super) fn learn(
        &mut self,
        server: u32,
        (line, len): (&Room, usize),
        numbers: &Numbers,
        placed: &[Placed],
    ) {
        self.places.clear();
        let Some(text) = line.first_chunk().filter(|_| len <= LONGEST) else { return };
        (self.server, self.text, self.len) = (server, *text, len);
        for placed in placed {
            let number = numbers.get(placed.slot % NUMBERS).copied().unwrap_or(0);
            match Place::new(*placed, number, line) {
                Some(place) => self.places.push(place),
                // A line of which one number cannot be put over is not copied.
                None => return self.places.clear(),
            }
        }
    }
}

impl Place {
    /// `None` for a number with too many digits.
    fn new(Placed { slot, form, at }: Placed, number: u64, line: &Room) -> Option<Self> {
        let (point, least) = match form {
            Form::Whole => (None, 1),
            Form::Hundredths => (Some(b'.'), 3),
            Form::Word => {
                let (low, count) = (number, 1);
                return Some(Self {
                    slot,
                    at,
                    number,
                    low,
                    count,
                    shift: 0,
                    before: 0,
                    fixed: 0,
                    is_small: false,
                });
            }
        };
        let digits = number.checked_ilog10().map_or(1, |log| log + 1).max(least);
        let width = digits + u32::from(point.is_some());
        if width > MOST_DIGITS {
            return None;
        }
        let low = if digits == least { 0 } else { 10_u64.pow(digits - 1) };
        let bytes = |count: u32| u64::MAX.checked_shl(8 * count).map_or(u64::MAX, |rest| !rest);
        let before = point.map_or(u64::MAX, |_| bytes(digits - 2));
        let there = u64::from_le_bytes(*line.get(at..)?.first_chunk()?);
        let point = point.map_or(0, |point| u64::from(point) << (8 * (digits - 2)));
        let fixed = (there & !bytes(width)) | point;
        let shift = 8 * (MOST_DIGITS - digits);
        let is_small = point > 0 && digits == 3;
        let count = 10_u64.pow(digits) - low;
        Some(Self { slot, at, number, low, count, shift, before, fixed, is_small })
    }

    /// The number's digits and what stands behind them.
    #[inline]
    fn text(&self, number: u64) -> [u8; 8] {
        let small = usize::try_from(number).ok().and_then(|index| SMALL.get(index)).filter(|_| self.is_small);
        if let Some(small) = small {
            return (u64::from(*small) | self.fixed).to_le_bytes();
        }
        let digits = digits(number) >> self.shift;
        let text = (digits & self.before) | ((digits & !self.before) << 8) | self.fixed;
        text.to_le_bytes()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::simulate::log::text::{Text, put_hundredths, put_integer};

    /// `a: W, b: H, c: W|`, with its numbers placed.
    fn put(numbers: [u64; 3], room: &mut Room) -> (usize, [Placed; 3]) {
        let put = |room: &mut Room, at: usize, text: &[u8; 5]| put_chunk(room, at, text, 5);
        let first = put(room, 0, b"  a: ");
        let end = put_integer(room, first, numbers[0]);
        let second = put(room, end, b", b: ");
        let end = put_hundredths(room, second, numbers[1]);
        let third = put(room, end, b", c: ");
        let end = put_integer(room, third, numbers[2]);
        let forms = [(Form::Whole, first), (Form::Hundredths, second), (Form::Whole, third)];
        let mut slot = 0;
        let placed = forms.map(|(form, at)| {
            slot += 1;
            Placed { slot: slot - 1, form, at }
        });
        (end, placed)
    }

    fn line(write: impl FnOnce(&mut Room) -> usize) -> Vec<u8> {
        let mut text = Text::default();
        let len = text.room().map(write).unwrap();
        text.advance(len);
        text.as_bytes().to_vec()
    }

    fn numbers([a, b, c]: [u64; 3]) -> Numbers {
        let mut numbers = [0; NUMBERS];
        numbers[..3].copy_from_slice(&[a, b, c]);
        numbers
    }

    fn magnitude() -> impl Strategy<Value = u64> {
        (0_u32..10, 0_u64..10).prop_flat_map(|(power, low)| low..=10_u64.pow(power) + low)
    }

    proptest! {
        /// A copied line is the line that the pieces make; one of another length is not copied.
        #[test]
        fn copies_are_what_pieces_make(
            first in [magnitude(), magnitude(), magnitude()],
            second in [magnitude(), magnitude(), magnitude()],
        ) {
            let mut last = Last::default();
            line(|room| {
                let (len, placed) = put(first, room);
                last.learn(7, (room, len), &numbers(first), &placed);
                len
            });
            let whole = line(|room| put(second, room).0);
            let mut copied = None;
            let copy = line(|room| {
                copied = last.put(7, &numbers(second), room);
                copied.unwrap_or(0)
            });
            let widths = |numbers: [u64; 3]| numbers.map(|number| number.to_string().len()).map(|width| width.max(1));
            let is_short = first[0] < 100_000_000 && first[1] < 10_000_000 && first[2] < 100_000_000;
            if copied.is_some() {
                prop_assert_eq!(copy, whole);
            } else {
                prop_assert!(!is_short || widths(first) != widths(second));
            }
            let other_server = line(|room| last.put(8, &numbers(first), room).unwrap_or(0));
            prop_assert!(other_server.is_empty());
        }
    }

    #[test]
    fn words_are_copied_as_they_are() {
        let mut last = Last::default();
        line(|room| {
            let len = put_chunk(room, 0, b"graph: True", 11);
            let placed = Placed { slot: 0, form: Form::Word, at: 7 };
            last.learn(0, (room, len), &numbers([1, 0, 0]), &[placed]);
            len
        });
        assert_eq!(line(|room| last.put(0, &numbers([1, 0, 0]), room).unwrap()), b"graph: True");
        assert_eq!(line(|room| last.put(0, &numbers([0, 0, 0]), room).unwrap_or(0)), b"");
    }
}
