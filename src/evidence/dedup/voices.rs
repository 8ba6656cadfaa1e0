//! Which rank speaks: tags to small numbers, fast when the same ones come again.

use rustc_hash::FxHashMap;

use crate::evidence::Tags;

/// Sets of tags told apart in one point. No server has as many ranks; a file that names more is hostile, and the
/// surplus shares one place.
const MAX_VOICES: usize = 1024;

/// The sets of tags seen, numbered in the order of their first line.
#[derive(Clone, Debug, Default)]
pub(super) struct Voices {
    tags: Vec<Tags>,
    numbers: FxHashMap<Tags, usize>,
    last: usize,
}

impl Voices {
    /// The number of `tags`, a new one if they were not seen before.
    pub(super) fn number(&mut self, tags: Tags) -> usize {
        // Ranks take turns: the one that spoke last, or the one after it.
        for number in [self.last, self.last + 1] {
            if self.tags.get(number) == Some(&tags) {
                self.last = number;
                return number;
            }
        }
        self.last = self.look_up(tags);
        self.last
    }

    fn look_up(&mut self, tags: Tags) -> usize {
        if let Some(number) = self.numbers.get(&tags) {
            return *number;
        }
        if self.tags.len() == MAX_VOICES {
            return MAX_VOICES - 1;
        }
        self.numbers.insert(tags, self.tags.len());
        self.tags.push(tags);
        self.tags.len() - 1
    }

    /// The tags with this number.
    pub(super) fn tags(&self, number: usize) -> Tags {
        self.tags.get(number).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_stable_and_bounded() {
        let mut voices = Voices::default();
        let (zero, one) = (Tags::parse(b"DP0 TP0"), Tags::parse(b"DP1 TP1"));
        assert_eq!([zero, one, zero, one, one].map(|tags| voices.number(tags)), [0, 1, 0, 1, 1]);
        assert_eq!(voices.tags(1), one);
        for rank in 0..3000 {
            let number = voices.number(Tags::parse(format!("TP{rank}").as_bytes()));
            assert!(number < MAX_VOICES);
        }
    }
}
