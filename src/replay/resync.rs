//! Where lines go on after a slip or a flush.

use super::follow::Script;
use super::line::{Judgement, Line, WindowKind};
use super::odds::log10_tried;
use super::sequence::Sequence;

/// Missing lines that are looked for, and lines that may occur again.
const MISSING_LINES: i64 = 256;
const REPEATED_LINES: i64 = 4;

/// Offsets that are no multiple of the interval: steps lengths and not counted.
const ODD_DRAWS: i64 = 4096;

/// First lines that may belong to neither side of a slip: lines are missing twice.
const ADRIFT: usize = 32;

/// Decimal logarithm of the chance below which an offset is believed, after all that were tried.
pub(super) const CHANCE: f64 = -3.0;

/// The same before a search through all multiples is charged.
pub(super) const BELIEVED_AT: f64 = -5.5;

/// The chance at which an offset is taken where no line follows that could bear it out.
const BETTER_THAN_NONE: f64 = -0.5;

/// Where lines go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The first line that goes on there: those before it stand at neither offset.
    pub(super) line: usize,
    pub(super) draws: i64,
    /// Offsets tried.
    pub(super) tried: u64,
    /// Other offsets at which all lines fit that were looked at, the found one being 0.
    pub(super) rivals: Vec<i64>,
}

/// How lines fit from a draw on, the first of which has no known predecessor.
#[derive(Clone, Copy, Debug, Default)]
struct Fit {
    /// Lines before the first that fails.
    length: usize,
    exact: u64,
    /// Decimal logarithm of the chance of so many exact ones, of as many lines as bear it out best.
    chance: f64,
}

/// Lines that wait, and where the first of them stands if nothing is missing.
pub(super) struct Search<'a> {
    pub(super) script: &'a Script,
    pub(super) sequence: &'a mut Sequence,
    pub(super) next: u64,
    pub(super) lines: &'a [Line],
}

impl<'a> Search<'a> {
    /// Lines that are missing before the first one, or that occur again. An offset must be no accident, and fit more
    /// lines than the old one.
    pub(super) fn multiples(&mut self) -> Option<Found> {
        let offsets = self.line_offsets(0);
        self.best(0, &offsets)
    }

    /// Any number of draws that was not counted. Thousands of offsets are for sequences that bore out: there are many
    /// wrong ones.
    pub(super) fn odd_draws(&mut self) -> Option<Found> {
        let interval = self.interval();
        let offsets: Vec<i64> =
            (1..=ODD_DRAWS).flat_map(|draws| [draws, -draws]).filter(|draws| draws % interval != 0).collect();
        self.best(0, &offsets)
    }

    /// The first line behind which the old offset is borne out again: those before it do not fit their own draws.
    pub(super) fn same_again(&mut self) -> Option<usize> {
        (1..self.lines.len().min(ADRIFT)).find(|line| {
            // The line itself need not be steady: its predecessor fails, and is its predecessor.
            let fit = self.fit(*line, 0, true);
            fit.chance + log10_tried(u64::try_from(*line).unwrap_or(1)) < CHANCE
        })
    }

    /// Lines are missing twice, and too few stand between: where the later ones go on.
    pub(super) fn later(&mut self) -> Option<Found> {
        (1..self.lines.len().min(ADRIFT)).find_map(|line| {
            let offsets = self.line_offsets(0);
            let found = self.best(line, &offsets)?;
            let tried = found.tried.saturating_mul(u64::try_from(line).unwrap_or(1));
            Some(Found { tried, ..found })
        })
    }

    /// The one number of missing lines, up to `most` draws, at which the first `count` lines stand.
    pub(super) fn between(&mut self, count: usize, most: i64) -> Option<Found> {
        let steps = usize::try_from(self.interval()).unwrap_or(1);
        let offsets: Vec<i64> = (0..=most.max(0)).step_by(steps).collect();
        let lines = self.lines.get(..count)?;
        let mut part = Search { script: self.script, sequence: self.sequence, next: self.next, lines };
        part.fullest(&offsets, false)
    }

    /// The phase after a flush: the offset below an interval that the first lines bear out best, however many of them; a
    /// greater one where lines are missing beside the flush and none of these does.
    pub(super) fn phase(&mut self) -> Found {
        let interval = self.interval();
        let phases: Vec<i64> = (0..interval).collect();
        let none = || Found { line: 0, draws: 0, tried: 1, rivals: Vec::new() };
        let full = self.fullest(&phases, true);
        let all = self.lines.len();
        if let Some(found) = full
            .as_ref()
            .filter(|found| self.is_believed(found) || self.fit(0, found.draws, true).length == all)
        {
            return found.clone();
        }
        let farther: Vec<i64> = (0..=ODD_DRAWS.max(interval)).collect();
        if let Some(found) = self.best(0, &farther) {
            return found;
        }
        full.or_else(|| self.fullest(&farther, false)).unwrap_or_else(none)
    }

    /// The place of lines among which, or before which, some are known to be unreadable.
    pub(super) fn after_gap(&mut self) -> Option<Found> {
        let stay = self.fit(0, 0, false);
        if stay.length == self.lines.len() && stay.chance < CHANCE {
            return Some(Found { line: 0, draws: 0, tried: 1, rivals: Vec::new() });
        }
        let mut offsets = self.line_offsets(0);
        offsets.insert(0, 0);
        self.best(0, &offsets)
    }

    /// Too few lines follow for any place to be borne out: the one that fits all of them best.
    pub(super) fn last_lines(&mut self, may_stay: bool) -> Option<Found> {
        let mut offsets = self.line_offsets(0);
        if may_stay {
            offsets.insert(0, 0);
        }
        let found = self.fullest(&offsets, false)?;
        let fit = self.fit(0, found.draws, true);
        let is_kept = may_stay && found.draws == 0;
        (is_kept || fit.chance + log10_tried(found.tried) < BETTER_THAN_NONE).then_some(found)
    }

    /// Whether the lines, none of which is missing, may stand elsewhere: all of them fit there, and those beside the one
    /// that fails at the place at hand do not speak for that.
    pub(super) fn is_explained(&mut self) -> bool {
        let offsets = self.line_offsets(0);
        if self.fullest(&offsets, false).is_none() {
            return false;
        }
        let exact = self.exact(0, self.lines.len());
        crate::law::float(exact) * self.script.odds.log10_line() > CHANCE
    }

    fn is_believed(&mut self, found: &Found) -> bool {
        let fit = self.fit(found.line, found.draws, true);
        let lines = u64::try_from(fit.length).unwrap_or(1);
        fit.chance + log10_tried(found.tried) + log10_tried(lines) < CHANCE
    }

    fn interval(&self) -> i64 {
        i64::try_from(self.script.interval).unwrap_or(i64::MAX).max(1)
    }

    fn line_offsets(&self, least: i64) -> Vec<i64> {
        let interval = self.interval();
        let missing = least + 1..=MISSING_LINES;
        missing.chain((1..=REPEATED_LINES).map(|lines| -lines)).map(|lines| lines * interval).collect()
    }

    /// The offset that the lines from number `line` on bear out best.
    fn best(&mut self, line: usize, offsets: &[i64]) -> Option<Found> {
        let tried = u64::try_from(offsets.len()).unwrap_or(u64::MAX);
        let mut fits: Vec<(i64, Fit)> =
            offsets.iter().map(|draws| (*draws, self.fit(line, *draws, false))).collect();
        fits.retain(|(_, fit)| fit.chance + log10_tried(tried) < CHANCE);
        fits.sort_by(|left, right| left.1.chance.total_cmp(&right.1.chance));
        for (draws, _) in fits.iter().copied() {
            // With what a changing batch can print.
            let fit = self.fit(line, draws, true);
            if fit.chance + log10_tried(tried) >= CHANCE || fit.exact <= self.exact(line, fit.length) {
                continue;
            }
            let rivals = fits
                .iter()
                .filter(|(other, rival)| *other != draws && rival.length >= fit.length)
                .map(|(other, _)| other - draws)
                .collect();
            return Some(Found { line, draws, tried, rivals });
        }
        None
    }

    /// The offset at which all lines fit, most of them to the digit; where none is, and `or_most`, at which most do.
    fn fullest(&mut self, offsets: &[i64], or_most: bool) -> Option<Found> {
        let tried = u64::try_from(offsets.len()).unwrap_or(u64::MAX);
        let all = self.lines.len();
        let is_full = |fit: &Fit| fit.length == all;
        let fits = offsets.iter().filter_map(|draws| {
            // What a batch can make of the draws takes time to find out: only where the steady lines fit.
            let fit = self.fit(0, *draws, false);
            let fit = if is_full(&fit) || or_most { self.fit(0, *draws, true) } else { fit };
            (is_full(&fit) || or_most).then_some((*draws, fit))
        });
        let fits: Vec<(i64, Fit)> = fits.collect();
        let any_full = fits.iter().any(|(_, fit)| is_full(fit));
        let candidates = fits.iter().filter(|(_, fit)| if any_full { is_full(fit) } else { or_most });
        // The first of equals: the least that is missing.
        let (draws, best) = candidates
            .reduce(|best, other| if other.1.chance < best.1.chance - 1e-9 { other } else { best })
            .copied()?;
        let rivals = fits
            .iter()
            .filter(|(other, fit)| *other != draws && fit.length >= best.length)
            .map(|(other, _)| other - draws)
            .collect();
        Some(Found { line: 0, draws, tried, rivals })
    }

    /// How the lines from number `line` on fit at an offset. `reach` asks of each that a batch can make it print so.
    fn fit(&mut self, line: usize, draws: i64, reach: bool) -> Fit {
        let mut fit = Fit::default();
        let (mut steady, mut others, mut others_exact) = (0_u64, 0, 0);
        for (index, (line, at)) in self.from(line, draws).enumerate() {
            let Some(hundredths) = line.hundredths else {
                fit.length += 1;
                continue;
            };
            let window = if index == 0 { WindowKind::Unknown } else { line.window };
            let lengths = self.sequence.ahead(at, self.script.interval);
            if lengths.len() < self.script.interval {
                break;
            }
            let is_exact = self.script.printer.print(super::sequence::sum(lengths)) == hundredths;
            if window.is_steady() && !is_exact {
                break;
            }
            if reach && !is_exact {
                let judged = Line { window, ..*line };
                if self.script.printer.judge(&judged, lengths).0 == Judgement::Failed {
                    break;
                }
            }
            fit.length += 1;
            fit.exact += u64::from(is_exact);
            if window.is_steady() {
                steady += 1;
            } else {
                others += 1;
                others_exact += u64::from(is_exact);
            }
            if is_exact {
                let odds = self.script.odds;
                let chance =
                    crate::law::float(steady) * odds.log10_line() + odds.log10_tail(others_exact, others);
                fit.chance = fit.chance.min(chance);
            }
        }
        fit
    }

    /// Lines that are exact at the old offset, of so many from number `line` on.
    fn exact(&mut self, line: usize, count: usize) -> u64 {
        let mut exact = 0;
        for (line, at) in self.from(line, 0).take(count) {
            let sum = self.sequence.sum_ahead(at, self.script.interval);
            exact += u64::from(
                line.hundredths.is_some() && sum.map(|sum| self.script.printer.print(sum)) == line.hundredths,
            );
        }
        exact
    }

    /// The lines from number `line` on, with their first draws at an offset.
    fn from(&self, line: usize, draws: i64) -> impl Iterator<Item = (&'a Line, u64)> + use<'a> {
        let steps = self.script.steps();
        let first = self.next.checked_add_signed(draws);
        let all: &'a [Line] = self.lines;
        let lines = all.iter().zip(0_u64..).skip(line);
        first.into_iter().flat_map(move |first| {
            lines
                .clone()
                .map(move |(line, number)| (line, first.saturating_add(number.saturating_mul(steps))))
        })
    }
}
