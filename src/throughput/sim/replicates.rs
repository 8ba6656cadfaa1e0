//! Many runs on all threads, merged in the order of their numbers.

use rayon::prelude::*;

use super::error::SimError;
use super::gaps::Gaps;
use super::lock_step::simulate;
use super::outcome::{Outcome, Percentiles};
use super::server::Server;
use super::traffic::Traffic;

/// Most replicates.
const MOST_REPLICATES: u32 = 100_000;

/// How often to run, and from which seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replicates {
    /// Runs of each point, with draws and requests of their own.
    pub count: u32,
    /// What all of them follow from.
    pub seed: u64,
}

/// A figure over the replicates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Mean over the replicates.
    pub mean: f64,
    /// Standard error of that mean; none for one replicate, which does not tell it.
    pub se: Option<f64>,
}

impl Spread {
    /// Of one number a replicate.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let count = crate::law::float(u64::try_from(values.len()).unwrap_or(u64::MAX));
        if values.is_empty() {
            return Self::default();
        }
        let mean = values.iter().sum::<f64>() / count;
        if values.len() < 2 {
            return Self { mean, se: None };
        }
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { mean, se: Some((squares / (count - 1.0) / count).sqrt()) }
    }
}

/// One server under one traffic, over all replicates.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Output tokens a second from the first arrival to the last token.
    pub output_tps: Spread,
    /// Output tokens a second between warm-up and the end of sending.
    pub steady_tps: Spread,
    /// Steady output tokens a second of each replicate.
    pub steady_each: Vec<f64>,
    /// Requests of all replicates.
    pub requests: u64,
    /// Seconds from arrival to last token, of all requests; none where there were none.
    pub e2e_s: Option<Percentiles>,
    /// Seconds to the first token.
    pub ttft_s: Option<Percentiles>,
    /// Seconds a token after the first, a request at a time.
    pub tpot_s: Option<Percentiles>,
    /// Gaps between two deliveries to a request: p50, p90, p99 in seconds.
    pub gaps_s: Option<[f64; 3]>,
    /// Tokens a step and request.
    pub accept_length: Option<f64>,
    /// Requests in the mean step.
    pub mean_running: f64,
    /// Share of the busy time spent in prefill.
    pub prefill_share: f64,
    /// Requests sent back because the pool was full.
    pub retracted: u64,
    /// Steps times requests of all replicates: the work of the simulation.
    pub request_steps: u64,
}

impl Replicates {
    /// Runs every pair of server and traffic. The result is the same on any number of threads.
    pub fn run(self, points: &[(Server, Traffic)]) -> Result<Vec<Point>, SimError> {
        if self.count == 0 || self.count > MOST_REPLICATES {
            return Err(SimError::number(
                "the number of replicates",
                f64::from(self.count),
                "from 1 to 100000",
            ));
        }
        let runs: Vec<(usize, u32)> = (0..points.len())
            .flat_map(|point| (0..self.count).map(move |replicate| (point, replicate)))
            .collect();
        let outcomes: Vec<Outcome> = runs
            .par_iter()
            .filter_map(|(point, replicate)| Some((points.get(*point)?, *replicate)))
            .map(|((server, traffic), replicate)| simulate(server, traffic, self.seed, replicate))
            .collect::<Result<_, _>>()?;
        let count = usize::try_from(self.count).unwrap_or(1);
        Ok(outcomes.chunks(count).map(Point::of).collect())
    }
}

impl Point {
    /// The figures of the replicates of one point.
    #[must_use]
    pub fn of(outcomes: &[Outcome]) -> Self {
        let each = |figure: &dyn Fn(&Outcome) -> f64| -> Vec<f64> { outcomes.iter().map(figure).collect() };
        let all = |list: &dyn Fn(&Outcome) -> &[f64]| -> Vec<f64> {
            outcomes.iter().flat_map(|outcome| list(outcome).iter().copied()).collect()
        };
        let sum = |figure: &dyn Fn(&Outcome) -> u64| -> u64 { outcomes.iter().map(figure).sum() };
        let mut gaps = Gaps::default();
        for outcome in outcomes {
            gaps.merge(&outcome.gaps);
        }
        let quantile = |share| gaps.quantile(share);
        let steady_each = each(&Outcome::steady_tps);
        let (accepted, request_steps) = (sum(&|o| o.accepted), sum(&|o| o.request_steps));
        Self {
            output_tps: Spread::of(&each(&Outcome::output_tps)),
            steady_tps: Spread::of(&steady_each),
            steady_each,
            requests: sum(&|o| o.requests),
            e2e_s: Percentiles::of(&all(&|o| &o.e2e_s)),
            ttft_s: Percentiles::of(&all(&|o| &o.ttft_s)),
            tpot_s: Percentiles::of(&all(&|o| &o.tpot_s)),
            gaps_s: quantile(0.5)
                .zip(quantile(0.9))
                .zip(quantile(0.99))
                .map(|((p50, p90), p99)| [p50, p90, p99]),
            accept_length: (request_steps > 0)
                .then(|| crate::law::float(accepted) / crate::law::float(request_steps)),
            mean_running: Spread::of(&each(&Outcome::mean_running)).mean,
            prefill_share: Spread::of(&each(&Outcome::prefill_share)).mean,
            retracted: sum(&|o| o.retracted),
            request_steps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_the_mean_and_its_standard_error() {
        let spread = Spread::of(&[2.0, 4.0, 9.0]);
        // Squares of 9, 1 and 16 about 5.
        assert!((spread.mean - 5.0).abs() < 1e-12);
        assert!((spread.se.unwrap() - (26.0_f64 / 2.0 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(Spread::of(&[3.0]), Spread { mean: 3.0, se: None });
        assert_eq!(Spread::of(&[]), Spread::default());
    }
}
