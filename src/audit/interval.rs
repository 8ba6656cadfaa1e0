//! How many verify steps a line stands for: as told, or as the lines have it, and then what else it may be.

use crate::law::{DEFAULT_INTERVAL, StepRange, float, inferred_interval, whole32};

use super::sample::Sample;

/// Verify steps per line, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeInterval {
    /// Verify steps per decode line.
    pub steps: u32,
    /// How they are known.
    pub source: IntervalSource,
}

/// How the decode log interval is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalSource {
    /// The caller said so.
    Given,
    /// The server's arguments say so.
    Server,
    /// It explains the steady lines.
    Inferred,
    /// The default, as nothing tells.
    Assumed,
    /// The windows count their steps: this is their mean.
    Windows,
}

impl IntervalSource {
    /// Whether nobody said so.
    pub(super) fn is_guess(self) -> bool {
        matches!(self, Self::Inferred | Self::Assumed)
    }

    /// The name that programs read.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Server => "server_args",
            Self::Inferred => "inferred",
            Self::Assumed => "default",
            Self::Windows => "windows",
        }
    }
}

/// What a line stands for, and what it may stand for as well.
pub(super) struct Intervals {
    pub(super) chosen: DecodeInterval,
    /// Nothing where somebody said it.
    pub(super) others: Vec<u32>,
}

impl Intervals {
    /// As given, as logged, or as the steady lines have it: by their values, and by how fast their requests grow.
    pub(super) fn of(sample: &Sample<'_>, given: Option<u32>, logged: Option<u32>) -> Self {
        let known = |steps: Option<u32>, source| {
            steps.filter(|steps| *steps > 0).map(|steps| DecodeInterval { steps, source })
        };
        let told = known(given, IntervalSource::Given).or_else(|| known(logged, IntervalSource::Server));
        if let Some(chosen) = told {
            return Self { chosen, others: Vec::new() };
        }
        let inferred = inferred_interval(&sample.steady_values(), sample.growth);
        let chosen = known(inferred.steps, IntervalSource::Inferred)
            .unwrap_or(DecodeInterval { steps: DEFAULT_INTERVAL, source: IntervalSource::Assumed });
        Self { chosen, others: inferred.open }
    }
}

/// Steady lines of a rank whose growth is looked at.
const MOST_LINES: usize = 256;

/// Steady lines that say how many steps a line has, at least.
const LEAST_LINES: usize = 3;

/// Of so many lines one may be kept: a log that was thinned shows requests that grow so much faster.
const THINNED: f64 = 4.0;

/// How many tokens requests hold more from one steady line to the next, in steps of the length that the later line prints.
///
/// Measured on SGLang 0.5.16: the steps of a line to within one. Where a request finished in the last step they are
/// fewer, where lines are missing they are more.
#[derive(Clone, Debug, Default)]
pub(super) struct Growth {
    before: Option<u64>,
    steps: Vec<f64>,
    /// All counts are multiples of it: a pool of pages.
    unit: u64,
    /// Least and greatest printed length, in tokens.
    lengths: Option<(f64, f64)>,
}

impl Growth {
    pub(super) fn has_room(&self) -> bool {
        self.steps.len() < MOST_LINES
    }

    /// Lines came that were not looked at.
    pub(super) fn pass(&mut self) {
        self.before = None;
    }

    /// The next line of the rank, with its `#token`.
    pub(super) fn add(&mut self, tokens: Option<u64>, hundredths: u32, batch: u32, is_steady: bool) {
        let before = std::mem::replace(&mut self.before, tokens);
        let (Some(before), Some(tokens), true) = (before, tokens, is_steady && hundredths > 0 && batch > 0)
        else {
            return;
        };
        let length = f64::from(hundredths) / 100.0;
        let rise = float(tokens.saturating_sub(before));
        self.steps.push(rise / (f64::from(batch) * length));
        self.unit = gcd(gcd(self.unit, before), tokens);
        let (least, greatest) = self.lengths.unwrap_or((length, length));
        self.lengths = Some((least.min(length), greatest.max(length)));
    }

    /// Between how many steps the lines of these ranks stand for. `None` where too few tell, or they do not agree.
    pub(super) fn range<'a>(ranks: impl Iterator<Item = &'a Self>) -> Option<StepRange> {
        let (mut steps, mut slack) = (Vec::new(), 0.0_f64);
        for rank in ranks {
            let Some((least, greatest)) = rank.lengths else { continue };
            steps.extend_from_slice(&rank.steps);
            // The tokens may be those of a window one step earlier, and of whole pages.
            slack = slack.max((greatest.ceil() + 1.0 + float(rank.unit)) / least);
        }
        steps.sort_unstable_by(f64::total_cmp);
        let at = |quarters: usize| steps.get(steps.len() * quarters / 4).copied();
        let (low, about, high) = (at(1)?, at(2)?, at(3)?);
        let is_told = steps.len() >= LEAST_LINES && about >= 0.5 && high - low <= 2.0 * slack;
        is_told.then(|| StepRange {
            least: whole32(((about - slack) / THINNED).ceil()).max(1),
            most: whole32((high + slack).floor()).max(1),
            about,
        })
    }
}

fn gcd(mut left: u64, mut right: u64) -> u64 {
    while right > 0 {
        (left, right) = (right, left % right);
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests of so many steps a line, each line with its length.
    fn growth(steps: f64, lengths: &[u32], batch: u32, unit: u64) -> Growth {
        let mut growth = Growth::default();
        let mut held = 500.0;
        for (index, hundredths) in lengths.iter().enumerate() {
            held += steps * f64::from(*hundredths) / 100.0;
            let pages = crate::law::whole(held).div_ceil(unit) * unit;
            // A prompt that is not whole in requests tells that there are no pages.
            let tokens = pages * u64::from(batch) + u64::from(unit == 1);
            growth.add(Some(tokens), *hundredths, batch, index > 0);
        }
        growth
    }

    fn range(growth: &Growth) -> Option<(u32, u32)> {
        Growth::range([growth].into_iter()).map(|range| (range.least, range.most))
    }

    const LENGTHS: [u32; 6] = [352, 348, 355, 345, 350, 362];

    #[test]
    fn requests_grow_by_the_steps_of_a_line() {
        assert_eq!(range(&growth(40.0, &LENGTHS, 16, 1)), Some((10, 41)));
        assert_eq!(range(&growth(20.0, &LENGTHS, 1, 1)), Some((5, 21)));
        assert_eq!(range(&growth(1.0, &[300, 400, 400, 300, 400], 4, 1)), Some((1, 3)));
        // Two pairs are too few.
        assert_eq!(range(&growth(40.0, &LENGTHS[..3], 16, 1)), None);
    }

    #[test]
    fn pages_make_it_coarse() {
        // Four requests fill a page each at the same time: 256 tokens more, or none.
        assert_eq!(range(&growth(40.0, &[351; 12], 4, 64)), Some((1, 129)));
        assert_eq!(range(&growth(40.0, &[351; 12], 1, 16)), Some((9, 47)));
    }

    #[test]
    fn finished_requests_and_missing_lines_are_few() {
        let mut growth = growth(40.0, &[350; 8], 4, 1);
        // Requests finished in the last step; then a line is missing.
        growth.add(Some(1001), 350, 4, true);
        growth.add(Some(1001 + 4 * 280), 350, 4, true);
        assert_eq!(range(&growth), Some((10, 41)));
    }

    #[test]
    fn counts_that_do_not_grow_with_the_lines_tell_nothing() {
        let mut growth = Growth::default();
        for tokens in [500, 20_000, 500, 9000, 500, 500, 70_000, 500] {
            growth.add(Some(tokens), 351, 1, true);
        }
        assert_eq!(range(&growth), None);
        let mut still = Growth::default();
        (0..9).for_each(|_| still.add(Some(793), 351, 16, true));
        assert_eq!(range(&still), None);
    }
}
