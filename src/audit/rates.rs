//! Accept rate against accept length: what definition the build used, and how many draft tokens it had.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::evidence::Place;
use crate::law::{MOST_DRAFT_TOKENS, RateDefinition, least_draft_tokens};

/// Pairs of printed values kept; a real log has a few hundred.
const MAX_PAIRS: usize = 1 << 14;

/// The printed pairs of accept length and accept rate.
#[derive(Clone, Debug, Default)]
pub(super) struct Rates {
    pairs: FxHashMap<(u32, u32), Place>,
}

/// What the pairs say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RateCheck {
    /// No line has a rate.
    Absent,
    /// One definition holds on every line with these draft tokens.
    Agrees { definition: RateDefinition, draft_tokens: u32 },
    /// Each line fits one of the two definitions of releases: two builds wrote the log.
    TwoBuilds { other: Place },
    /// Another number of draft tokens than the expected one fits, and no second one does.
    OtherDraftTokens { draft_tokens: u32, place: Place },
    /// Only the October 2025 definition holds, or none does.
    Disagrees { unbounded: bool, place: Place },
}

impl Rates {
    /// Adds lines alike, the first of them at `place`.
    pub(super) fn add(&mut self, hundredths: u32, rate: u32, place: Place) {
        if let Some(first) = self.pairs.get_mut(&(hundredths, rate)) {
            *first = place.min(*first);
        } else if self.pairs.len() < MAX_PAIRS {
            self.pairs.insert((hundredths, rate), place);
        }
    }

    /// The pairs with their first lines, in order.
    pub(super) fn sorted(&self) -> Vec<((u32, u32), Place)> {
        let mut pairs: Vec<_> = self.pairs.iter().map(|(pair, place)| (*pair, *place)).collect();
        pairs.sort_unstable();
        pairs
    }

    /// Adds the lines of another collection.
    pub(super) fn merge(&mut self, other: &Self) {
        for ((hundredths, rate), place) in &other.pairs {
            self.add(*hundredths, *rate, *place);
        }
    }

    /// The pairs of each server apart, by the draft tokens of the server at hand where each was first seen.
    pub(super) fn by_server(&self, at_hand: impl Fn(Place) -> Option<u32>) -> BTreeMap<Option<u32>, Self> {
        let mut apart: BTreeMap<Option<u32>, Self> = BTreeMap::new();
        for ((hundredths, rate), place) in &self.pairs {
            apart.entry(at_hand(*place)).or_default().add(*hundredths, *rate, *place);
        }
        apart
    }

    /// Compares with the draft tokens that the server or the target names, if one does.
    pub(super) fn check(&self, expected: Option<u32>) -> RateCheck {
        let Some(first) = self.pairs.values().copied().min() else {
            return RateCheck::Absent;
        };
        if let Some(check) = expected.filter(|tokens| *tokens >= 2).and_then(|tokens| self.with(tokens)) {
            return check;
        }
        let least = least_draft_tokens(self.pairs.keys().map(|(hundredths, _)| *hundredths));
        let mut others = (least..=MOST_DRAFT_TOKENS).filter_map(|tokens| match self.with(tokens) {
            Some(RateCheck::Agrees { definition, .. }) if definition != RateDefinition::Unbounded => {
                Some((definition, tokens))
            }
            _ => None,
        });
        match (others.next(), others.next(), expected) {
            (Some((definition, draft_tokens)), None, None) => RateCheck::Agrees { definition, draft_tokens },
            (Some((_, draft_tokens)), None, Some(_)) => RateCheck::OtherDraftTokens {
                draft_tokens,
                place: self.first_misfit(expected).unwrap_or(first),
            },
            // Several numbers fit and none is named: nothing to hold against the lines.
            (Some(_), Some(_), None) => RateCheck::Absent,
            _ => {
                let unbounded = (2..=MOST_DRAFT_TOKENS)
                    .any(|tokens| self.misfit(RateDefinition::Unbounded, tokens).is_none());
                RateCheck::Disagrees { unbounded, place: self.first_misfit(expected).unwrap_or(first) }
            }
        }
    }

    /// What one number of draft tokens explains; `None` when some line fits neither definition of a release.
    fn with(&self, draft_tokens: u32) -> Option<RateCheck> {
        for definition in RateDefinition::ALL {
            if self.misfit(definition, draft_tokens).is_none() {
                return match definition {
                    RateDefinition::Unbounded => None,
                    _ => Some(RateCheck::Agrees { definition, draft_tokens }),
                };
            }
        }
        let fits_one = |pair: &(u32, u32)| {
            RateDefinition::Drafts.fits(draft_tokens, pair.0, pair.1)
                || RateDefinition::Tokens.fits(draft_tokens, pair.0, pair.1)
        };
        self.pairs
            .keys()
            .all(fits_one)
            .then(|| self.misfit(RateDefinition::Drafts, draft_tokens))
            .flatten()
            .map(|other| RateCheck::TwoBuilds { other })
    }

    /// The first line that a definition does not explain.
    fn misfit(&self, definition: RateDefinition, draft_tokens: u32) -> Option<Place> {
        self.pairs
            .iter()
            .filter(|((hundredths, rate), _)| !definition.fits(draft_tokens, *hundredths, *rate))
            .map(|(_, place)| *place)
            .min()
    }

    fn first_misfit(&self, expected: Option<u32>) -> Option<Place> {
        let tokens = expected.filter(|tokens| *tokens >= 2)?;
        self.misfit(RateDefinition::Drafts, tokens).max(self.misfit(RateDefinition::Tokens, tokens))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pairs: &[(u32, u32)], expected: Option<u32>) -> RateCheck {
        let mut rates = Rates::default();
        for ((hundredths, rate), line) in pairs.iter().zip(1..) {
            rates.add(*hundredths, *rate, Place { file: 0, line });
        }
        rates.check(expected)
    }

    fn agrees(definition: RateDefinition, draft_tokens: u32) -> RateCheck {
        RateCheck::Agrees { definition, draft_tokens }
    }

    #[test]
    fn worked_rates_by_definition() {
        use RateDefinition::{Drafts, Tokens};
        assert_eq!(check(&[(351, 50)], Some(6)), agrees(Drafts, 6));
        assert_eq!(check(&[(351, 59), (351, 58)], Some(6)), agrees(Tokens, 6));
        assert_eq!(check(&[(250, 50)], Some(4)), agrees(Drafts, 4));
        assert_eq!(check(&[(250, 63), (250, 62)], Some(4)), agrees(Tokens, 4));
        assert_eq!(check(&[(217, 39)], Some(4)), agrees(Drafts, 4));
        assert_eq!(check(&[(217, 54)], Some(4)), agrees(Tokens, 4));
        // From the integers 177, 40 and 6.
        assert_eq!(check(&[(442, 69)], Some(6)), agrees(Drafts, 6));
    }

    #[test]
    fn a_rate_above_one_is_no_share() {
        let place = Place { file: 0, line: 1 };
        assert_eq!(check(&[(290, 145)], Some(3)), RateCheck::Disagrees { unbounded: true, place });
        assert_eq!(check(&[(290, 145)], None), RateCheck::Disagrees { unbounded: true, place });
        assert_eq!(check(&[(290, 7), (290, 99)], None), RateCheck::Disagrees { unbounded: false, place });
    }

    #[test]
    fn the_rate_names_the_draft_tokens_where_the_server_does_not() {
        let lines = [(362, 53), (352, 51), (355, 51), (340, 48), (375, 55)];
        assert_eq!(check(&lines, None), agrees(RateDefinition::Drafts, 6));
        let place = Place { file: 0, line: 1 };
        assert_eq!(check(&lines, Some(4)), RateCheck::OtherDraftTokens { draft_tokens: 6, place });
    }

    #[test]
    fn two_builds_in_one_log_are_seen() {
        let place = Place { file: 0, line: 2 };
        assert_eq!(check(&[(362, 53), (355, 59)], Some(6)), RateCheck::TwoBuilds { other: place });
        assert_eq!(check(&[], Some(6)), RateCheck::Absent);
    }
}
