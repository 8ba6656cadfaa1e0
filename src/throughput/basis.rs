//! What a number stands on: inside what the logs cover or outside, and then how far.

use super::model::{Fitted, Law};

/// Least error of a law's number, as a share, where no batch could be left out to measure it; and of an extrapolated one, for
/// each doubling beyond what was covered.
const LEAST_ERROR: f64 = 0.05;

/// What a number stands on, from the firmest to the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Basis {
    /// This batch, draft length, context and accept length are in the log.
    Measured,
    /// Only the accept length moved.
    Ratio,
    /// By the step law, inside what the logs cover.
    Interpolated,
    /// By the step law, outside.
    Extrapolated,
}

impl Basis {
    /// The word for it in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Ratio => "ratio",
            Self::Interpolated => "interpolated",
            Self::Extrapolated => "extrapolated",
        }
    }
}

/// What a number by the step law stands on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// Interpolated or extrapolated.
    pub basis: Basis,
    /// Factors that the truth may lie at: the error at a batch that the fit did not see, and more of it for each doubling beyond
    /// what was covered.
    pub factor: (f64, f64),
}

impl Ground {
    /// Of a law at a load; `changes` is in how many ways the server differs from the one that the logs are of.
    pub(super) fn of(law: &Law, running: u32, context: f64, drafts: u32, changes: u32) -> Self {
        let beyond = beyond(law, running, context, drafts) + f64::from(changes);
        let left_out = law.fitted().and_then(left_out);
        let (basis, error) = if beyond > 0.0 {
            (Basis::Extrapolated, left_out.unwrap_or(0.0).max(LEAST_ERROR) * (1.0 + beyond))
        } else {
            (Basis::Interpolated, left_out.unwrap_or(LEAST_ERROR))
        };
        Self { basis, factor: (1.0 / (1.0 + error), 1.0 + error) }
    }

    /// The factors of an extrapolated number, which are printed beside it.
    #[must_use]
    pub fn stated(self) -> Option<(f64, f64)> {
        (self.basis == Basis::Extrapolated).then_some(self.factor)
    }
}

fn left_out(fitted: &Fitted) -> Option<f64> {
    fitted.quality.left_out_largest.filter(|error| error.is_finite())
}

/// Doublings by which a load lies outside what the logs cover, all directions together; 0 inside.
fn beyond(law: &Law, running: u32, context: f64, drafts: u32) -> f64 {
    let outside = |value: f64, low: f64, high: f64| {
        let (low, high) = (low * (1.0 - 1e-9), high * (1.0 + 1e-9));
        if value > high {
            libm::log2(value / high)
        } else if value < low && value > 0.0 {
            libm::log2(low / value)
        } else {
            0.0
        }
    };
    let width = |drafts: Option<&u32>| drafts.map_or(0.0, |drafts| f64::from(*drafts) + 1.0);
    let (least, most) = law.ranges.running;
    outside(f64::from(running), f64::from(least), f64::from(most))
        + outside(context, law.ranges.context.0, law.ranges.context.1)
        + outside(f64::from(drafts) + 1.0, width(law.draft_lengths.first()), width(law.draft_lengths.last()))
}
