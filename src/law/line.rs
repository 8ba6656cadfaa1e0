//! What one decode line prints under a law.

use std::sync::OnceLock;

use super::acceptance::{AcceptanceLaw, Draws};
use super::number::{float, whole, whole32};
use super::pmf::Pmf;
use super::printed::printed;
use super::special::ln_normal_between;
use super::sums::Sums;
use super::two_point::{TwoPoint, ln_sum};
use super::values::LineValues;

/// Steps up to which sums are convolved exactly; above, two decimals are coarser than the lattice and the central
/// limit does.
const MAX_CONVOLVED: u32 = 100;

/// Classes of kappa that share a scale.
const KAPPA_CLASSES: u32 = 32;

/// The batch during one line's window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// The same requests throughout.
    Steady {
        /// Requests in the batch.
        batch: u32,
    },
    /// Requests came or went.
    Changing {
        /// Effective share of the steps, `(sum b)^2 / (I * sum b^2)`: above one half, at most 1.
        kappa: f64,
        /// Mean requests in the batch.
        batch: f64,
    },
}

impl Window {
    /// Requests in the batch, on average.
    #[must_use]
    pub fn batch(self) -> f64 {
        match self {
            Self::Steady { batch } => f64::from(batch),
            Self::Changing { batch, .. } => batch,
        }
    }
}

/// The law of the accept length that a decode line of I verify steps prints.
///
/// ```
/// use accsim::law::{AcceptanceLaw, LineLaw, Setting, Window};
///
/// let setting = Setting::new(3.51, 6)?;
/// let line = LineLaw::new(&AcceptanceLaw::match_expected(setting), 40);
/// let steady = Window::Steady { batch: 16 };
/// // 21 of 40 steps gave 4: whatever the batch, one binomial probability.
/// assert!((line.ln_probability(352, steady).exp() - 0.1233).abs() < 1e-4);
/// // No constant batch prints 3.51 with one draw a step.
/// assert_eq!(line.ln_probability(351, steady), f64::NEG_INFINITY);
/// # Ok::<(), accsim::law::SettingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LineLaw {
    interval: u32,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    /// The draws of a window are the steps; scale of changing windows by class of kappa, computed when first needed.
    Shared(TwoPoint, Vec<OnceLock<f64>>),
    /// The draws of a window are the request-steps.
    PerRequest(TwoPoint),
    /// One draw a step of more than two lengths. Probability of each sum, from `first * I` on; empty for long windows.
    Summed { pmf: Pmf, sums: Vec<f64> },
    /// One draw a request of more than two lengths.
    Many(AcceptanceLaw),
    /// One length, always.
    Constant(u32),
}

impl LineLaw {
    /// The law of lines of `interval` verify steps.
    #[must_use]
    pub fn new(law: &AcceptanceLaw, interval: u32) -> Self {
        let interval = interval.max(1);
        let form = match law {
            AcceptanceLaw::MatchExpected(law) => {
                Form::Shared(*law, (0..=KAPPA_CLASSES).map(|_| OnceLock::new()).collect())
            }
            AcceptanceLaw::PerRequest(law) => Form::PerRequest(*law),
            AcceptanceLaw::Pool(pool) => Form::PerRequest(*pool.law()),
            AcceptanceLaw::Rounded(length) | AcceptanceLaw::Constant(length) => Form::Constant(*length),
            law if law.draws() == Draws::PerRequest => Form::Many(law.clone()),
            law => {
                let pmf = law.pmf();
                let sums = if interval <= MAX_CONVOLVED {
                    Sums::new(pmf.probabilities(), interval).probabilities
                } else {
                    Vec::new()
                };
                Form::Summed { pmf, sums }
            }
        };
        Self { interval, form }
    }

    /// Log-probability that the line prints `hundredths`; minus infinity where it cannot.
    #[must_use]
    pub fn ln_probability(&self, hundredths: u32, window: Window) -> f64 {
        let interval = f64::from(self.interval);
        match (&self.form, self.settle(window)) {
            (Form::Constant(length), _) => {
                if length.checked_mul(100) == Some(hundredths) {
                    0.0
                } else {
                    f64::NEG_INFINITY
                }
            }
            (Form::Shared(law, _), Window::Steady { .. }) => {
                law.ln_average(u64::from(self.interval), hundredths)
            }
            (Form::Shared(law, scales), Window::Changing { kappa, .. }) => {
                let class = class_of(kappa);
                let compute = || law.ln_between_scale(interval, interval * kappa_of(class));
                let cached = usize::try_from(class).ok().and_then(|class| scales.get(class));
                let scale = cached.map_or_else(compute, |cached| *cached.get_or_init(compute));
                law.ln_unequal_scaled(interval, interval * kappa, hundredths, scale)
            }
            (Form::PerRequest(law), Window::Steady { batch }) => {
                law.ln_average(u64::from(self.interval) * u64::from(batch), hundredths)
            }
            (Form::PerRequest(law), Window::Changing { batch, .. }) => {
                law.ln_unequal_average(interval * batch, interval * batch, hundredths)
            }
            (Form::Summed { pmf, sums }, Window::Steady { .. }) if !sums.is_empty() => {
                self.ln_sum_prints(pmf, sums, hundredths)
            }
            (Form::Summed { pmf, .. }, window) => {
                let kappa = if let Window::Changing { kappa, .. } = window { kappa } else { 1.0 };
                ln_spread(pmf.mean(), pmf.variance(), interval * kappa, hundredths)
            }
            (Form::Many(law), Window::Steady { batch }) => {
                LineValues::new(law, self.interval, batch).probability(hundredths).ln()
            }
            (Form::Many(law), Window::Changing { batch, .. }) => {
                ln_spread(law.mean(), law.variance(), interval * batch, hundredths)
            }
        }
    }

    /// A window of one step has one batch, whatever stood before and after it.
    fn settle(&self, window: Window) -> Window {
        match (window, &self.form) {
            (Window::Changing { .. }, Form::Shared(..) | Form::Summed { .. }) if self.interval == 1 => {
                Window::Steady { batch: 1 }
            }
            _ => window,
        }
    }

    fn ln_sum_prints(&self, pmf: &Pmf, sums: &[f64], hundredths: u32) -> f64 {
        let interval = u64::from(self.interval);
        let base = u64::from(pmf.first()) * interval;
        let middle = whole(f64::from(hundredths) * f64::from(self.interval) / 100.0);
        let candidates = middle.saturating_sub(2)..=middle.saturating_add(2);
        let terms = candidates.filter(|sum| printed(*sum, interval) == Some(hundredths)).filter_map(|sum| {
            let index = usize::try_from(sum.checked_sub(base)?).ok()?;
            // A sum inside the support is possible, though its probability be too small for a double.
            sums.get(index).map(|p| p.max(f64::MIN_POSITIVE).ln())
        });
        ln_sum(terms)
    }
}

/// Log-probability that a normal variable prints as `hundredths`: its mass over x +- 0.005. The law of a line of
/// real acceptance (variance of a request-step over the request-steps of the window).
#[must_use]
pub fn ln_normal_line(mean: f64, variance: f64, hundredths: u32) -> f64 {
    let sd = variance.max(f64::MIN_POSITIVE).sqrt();
    let above = f64::from(hundredths) / 100.0 - mean;
    ln_normal_between((above - 0.005) / sd, (above + 0.005) / sd)
}

/// Log-probability that the mean of `draws` whole numbers prints as `hundredths`, when it is nearly normal around
/// `mean` with `variance` for each draw: the law of a line of real acceptance, whose draws are its request-steps.
///
/// Few draws leave gaps between the printed values, as the shared draws of a batch do; minus infinity in a gap.
#[must_use]
pub fn ln_normal_average(mean: f64, variance: f64, draws: u64, hundredths: u32) -> f64 {
    let count = float(draws.max(1));
    if count > 100.0 {
        return ln_normal_line(mean, variance / count, hundredths);
    }
    let sum = (f64::from(hundredths) / 100.0 * count).round();
    if printed(whole(sum), draws.max(1)) != Some(hundredths) {
        return f64::NEG_INFINITY;
    }
    let sd = (variance / count).max(f64::MIN_POSITIVE).sqrt();
    let (above, reach) = (sum / count - mean, 0.5 / count);
    ln_normal_between((above - reach) / sd, (above + reach) / sd)
}

/// Log-probability of a mean of `draws` draws by their normal law; a law without spread has one value.
fn ln_spread(mean: f64, variance: f64, draws: f64, hundredths: u32) -> f64 {
    if variance > 0.0 {
        ln_normal_line(mean, variance / draws, hundredths)
    } else if (mean * 100.0 - f64::from(hundredths)).abs() < 0.5 {
        0.0
    } else {
        f64::NEG_INFINITY
    }
}

fn kappa_of(class: u32) -> f64 {
    0.5 + 0.5 * f64::from(class) / f64::from(KAPPA_CLASSES)
}

fn class_of(kappa: f64) -> u32 {
    whole32(((kappa - 0.5) * 2.0 * f64::from(KAPPA_CLASSES)).round()).min(KAPPA_CLASSES)
}

#[cfg(test)]
mod tests;
