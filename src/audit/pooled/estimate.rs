//! The pooled mean with an interval that counts what each request drew.

use crate::evidence::Pool;
use crate::law::{float, student_quantile};

use super::super::dispersion::Dispersion;
use super::super::estimate::{MeanInterval, clopper_pearson};
use super::super::options::Confidence;
use super::gather::Succession;
use super::mark::Mark;

/// The mean of some sums, and what it rests on.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    /// 1 + A/N, in tokens.
    pub(super) mean: f64,
    /// The same at the most and at the fewest steps that there can be.
    pub(super) bounds: (f64, f64),
    /// Independent draws.
    pub(super) steps: f64,
    /// Windows.
    pub(super) windows: u64,
    /// How the windows scatter about the mean, under draws of single requests.
    pub(super) scatter: Option<Dispersion>,
    form: Form,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    /// So many of the steps drew the larger of two lengths.
    Binomial { lo: f64 },
    /// Standard error and its degrees of freedom.
    Normal { error: f64, freedom: f64 },
    /// The scatter is not known.
    Unknown,
}

/// How many times more than draws can explain windows have to scatter to be of several settings, and at which chance.
const BEYOND: f64 = 1.5;
const CERTAIN: f64 = 1e-6;

/// Standard errors of von Neumann's ratio beyond which windows are of several settings.
const SHIFT_ERRORS: f64 = 4.0;

/// Degrees of freedom of a variance that is known.
const KNOWN: f64 = 1e6;

impl Estimate {
    /// `steps` are the independent ones, where they are fewer than all.
    pub(super) fn new(pool: &Pool, mark: Mark, steps: Option<f64>) -> Option<Self> {
        let mean = pool.accept_len()?;
        let at = |count: u64| 1.0 + float(pool.accepted) / float(count).max(1.0);
        let variance = match mark {
            Mark::TwoPoint { lo, is_exact: true } => {
                let weight = (mean - f64::from(lo)).clamp(0.0, 1.0);
                Some(weight * (1.0 - weight))
            }
            _ => variance(pool),
        };
        let scatter = variance.and_then(|variance| scatter(pool, mean, variance));
        // Requests of equal seeds accept in lockstep, and judged drafts hang together: then windows scatter more than single
        // draws do.
        let excess = scatter
            .filter(|scatter| scatter.upper_tail < 0.01 && scatter.lines > 1)
            .map_or(1.0, |scatter| (scatter.d / float(scatter.lines - 1)).max(1.0));
        let steps = steps.unwrap_or_else(|| pool.steps()) / excess;
        let form = match (mark, variance) {
            (Mark::TwoPoint { lo, is_exact: true }, _) => Form::Binomial { lo: f64::from(lo) },
            (Mark::Constant(length), _) => Form::Binomial { lo: f64::from(length) },
            (_, Some(variance)) => Form::Normal { error: (variance / steps).sqrt(), freedom: KNOWN },
            _ => by_windows(pool, mean, steps).unwrap_or(Form::Unknown),
        };
        Some(Self {
            mean,
            bounds: (at(pool.steps_high), at(pool.steps_low)),
            steps,
            windows: pool.windows,
            scatter,
            form,
        })
    }

    /// The interval at a confidence; `None` where nothing tells how the steps scatter.
    pub(super) fn interval(&self, confidence: Confidence) -> Option<MeanInterval> {
        let tail = confidence.outside() / 2.0;
        let (low, high) = match self.form {
            Form::Binomial { lo } => {
                let hits = (self.steps * (self.mean - lo)).clamp(0.0, self.steps);
                let (low, high) = clopper_pearson(hits, self.steps, tail);
                (lo + low, lo + high)
            }
            Form::Normal { error, freedom } => {
                let reach = student_quantile(1.0 - tail, freedom) * error;
                (self.mean - reach, self.mean + reach)
            }
            Form::Unknown => return None,
        };
        // N between bounds moves the whole interval.
        let (least, most) = (self.bounds.0 - self.mean, self.bounds.1 - self.mean);
        Some(MeanInterval { low: (low + least).max(1.0), high: high + most })
    }

    /// Whether the windows scatter more than any draws of one length can: requests in lockstep divide the steps by at most
    /// `batch`, where that is known, and windows that follow each other differ as all of them do.
    pub(super) fn is_mixed(&self, succession: &Succession, spread_variance: f64, batch: Option<u32>) -> bool {
        let Some(scatter) = self.scatter.filter(|scatter| scatter.lines > 1) else { return false };
        let freedom = float(scatter.lines - 1);
        let is_beyond_lockstep = batch.map(|batch| f64::from(batch.max(1))).is_some_and(|batch| {
            scatter.d > BEYOND * batch * freedom
                && crate::law::chi_square_upper(scatter.d / batch, freedom) < CERTAIN
        });
        // Von Neumann's ratio: half of it is 1 on average, and scatters by about 1 over the root of the windows.
        let (within, pairs) = (succession.variance(), float(succession.pairs));
        let is_shifted = spread_variance > BEYOND * within
            && (1.0 - within / spread_variance) * pairs.sqrt() > SHIFT_ERRORS
            && scatter.upper_tail < CERTAIN;
        is_beyond_lockstep || is_shifted
    }

    /// Draws above the smaller length and all draws, where they are of two lengths.
    pub(super) fn draws(&self) -> Option<(f64, f64, f64)> {
        let Form::Binomial { lo } = self.form else { return None };
        Some((lo, (self.steps * (self.mean - lo)).clamp(0.0, self.steps), self.steps))
    }
}

/// Variance of the accepted drafts of a step: sum of `(2 i - 1) p_i` less the mean squared, or as a histogram has it.
fn variance(pool: &Pool) -> Option<f64> {
    let accepted = pool.accept_len()? - 1.0;
    if let Some(bins) = pool.whole_histogram() {
        let squares: f64 = (0_u64..)
            .zip(bins)
            .map(|(drafts, count)| float(*count) * (float(drafts) - accepted).powi(2))
            .sum();
        return Some(squares / float(pool.histogram_steps));
    }
    if pool.positions.is_empty() {
        return None;
    }
    let squares: f64 = (0_u64..)
        .zip(&pool.positions)
        .map(|(index, position)| (2.0 * float(index) + 1.0) * position.share())
        .sum();
    Some((squares - accepted * accepted).max(0.0))
}

/// How the windows scatter about the mean when every step draws for itself.
fn scatter(pool: &Pool, mean: f64, variance: f64) -> Option<Dispersion> {
    let windows = pool.spread.windows;
    if windows < 2 || variance < 1e-6 {
        return None;
    }
    let d = pool.spread.squares_about(mean - 1.0) / variance;
    let freedom = float(windows - 1);
    Some(Dispersion {
        d,
        lines: windows,
        lower_tail: crate::law::chi_square_lower(d, freedom),
        upper_tail: crate::law::chi_square_upper(d, freedom),
    })
}

/// Nothing says how single steps scatter: the windows do. Windows that share their draws move together, so `steps` are the
/// independent ones.
fn by_windows(pool: &Pool, mean: f64, steps: f64) -> Option<Form> {
    let windows = pool.spread.windows;
    if windows < 2 || windows != pool.windows {
        return None;
    }
    let freedom = float(windows - 1);
    let variance = pool.spread.squares_about(mean - 1.0) / freedom;
    let weight = mean - mean.floor();
    // Never less than that of the two nearest lengths.
    let variance = variance.max(weight * (1.0 - weight));
    Some(Form::Normal { error: (variance / steps.max(1.0)).sqrt(), freedom })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Window;

    /// Of 0, 1, 2 and 3 accepted drafts in 40, 20, 20 and 20 of a hundred steps: 2.8 less the square of 1.2.
    #[test]
    fn positions_tell_the_variance_of_a_step() {
        let mut pool = Pool::default();
        pool.add(&Window { reached: vec![0.6, 0.4, 0.2], ..Window::counted(1200, 1000) });
        assert!((variance(&pool).unwrap() - 1.36).abs() < 1e-9);
    }
}
