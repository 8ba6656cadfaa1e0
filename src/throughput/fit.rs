//! The robust fit of a step law to windows.

use super::linear::Normal;
use super::observe::{Window, median};
use super::step::{Bend, PrefillLaw, StepLaw, experts_touched, padded};

/// Relative residual beyond which a window counts by its sign alone (Huber 1964), on clean logs.
const HUBER: f64 = 0.01;

/// The same in medians of the absolute residuals, on noisy ones: 1.345 standard deviations, at which Huber's estimate has 95 %
/// of the efficiency of a mean. Tokens a second are a matter of means: cut any closer, a skewed residual biases them.
const HUBER_MEDIANS: f64 = 2.0;

/// Rounds in which the limit follows the residuals; then it stands, so that the weights can.
const ADAPTING: usize = 10;

/// Rounds of reweighting.
const ROUNDS: usize = 60;

/// A window as a row of the design, with its server's draft length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row {
    /// None where nothing tells it: such rows are never fitted.
    pub(super) drafts: Option<u32>,
    pub(super) verified: u32,
    pub(super) running: u32,
    /// Mean batch of the window: `running` itself, where the log has no times with milliseconds.
    pub(super) batch: f64,
    /// Padded batch times verified tokens.
    pub(super) tokens: f64,
    pub(super) kv_tokens: f64,
    pub(super) longest: f64,
    pub(super) batches: f64,
    pub(super) prompt_tokens: f64,
    pub(super) accept_len: f64,
    /// Seconds a step, prefill included.
    pub(super) step_s: f64,
    pub(super) interval: u32,
    /// Whether the log shows the KV tokens.
    pub(super) has_context: bool,
    /// Whether the log shows prefills.
    pub(super) sees_prefill: bool,
    /// Ranks with requests, where not all have some.
    pub(super) busy: Option<u32>,
    /// Mean output tokens of a request of its run, where the log tells.
    pub(super) output: Option<f64>,
}

impl Row {
    pub(super) fn new(
        window: &Window,
        drafts: Option<u32>,
        verified: u32,
        graph_batches: &[u32],
    ) -> Option<Self> {
        let step_s = window.step_s().filter(|step| step.is_finite() && *step > 0.0)?;
        let running = f64::from(window.running);
        // With its own seconds a window needs no steady batch.
        let (batch, step_s) = window.measured().unwrap_or((running, step_s));
        let computed =
            if graph_batches.is_empty() { batch } else { f64::from(padded(graph_batches, window.running)) };
        Some(Self {
            drafts,
            verified,
            running: window.running,
            batch,
            tokens: computed * f64::from(verified),
            kv_tokens: window.kv_tokens,
            longest: window.longest,
            batches: window.batches_a_step(),
            prompt_tokens: window.tokens_a_step(),
            accept_len: window.accept_len,
            step_s,
            interval: window.interval,
            has_context: window.kv_printed.is_some(),
            sees_prefill: true,
            busy: None,
            output: None,
        })
    }

    /// Output tokens of the window.
    pub(super) fn output_tokens(&self) -> f64 {
        self.batch * self.accept_len * f64::from(self.interval)
    }

    /// Seconds of the window.
    pub(super) fn seconds(&self) -> f64 {
        self.step_s * f64::from(self.interval)
    }
}

/// Which columns the design has, and their fixed parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape {
    pub(super) lanes: f64,
    pub(super) bend: BendShape,
    /// A column for draft passes.
    pub(super) drafts: bool,
    /// Columns for prefill batches and for prompt tokens.
    pub(super) batches: bool,
    pub(super) prompts: bool,
}

/// The bend without its slope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BendShape {
    None,
    Hinge { from_tokens: f64 },
    Experts { experts: u32, active: u32 },
}

impl Shape {
    fn bent(&self, row: &Row) -> Option<f64> {
        match self.bend {
            BendShape::None => None,
            BendShape::Hinge { from_tokens } => Some((row.tokens - from_tokens).max(0.0)),
            BendShape::Experts { experts, active } => Some(experts_touched(experts, active, row.tokens)),
        }
    }

    /// The columns of a row: a, b, c, then those that the shape has of d, p0, p1 and the bend.
    pub(super) fn columns(&self, row: &Row) -> Vec<f64> {
        let optional = [
            self.drafts.then(|| f64::from(row.drafts.unwrap_or(0))),
            self.batches.then_some(row.batches),
            self.prompts.then_some(row.prompt_tokens),
            self.bent(row),
        ];
        let kv = row.kv_tokens.max(self.lanes * row.longest);
        [1.0, row.tokens, kv].into_iter().chain(optional.into_iter().flatten()).collect()
    }

    pub(super) fn size(&self) -> usize {
        let bent = !matches!(self.bend, BendShape::None);
        3 + [self.drafts, self.batches, self.prompts, bent].into_iter().filter(|on| *on).count()
    }

    /// The law of a solution.
    pub(super) fn law(&self, solution: &[f64], graph_batches: &[u32]) -> (StepLaw, PrefillLaw) {
        let mut values = solution.iter().copied();
        let mut next = |on: bool| if on { values.next().unwrap_or(0.0) } else { 0.0 };
        let (a_s, b_s, c_s) = (next(true), next(true), next(true));
        let (d_s, p0_s, p1_s) = (next(self.drafts), next(self.batches), next(self.prompts));
        let bend = match self.bend {
            BendShape::None => Bend::None,
            BendShape::Hinge { from_tokens } => Bend::Hinge { from_tokens, slope_s: next(true) },
            BendShape::Experts { experts, active } => {
                Bend::Experts { experts, active, per_expert_s: next(true) }
            }
        };
        let step =
            StepLaw { a_s, b_s, c_s, d_s, lanes: self.lanes, bend, graph_batches: graph_batches.to_vec() };
        (step, PrefillLaw { p0_s, p1_s })
    }
}

/// A fit.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    pub(super) solution: Vec<f64>,
    /// Weights of the last round: 1/t^2, less for outliers.
    pub(super) weights: Vec<f64>,
    /// Relative residuals: measured over fitted, less 1 of the measured time.
    pub(super) residuals: Vec<f64>,
    /// Huber's loss, summed.
    pub(super) loss: f64,
    /// Condition number of the design weighed by 1/t.
    pub(super) condition: f64,
}

/// Relative residual of a row under a solution.
pub(super) fn residual(shape: &Shape, solution: &[f64], row: &Row) -> f64 {
    let fitted: f64 = shape.columns(row).iter().zip(solution).map(|(left, right)| left * right).sum();
    (row.step_s - fitted) / row.step_s
}

/// Fits the shape: non-negative least squares of relative residuals for the start, then Huber's weights until they stand.
pub(super) fn fit(rows: &[Row], shape: &Shape) -> Option<Fit> {
    let designs: Vec<Vec<f64>> = rows.iter().map(|row| shape.columns(row)).collect();
    let mut weights: Vec<f64> = rows.iter().map(|row| row.step_s.powi(-2)).collect();
    let sums = |weights: &[f64]| {
        let mut normal = Normal::new(shape.size());
        for ((design, row), weight) in designs.iter().zip(rows).zip(weights) {
            normal.add(design, row.step_s, *weight);
        }
        normal
    };
    let first = sums(&weights);
    let condition = first.condition();
    let mut solution = first.nonnegative()?;
    let mut limit = HUBER;
    for round in 0..ROUNDS {
        let off: Vec<f64> = designs
            .iter()
            .zip(rows)
            .map(|(design, row)| {
                let fitted: f64 = design.iter().zip(&solution).map(|(left, right)| left * right).sum();
                ((row.step_s - fitted) / row.step_s).abs()
            })
            .collect();
        if round < ADAPTING {
            limit = median(off.clone()).map_or(HUBER, |middle| (HUBER_MEDIANS * middle).max(HUBER));
        }
        for ((weight, off), row) in weights.iter_mut().zip(&off).zip(rows) {
            let trust = if *off <= limit { 1.0 } else { limit / off };
            *weight = trust * row.step_s.powi(-2);
        }
        let next = sums(&weights).nonnegative()?;
        let moved = next.iter().zip(&solution).any(|(next, last)| (next - last).abs() > 1e-9 * last.abs());
        solution = next;
        if !moved {
            break;
        }
    }
    let residuals: Vec<f64> = rows.iter().map(|row| residual(shape, &solution, row)).collect();
    let loss = residuals.iter().map(|off| huber(off.abs())).sum();
    Some(Fit { solution, weights, residuals, loss, condition })
}

fn huber(off: f64) -> f64 {
    if off <= HUBER { off * off } else { HUBER * (2.0 * off - HUBER) }
}

/// The Bayesian information criterion, with Huber's loss in place of squares. A loss below the rounding of printed
/// throughputs says nothing more.
pub(super) fn bic(fit: &Fit, rows: usize, parameters: usize) -> f64 {
    let count = crate::law::float(u64::try_from(rows).unwrap_or(1).max(1));
    let parameters = crate::law::float(u64::try_from(parameters).unwrap_or(0));
    let mean = (fit.loss / count).max(1e-8);
    count * mean.ln() + parameters * count.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked value 7: running, KV tokens, prompt tokens of the window, tokens a second as printed.
    const LINES: [(u32, f64, f64, f64); 7] = [
        (1, 1500.0, 0.0, 290.22),
        (1, 9000.0, 0.0, 286.65),
        (8, 12_000.0, 4096.0, 1927.31),
        (32, 256_000.0, 0.0, 6194.69),
        (64, 96_000.0, 0.0, 14_141.41),
        (64, 560_000.0, 8192.0, 7667.03),
        (128, 192_000.0, 2048.0, 21_638.33),
    ];

    fn rows() -> Vec<Row> {
        LINES
            .map(|(running, kv_tokens, prompt, tps)| Row {
                drafts: Some(4),
                verified: 5,
                running,
                batch: f64::from(running),
                tokens: f64::from(running) * 5.0,
                kv_tokens,
                longest: 0.0,
                batches: 0.0,
                prompt_tokens: prompt / 40.0,
                accept_len: 3.5,
                step_s: f64::from(running) * 3.5 / tps,
                interval: 40,
                has_context: true,
                sees_prefill: true,
                busy: None,
                output: None,
            })
            .into()
    }

    const SHAPE: Shape =
        Shape { lanes: 1.0, bend: BendShape::None, drafts: false, batches: false, prompts: true };

    #[test]
    fn the_worked_calibration_comes_back() {
        let fit = fit(&rows(), &SHAPE).unwrap();
        let near = |found: f64, expected: f64, digits: f64| {
            assert!((found - expected).abs() <= digits, "{found} {expected}");
        };
        near(fit.solution[0], 0.011_999_9, 5e-8);
        near(fit.solution[1], 6.0001e-6, 5e-11);
        near(fit.solution[2], 2.000_00e-8, 5e-14);
        near(fit.solution[3], 2.000_04e-5, 5e-11);
        near(fit.condition, 3.39, 0.005);
    }

    /// Without the prefill column the coefficients are wrong, as the description says.
    #[test]
    fn prefill_left_out_spoils_the_rest() {
        let shape = Shape { prompts: false, ..SHAPE };
        let mut normal = Normal::new(3);
        for row in rows() {
            normal.add(&shape.columns(&row), row.step_s, row.step_s.powi(-2));
        }
        let found = normal.nonnegative().unwrap();
        assert!((found[0] / 0.012_31 - 1.0).abs() < 1e-3, "{found:?}");
        assert!((found[1] / 5.378e-6 - 1.0).abs() < 1e-3, "{found:?}");
        assert!((found[2] / 2.431e-8 - 1.0).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn contexts_in_step_with_the_batch_are_singular() {
        let rows: Vec<Row> = [1, 4, 16, 64]
            .map(|running| {
                let (count, row) = (f64::from(running), rows()[0]);
                let step_s = 0.012 + 3e-5 * count;
                Row { running, batch: count, tokens: 5.0 * count, kv_tokens: 1256.0 * count, step_s, ..row }
            })
            .into();
        let shape = Shape { prompts: false, ..SHAPE };
        assert!(fit(&rows, &shape).unwrap().condition > 30.0);
    }
}
