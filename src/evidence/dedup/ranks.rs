//! Which tag sets belong to one scheduler: those whose lines turned out to be copies of each other.

use crate::evidence::{Tags, Voices};

/// The tag sets met so far, by number, and which of them print the same lines.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    voices: Voices,
    facts: Vec<Facts>,
}

/// What is known about one tag set.
#[derive(Clone, Copy, Debug)]
struct Facts {
    /// Rank of data parallelism.
    dp: Option<u32>,
    /// Number of the lowest tag set known to print the same lines; its own where there is none.
    lowest: usize,
}

impl Ranks {
    /// The number of a tag set.
    #[inline]
    pub(super) fn number(&mut self, tags: &Tags) -> usize {
        let number = self.voices.number(*tags);
        if number == self.facts.len() {
            self.facts.push(Facts { dp: tags.rank("DP"), lowest: number });
        }
        number
    }

    /// The rank of data parallelism of the tag set with this number.
    #[inline]
    pub(super) fn dp(&self, number: usize) -> Option<u32> {
        self.facts.get(number).and_then(|facts| facts.dp)
    }

    /// The tag set with this number.
    pub(super) fn tags(&self, number: usize) -> Tags {
        self.voices.tags(number)
    }

    /// Two tag sets printed one line.
    pub(super) fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        let (low, high) = if self.tags(one) <= self.tags(other) { (one, other) } else { (other, one) };
        if low != high {
            self.facts.iter_mut().filter(|facts| facts.lowest == high).for_each(|facts| facts.lowest = low);
        }
    }

    /// The lowest tag set that prints the lines of `tags`.
    pub(super) fn lowest(&self, tags: &Tags) -> Tags {
        let number = self
            .facts
            .iter()
            .enumerate()
            .map(|(number, _)| number)
            .find(|number| self.tags(*number) == *tags);
        number.map_or(*tags, |number| self.tags(self.root(number)))
    }

    fn root(&self, number: usize) -> usize {
        self.facts.get(number).map_or(number, |facts| facts.lowest)
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
        let numbers = ["TP3", "TP1", "DP1 TP0", "TP0", "TP7", "TP1"].map(|text| ranks.number(&tags(text)));
        assert_eq!(numbers, [0, 1, 2, 3, 4, 1]);
        assert_eq!((ranks.dp(1), ranks.dp(2)), (None, Some(1)));
        ranks.join(0, 1);
        ranks.join(4, 0);
        ranks.join(3, 4);
        ranks.join(3, 0);
        for text in ["TP0", "TP1", "TP3", "TP7"] {
            assert_eq!(ranks.lowest(&tags(text)), tags("TP0"), "{text}");
        }
        assert_eq!(ranks.lowest(&tags("DP1 TP0")), tags("DP1 TP0"));
        assert_eq!(ranks.lowest(&tags("EP9")), tags("EP9"));
    }
}
