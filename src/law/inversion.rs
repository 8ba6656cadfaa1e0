//! One word in, one outcome out: sampling from a finite table of probabilities.

use rand::Rng;

use super::number::whole;

/// Outcomes 0, 1, .. with given probabilities, by inversion of their cumulative sum.
///
/// The cumulative sums stand as 64-bit words, so one random word decides and an outcome's probability is off by at
/// most 2^-53, the rounding of the sums. A guide by the word's first byte makes the search a step or two long.
#[derive(Clone, Debug)]
pub(super) struct Inversion {
    /// Outcome i is drawn for words below entry i and not below the one before. The last entry is the largest word, so
    /// that the search need not ask whether there is one.
    bounds: Vec<u64>,
    /// The last outcome.
    last: u32,
    /// By first byte, the first outcome that a word with it can give.
    guide: Vec<u32>,
}

impl Inversion {
    /// The table; probabilities that do not sum to 1 give what is missing to the last outcome.
    pub(super) fn new(probabilities: &[f64]) -> Self {
        let mut sum = 0.0;
        let inner = probabilities.len().saturating_sub(1);
        let last = u32::try_from(inner).unwrap_or(u32::MAX);
        let bounds: Vec<u64> = probabilities
            .iter()
            .take(inner)
            .map(|probability| {
                sum += probability;
                // Saturates: a sum of 1 leaves nothing to the outcomes behind it, but for 2^-64.
                whole(sum * 2_f64.powi(64))
            })
            .chain([u64::MAX])
            .collect();
        let guide = (0..=u8::MAX)
            .map(|byte| {
                let smallest = u64::from(byte) << 56;
                u32::try_from(bounds.partition_point(|bound| *bound <= smallest)).unwrap_or(u32::MAX)
            })
            .collect();
        Self { bounds, last, guide }
    }

    /// One outcome.
    pub(super) fn draw(&self, random: &mut impl Rng) -> u32 {
        self.find(random.next_u64())
    }

    fn find(&self, word: u64) -> u32 {
        let mut outcome =
            usize::try_from(word >> 56).ok().and_then(|byte| self.guide.get(byte)).copied().unwrap_or(0);
        while let Some(bound) = usize::try_from(outcome).ok().and_then(|index| self.bounds.get(index))
            && *bound <= word
        {
            outcome += 1;
        }
        // The largest word has passed every entry.
        outcome.min(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::Inversion;
    use crate::law::Stream;

    /// A word's outcome is the number of bounds that it has passed.
    #[test]
    fn words_at_the_bounds() {
        let table = Inversion::new(&[5.0, 1.0, 20.0, 0.0, 4.0, 2.0].map(|weight| weight / 32.0));
        let words = (0..4096_u64).flat_map(|step| {
            let word = step << 52;
            [word, word.wrapping_sub(1), word + 1]
        });
        for word in words {
            let exact = [5_u64, 6, 26, 26, 30].iter().filter(|bound| **bound << 59 <= word).count();
            assert_eq!(usize::try_from(table.find(word)), Ok(exact), "{word}");
        }
        assert_eq!(table.find(u64::MAX), 5);
        assert_eq!(Inversion::new(&[1.0]).draw(&mut Stream::new(0, 0, 0)), 0);
    }
}
