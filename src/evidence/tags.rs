//! Rank tags of a log prefix (`DP0 TP3 EP3`): an unordered set of names with a number.

use std::fmt;

/// Most tags that one prefix can carry; no release prints more than six.
const CAPACITY: usize = 8;

/// Longest tag name kept (`ATTN_CP` has seven letters).
const NAME_BYTES: usize = 12;

/// One rank tag: an upper-case name and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    name: [u8; NAME_BYTES],
    rank: u32,
}

impl Tag {
    /// Reads `DP0` or `ATTN_CP2`: capitals and underscores, then digits, nothing else.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let digits = text.iter().position(u8::is_ascii_digit)?;
        let (name, rank) = text.split_at_checked(digits)?;
        if name.is_empty() || name.len() > NAME_BYTES || rank.len() > 9 {
            return None;
        }
        if !name.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_') {
            return None;
        }
        let mut padded = [0; NAME_BYTES];
        padded.iter_mut().zip(name).for_each(|(to, from)| *to = *from);
        let mut number = 0_u32;
        for digit in rank {
            if !digit.is_ascii_digit() {
                return None;
            }
            number = number * 10 + u32::from(digit - b'0');
        }
        Some(Self { name: padded, rank: number })
    }

    /// The name: `DP`, `TP`, `PP`, `EP`, ...
    #[must_use]
    pub fn name(&self) -> &str {
        let end = self.name.iter().position(|byte| *byte == 0).unwrap_or(NAME_BYTES);
        // The name is ASCII by construction.
        self.name.get(..end).and_then(|name| std::str::from_utf8(name).ok()).unwrap_or("")
    }

    /// The number behind the name.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.rank
    }
}

/// The rank tags of one line, sorted, each name once.
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
pub struct Tags {
    tags: [Option<Tag>; CAPACITY],
}

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
        let same = self.tags.iter().position(|held| held.is_some_and(|held| held.name == tag.name));
        let free = self.tags.iter().position(Option::is_none);
        if let Some(slot) = same.or(free).and_then(|index| self.tags.get_mut(index)) {
            *slot = Some(tag);
        }
        // `None` sorts first, so empty slots would precede the tags: push them back.
        self.tags.sort_by_key(|tag| (tag.is_none(), *tag));
    }

    /// The tags in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = Tag> + '_ {
        self.tags.iter().flatten().copied()
    }

    /// The number of the tag called `name`.
    #[must_use]
    pub fn rank(&self, name: &str) -> Option<u32> {
        self.iter().find(|tag| tag.name() == name).map(|tag| tag.rank)
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
            write!(f, "{gap}{}{}", tag.name(), tag.rank)?;
        }
        Ok(())
    }
}
