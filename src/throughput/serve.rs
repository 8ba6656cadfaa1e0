//! A server to simulate, from a model.

use crate::law::AcceptanceLaw;

use super::model::{Missing, Model, Outcome};
use super::predict::Basis;
use super::sim::Server;
use super::sweep::prefilling;

/// Why a model gives no server.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ServeError {
    /// The logs hold no run of this kind.
    #[error("the model holds no run {what}; calibrate with one")]
    NoLaw {
        /// With or without speculation.
        what: &'static str,
    },
    /// The coefficients are refused.
    #[error("the step law is refused, so nothing beyond the measured batches can be simulated: {}", join(.missing))]
    Refused {
        /// Why.
        missing: Vec<Missing>,
    },
    /// A draft length that cannot be told from the logs.
    #[error(
        "draft length {drafts} is not in the model (it holds {known:?}), and the cost of a draft takes logs of two draft \
         lengths: calibrate with a run at another one"
    )]
    DraftLength {
        /// Length asked for.
        drafts: u32,
        /// Lengths of the model.
        known: Vec<u32>,
    },
}

fn join(missing: &[Missing]) -> String {
    missing.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// The server of a model at a draft length, with the limits that its logs state.
pub fn server(model: &Model, drafts: u32, acceptance: AcceptanceLaw) -> Result<Server, ServeError> {
    let law = model.law(drafts).ok_or(ServeError::NoLaw {
        what: if drafts == 0 { "without speculation" } else { "with speculation" },
    })?;
    let fitted = match &law.outcome {
        Outcome::Fitted(fitted) => fitted,
        Outcome::Refused { missing, .. } => return Err(ServeError::Refused { missing: missing.clone() }),
    };
    if !law.draft_lengths.contains(&drafts) && law.draft_lengths.len() < 2 {
        return Err(ServeError::DraftLength { drafts, known: law.draft_lengths.clone() });
    }
    let mut server = Server::new(fitted.step.clone(), fitted.prefill, drafts, acceptance);
    server.verified = law.verified(drafts);
    server.prefilling = prefilling(model, law.colocated);
    server.overlap = model.overlap.unwrap_or(false);
    server.ranks = model.ranks.clamp(1, 1024);
    server.cached = model.workload.cached.clamp(0.0, 1.0);
    if let Some(most) = model.most_running {
        server.most_running = most.div_ceil(server.ranks).clamp(1, 1 << 20);
    }
    Ok(server)
}

/// What a simulation stands on: the step law inside what the logs cover, or outside; `concurrency` requests in flight over all
/// ranks, `input` and `output` their mean tokens.
#[must_use]
pub fn basis_at(model: &Model, server: &Server, concurrency: u32, input: f64, output: f64) -> Basis {
    let Some(law) = model.law(server.drafts) else { return Basis::Extrapolated };
    let running = concurrency.div_ceil(server.ranks.max(1)).min(server.most_running);
    let context = input + output / 2.0;
    let within = |value: f64, (low, high): (f64, f64)| value >= low * 0.999 && value <= high * 1.001;
    let (least, most) = law.ranges.running;
    let lengths = (law.draft_lengths.first().copied(), law.draft_lengths.last().copied());
    let drafts = lengths.0.is_some_and(|low| low <= server.drafts)
        && lengths.1.is_some_and(|high| server.drafts <= high);
    if drafts && running >= least && running <= most && within(context, law.ranges.context) {
        Basis::Interpolated
    } else {
        Basis::Extrapolated
    }
}

/// A simulated point with what it stands on.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedPoint {
    /// How requests came.
    pub arrivals: super::sim::Arrivals,
    /// What came of it.
    pub point: super::sim::Point,
    /// What it stands on.
    pub basis: Basis,
}
