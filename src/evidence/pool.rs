//! Acceptance as sums: what counters, windows of a log and requests add up to.

use crate::law::{float, whole};

/// How many verify steps some sums stand for. Only steps that had drafts are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepCount {
    /// So many.
    Exact(u64),
    /// So many at least and at most.
    Between(u64, u64),
}

impl StepCount {
    /// The smallest and the largest number that it can be.
    #[must_use]
    pub fn bounds(self) -> (u64, u64) {
        match self {
            Self::Exact(steps) => (steps, steps),
            Self::Between(low, high) => (low, high),
        }
    }
}

/// What one piece of evidence adds: a window of a log, a difference of counters, a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// A: accepted drafts.
    pub accepted: u64,
    /// N: verify steps with drafts. A request's step counts as one, so a batch of 16 makes 16.
    pub steps: StepCount,
    /// D: drafted tokens.
    pub drafted: Option<u64>,
    /// K: tokens drafted per step, where it did not change.
    pub draft_length: Option<u32>,
    /// Share of the steps whose first one, two, ... drafts were all accepted; empty where it is not known.
    pub reached: Vec<f64>,
    /// How far a share may be off: 0.0005 where it was printed with three decimals, 0 where it was counted.
    pub resolution: f64,
    /// Steps by their accepted drafts, from none on; empty where it is not known.
    pub histogram: Vec<u64>,
}

impl Window {
    /// A window that holds counts alone.
    #[must_use]
    pub fn counted(accepted: u64, steps: u64) -> Self {
        Self {
            accepted,
            steps: StepCount::Exact(steps),
            drafted: None,
            draft_length: None,
            reached: Vec::new(),
            resolution: 0.0,
            histogram: Vec::new(),
        }
    }

    /// A window made of a histogram: steps by their accepted drafts.
    #[must_use]
    pub fn of_histogram(histogram: Vec<u64>) -> Self {
        let accepted = (0..)
            .zip(&histogram)
            .fold(0_u64, |sum, (drafts, steps): (u64, _)| sum.saturating_add(drafts.saturating_mul(*steps)));
        let steps = histogram.iter().fold(0_u64, |sum, steps| sum.saturating_add(*steps));
        Self { histogram, ..Self::counted(accepted, steps) }
    }

    /// Accept length: 1 + A/N, from the middle of the bounds where N has some; `None` without steps.
    #[must_use]
    pub fn accept_len(&self) -> Option<f64> {
        let (low, high) = self.steps.bounds();
        let steps = f64::midpoint(float(low), float(high));
        (steps > 0.0).then(|| 1.0 + float(self.accepted) / steps)
    }
}

/// How often one position was reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// Steps whose drafts up to this one were all accepted.
    pub reached: f64,
    /// Steps that tell.
    pub steps: f64,
    /// Smallest share of any window.
    pub min: f64,
    /// Largest share of any window.
    pub max: f64,
}

impl Position {
    /// Share of the steps.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.reached / self.steps
    }
}

/// Sums that tell how windows scatter; only windows with an exact number of steps are among them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Windows.
    pub windows: u64,
    /// Their accepted drafts.
    pub accepted: f64,
    /// Their steps.
    pub steps: f64,
    /// Sum of A * A / N.
    pub squares: f64,
    /// Sum of the natural logarithms of N.
    pub ln_steps: f64,
}

impl Spread {
    /// Sum of (A - N * mean)^2 / N over the windows, for a mean number of accepted drafts.
    #[must_use]
    pub fn squares_about(&self, mean: f64) -> f64 {
        // Rounding may leave a little less than nothing.
        (self.squares - 2.0 * mean * self.accepted + mean * mean * self.steps).max(0.0)
    }
}

/// Most positions and histogram entries that are kept.
const MOST: usize = 256;

/// Windows added up. Lengths of windows are never averaged: A and N are summed, and divided once.
///
/// ```
/// use accsim::evidence::{Pool, Window};
///
/// let mut pool = Pool::default();
/// pool.add(&Window::counted(7667, 4774));
/// pool.add(&Window::counted(30, 10));
/// assert!((pool.accept_len().unwrap() - 2.60890).abs() < 1e-5);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pool {
    /// Windows with steps.
    pub windows: u64,
    /// A: accepted drafts.
    pub accepted: u64,
    /// N at least.
    pub steps_low: u64,
    /// N at most.
    pub steps_high: u64,
    /// D: drafted tokens, of windows that tell.
    pub drafted: u64,
    /// Smallest and largest K that any window had.
    pub draft_lengths: Option<(u32, u32)>,
    /// The positions, from the first on.
    pub positions: Vec<Position>,
    /// How far a share of a position may be off.
    pub resolution: f64,
    /// Steps by their accepted drafts, where every window tells.
    pub histogram: Vec<u64>,
    /// Steps in the histogram.
    pub histogram_steps: u64,
    /// Smallest and largest accept length of any window.
    pub range: Option<(f64, f64)>,
    /// How the windows scatter.
    pub spread: Spread,
}

impl Pool {
    /// Adds a window; one without steps adds nothing.
    pub fn add(&mut self, window: &Window) {
        let Some(length) = window.accept_len() else { return };
        let (low, high) = window.steps.bounds();
        self.windows += 1;
        self.accepted = self.accepted.saturating_add(window.accepted);
        self.steps_low = self.steps_low.saturating_add(low);
        self.steps_high = self.steps_high.saturating_add(high);
        self.drafted = self.drafted.saturating_add(window.drafted.unwrap_or(0));
        self.draft_lengths = hull(self.draft_lengths, window.draft_length.map(|length| (length, length)));
        self.range = hull(self.range, Some((length, length)));
        self.resolution = self.resolution.max(window.resolution);
        let steps = f64::midpoint(float(low), float(high));
        for (index, share) in window.reached.iter().take(MOST).enumerate() {
            let added = Position { reached: share * steps, steps, min: *share, max: *share };
            self.position(index, added);
        }
        for (index, count) in window.histogram.iter().take(MOST).enumerate() {
            self.bin(index, *count);
        }
        if let StepCount::Exact(steps) = window.steps {
            let (accepted, steps) = (float(window.accepted), float(steps));
            self.spread.windows += 1;
            self.spread.accepted += accepted;
            self.spread.steps += steps;
            self.spread.squares += accepted * accepted / steps;
            self.spread.ln_steps += steps.ln();
        }
    }

    /// Adds the windows of another pool.
    pub fn merge(&mut self, other: &Self) {
        self.windows += other.windows;
        self.accepted = self.accepted.saturating_add(other.accepted);
        self.steps_low = self.steps_low.saturating_add(other.steps_low);
        self.steps_high = self.steps_high.saturating_add(other.steps_high);
        self.drafted = self.drafted.saturating_add(other.drafted);
        self.draft_lengths = hull(self.draft_lengths, other.draft_lengths);
        self.range = hull(self.range, other.range);
        self.resolution = self.resolution.max(other.resolution);
        for (index, position) in other.positions.iter().enumerate() {
            self.position(index, *position);
        }
        for (index, count) in other.histogram.iter().enumerate() {
            self.bin(index, *count);
        }
        self.spread.windows += other.spread.windows;
        self.spread.accepted += other.spread.accepted;
        self.spread.steps += other.spread.steps;
        self.spread.squares += other.spread.squares;
        self.spread.ln_steps += other.spread.ln_steps;
    }

    /// N, or the middle of its bounds.
    #[must_use]
    pub fn steps(&self) -> f64 {
        f64::midpoint(float(self.steps_low), float(self.steps_high))
    }

    /// N as a whole number.
    #[must_use]
    pub fn whole_steps(&self) -> u64 {
        whole(self.steps().round())
    }

    /// Whether N is known, and not only bounded.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.steps_low == self.steps_high
    }

    /// 1 + A/N; `None` without steps.
    #[must_use]
    pub fn accept_len(&self) -> Option<f64> {
        (self.steps() > 0.0).then(|| 1.0 + float(self.accepted) / self.steps())
    }

    /// K, where it never changed.
    #[must_use]
    pub fn draft_length(&self) -> Option<u32> {
        self.draft_lengths.filter(|(min, max)| min == max).map(|(length, _)| length)
    }

    /// The histogram, where it holds every step.
    #[must_use]
    pub fn whole_histogram(&self) -> Option<&[u64]> {
        let is_whole = self.is_exact() && self.histogram_steps == self.steps_low && self.histogram_steps > 0;
        is_whole.then_some(self.histogram.as_slice())
    }

    /// Mean accept length of the steps that emitted `lo` tokens or more, and how many they were, as the histogram or the
    /// positions tell; `None` where they do not.
    #[must_use]
    pub fn mean_uncut(&self, lo: u32) -> Option<(f64, f64)> {
        let first = usize::try_from(lo.checked_sub(1)?).ok()?;
        let reached = |drafts: usize| match self.whole_histogram() {
            Some(bins) => float(bins.iter().skip(drafts).sum()),
            None if drafts == 0 => self.steps(),
            None => self.positions.get(drafts - 1).map_or(0.0, |position| position.reached),
        };
        let steps = reached(first);
        let last = self.positions.len().max(self.histogram.len());
        let above: f64 = (first + 1..=last).map(reached).sum();
        (steps > 0.0 && last > first).then(|| (f64::from(lo) + above / steps, steps))
    }

    fn position(&mut self, index: usize, added: Position) {
        if let Some(known) = self.positions.get_mut(index) {
            known.reached += added.reached;
            known.steps += added.steps;
            known.min = known.min.min(added.min);
            known.max = known.max.max(added.max);
        } else {
            self.positions.push(added);
        }
    }

    fn bin(&mut self, index: usize, count: u64) {
        if self.histogram.len() <= index {
            self.histogram.resize(index + 1, 0);
        }
        if let Some(bin) = self.histogram.get_mut(index) {
            *bin = bin.saturating_add(count);
        }
        self.histogram_steps = self.histogram_steps.saturating_add(count);
    }
}

/// The smaller of the lower ends and the larger of the upper ones.
fn hull<T: PartialOrd>(left: Option<(T, T)>, right: Option<(T, T)>) -> Option<(T, T)> {
    match (left, right) {
        (Some((a, b)), Some((c, d))) => Some((if c < a { c } else { a }, if d > b { d } else { b })),
        (known, None) | (None, known) => known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_divided_once() {
        let mut pool = Pool::default();
        pool.add(&Window::counted(7667, 4774));
        assert!((pool.accept_len().unwrap() - 2.60599).abs() < 5e-6);
        pool.add(&Window::counted(30, 10));
        pool.add(&Window::counted(0, 0));
        assert_eq!((pool.windows, pool.whole_steps()), (2, 4784));
        assert!((pool.accept_len().unwrap() - 2.60890).abs() < 5e-6);
    }

    #[test]
    fn merging_is_adding() {
        let windows = [
            Window { reached: vec![1.0, 0.5], resolution: 0.0005, ..Window::counted(150, 100) },
            Window { steps: StepCount::Between(90, 110), ..Window::counted(140, 0) },
            Window::of_histogram(vec![0, 50, 50]),
        ];
        let (mut left, mut right, mut all) = (Pool::default(), Pool::default(), Pool::default());
        left.add(&windows[0]);
        right.add(&windows[1]);
        right.add(&windows[2]);
        for window in &windows {
            all.add(window);
        }
        left.merge(&right);
        assert_eq!(left, all);
        assert_eq!((all.steps_low, all.steps_high, all.is_exact()), (290, 310, false));
    }

    #[test]
    fn squares_about_a_mean() {
        let mut pool = Pool::default();
        pool.add(&Window::counted(12, 10));
        pool.add(&Window::counted(8, 10));
        assert!((pool.spread.squares_about(1.0) - 0.8).abs() < 1e-12);
    }
}
