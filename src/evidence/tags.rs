//! Rank tags of a log prefix (`DP0 TP3 EP3`): an unordered set of names with a number.

use std::fmt;
use std::num::NonZeroU64;

/// Most tags that one prefix can carry; no release prints more than six.
const CAPACITY: usize = 6;

/// Longest name kept: `ATTN_CP` has seven letters.
const NAME_LETTERS: usize = 8;

/// Bits of one packed letter.
const LETTER_BITS: u32 = 5;

/// Bits of the packed number.
const RANK_BITS: u32 = 24;

/// One rank tag: a name in capitals and a number, packed so that tags compare and copy as one word.
///
/// The name stands in the upper bits, so tags order by name first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(NonZeroU64);

impl Tag {
    /// Reads `DP0` or `ATTN_CP2`: at most eight capitals and underscores, then a number below 2^24, nothing else.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let digits = text.iter().position(u8::is_ascii_digit)?;
        let (name, rank) = text.split_at_checked(digits)?;
        if name.is_empty() || name.len() > NAME_LETTERS || rank.len() > 8 {
            return None;
        }
        let mut packed = 0_u64;
        for index in 0..NAME_LETTERS {
            let code = match name.get(index) {
                Some(letter @ b'A'..=b'Z') => letter - b'A' + 1,
                Some(b'_') => 27,
                Some(_) => return None,
                None => 0,
            };
            packed = packed << LETTER_BITS | u64::from(code);
        }
        let mut number = 0_u64;
        for digit in rank {
            if !digit.is_ascii_digit() {
                return None;
            }
            number = number * 10 + u64::from(digit - b'0');
        }
        let number = (number >> RANK_BITS == 0).then_some(number)?;
        NonZeroU64::new(packed << RANK_BITS | number).map(Self)
    }

    /// The number behind the name.
    #[must_use]
    pub fn rank(self) -> u32 {
        // 24 bits by construction.
        u32::try_from(self.0.get() & ((1 << RANK_BITS) - 1)).unwrap_or(u32::MAX)
    }

    /// The name: `DP`, `TP`, `PP`, `EP`, ...
    #[must_use]
    pub fn name(self) -> String {
        (0..NAME_LETTERS).filter_map(|index| self.letter(index)).collect()
    }

    /// Whether the name is `name`.
    #[must_use]
    pub fn is(self, name: &str) -> bool {
        let mut letters = (0..NAME_LETTERS).map_while(|index| self.letter(index));
        name.chars().all(|letter| letters.next() == Some(letter)) && letters.next().is_none()
    }

    fn letter(self, index: usize) -> Option<char> {
        let behind = u32::try_from(NAME_LETTERS.checked_sub(index + 1)?).ok()?;
        match u8::try_from(self.0.get() >> (RANK_BITS + LETTER_BITS * behind) & 31) {
            Ok(27) => Some('_'),
            Ok(code @ 1..=26) => Some(char::from(b'A' + code - 1)),
            _ => None,
        }
    }

    fn same_name(self, other: Self) -> bool {
        self.0.get() >> RANK_BITS == other.0.get() >> RANK_BITS
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name(), self.rank())
    }
}

/// The rank tags of one line, in the order of their names, each name once.
///
/// ```
/// use accsim::evidence::Tags;
///
/// let tags = Tags::parse(b"TP3 DP0");
/// assert_eq!(tags.to_string(), "DP0 TP3");
/// assert_eq!(tags.rank("DP"), Some(0));
/// assert_eq!(tags.rank("PP"), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tags([Option<Tag>; CAPACITY]);

impl Tags {
    /// Reads every word that is a tag and passes over the rest (`INFO`, `py:222`, a date).
    #[must_use]
    pub fn parse(text: &[u8]) -> Self {
        let mut tags = Self::default();
        for word in text.split(|byte| byte.is_ascii_whitespace() || *byte == b',') {
            if let Some(tag) = Tag::parse(word) {
                tags.insert(tag);
            }
        }
        tags
    }

    /// As [`Tags::parse`], of the words at the end of `text` alone: the first word from there that is no tag ends them.
    #[must_use]
    pub fn parse_last(text: &[u8]) -> Self {
        let mut tags = Self::default();
        let words = text.rsplit(|byte| byte.is_ascii_whitespace() || *byte == b',');
        words.filter(|word| !word.is_empty()).map_while(Tag::parse).for_each(|tag| tags.insert(tag));
        tags
    }

    /// Adds a tag; one of the same name is replaced, one beyond the capacity is dropped.
    fn insert(&mut self, tag: Tag) {
        let same = self.0.iter().position(|held| held.is_some_and(|held| held.same_name(tag)));
        let free = self.0.iter().position(Option::is_none);
        if let Some(slot) = same.or(free).and_then(|index| self.0.get_mut(index)) {
            *slot = Some(tag);
        }
        // `None` would sort first: keep the empty slots behind the tags.
        self.0.sort_by_key(|tag| (tag.is_none(), *tag));
    }

    /// The tags in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = Tag> + '_ {
        self.0.iter().flatten().copied()
    }

    /// The number of the tag called `name`.
    #[must_use]
    pub fn rank(&self, name: &str) -> Option<u32> {
        self.iter().find(|tag| tag.is(name)).map(Tag::rank)
    }

    /// Whether the line named no rank.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

impl fmt::Display for Tags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, tag) in self.iter().enumerate() {
            let gap = if index == 0 { "" } else { " " };
            write!(f, "{gap}{tag}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_a_name_and_a_number() {
        for text in ["DP0", "TP13", "ATTN_CP2", "MOE_DP7", "A16777215"] {
            assert_eq!(Tag::parse(text.as_bytes()).unwrap().to_string(), text);
        }
        for text in ["", "DP", "0", "dp0", "DP0x", "TOOLONGNAME1", "py:222", "A16777216", "A123456789"] {
            assert_eq!(Tag::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn order_and_repetition_do_not_matter() {
        assert_eq!(Tags::parse(b"2026-10-12 01:02:03 TP4 DP1 EP0"), Tags::parse(b"EP0 DP1,TP4 INFO"));
        assert_eq!(Tags::parse(b"DP0 DP1").to_string(), "DP1");
        assert_eq!(Tags::parse(b"A0 B0 C0 D0 E0 F0 G0").iter().count(), CAPACITY);
        assert!(Tags::parse(b"INFO").is_empty());
        assert!(Tags::parse(b"DP0 TP0") < Tags::parse(b"DP1 TP0"));
    }
}
