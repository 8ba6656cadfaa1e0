//! Drawing.

use rayon::prelude::*;

use crate::law::{AcceptanceLaw, Histogram, LineValues, Stream, float};

use super::plan::{Plan, PlanError};

/// Replicates that one task draws.
const REPLICATES_A_TASK: u32 = 256;

/// What a plan gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation {
    /// Every draw of every sequence: of a rank that stands for all, or of each rank; over all replicates.
    pub sample: Histogram,
    /// The means of the replicates; none for a single one.
    pub replicates: Option<Replicates>,
    /// The exact law of a line.
    pub line: LineValues,
}

/// How the means of whole runs scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Replicates {
    /// Runs.
    pub count: u32,
    /// Standard deviation of a run's mean that the law has, in tokens: from its independent draws.
    pub exact_sd: f64,
    /// Standard deviation of the drawn means.
    pub sd: f64,
    /// The smallest drawn mean.
    pub lowest: f64,
    /// The largest drawn mean.
    pub highest: f64,
}

impl Plan {
    /// Draws. The result follows from the plan alone, on any number of threads: each sequence has a stream of its own, and
    /// sums are taken in the order of the replicates.
    pub fn run(&self) -> Result<Simulation, PlanError> {
        self.check()?;
        let tasks = self.replicates.div_ceil(REPLICATES_A_TASK);
        let done: Vec<(Histogram, Vec<f64>)> = (0..tasks)
            .into_par_iter()
            .map(|task| {
                let first = task * REPLICATES_A_TASK;
                let last = first.saturating_add(REPLICATES_A_TASK).min(self.replicates);
                let mut all = Histogram::default();
                let means = (first..last)
                    .filter_map(|replicate| {
                        let run = self.replicate(replicate);
                        all.merge(&run);
                        run.mean()
                    })
                    .collect();
                (all, means)
            })
            .collect();
        let mut sample = Histogram::default();
        let mut means = Vec::new();
        for (histogram, some) in done {
            sample.merge(&histogram);
            means.extend(some);
        }
        let replicates = (self.replicates > 1).then(|| self.spread(&means));
        Ok(Simulation { sample, replicates, line: LineValues::new(&self.law, self.interval, self.batch) })
    }

    /// One run of the server.
    fn replicate(&self, replicate: u32) -> Histogram {
        let mut histogram = Histogram::default();
        for rank in 0..self.sequences() {
            let mut stream = Stream::new(self.seed, replicate, rank);
            histogram.draw(&self.law, self.draws(), &mut stream);
        }
        histogram
    }

    fn spread(&self, means: &[f64]) -> Replicates {
        let draws = float(self.draws()) * f64::from(self.sequences());
        let count = float(u64::try_from(means.len()).unwrap_or(0));
        let mean = means.iter().sum::<f64>() / count.max(1.0);
        let square: f64 = means.iter().map(|value| (value - mean) * (value - mean)).sum();
        // Every run of a fixed sequence is the same.
        let is_fixed = matches!(self.law, AcceptanceLaw::Pool(_));
        let variance = if is_fixed { 0.0 } else { self.law.variance() };
        Replicates {
            count: self.replicates,
            exact_sd: (variance / draws.max(1.0)).sqrt(),
            sd: (square / (count - 1.0).max(1.0)).sqrt(),
            lowest: means.iter().copied().fold(f64::INFINITY, f64::min),
            highest: means.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Setting;

    fn plan(steps: u64) -> Plan {
        Plan { steps, seed: 3, ..Plan::new(AcceptanceLaw::match_expected(Setting::new(3.51, 6).unwrap())) }
    }

    fn on_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
    }

    #[test]
    fn threads_do_not_matter() {
        let plan = Plan { replicates: 2000, ranks: 3, ranks_share_draws: false, ..plan(400) };
        let one = on_threads(1, || plan.run()).unwrap();
        for threads in [2, 5] {
            assert_eq!(on_threads(threads, || plan.run()).unwrap(), one);
        }
        assert_eq!(one.sample.draws(), 2000 * 3 * 400);
    }

    #[test]
    fn replicates_scatter_as_the_law_has_it() {
        let shared = Plan { replicates: 4000, ranks: 8, ..plan(1000) };
        let own = Plan { ranks_share_draws: false, ..shared.clone() };
        for (plan, independent) in [(shared, 1000.0_f64), (own, 8000.0)] {
            let replicates = plan.run().unwrap().replicates.unwrap();
            assert!((replicates.exact_sd - (0.2499 / independent).sqrt()).abs() < 1e-12);
            // The standard error of a standard deviation over 4000 runs is 1.1 %.
            assert!((replicates.sd / replicates.exact_sd - 1.0).abs() < 0.04, "{replicates:?}");
            assert!(replicates.lowest < 3.51 && replicates.highest > 3.51);
        }
        assert_eq!(plan(10).run().unwrap().replicates, None);
    }

    #[test]
    fn requests_count_where_each_draws() {
        let setting = Setting::new(3.51, 6).unwrap();
        let own = Plan { batch: 16, steps: 500, ..Plan::new(AcceptanceLaw::per_request(setting)) };
        assert_eq!(own.run().unwrap().sample.draws(), 8000);
        let shared = Plan { batch: 16, ..plan(500) };
        assert_eq!(shared.run().unwrap().sample.draws(), 500);
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        assert_eq!(Plan { batch: 0, ..plan(1) }.run(), Err(PlanError::Zero("the batch")));
        assert_eq!(plan(0).run(), Err(PlanError::Zero("steps")));
        assert_eq!(
            Plan { replicates: 2_000_000, ..plan(1) }.run(),
            Err(PlanError::Replicates { found: 2_000_000 })
        );
        let many = Plan { replicates: 1_000_000, ranks: 100, ranks_share_draws: false, ..plan(1) };
        assert!(matches!(many.run(), Err(PlanError::Streams { .. })));
        assert_eq!(plan(u64::MAX).run(), Err(PlanError::Draws));
        assert!(plan(1 << 50).run().is_ok());
    }
}
