//! Accept rate against accept length: how a build divides, and how many draft tokens a printed pair allows.

/// Draft tokens that are tried when nothing names them.
pub(crate) const MOST_DRAFT_TOKENS: u32 = 64;

/// How a build divides (A tokens with the bonus, C request-steps, d draft tokens, the root included).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum RateDefinition {
    /// `(A - C) / (C (d - 1))`: SGLang 0.5.11 and later.
    Drafts,
    /// `A / (C d)`: 0.5.3.post2 to 0.5.10.
    Tokens,
    /// `A / (C (d - 1))`, which can exceed 1: some builds of October 2025 (sgl-project/sglang#11572).
    Unbounded,
}

impl RateDefinition {
    /// All of them, the newest first.
    pub(crate) const ALL: [Self; 3] = [Self::Drafts, Self::Tokens, Self::Unbounded];

    /// Whether the printed pair, in hundredths, can come from one count under this definition.
    pub(crate) fn fits(self, draft_tokens: u32, hundredths: u32, rate: u32) -> bool {
        let length = f64::from(hundredths) / 100.0;
        let tokens = f64::from(draft_tokens);
        let (expected, divisor) = match self {
            Self::Drafts => ((length - 1.0) / (tokens - 1.0), tokens - 1.0),
            Self::Tokens => (length / tokens, tokens),
            Self::Unbounded => (length / (tokens - 1.0), tokens - 1.0),
        };
        // Both values were rounded; a little more for the arithmetic itself.
        (f64::from(rate) / 100.0 - expected).abs() <= 0.005 + 0.005 / divisor + 1e-9
    }
}

/// The least draft tokens that the lengths allow: no step emits more tokens than were drafted, the root included.
pub(crate) fn least_draft_tokens(hundredths: impl Iterator<Item = u32>) -> u32 {
    hundredths.map(|length| length.div_ceil(100)).max().unwrap_or(0).max(2)
}

/// The draft tokens, root included, of a server that printed these pairs of accept length and rate (hundredths): where one number
/// alone, under one definition of a release, explains them all.
pub(crate) fn draft_tokens_of(pairs: &[(u32, u32)]) -> Option<u32> {
    if pairs.is_empty() {
        return None;
    }
    let explains = |tokens: u32| {
        [RateDefinition::Drafts, RateDefinition::Tokens]
            .into_iter()
            .any(|definition| pairs.iter().all(|(length, rate)| definition.fits(tokens, *length, *rate)))
    };
    let least = least_draft_tokens(pairs.iter().map(|(length, _)| *length));
    let mut fitting = (least..=MOST_DRAFT_TOKENS).filter(|tokens| explains(*tokens));
    fitting.next().filter(|_| fitting.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_name_the_draft_tokens_where_one_number_alone_fits() {
        // sgl-project/sglang#11948: tokens over all draft tokens.
        assert_eq!(draft_tokens_of(&[(217, 54), (195, 49), (180, 45), (205, 51)]), Some(4));
        assert_eq!(draft_tokens_of(&[(362, 53), (352, 51), (355, 51), (340, 48), (375, 55)]), Some(6));
        // 5 drafts of 0.5.11, or 7 draft tokens of 0.5.10.
        assert_eq!(draft_tokens_of(&[(351, 50)]), None);
        assert_eq!(draft_tokens_of(&[(290, 145)]), None);
        assert_eq!(draft_tokens_of(&[]), None);
    }
}
