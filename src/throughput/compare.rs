//! A simulation beside what a client measured of the same requests.

use std::sync::Arc;

use rand::Rng as _;

use crate::law::{AcceptanceLaw, Setting, Stream, float, whole};

use super::basis::Ground;
use super::client::{ClientRun, Phase};
use super::model::Model;
use super::serve::{ServeError, ground_at, server};
use super::sim::{Arrivals, Outcome, Percentiles, Requests, SimError, Traffic, simulate};

/// Resamples of the client's requests.
const RESAMPLES: u32 = 500;

/// What all draws follow from.
const SEED: u64 = 0x636c_6965_6e74;

/// Figures of one phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PhaseFigures {
    /// Output tokens a second.
    pub tps: f64,
    /// Mean seconds of a request.
    pub mean_s: f64,
    /// 90th percentile of the seconds of a request.
    pub p90_s: f64,
}

/// One phase, measured and simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Clients.
    pub concurrency: u32,
    /// Requests of the client.
    pub requests: u64,
    /// Requests that the steady latencies are of.
    pub steady_requests: u64,
    /// All requests, from the first to the last token: measured, simulated.
    pub whole: (PhaseFigures, PhaseFigures),
    /// Of the requests behind the first one of each client that the client saw end before it stopped sending, the same ones on
    /// both sides: measured, simulated. Tokens a second are clients times tokens over seconds (Little 1961), as every client is
    /// busy all that time. None where there is no such request.
    pub steady: Option<(PhaseFigures, PhaseFigures)>,
    /// What the simulated figures stand on.
    pub ground: Ground,
    /// Standard error of the measured steady figures by a bootstrap over requests, relative.
    pub noise: PhaseFigures,
}

/// Why no comparison can be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CompareError {
    /// The model gives no server.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The simulation is refused.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// An accept length that the draft length cannot reach.
    #[error("accept length {0} cannot be a target")]
    AcceptLength(f64),
}

/// A request as both sides have it.
#[derive(Clone, Copy, Debug)]
struct Span {
    start_s: f64,
    end_s: f64,
    output: f64,
}

/// Simulates each phase of a client with the requests that it sent, in their order, and puts both side by side.
pub fn compare(
    model: &Model,
    drafts: u32,
    accept_length: f64,
    client: &ClientRun,
    replicates: u32,
) -> Result<Vec<Comparison>, CompareError> {
    let setting = Setting::new(accept_length, drafts.saturating_add(1))
        .map_err(|_| CompareError::AcceptLength(accept_length))?;
    let server = server(model, drafts, AcceptanceLaw::match_expected(setting))?;
    let one = |phase: &Phase| -> Result<Comparison, CompareError> {
        let sending_s = phase.sending_s.unwrap_or(phase.seconds);
        let traffic = Traffic {
            arrivals: Arrivals::Closed { concurrency: phase.concurrency },
            requests: Requests::Listed(Arc::from(phase.trace())),
            duration_s: sending_s,
            warmup_s: 0.0,
        };
        let outcomes: Vec<Outcome> = (0..replicates.max(1))
            .map(|replicate| simulate(&server, &traffic, SEED, replicate))
            .collect::<Result<_, _>>()?;
        let ground = ground_at(model, &server, phase.concurrency, &traffic.requests);
        Ok(side_by_side(phase, sending_s, &outcomes, ground))
    };
    client.phases.iter().map(one).collect()
}

/// Takes the workload of a client over into the model, and compares the two at the accept length that the model was calibrated at.
pub fn check_against(model: &mut Model, client: &ClientRun) -> Result<Vec<Comparison>, CompareError> {
    let requests = client.phases.iter().flat_map(|phase| &phase.requests);
    let (count, input, output) = requests.fold((0.0, 0.0, 0.0), |(count, input, output), request| {
        (count + 1.0, input + f64::from(request.input), output + f64::from(request.output))
    });
    if count > 0.0 {
        model.workload.input = Some(input / count);
        model.workload.output = Some(output / count);
    }
    let drafts = model.sources.last().map_or(Some(0), |source| source.drafts);
    let levels = model.levels.iter().filter(|level| level.drafts == drafts);
    let (windows, sum) = levels.fold((0.0, 0.0), |(windows, sum), level| {
        let weight = float(level.windows);
        (windows + weight, sum + weight * level.accept_length)
    });
    let accept_length = if windows > 0.0 { sum / windows } else { 1.0 };
    // Without a draft length the law is refused, which the simulation says.
    compare(model, drafts.unwrap_or_else(|| crate::law::whole32(accept_length)), accept_length, client, 10)
}

fn side_by_side(phase: &Phase, sending_s: f64, outcomes: &[Outcome], ground: Ground) -> Comparison {
    let measured: Vec<Span> = phase
        .requests
        .iter()
        .map(|request| Span {
            start_s: request.start_s,
            end_s: request.end_s,
            output: f64::from(request.output),
        })
        .collect();
    let simulated: Vec<Vec<Span>> = outcomes.iter().map(spans).collect();
    let whole_simulated = mean(
        &outcomes
            .iter()
            .zip(&simulated)
            .filter_map(|(outcome, spans)| {
                Some(PhaseFigures { tps: outcome.output_tps(), ..latencies(spans)? })
            })
            .collect::<Vec<_>>(),
    );
    let whole_measured = PhaseFigures { tps: phase.output_tps(), ..latencies(&measured).unwrap_or_default() };
    let first = usize::try_from(phase.concurrency).unwrap_or(usize::MAX);
    let kept: Vec<usize> = measured
        .iter()
        .enumerate()
        .skip(first)
        .filter(|(_, span)| span.end_s <= sending_s)
        .map(|(index, _)| index)
        .collect();
    let chosen = |spans: &[Span]| -> Vec<Span> {
        kept.iter().filter_map(|index| spans.get(*index).copied()).collect()
    };
    let clients = f64::from(phase.concurrency);
    let steady_simulated: Option<Vec<PhaseFigures>> =
        simulated.iter().map(|spans| steady(&chosen(spans), clients)).collect();
    let later = chosen(&measured);
    let steady = steady(&later, clients).zip(steady_simulated.map(|all| mean(&all)));
    Comparison {
        concurrency: phase.concurrency,
        requests: u64::try_from(measured.len()).unwrap_or(u64::MAX),
        steady_requests: u64::try_from(later.len()).unwrap_or(u64::MAX),
        whole: (whole_measured, whole_simulated),
        steady,
        ground,
        noise: noise(if later.is_empty() { &measured } else { &later }),
    }
}

/// The requests of a run in the order of their sending, which is that of the client.
fn spans(outcome: &Outcome) -> Vec<Span> {
    let times = outcome.finished_s.iter().zip(&outcome.e2e_s).zip(&outcome.outputs);
    let spans = times.map(|((end, seconds), output)| Span {
        start_s: end - seconds,
        end_s: *end,
        output: f64::from(*output),
    });
    let mut numbered: Vec<(u64, Span)> = outcome.numbers.iter().copied().zip(spans).collect();
    numbered.sort_by_key(|(number, _)| *number);
    numbered.into_iter().map(|(_, span)| span).collect()
}

fn latencies(spans: &[Span]) -> Option<PhaseFigures> {
    let seconds: Vec<f64> = spans.iter().map(|span| span.end_s - span.start_s).collect();
    Percentiles::of(&seconds).map(|found| PhaseFigures { tps: 0.0, mean_s: found.mean, p90_s: found.p90 })
}

/// Steady figures of requests that all ran while every client was busy.
fn steady(spans: &[Span], clients: f64) -> Option<PhaseFigures> {
    let seconds: f64 = spans.iter().map(|span| span.end_s - span.start_s).sum();
    let tokens: f64 = spans.iter().map(|span| span.output).sum();
    Some(PhaseFigures { tps: clients * tokens / seconds, ..latencies(spans)? })
}

fn mean(figures: &[PhaseFigures]) -> PhaseFigures {
    let count = float(u64::try_from(figures.len()).unwrap_or(1).max(1));
    let of = |figure: fn(&PhaseFigures) -> f64| figures.iter().map(figure).sum::<f64>() / count;
    PhaseFigures { tps: of(|f| f.tps), mean_s: of(|f| f.mean_s), p90_s: of(|f| f.p90_s) }
}

/// Relative standard errors: requests drawn with replacement; tokens a second as tokens over seconds, which a closed loop makes it.
fn noise(spans: &[Span]) -> PhaseFigures {
    let count = u64::try_from(spans.len()).unwrap_or(0);
    let resamples: Vec<PhaseFigures> = (0..RESAMPLES)
        .filter_map(|number| {
            let mut random = Stream::new(SEED, number, 2);
            let drawn: Vec<Span> = (0..count)
                .filter_map(|_| {
                    let at = whole(float((u64::from(random.next_u32()) * count) >> 32));
                    spans.get(usize::try_from(at).ok()?).copied()
                })
                .collect();
            let seconds: f64 = drawn.iter().map(|span| span.end_s - span.start_s).sum();
            let tokens: f64 = drawn.iter().map(|span| span.output).sum();
            Some(PhaseFigures { tps: tokens / seconds, ..latencies(&drawn)? })
        })
        .collect();
    let centre = mean(&resamples);
    let spread = |figure: fn(&PhaseFigures) -> f64| {
        let middle = figure(&centre);
        let squares: f64 = resamples.iter().map(|found| (figure(found) - middle).powi(2)).sum();
        let count = float(u64::try_from(resamples.len()).unwrap_or(1).max(1));
        if middle > 0.0 { (squares / count).sqrt() / middle } else { 0.0 }
    };
    PhaseFigures { tps: spread(|f| f.tps), mean_s: spread(|f| f.mean_s), p90_s: spread(|f| f.p90_s) }
}
