//! Why a question has no answer.

use crate::throughput::model::Missing;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PredictError {
    /// An accept length that a step cannot have.
    #[error(
        "accept length {found} is outside [1, {most}]: a step verifies {drafts} drafts and adds one token"
    )]
    AcceptLength {
        /// Length asked for.
        found: f64,
        /// Draft tokens.
        drafts: u32,
        /// Largest length.
        most: u32,
    },
    /// No requests.
    #[error("a batch has at least 1 running request")]
    NoRequests,
    /// The logs hold no run of this kind.
    #[error("the logs hold no run {what}; calibrate with one")]
    NoLaw {
        /// With or without speculation.
        what: &'static str,
    },
    /// A draft length that cannot be told from the logs.
    #[error(
        "draft length {drafts} is not in the logs (they hold {}), and a step's cost by draft length takes logs of two draft \
         lengths: calibrate with a run at another one",
        list(.known)
    )]
    DraftLength {
        /// Length asked for.
        drafts: u32,
        /// Lengths of the logs.
        known: Vec<u32>,
    },
    /// The coefficients are refused and the batch was not measured.
    #[error(
        "{running} running requests were not measured (measured: {}), and the step law is refused: {}",
        list(.measured),
        reasons(.missing)
    )]
    NotMeasured {
        /// Batch asked for.
        running: u32,
        /// Batches of the logs at this draft length.
        measured: Vec<u32>,
        /// Why the law is refused.
        missing: Vec<Missing>,
    },
    /// Another context, and no coefficients.
    #[error("requests of other lengths than the log's take a step law, and it is refused: {}", reasons(.missing))]
    OtherContext {
        /// Why the law is refused.
        missing: Vec<Missing>,
    },
    /// An accept length below 1, or no number.
    #[error("accept length {0} is below 1: a step emits one token at least")]
    BelowOne(f64),
    /// The share of prefill is not known, so the accept length cannot be moved.
    #[error(
        "the share of prefill at {running} running requests cannot be told: {}, and the step law is refused: {}",
        if .missing.contains(&Missing::PrefillLines) {
            "the log does not show prefills"
        } else {
            "too few of its lines are without a prefill"
        },
        reasons(.missing)
    )]
    NoPrefillShare {
        /// Batch asked for.
        running: u32,
        /// Why the law is refused.
        missing: Vec<Missing>,
    },
}

fn list(numbers: &[u32]) -> String {
    if numbers.is_empty() {
        return "none".to_owned();
    }
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

fn reasons(missing: &[Missing]) -> String {
    missing.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
