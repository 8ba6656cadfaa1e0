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
