//! Accepted drafts, drafted tokens, verify steps: the sums, and whether they can stand together.

use std::collections::BTreeMap;

/// Sums over verify steps. AL = 1 + accepted / steps; what was not counted is absent, not 0.
///
/// ```
/// use accsim::evidence::Counts;
///
/// let counts = Counts { accepted: Some(5020), steps: Some(2000), ..Counts::default() };
/// assert_eq!(counts.accept_length(), Some(3.51));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    /// Accepted draft tokens.
    pub accepted: Option<u64>,
    /// Drafted tokens.
    pub drafted: Option<u64>,
    /// Verify steps that had drafts, each request for itself.
    pub steps: Option<u64>,
    /// Steps in which the draft at this place (from 0) was accepted with all before it. Empty: not counted.
    pub accepted_at: Vec<u64>,
    /// Steps by the number of drafts accepted in them. Empty: not counted.
    pub histogram: BTreeMap<u32, u64>,
}

/// Two sums that cannot both be right.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum Contradiction {
    /// More accepted than drafted.
    #[error("{accepted} accepted tokens of {drafted} drafted ones")]
    AcceptedOverDrafted {
        /// Accepted tokens.
        accepted: u64,
        /// Drafted tokens.
        drafted: u64,
    },
    /// Fewer drafted tokens than steps that had drafts.
    #[error("{drafted} drafted tokens in {steps} verify steps, each of which drafted one at least")]
    StepsOverDrafted {
        /// Verify steps.
        steps: u64,
        /// Drafted tokens.
        drafted: u64,
    },
    /// Tokens were drafted, and no step was counted.
    #[error("{drafted} drafted tokens in no verify step")]
    DraftedWithoutSteps {
        /// Drafted tokens.
        drafted: u64,
    },
    /// A step drafted more tokens than the draft length of the servers beside it, and no whole number of them.
    #[error(
        "{drafted} drafted tokens in {steps} verify steps, no multiple of them and more than the {length} a step beside them"
    )]
    DraftedOverLength {
        /// Drafted tokens.
        drafted: u64,
        /// Verify steps.
        steps: u64,
        /// K of the others.
        length: u32,
    },
    /// The places do not add up to the total.
    #[error("the accepted tokens by position add up to {sum}, the total says {accepted}")]
    PositionsAgainstTotal {
        /// Sum over positions.
        sum: u64,
        /// The total.
        accepted: u64,
    },
    /// A later draft was accepted more often than one before it.
    #[error("position {position} was accepted {later} times, the one before it {earlier} times")]
    PositionsRise {
        /// Place of the later draft, from 0.
        position: usize,
        /// How often the one before it was accepted.
        earlier: u64,
        /// How often it was.
        later: u64,
    },
    /// A draft was accepted in more steps than there were.
    #[error("position 0 was accepted {accepted} times in {steps} verify steps")]
    PositionOverSteps {
        /// How often the first draft was accepted.
        accepted: u64,
        /// Verify steps.
        steps: u64,
    },
    /// The bins do not add up to the steps.
    #[error("the histogram holds {sum} steps, the counter {steps}")]
    HistogramAgainstSteps {
        /// Sum of the bins.
        sum: u64,
        /// Verify steps.
        steps: u64,
    },
    /// The bins do not add up to the accepted tokens.
    #[error("the histogram holds {sum} accepted tokens, the counter {accepted}")]
    HistogramAgainstAccepted {
        /// Sum of bins times their numbers.
        sum: u64,
        /// Accepted tokens.
        accepted: u64,
    },
    /// What is printed beside the counts is not what they give.
    #[error("an accept length of {printed:.3} is printed, and its own counts give {counted:.3}")]
    PrintedAgainstCounts {
        /// The accept length, as printed.
        printed: f64,
        /// 1 + accepted / steps.
        counted: f64,
    },
    /// An accept length is printed where no step had drafts.
    #[error("an accept length of {printed:.3} is printed, and no step had drafts")]
    PrintedWithoutSteps {
        /// The accept length, as printed.
        printed: f64,
    },
    /// A request got more tokens than its steps can have given.
    #[error("{tokens} tokens of a request, and {most} is all that prefill and {steps} verify steps gave")]
    TokensOverSteps {
        /// Tokens of the completion.
        tokens: u64,
        /// One of the prefill, and one a step, and the accepted ones.
        most: u64,
        /// Verify steps.
        steps: u64,
    },
}

impl Counts {
    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// 1 + accepted / steps; `None` without a step or without the sums.
    #[must_use]
    pub fn accept_length(&self) -> Option<f64> {
        let (accepted, steps) = (self.accepted?, self.steps.filter(|steps| *steps > 0)?);
        Some(1.0 + float(accepted) / float(steps))
    }

    /// Accepted / drafted.
    #[must_use]
    pub fn draft_accept_rate(&self) -> Option<f64> {
        let (accepted, drafted) = (self.accepted?, self.drafted.filter(|drafted| *drafted > 0)?);
        Some(float(accepted) / float(drafted))
    }

    /// Drafts per step, where it is the same number in all of them as far as the sums can say.
    #[must_use]
    pub fn draft_length(&self) -> Option<u32> {
        let (drafted, steps) = (self.drafted?, self.steps.filter(|steps| *steps > 0)?);
        (drafted % steps == 0).then_some(drafted / steps).and_then(|length| u32::try_from(length).ok())
    }

    /// Share of the steps in which the draft at each place was accepted.
    #[must_use]
    pub fn rates(&self) -> Vec<f64> {
        let Some(steps) = self.steps.filter(|steps| *steps > 0) else { return Vec::new() };
        self.accepted_at.iter().map(|accepted| float(*accepted) / float(steps)).collect()
    }

    /// Fills in steps and accepted tokens that follow from the histogram.
    #[must_use]
    pub fn completed(mut self) -> Self {
        if !self.histogram.is_empty() {
            self.steps = self.steps.or_else(|| Some(self.histogram_steps()));
            self.accepted = self.accepted.or_else(|| Some(self.histogram_accepted()));
        }
        self
    }

    /// Adds the sums of another server or request. What one of them lacks the sum lacks, unless this one is empty.
    pub fn add(&mut self, other: &Self) {
        if *self == Self::default() {
            other.clone_into(self);
            return;
        }
        let sum = |one: Option<u64>, two: Option<u64>| Some(one?.saturating_add(two?));
        self.accepted = sum(self.accepted, other.accepted);
        self.drafted = sum(self.drafted, other.drafted);
        self.steps = sum(self.steps, other.steps);
        if self.accepted_at.is_empty() || other.accepted_at.is_empty() {
            self.accepted_at.clear();
        } else {
            let places = self.accepted_at.len().max(other.accepted_at.len());
            self.accepted_at.resize(places, 0);
            for (own, more) in self.accepted_at.iter_mut().zip(&other.accepted_at) {
                *own = own.saturating_add(*more);
            }
        }
        if self.histogram.is_empty() || other.histogram.is_empty() {
            self.histogram.clear();
        } else {
            for (accepted, steps) in &other.histogram {
                let own = self.histogram.entry(*accepted).or_default();
                *own = own.saturating_add(*steps);
            }
        }
    }

    /// What cannot stand together.
    #[must_use]
    pub fn contradictions(&self) -> Vec<Contradiction> {
        let mut found = Vec::new();
        if let (Some(accepted), Some(drafted)) = (self.accepted, self.drafted)
            && accepted > drafted
        {
            found.push(Contradiction::AcceptedOverDrafted { accepted, drafted });
        }
        if let (Some(steps), Some(drafted)) = (self.steps, self.drafted)
            && steps > drafted
        {
            found.push(Contradiction::StepsOverDrafted { steps, drafted });
        }
        if let (Some(0), Some(drafted)) = (self.steps, self.drafted)
            && drafted > 0
        {
            found.push(Contradiction::DraftedWithoutSteps { drafted });
        }
        self.check_positions(&mut found);
        self.check_histogram(&mut found);
        found
    }

    /// Drafted tokens against the draft length of servers beside this one: a counter of steps that was cut to what it rose by
    /// after a restart leaves more of them than fit.
    pub(super) fn against_length(&self, length: u32) -> Option<Contradiction> {
        let (drafted, steps) = (self.drafted?, self.steps.filter(|steps| *steps > 0)?);
        let is_over = drafted > steps.saturating_mul(length.into()) && !drafted.is_multiple_of(steps);
        is_over.then_some(Contradiction::DraftedOverLength { drafted, steps, length })
    }

    /// Whether an accept length that is printed beside these counts is theirs, to the rounding of two decimals. Without steps
    /// 0.0 is printed, or 1.0.
    #[must_use]
    pub fn against_printed(&self, printed: Option<f64>) -> Option<Contradiction> {
        let printed = printed?;
        if let Some(counted) = self.accept_length() {
            let differs = (printed - counted).abs() > 0.005 + 1e-6;
            return differs.then_some(Contradiction::PrintedAgainstCounts { printed, counted });
        }
        (self.steps == Some(0) && printed > 1.0).then_some(Contradiction::PrintedWithoutSteps { printed })
    }

    /// What cannot stand together, an accept length that is printed beside these counts among it.
    pub(super) fn contradictions_with(&self, printed: Option<f64>) -> Vec<Contradiction> {
        let mut found = self.contradictions();
        found.extend(self.against_printed(printed));
        found
    }

    fn check_positions(&self, found: &mut Vec<Contradiction>) {
        let Some(first) = self.accepted_at.first().copied() else { return };
        let sum = self.accepted_at.iter().fold(0_u64, |sum, more| sum.saturating_add(*more));
        if let Some(accepted) = self.accepted.filter(|accepted| *accepted != sum) {
            found.push(Contradiction::PositionsAgainstTotal { sum, accepted });
        }
        let pairs = self.accepted_at.iter().zip(self.accepted_at.iter().skip(1));
        if let Some((position, (earlier, later))) =
            (1..).zip(pairs).find(|(_, (earlier, later))| later > earlier)
        {
            found.push(Contradiction::PositionsRise { position, earlier: *earlier, later: *later });
        }
        if let Some(steps) = self.steps.filter(|steps| first > *steps) {
            found.push(Contradiction::PositionOverSteps { accepted: first, steps });
        }
    }

    fn check_histogram(&self, found: &mut Vec<Contradiction>) {
        if self.histogram.is_empty() {
            return;
        }
        let sum = self.histogram_steps();
        if let Some(steps) = self.steps.filter(|steps| *steps != sum) {
            found.push(Contradiction::HistogramAgainstSteps { sum, steps });
        }
        let sum = self.histogram_accepted();
        if let Some(accepted) = self.accepted.filter(|accepted| *accepted != sum) {
            found.push(Contradiction::HistogramAgainstAccepted { sum, accepted });
        }
    }

    fn histogram_steps(&self) -> u64 {
        self.histogram.values().fold(0, |sum, steps| sum.saturating_add(*steps))
    }

    fn histogram_accepted(&self) -> u64 {
        self.histogram
            .iter()
            .fold(0, |sum, (accepted, steps)| sum.saturating_add(u64::from(*accepted).saturating_mul(*steps)))
    }
}

/// The nearest double; exact below 2^53.
pub(super) fn float(count: u64) -> f64 {
    super::family::float(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(bins: &[u64]) -> BTreeMap<u32, u64> {
        (0..).zip(bins.iter().copied()).filter(|(_, steps)| *steps > 0).collect()
    }

    #[test]
    fn a_histogram_gives_steps_and_tokens() {
        let counts =
            Counts { histogram: histogram(&[11, 14, 11, 4, 0, 3]), drafted: Some(215), ..Counts::default() };
        let counts = counts.completed();
        assert_eq!((counts.steps, counts.accepted, counts.draft_length()), (Some(43), Some(63), Some(5)));
        assert!((counts.accept_length().unwrap() - 2.465_116).abs() < 1e-6);
        assert_eq!(counts.contradictions(), []);
    }

    #[test]
    fn what_cannot_be_is_found() {
        let counts = Counts {
            accepted: Some(10),
            drafted: Some(9),
            steps: Some(3),
            accepted_at: vec![4, 5],
            histogram: histogram(&[1, 1]),
        };
        assert_eq!(
            counts.contradictions(),
            [
                Contradiction::AcceptedOverDrafted { accepted: 10, drafted: 9 },
                Contradiction::PositionsAgainstTotal { sum: 9, accepted: 10 },
                Contradiction::PositionsRise { position: 1, earlier: 4, later: 5 },
                Contradiction::PositionOverSteps { accepted: 4, steps: 3 },
                Contradiction::HistogramAgainstSteps { sum: 2, steps: 3 },
                Contradiction::HistogramAgainstAccepted { sum: 1, accepted: 10 },
            ]
        );
    }

    #[test]
    fn a_step_that_counts_drafted_one_token_at_least() {
        let counts = Counts { accepted: Some(40), drafted: Some(50), steps: Some(100), ..Counts::default() };
        assert_eq!(counts.contradictions(), [Contradiction::StepsOverDrafted { steps: 100, drafted: 50 }]);
        assert_eq!(Counts { drafted: Some(100), ..counts }.contradictions(), []);
    }

    #[test]
    fn drafts_without_steps_are_those_of_a_counter_that_was_cut() {
        let counts =
            Counts { accepted: Some(7028), drafted: Some(14_000), steps: Some(0), ..Counts::default() };
        assert_eq!(counts.contradictions(), [Contradiction::DraftedWithoutSteps { drafted: 14_000 }]);
        let cut = Counts { steps: Some(1451), ..counts };
        assert_eq!(cut.contradictions(), []);
        assert!(cut.against_length(5).is_some() && cut.against_length(10).is_none());
        // Another draft length is a whole number.
        assert_eq!(Counts { steps: Some(2000), ..cut }.against_length(5), None);
    }

    #[test]
    fn sums_add_up_and_lack_what_one_lacks() {
        let mut sum = Counts::default();
        let one = Counts {
            accepted: Some(3),
            drafted: Some(4),
            steps: Some(2),
            accepted_at: vec![2, 1],
            ..Counts::default()
        };
        sum.add(&one);
        sum.add(&Counts { accepted: Some(1), drafted: None, steps: Some(1), accepted_at: vec![1], ..one });
        assert_eq!((sum.accepted, sum.drafted, sum.steps), (Some(4), None, Some(3)));
        assert_eq!(sum.accepted_at, [3, 1]);
    }
}
