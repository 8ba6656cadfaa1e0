//! The engine's time as four words that compare as the text does.

/// A printed time. Of one longer than 32 bytes, which has more than 12 digits behind the second, the rest is dropped.
#[derive(Clone, Copy, Debug, Default, Eq, PartialOrd, Ord)]
pub(crate) struct Time([u64; 4]);

/// As the words are, and one by one: a comparison by vectors would wait for words that were just written.
impl PartialEq for Time {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let ([a, b, c, d], [other_a, other_b, other_c, other_d]) = (self.0, other.0);
        (a ^ other_a) | (b ^ other_b) | (c ^ other_c) | (d ^ other_d) == 0
    }
}

impl Time {
    #[inline]
    pub(crate) fn of(text: &[u8]) -> Self {
        let word = |at: usize| {
            text.get(at..).and_then(|rest| rest.first_chunk()).map(|word| u64::from_be_bytes(*word))
        };
        // `2026-10-12 01:02:03`, with three digits more or without.
        let last = match text.len() {
            19 => word(11).map(|word| word << 40),
            23 => word(15).map(|word| word << 8),
            _ => None,
        };
        match (word(0), word(8), last) {
            (Some(first), Some(second), Some(last)) => Self([first, second, last, 0]),
            _ => Self::of_any(text),
        }
    }

    /// The time at the start of `text`: what [`masks`](Self::masks) keep of it.
    #[inline]
    pub(crate) fn masked(text: &[u8; 24], masks: [u64; 3]) -> Self {
        let (words, _) = text.as_chunks();
        let ([first, second, third], [a, b, c]) = (words, masks) else { return Self::default() };
        let word = |bytes: &[u8; 8], mask| u64::from_be_bytes(*bytes) & mask;
        Self([word(first, a), word(second, b), word(third, c), 0])
    }

    /// What keeps the first `len` bytes of 24.
    pub(crate) fn masks(len: usize) -> Option<[u64; 3]> {
        let mask = |at: usize| {
            let kept = u32::try_from(len.saturating_sub(at).min(8)).unwrap_or(8);
            u64::MAX.checked_shl(64 - 8 * kept).unwrap_or(0)
        };
        (len <= 24).then(|| [mask(0), mask(8), mask(16)])
    }

    fn of_any(text: &[u8]) -> Self {
        let mut bytes = [0; 32];
        bytes.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
        let mut words = [0; 4];
        words.iter_mut().zip(bytes.as_chunks().0).for_each(|(to, from)| *to = u64::from_be_bytes(*from));
        Self(words)
    }

    /// Its bytes, zeros behind them.
    pub(super) fn bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes.as_chunks_mut().0.iter_mut().zip(self.0).for_each(|(to, from)| *to = from.to_be_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Time;

    proptest! {
        /// Texts compare as they are, up to the end of what is kept.
        #[test]
        fn times_order_as_their_texts(left in "[0-9:. -]{0,30}", right in "[0-9:. -]{0,30}", digits in "[0-9]{1,6}") {
            prop_assert_eq!(Time::of(left.as_bytes()).cmp(&Time::of(right.as_bytes())), left.cmp(&right));
            for form in ["2026-10-12 01:02:03", "2026-10-12 01:02:03.", "04:40:55"] {
                let longer = format!("{form}{digits}");
                prop_assert!(Time::of(longer.as_bytes()) > Time::of(form.as_bytes()));
                prop_assert_eq!(Time::of(longer.as_bytes()), Time::of_any(longer.as_bytes()));
                if let Some(masks) = Time::masks(longer.len()) {
                    let text = format!("{longer}] Decode batch, #running-req");
                    let masked = Time::masked(text.as_bytes().first_chunk().unwrap(), masks);
                    prop_assert_eq!(masked, Time::of(longer.as_bytes()));
                }
                prop_assert_eq!(&Time::of(longer.as_bytes()).bytes()[..longer.len()], longer.as_bytes());
            }
        }
    }

    #[test]
    fn no_time_is_before_every_time() {
        assert!(Time::default() < Time::of(b"00:00:00"));
        assert_eq!(Time::of(&[b'1'; 40]), Time::of(&[b'1'; 32]));
    }
}
