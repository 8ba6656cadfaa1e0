//! Which draft length wins where: a curve of accept lengths over concurrencies, simulated.

use crate::law::{AcceptanceLaw, Setting};

use super::basis::{Basis, Ground};
use super::lengths::Lengths;
use super::model::{Model, Outcome};
use super::predict::{PredictError, Question, predict};
use super::serve::{ServeError, ground_at, server};
use super::sim::{Point, Prefilling, Replicates, Server, SimError, Spread, Traffic};

/// What to sweep over.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// Draft lengths with the accept length of each.
    pub curve: Vec<(u32, f64)>,
    /// Clients of a closed loop, for the whole server.
    pub concurrency: Vec<u32>,
    /// Input tokens of a request.
    pub input: Lengths,
    /// Output tokens of a request.
    pub output: Lengths,
    /// Seconds in which requests are sent.
    pub duration_s: f64,
    /// Runs of each point.
    pub replicates: Replicates,
    /// Whether the run without speculation takes part, where the model holds one.
    pub with_plain: bool,
}

/// One cell of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Draft tokens; 0: no speculation.
    pub drafts: u32,
    /// Tokens a step and request.
    pub accept_length: f64,
    /// Clients.
    pub concurrency: u32,
    /// What came of it.
    pub point: Point,
    /// What it stands on: interpolated or extrapolated.
    pub ground: Ground,
}

/// The winner of a concurrency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Best {
    /// Clients.
    pub concurrency: u32,
    /// Draft tokens of the fastest.
    pub drafts: u32,
    /// Draft tokens of the next.
    pub next: Option<u32>,
    /// Steady tokens a second over those of the next, less 1, replicate by replicate.
    pub margin: Spread,
    /// Whether the margin is less than two standard errors: no winner can be named.
    pub is_tie: bool,
}

/// A table and its winners.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepReport {
    /// Cells, by concurrency, then by draft length.
    pub cells: Vec<Cell>,
    /// One a concurrency.
    pub best: Vec<Best>,
}

/// Why a sweep is refused.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A model of one draft length.
    #[error(
        "a sweep over draft lengths takes a model that was calibrated on at least two of them; this one holds {found:?}: \
         calibrate with a log at another draft length"
    )]
    OneDraftLength {
        /// Draft lengths of the model.
        found: Vec<u32>,
    },
    /// Nothing to sweep over.
    #[error("the curve has no cells to sweep over")]
    EmptyCurve,
    /// A cell without an answer.
    #[error(transparent)]
    Predict(#[from] PredictError),
    /// A server that cannot be made of the model.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// A simulation that cannot be carried out.
    #[error(transparent)]
    Simulation(#[from] SimError),
}

/// Runs a sweep. All cells see the same requests and the same draws (common random numbers), so that margins are those of the
/// settings and not of chance.
///
/// ```
/// use accsim::evidence::{Input, Reader};
/// use accsim::throughput::sim::Replicates;
/// use accsim::throughput::{Lengths, Observer, Options, Sweep, calibrate, sweep};
///
/// let mut observer = Observer::new(None);
/// for log in ["e3k3_al299", "e3k5_al351"] {
///     observer.begin(log);
///     let path = format!("tests/data/h200/{log}.log");
///     let input = Input::from(std::path::Path::new(&path));
///     let errors = Reader::default().read(&input, &mut |place, record| observer.record(place, record));
///     assert!(errors.is_empty());
/// }
/// let model = calibrate(&observer.finish()?, &Options::default())?;
/// let plan = Sweep {
///     curve: vec![(3, 2.99), (5, 3.61)],
///     concurrency: vec![4],
///     input: Lengths::fixed(512),
///     output: Lengths::fixed(128),
///     duration_s: 5.0,
///     replicates: Replicates { count: 2, seed: 0 },
///     with_plain: false,
/// };
/// // At four clients five drafts are the faster ones.
/// assert_eq!(sweep(&model, &plan)?.best[0].drafts, 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sweep(model: &Model, plan: &Sweep) -> Result<SweepReport, SweepError> {
    let found = model.draft_lengths();
    if found.len() < 2 {
        return Err(SweepError::OneDraftLength { found });
    }
    if plan.curve.is_empty() || plan.concurrency.is_empty() {
        return Err(SweepError::EmptyCurve);
    }
    let has_plain =
        plan.with_plain && model.law(0).is_some_and(|law| matches!(law.outcome, Outcome::Fitted(_)));
    let curve: Vec<(u32, f64)> =
        has_plain.then_some((0, 1.0)).into_iter().chain(plan.curve.iter().copied()).collect();
    let mut cells = Vec::new();
    let mut runs: Vec<(Server, Traffic)> = Vec::new();
    for concurrency in &plan.concurrency {
        for (drafts, accept_length) in &curve {
            check(model, *drafts, *accept_length)?;
            let law = Setting::new(*accept_length, drafts.saturating_add(1))
                .map_or(AcceptanceLaw::Constant(1), AcceptanceLaw::match_expected);
            let server = server(model, *drafts, law)?;
            let traffic = Traffic::closed(*concurrency, plan.input, plan.output, plan.duration_s);
            let ground = ground_at(model, &server, *concurrency, &traffic.requests);
            runs.push((server, traffic));
            cells.push((*drafts, *accept_length, *concurrency, ground));
        }
    }
    let points = plan.replicates.run(&runs)?;
    let cells: Vec<Cell> = cells
        .into_iter()
        .zip(points)
        .map(|((drafts, accept_length, concurrency, ground), point)| Cell {
            drafts,
            accept_length,
            concurrency,
            point,
            ground,
        })
        .collect();
    let best = cells.chunks(curve.len()).filter_map(best).collect();
    Ok(SweepReport { cells, best })
}

/// Refuses an accept length that the draft length cannot reach.
fn check(model: &Model, drafts: u32, accept_length: f64) -> Result<(), PredictError> {
    let question = Question::running(accept_length, Some(drafts), 1);
    match predict(model, &question) {
        Err(PredictError::NotMeasured { .. } | PredictError::NoPrefillShare { .. }) | Ok(_) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The winner among the cells of one concurrency.
fn best(cells: &[Cell]) -> Option<Best> {
    let mut order: Vec<&Cell> = cells.iter().collect();
    order.sort_by(|left, right| right.point.steady_tps.mean.total_cmp(&left.point.steady_tps.mean));
    let first = *order.first()?;
    let next = order.get(1).copied();
    let margins: Vec<f64> = next
        .map(|next| {
            first
                .point
                .steady_each
                .iter()
                .zip(&next.point.steady_each)
                .map(|(left, right)| left / right - 1.0)
        })
        .into_iter()
        .flatten()
        .collect();
    let margin = Spread::of(&margins);
    let is_tie = next.is_some() && margin.se.is_some_and(|error| margin.mean < 2.0 * error);
    Some(Best {
        concurrency: first.concurrency,
        drafts: first.drafts,
        next: next.map(|cell| cell.drafts),
        margin,
        is_tie,
    })
}

/// Whether the prompts are prefilled where the model says.
pub(super) fn prefilling(model: &Model, colocated: bool) -> Prefilling {
    if colocated {
        Prefilling::Blocking { batch_tokens: model.batch_tokens.unwrap_or(8192) }
    } else {
        Prefilling::Elsewhere { workers: 1 << 16 }
    }
}

impl SweepReport {
    /// What a winner stands on: the weaker basis of it and the next.
    #[must_use]
    pub fn basis(&self, best: &Best) -> Basis {
        let of = |drafts: Option<u32>| {
            let cell = self
                .cells
                .iter()
                .find(|cell| (cell.concurrency, Some(cell.drafts)) == (best.concurrency, drafts));
            cell.map_or(Basis::Interpolated, |cell| cell.ground.basis)
        };
        of(Some(best.drafts)).max(of(best.next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::throughput::read_model;

    fn model() -> Model {
        read_model(&std::fs::read("tests/data/throughput/h200_k3_k5.json").unwrap()).unwrap()
    }

    #[test]
    fn an_accept_length_beyond_the_drafts_is_refused() {
        assert!(check(&model(), 3, 2.5).is_ok());
        assert!(check(&model(), 3, 4.5).is_err() && check(&model(), 3, 0.5).is_err());
    }

    #[test]
    fn prompts_are_prefilled_where_the_model_says() {
        let model = Model { batch_tokens: Some(4096), ..model() };
        assert_eq!(prefilling(&model, true), Prefilling::Blocking { batch_tokens: 4096 });
        assert_eq!(prefilling(&model, false), Prefilling::Elsewhere { workers: 65_536 });
    }

    fn cell(drafts: u32, steady_each: &[f64]) -> Cell {
        let steady_tps = Spread::of(steady_each);
        let point = Point {
            output_tps: steady_tps,
            steady_tps,
            steady_each: steady_each.to_vec(),
            requests: 1,
            e2e_s: None,
            ttft_s: None,
            tpot_s: None,
            gaps_s: None,
            accept_length: None,
            mean_running: 1.0,
            prefill_share: 0.0,
            retracted: 0,
            request_steps: 1,
        };
        let ground = Ground { basis: Basis::Interpolated, factor: (1.0, 1.0) };
        Cell { drafts, accept_length: 2.5, concurrency: 4, point, ground }
    }

    /// Margins of 3 % and 5 %: 4 % with a standard error of 1 %; those of 1 % and 7 %: 4 % with one of 3 %.
    #[test]
    fn a_margin_below_two_standard_errors_is_a_tie() {
        let next = cell(3, &[100.0, 100.0]);
        for (each, error, is_tie) in [([103.0, 105.0], 0.01, false), ([101.0, 107.0], 0.03, true)] {
            let best = best(&[next.clone(), cell(5, &each)]).unwrap();
            assert_eq!((best.drafts, best.next, best.concurrency), (5, Some(3), 4));
            assert!(
                (best.margin.mean - 0.04).abs() < 1e-12 && (best.margin.se.unwrap() - error).abs() < 1e-12
            );
            assert_eq!(best.is_tie, is_tie, "{each:?}");
        }
        // Nothing to tie with.
        let alone = best(&[next]).unwrap();
        assert_eq!((alone.drafts, alone.next, alone.is_tie), (3, None, false));
    }
}
