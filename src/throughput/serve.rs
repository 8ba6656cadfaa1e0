//! A server to simulate, from a model.

use crate::law::AcceptanceLaw;

use super::basis::{Basis, Ground};
use super::model::{Law, Missing, Model, Outcome};
use super::sim::{Prefilling, Requests, Server};
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
///
/// ```
/// use accsim::law::{AcceptanceLaw, Setting};
/// use accsim::throughput::sim::{Traffic, simulate};
/// use accsim::throughput::{Lengths, read_model, server};
///
/// let model = read_model(&std::fs::read("tests/data/throughput/h200_k3_k5.json")?)?;
/// let law = AcceptanceLaw::match_expected(Setting::new(3.51, 6)?);
/// let server = server(&model, 5, law)?;
/// let traffic = Traffic::closed(16, Lengths::fixed(512), Lengths::fixed(512), 60.0);
/// let outcome = simulate(&server, &traffic, 1, 0)?;
/// assert!((outcome.steady_tps() / 4897.0 - 1.0).abs() < 0.02);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
/// ranks. Requests of other lengths than those of the logs are outside, and so is a server that works in another way than the one
/// that wrote them (ranks, prefill, overlap, prefix cache).
#[must_use]
pub fn ground_at(model: &Model, server: &Server, concurrency: u32, requests: &Requests) -> Ground {
    let Some(law) = model.law(server.drafts) else {
        return Ground { basis: Basis::Extrapolated, factor: (0.0, f64::INFINITY) };
    };
    let running = concurrency.div_ceil(server.ranks.max(1)).min(server.most_running);
    let (least, most) = law.ranges.context;
    // The mean context of a log's windows is known to a part in a thousand.
    let (input, output) = requests.means();
    let context = requests.mean_context();
    let is_other = !model.covers(law, input, output, context);
    let covered = (least * 0.999)..=(most * 1.001);
    let context = if covered.contains(&context) { context.clamp(least, most) } else { context };
    Ground::of(law, running, context, server.drafts, changes(model, law, server) + u32::from(is_other))
}

/// In how many ways a server works unlike the one that wrote the logs.
fn changes(model: &Model, law: &Law, server: &Server) -> u32 {
    let prefill = match (server.prefilling, law.colocated) {
        (Prefilling::Blocking { batch_tokens }, true) => {
            model.batch_tokens.is_some_and(|tokens| tokens != batch_tokens)
        }
        (Prefilling::Elsewhere { .. }, false) => false,
        _ => true,
    };
    let changes = [
        prefill,
        server.ranks != model.ranks.max(1),
        model.overlap.is_some_and(|overlap| overlap != server.overlap),
        law.colocated && (server.cached - model.workload.cached).abs() > SAME_CACHED,
    ];
    changes.into_iter().map(u32::from).sum()
}

/// Shares of cached prompt tokens that differ by less are one.
const SAME_CACHED: f64 = 0.05;

/// A simulated point with what it stands on.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedPoint {
    /// How requests came.
    pub arrivals: super::sim::Arrivals,
    /// What came of it.
    pub point: super::sim::Point,
    /// What it stands on.
    pub ground: Ground,
}
