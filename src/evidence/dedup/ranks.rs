//! Tag sets by number, with what identifies a scheduler.

use crate::evidence::Tags;

use super::voices::Voices;

/// The tag sets met so far, and the rank of data parallelism of each.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranks {
    voices: Voices,
    dp: Vec<Option<u32>>,
}

impl Ranks {
    /// The number of a tag set.
    #[inline]
    pub(super) fn number(&mut self, tags: &Tags) -> usize {
        let number = self.voices.number(*tags);
        if number == self.dp.len() {
            self.dp.push(tags.rank("DP"));
        }
        number
    }

    /// The rank of data parallelism of the tag set with this number.
    #[inline]
    pub(super) fn dp(&self, number: usize) -> Option<u32> {
        self.dp.get(number).copied().flatten()
    }

    /// The tag set with this number.
    pub(super) fn tags(&self, number: usize) -> Tags {
        self.voices.tags(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tag_set_has_its_number_and_its_data_rank() {
        let mut ranks = Ranks::default();
        let sets = ["TP3", "DP1 TP0", "TP3", "DP0 TP0"].map(|text| Tags::parse(text.as_bytes()));
        assert_eq!(sets.map(|tags| ranks.number(&tags)), [0, 1, 0, 2]);
        assert_eq!([0, 1, 2].map(|number| ranks.dp(number)), [None, Some(1), Some(0)]);
        assert_eq!(ranks.tags(1), sets[1]);
    }
}
