//! What a server could have been told to draw, and which of it the lines' mean allows.

use crate::law::Setting;

use super::law::{DrawLaw, DrawMethod};
use super::options::ReplayOptions;

/// Targets looked at around the measured mean, in hundredths of a token.
const AROUND: u32 = 10;

/// Largest length tried where nobody says what it is.
const MOST_UNKNOWN: u32 = 9;

/// Standard deviations of the mean within which a law stays in the running: beyond, it would take an accident of 10^-8.
const MOST_DEVIATIONS: f64 = 6.0;

/// What a law may be off in any case, in tokens: a few altered lines, batches that change.
const SLACK: f64 = 0.02;

/// What the lines of a run look like before any draw is made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    /// Lines with an accept length, of all ranks, and of the longest.
    pub(super) lines: u64,
    pub(super) longest: u64,
    /// Sum of their values in hundredths.
    pub(super) hundredths: u64,
    pub(super) least: u32,
    pub(super) greatest: u32,
}

impl Shape {
    pub(super) fn add(&mut self, hundredths: u32) {
        if self.lines == 0 {
            (self.least, self.greatest) = (hundredths, hundredths);
        }
        self.lines += 1;
        self.hundredths += u64::from(hundredths);
        self.least = self.least.min(hundredths);
        self.greatest = self.greatest.max(hundredths);
    }

    /// Plain mean of the printed values, in tokens.
    pub(super) fn mean(&self) -> f64 {
        crate::law::float(self.hundredths) / 100.0 / crate::law::float(self.lines.max(1))
    }

    /// Whether all lines read the same whole number, as without any draw.
    pub(super) fn is_constant(&self) -> bool {
        self.least == self.greatest && self.least.is_multiple_of(100)
    }

    /// Whether lines of a law can have this mean: half of the longest rank's lines count, the others may weigh little.
    pub(super) fn allows(&self, law: &DrawLaw, interval: u32) -> bool {
        let lines = (crate::law::float(self.longest) / 2.0).max(1.0);
        let law = law.acceptance();
        let reach = MOST_DEVIATIONS * law.line_sd(interval, 1) / lines.sqrt() + SLACK;
        (self.mean() - law.mean()).abs() <= reach
    }
}

/// The candidates of a run, the stated target first. What draws nothing is none.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    laws: Vec<DrawLaw>,
}

impl Candidates {
    /// Every law that could have been set: the stated target, the golden cells, and every two-decimal target around the
    /// lines' mean, each by either method and each largest length that is in question.
    pub(super) fn new(options: &ReplayOptions, server_max: Option<u32>, shape: &Shape) -> Self {
        let mut all = Self::default();
        let stated = options.stated;
        let known: Vec<u32> =
            stated.and_then(|stated| stated.max_accept_length).into_iter().chain(server_max).collect();
        // The least that any line needs, in tokens.
        let needed = shape.greatest.div_ceil(100).clamp(2, MOST_UNKNOWN);
        let maxima = if known.is_empty() { (needed..=MOST_UNKNOWN).collect() } else { known };

        let length = stated.map(|stated| stated.accept_length);
        let mean = crate::law::whole32((shape.mean() * 100.0).round());
        let around = (mean.saturating_sub(AROUND)..=mean.saturating_add(AROUND)).map(hundredths);
        for length in length.into_iter().chain(options.cells.iter().copied()).chain(around) {
            for max in &maxima {
                for method in DrawMethod::ALL {
                    all.add(method, length, *max);
                }
            }
        }
        // Clamping moves the mean of a multinomial law: targets whose mean lies near the measured one.
        for max in &maxima {
            let biased = (100..=max.saturating_mul(100).min(2000)).map(hundredths);
            for length in biased.filter(|length| mean_is_near(*length, *max, shape.mean())) {
                all.add(DrawMethod::Multinomial, length, *max);
            }
        }
        all
    }

    fn add(&mut self, method: DrawMethod, length: f64, max: u32) {
        let law = Setting::new(length, max).ok().and_then(|setting| DrawLaw::new(method, setting));
        if let Some(law) = law.filter(|law| law.constant().is_none())
            && !self.laws.iter().any(|other| other.is_same_as(&law))
        {
            self.laws.push(law);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &DrawLaw> {
        self.laws.iter()
    }

    /// How many there are, for the price of the choice.
    pub(super) fn len(&self) -> u64 {
        u64::try_from(self.laws.len()).unwrap_or(u64::MAX)
    }
}

fn hundredths(count: u32) -> f64 {
    f64::from(count) / 100.0
}

fn mean_is_near(length: f64, max: u32, mean: f64) -> bool {
    // Clamping moves the mean by less than a token and a half.
    (length - mean).abs() < 1.5
        && Setting::new(length, max)
            .ok()
            .and_then(|setting| DrawLaw::new(DrawMethod::Multinomial, setting))
            .is_some_and(|law| (law.acceptance().mean() - mean).abs() <= hundredths(AROUND) + 0.005)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A target far above the largest length gives a mean well below itself.
    #[test]
    fn a_clamped_target_is_near_its_mean() {
        let law = DrawLaw::new(DrawMethod::Multinomial, Setting::new(3.4, 2).unwrap()).unwrap();
        let mean = law.acceptance().mean();
        assert!(3.4 - mean > 1.3, "{mean}");
        assert!(mean_is_near(3.4, 2, mean));
        assert!(!mean_is_near(3.4, 2, 1.0) && !mean_is_near(3.4, 6, mean));
    }
}
