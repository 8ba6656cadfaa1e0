//! One accept length from two snapshots.

use crate::evidence::{Contradiction, Difference, DifferenceError, Snapshot, difference};

/// What was counted between two snapshots, with nothing to be said against it.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The sums.
    pub difference: Difference,
    /// Accepted draft tokens.
    pub accepted: u64,
    /// Verify steps that had drafts, each request for itself.
    pub drafts: u64,
    /// 1 + accepted / drafts.
    pub accept_length: f64,
}

/// Verify steps that a cell of a golden curve rests on, at least: the standard error is then about 0.05 tokens at most.
pub const LEAST_STEPS: u64 = 1000;

/// Least part of a draft's conditional rate that the next one keeps, where drafts are judged, and how often the next one
/// has to be due for its absence to say something.
const LEAST_KEPT: f64 = 0.25;
const DUE: f64 = 50.0;

/// Places that are looked at: more than any draft length.
const MOST_PLACES: u32 = 256;

/// Why two snapshots give no accept length.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// They cannot be compared.
    #[error(transparent)]
    Difference(#[from] DifferenceError),
    /// Nothing was drafted.
    #[error("nothing was drafted between the snapshots")]
    NoDrafts,
    /// The sums cannot be right.
    #[error("the counters contradict each other: {0}")]
    Contradiction(#[from] Contradiction),
    /// The server drafted another number of tokens a step.
    #[error("{drafted} drafted tokens in {drafts} verify steps: that is no draft length of {expected}")]
    DraftLength {
        /// The draft length that was expected.
        expected: u32,
        /// Drafted tokens.
        drafted: u64,
        /// Verify steps.
        drafts: u64,
    },
    /// A forced accept length, not one that was measured.
    #[error(
        "the steps are those of a simulated acceptance: the first draft was accepted in every one of {drafts} steps, or a draft \
         that was often accepted has none behind it that ever was; a golden length is measured with judged drafts"
    )]
    Simulated {
        /// Verify steps.
        drafts: u64,
    },
    /// Too few steps for a golden length.
    #[error("{drafts} verify steps are too few for a golden length: {LEAST_STEPS} at least")]
    TooFew {
        /// Verify steps.
        drafts: u64,
    },
    /// More drafts were accepted in a step than it can have had.
    #[error("draft {place} of a step was accepted, with a draft length of {expected}")]
    Place {
        /// Number of the draft, from 1.
        place: usize,
        /// The draft length that was expected.
        expected: u32,
    },
}

impl Refusal {
    /// Whether nothing is wrong and nothing can be said: no drafts, or no counters.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        matches!(
            self,
            Self::NoDrafts
                | Self::Difference(
                    DifferenceError::OnlyGauges | DifferenceError::NoCounters | DifferenceError::Lacks(_)
                )
        )
    }
}

/// The accept length between two snapshots: sums over all engines, ranks and endpoints of one model, then the quotient.
///
/// ```
/// use accsim::collect::measure;
/// use accsim::evidence::{Input, Limits, read_snapshot};
///
/// let read = |file: &str| {
///     let path = format!("tests/data/counters/{file}");
///     read_snapshot(&Input::from(std::path::Path::new(&path)), &Limits::default())
/// };
/// let measured = measure(&read("vllm_before.prom")?, &read("vllm_after.prom")?, None)?;
/// assert_eq!(format!("{:.2}", measured.accept_length), "3.51");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn measure(before: &Snapshot, after: &Snapshot, model: Option<&str>) -> Result<Measured, Refusal> {
    let difference = difference(before, after, model)?;
    if let Some(contradiction) = difference.counts.contradictions().into_iter().next() {
        return Err(contradiction.into());
    }
    let counts = &difference.counts;
    let (Some(accepted), Some(drafts), Some(accept_length)) =
        (counts.accepted, counts.steps, counts.accept_length())
    else {
        return Err(Refusal::NoDrafts);
    };
    Ok(Measured { difference, accepted, drafts, accept_length })
}

impl Measured {
    /// Whether the steps can stand for a golden length: enough of them, and judged ones.
    pub fn check_golden(&self) -> Result<(), Refusal> {
        if self.drafts < LEAST_STEPS {
            return Err(Refusal::TooFew { drafts: self.drafts });
        }
        if self.is_simulated() { Err(Refusal::Simulated { drafts: self.drafts }) } else { Ok(()) }
    }

    /// Whether the places or the histogram show a forced length: judged drafts are now and then refused in the first place,
    /// and do not end between one place and the next.
    fn is_simulated(&self) -> bool {
        let counts = &self.difference.counts;
        let above = |drafts: u32| counts.histogram.range(drafts..).map(|(_, steps)| *steps).sum::<u64>();
        let mut accepted_at = counts.accepted_at.clone();
        if accepted_at.is_empty() {
            let last = counts.histogram.keys().last().copied().unwrap_or(0).min(MOST_PLACES);
            accepted_at = (1..=last).map(above).collect();
            // Places behind the largest bin exist where the drafts are more.
            if counts.draft_length().is_some_and(|length| length > last) {
                accepted_at.push(0);
            }
        }
        let Some(last) = accepted_at.iter().rposition(|accepted| *accepted > 0) else { return false };
        let at = |place: usize| accepted_at.get(place).copied().map_or(0.0, crate::law::float);
        let before = last.checked_sub(1).map_or_else(|| crate::law::float(self.drafts), at).max(1.0);
        let is_cut = last + 1 < accepted_at.len() && LEAST_KEPT * at(last) * (at(last) / before) >= DUE;
        accepted_at.first() == Some(&self.drafts) || is_cut
    }

    /// Whether the sums are those of a server with this draft length. A step may have had fewer drafts (near the end of
    /// the context), never more; on average more than half a draft less is another draft length.
    pub fn check_draft_length(&self, expected: u32) -> Result<(), Refusal> {
        let counts = &self.difference.counts;
        if let Some(drafted) = counts.drafted {
            let most = self.drafts.saturating_mul(u64::from(expected));
            if drafted > most || (most - drafted).saturating_mul(2) >= self.drafts {
                return Err(Refusal::DraftLength { expected, drafted, drafts: self.drafts });
            }
        }
        let by_position =
            counts.accepted_at.iter().rposition(|accepted| *accepted > 0).map(|place| place + 1);
        let by_bin = counts.histogram.keys().last().and_then(|accepted| usize::try_from(*accepted).ok());
        let allowed = usize::try_from(expected).unwrap_or(usize::MAX);
        match by_position.max(by_bin) {
            Some(place) if place > allowed => Err(Refusal::Place { place, expected }),
            _ => Ok(()),
        }
    }
}
