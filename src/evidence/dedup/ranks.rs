//! Which tag sets belong to one scheduler: those whose lines turned out to be copies of each other.

use crate::evidence::Tags;

/// Most tag sets that are told apart; more of them share the last number.
const MAX_RANKS: usize = 255;

/// The tag sets met so far, by number, and which of them print the same lines.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    tags: Vec<Tags>,
    /// Rank of data parallelism, by number.
    dp: Vec<Option<u32>>,
    /// Number of the lowest tag set known to print the same lines; itself where there is none.
    lowest: Vec<u8>,
    last: u8,
}

impl Ranks {
    /// The number of a tag set.
    pub(super) fn number(&mut self, tags: &Tags) -> u8 {
        // Most lines come from the rank of the line before.
        if self.tags.get(usize::from(self.last)) == Some(tags) {
            return self.last;
        }
        let known = self.find(tags);
        let number = known.unwrap_or_else(|| u8::try_from(self.tags.len()).unwrap_or(u8::MAX));
        if known.is_none() && self.tags.len() < MAX_RANKS {
            self.tags.push(*tags);
            self.dp.push(tags.rank("DP"));
            self.lowest.push(number);
        }
        self.last = number;
        number
    }

    /// The rank of data parallelism of the tag set with this number.
    pub(super) fn dp(&self, number: u8, tags: &Tags) -> Option<u32> {
        self.dp.get(usize::from(number)).copied().unwrap_or_else(|| tags.rank("DP"))
    }

    /// The tag set with this number; `None` for the number that many share.
    pub(super) fn tags(&self, number: u8) -> Option<Tags> {
        self.tags.get(usize::from(number)).copied()
    }

    /// Two tag sets printed one line.
    pub(super) fn join(&mut self, one: u8, other: u8) {
        let (Some(one), Some(other)) = (self.root(one), self.root(other)) else { return };
        if one == other {
            return;
        }
        let tags = |number: u8| self.tags.get(usize::from(number));
        let (low, high) = if tags(one) <= tags(other) { (one, other) } else { (other, one) };
        for lowest in self.lowest.iter_mut().filter(|lowest| **lowest == high) {
            *lowest = low;
        }
    }

    /// The lowest tag set that prints the lines of `tags`.
    pub(super) fn lowest(&self, tags: &Tags) -> Tags {
        let number = self.find(tags).and_then(|number| self.root(number));
        number.and_then(|number| self.tags.get(usize::from(number))).copied().unwrap_or(*tags)
    }

    fn find(&self, tags: &Tags) -> Option<u8> {
        self.tags.iter().position(|held| held == tags).and_then(|number| u8::try_from(number).ok())
    }

    fn root(&self, number: u8) -> Option<u8> {
        self.lowest.get(usize::from(number)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(text: &str) -> Tags {
        Tags::parse(text.as_bytes())
    }

    #[test]
    fn copies_gather_under_the_lowest_tags() {
        let mut ranks = Ranks::default();
        let numbers: Vec<u8> =
            ["TP3", "TP1", "DP1 TP0", "TP0", "TP7"].iter().map(|text| ranks.number(&tags(text))).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4]);
        assert_eq!(ranks.number(&tags("TP1")), 1);
        assert_eq!((ranks.dp(1, &tags("TP1")), ranks.dp(2, &tags("DP1 TP0"))), (None, Some(1)));
        ranks.join(0, 1);
        ranks.join(4, 0);
        ranks.join(3, 4);
        for text in ["TP0", "TP1", "TP3", "TP7"] {
            assert_eq!(ranks.lowest(&tags(text)), tags("TP0"), "{text}");
        }
        assert_eq!(ranks.lowest(&tags("DP1 TP0")), tags("DP1 TP0"));
        assert_eq!(ranks.lowest(&tags("EP9")), tags("EP9"));
    }

    #[test]
    fn numbers_are_bounded() {
        let mut ranks = Ranks::default();
        for rank in 0..1000 {
            let number = ranks.number(&tags(&format!("TP{rank}")));
            assert_eq!(usize::from(number), MAX_RANKS.min(rank));
        }
        assert_eq!(ranks.dp(255, &tags("DP7 TP999")), Some(7));
        ranks.join(255, 0);
        assert_eq!(ranks.lowest(&tags("TP999")), tags("TP999"));
    }
}
