//! Where lines go on after a slip or a flush.

mod found;

use super::clock;
use super::effort::Effort;
use super::line::{Judgement, Line, WindowKind};
use super::odds::log10_tried;
use super::script::Script;
use super::sequence::Sequence;
use super::windows::Windows;

pub(super) use found::Found;
use found::{Fit, MARGIN};

/// Missing lines that are looked for, and lines that may occur again.
const MISSING_LINES: i64 = 256;
const REPEATED_LINES: i64 = 4;

/// Places among which that leaves a line.
pub(super) const PLACES: u64 = 256;

/// Offsets that are no multiple of the interval: steps lengths and not counted.
const ODD_DRAWS: i64 = 4096;

/// First lines that may belong to neither side of a slip: lines are missing twice.
const ADRIFT: usize = 32;

/// Decimal logarithm of the chance below which an offset is believed, after all that were tried.
pub(super) const CHANCE: f64 = -3.0;

/// The same before a search through all multiples is charged.
pub(super) const BELIEVED_AT: f64 = -5.5;

/// Lines that are no accident together, where each of them can be read at many places.
const FEW: usize = 3;

/// The chance at which an offset is taken where no line follows that could bear it out.
const BETTER_THAN_NONE: f64 = -0.5;

/// Draws that are looked ahead at most for missing lines.
pub(super) const MOST_DRAWS_AHEAD: usize = 1 << 20;

/// What it takes to find out what a batch can make of a draw, beside laying a line.
const REACH: u64 = 8;

/// Lines that wait, and where the first of them stands if nothing is missing.
///
/// Every search ends when the effort is used up: what it says then is worth nothing.
pub(super) struct Search<'a> {
    script: &'a Script,
    sequence: &'a mut Sequence,
    effort: &'a mut Effort,
    next: u64,
    /// Draws by which the lines may stand before that.
    back: i64,
    /// When the last line was printed whose place is certain.
    settled_at: Option<u64>,
    lines: &'a [Line],
    windows: Windows,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        script: &'a Script,
        sequence: &'a mut Sequence,
        effort: &'a mut Effort,
        next: u64,
        lines: &'a [Line],
    ) -> Self {
        Self { script, sequence, effort, next, back: 0, settled_at: None, lines, windows: Windows::default() }
    }

    /// The place at hand is not certain: the lines may stand so many draws before it.
    pub(super) fn may_go_back(&mut self, draws: u64) {
        self.back = i64::try_from(draws).unwrap_or(i64::MAX);
    }

    /// No more steps are missing than there was time for since then.
    pub(super) fn has_time_since(&mut self, settled_at: Option<u64>) {
        self.settled_at = settled_at;
    }

    /// Draws that can be missing before a line, by its time.
    fn room(&self, line: usize) -> i64 {
        let Some(line) = self.lines.get(line).filter(|line| line.draws_per_milli > 0.0) else {
            return i64::MAX;
        };
        let times = self.settled_at.zip(line.millis);
        times.map_or(i64::MAX, |(before, now)| clock::draws_between(before, now, line.draws_per_milli))
    }

    /// Lines that are missing before the first one, or that occur again. An offset must be no accident, and fit more
    /// lines than the old one.
    pub(super) fn multiples(&mut self) -> Option<Found> {
        let offsets = self.line_offsets();
        self.best(0, &offsets)
    }

    /// Any number of draws that was not counted. Thousands of offsets are for sequences that bore out: there are many
    /// wrong ones.
    pub(super) fn odd_draws(&mut self) -> Option<Found> {
        let interval = self.interval();
        let back = self.back.min(ODD_DRAWS);
        let both = (1..=ODD_DRAWS).flat_map(|draws| [draws, -draws]);
        let offsets: Vec<i64> = both.filter(|draws| draws % interval != 0 && *draws >= -back).collect();
        self.lay_sums(-back, ODD_DRAWS);
        self.best(0, &offsets)
    }

    /// Draws that lines before these have used, which no server prints again: those of whole lines, or any.
    pub(super) fn used_draws(&mut self, of_lines: bool) -> Option<Found> {
        let step = if of_lines { self.interval() } else { 1 };
        let offsets = (1..=ODD_DRAWS).map(|draws| -draws);
        let offsets: Vec<i64> = offsets.filter(|draws| *draws < -self.back && *draws % step == 0).collect();
        self.lay_sums(-ODD_DRAWS, 0);
        self.best(0, &offsets)
    }

    /// The first line behind which the old offset is borne out again: those before it do not fit their own draws.
    pub(super) fn same_again(&mut self) -> Option<usize> {
        self.lay_multiples();
        (1..self.lines.len().min(ADRIFT)).find(|line| {
            // The line itself need not be steady: its predecessor fails, and is its predecessor.
            let fit = self.fit(*line, 0, true);
            fit.chance + log10_tried(u64::try_from(*line).unwrap_or(1)) < CHANCE
        })
    }

    /// Whether the lines from number `line` on bear the old offset out better than those of the found place bear that out:
    /// then what stands before them is wrong, and nothing is missing.
    pub(super) fn is_better_again(&mut self, line: usize, found: &Found) -> bool {
        let again = self.fit(line, 0, true);
        let there = self.fit(found.line, found.draws, true);
        line + again.length > found.line + there.length && again.chance < there.chance
    }

    /// Lines are missing twice, and too few stand between: where the later ones go on.
    pub(super) fn later(&mut self) -> Option<Found> {
        (1..self.lines.len().min(ADRIFT)).find_map(|line| {
            let offsets = self.line_offsets();
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
        let mut part = Search::new(self.script, self.sequence, self.effort, self.next, lines);
        part.lay_multiples();
        part.fullest(&offsets, false)
    }

    /// The phase after a flush: the offset below an interval that the first lines bear out best, however many of them; a
    /// greater one where lines are missing beside the flush and none of these does.
    pub(super) fn phase(&mut self) -> Found {
        let interval = self.interval();
        let phases: Vec<i64> = (0..interval).collect();
        self.lay_sums(0, ODD_DRAWS.max(interval));
        let full = self.fullest(&phases, true);
        let all = self.lines.len();
        if let Some(found) = full
            .as_ref()
            .filter(|found| self.is_believed(found) || self.fit(0, found.draws, true).length == all)
        {
            return found.clone();
        }
        if let Some(found) = self.around_one(&phases) {
            return found;
        }
        let farther: Vec<i64> = (0..=ODD_DRAWS.max(interval)).collect();
        if let Some(found) = self.best(0, &farther) {
            return found;
        }
        full.or_else(|| self.fullest(&farther, false)).unwrap_or_else(|| Found::alone(0, 1))
    }

    /// The one offset at which all lines fit but one, and those behind that one are no accident: it fails there, and two
    /// slips beside it would be no better reading than one line that was altered.
    fn around_one(&mut self, offsets: &[i64]) -> Option<Found> {
        let tried = u64::try_from(offsets.len()).unwrap_or(u64::MAX);
        if self.lines.len() <= FEW {
            return None;
        }
        let mut fits: Vec<(i64, f64)> = Vec::new();
        for draws in offsets {
            if self.effort.is_used_up() {
                return None;
            }
            let before = self.fit(0, *draws, true).length;
            // A line that fails is steady: the batch of any other could explain much.
            let fails = self.lines.get(before).is_some_and(|line| line.window.is_steady());
            if before == 0 || before >= ADRIFT || !fails {
                continue;
            }
            let behind = self.fit(before + 1, *draws, true);
            let places = log10_tried(u64::try_from(before).unwrap_or(1));
            fits.push((*draws, behind.chance + places));
        }
        fits.sort_by(|left, right| left.1.total_cmp(&right.1));
        let (draws, chance) = fits.first().copied()?;
        let is_alone = fits.get(1).is_none_or(|(_, other)| *other >= chance + MARGIN);
        let is_certain = chance + log10_tried(tried) < CHANCE && is_alone;
        is_certain.then(|| Found { is_certain, ..Found::alone(draws, tried) })
    }

    /// The place of lines among which, or before which, some are known to be unreadable.
    pub(super) fn after_gap(&mut self) -> Option<Found> {
        let stay = self.fit(0, 0, false);
        if stay.length == self.lines.len() && stay.chance < CHANCE {
            return Some(Found::alone(0, 1));
        }
        let mut offsets = self.line_offsets();
        offsets.insert(0, 0);
        self.best(0, &offsets)
    }

    /// Too few lines follow for any place to be borne out: the one that fits all of them best.
    pub(super) fn last_lines(&mut self, may_stay: bool) -> Option<Found> {
        let mut offsets = self.line_offsets();
        if may_stay {
            offsets.insert(0, 0);
        }
        let found = self.fullest(&offsets, false)?;
        let fit = self.fit(0, found.draws, true);
        let is_kept = may_stay && found.draws == 0;
        // Where the log says that lines are missing, some place is theirs; elsewhere the place is as much in question.
        let chance = if may_stay { BETTER_THAN_NONE } else { CHANCE };
        (is_kept || fit.chance + log10_tried(found.tried) < chance).then_some(found)
    }

    /// Whether the lines, none of which is missing, may stand elsewhere: all of them fit there, and those beside the one
    /// that fails at the place at hand do not speak for that.
    pub(super) fn is_explained(&mut self) -> bool {
        let offsets = self.line_offsets();
        if self.fullest(&offsets, false).is_none() {
            return false;
        }
        let exact = self.exact(0, self.lines.len());
        crate::law::float(exact) * self.script.odds.log10_line() > CHANCE
    }

    /// Whether all lines behind the first one, a few at least, can be what the place at hand prints.
    pub(super) fn others_fit(&mut self) -> bool {
        let others = self.lines.len().saturating_sub(1);
        others >= FEW && self.fit(1, 0, true).length == others
    }

    fn is_believed(&mut self, found: &Found) -> bool {
        let fit = self.fit(found.line, found.draws, true);
        let lines = u64::try_from(fit.length).unwrap_or(1);
        fit.chance + log10_tried(found.tried) + log10_tried(lines) < CHANCE
    }

    fn interval(&self) -> i64 {
        i64::try_from(self.script.interval).unwrap_or(i64::MAX).max(1)
    }

    /// Missing lines and repeated ones, their windows laid.
    fn line_offsets(&mut self) -> Vec<i64> {
        let interval = self.interval();
        self.lay_multiples();
        let missing = 1..=self.most_missing();
        let back = self.back;
        let repeated = (1..=REPEATED_LINES).map(|lines| -lines);
        let offsets = missing.chain(repeated).map(|lines| lines * interval);
        offsets.filter(|draws| *draws >= -back).collect()
    }

    fn most_missing(&self) -> i64 {
        let ahead = i64::try_from(MOST_DRAWS_AHEAD).unwrap_or(i64::MAX);
        MISSING_LINES.min(ahead / self.interval()).max(1)
    }

    fn lay_multiples(&mut self) {
        let lines = i64::try_from(self.lines.len()).unwrap_or(i64::MAX);
        let range = (-REPEATED_LINES, self.most_missing().saturating_add(lines));
        self.effort.spend(self.windows.lay_multiples(self.script, self.sequence, self.next, range));
    }

    /// The sums that all lines need at offsets from `least` to `greatest`.
    fn lay_sums(&mut self, least: i64, greatest: i64) {
        let steps = self.script.interval;
        let span = usize::try_from(greatest.saturating_sub(least)).unwrap_or(0);
        let count = steps.saturating_mul(self.lines.len()).min(MOST_DRAWS_AHEAD).saturating_add(span);
        let first = self.next.saturating_add_signed(least);
        self.effort.spend(self.windows.lay_sums(self.sequence, first, count));
    }

    /// What the line so far behind the first one prints at an offset, if its draws are kept.
    #[inline]
    fn print(&mut self, number: usize, draws: i64, multiple: Option<i64>) -> Option<u32> {
        if let Some(printed) = multiple
            .and_then(|lines| lines.checked_add(i64::try_from(number).ok()?))
            .and_then(|lines| self.windows.multiple(lines))
        {
            return Some(printed);
        }
        let at = self.draw(number, draws)?;
        if let Some(printed) = self.windows.at(self.script, at) {
            return Some(printed);
        }
        self.effort.spend(self.script.steps() / 16);
        let sum = self.sequence.sum_ahead(at, self.script.interval)?;
        Some(self.script.printer.print(sum))
    }

    /// The first draw of a line at an offset.
    fn draw(&self, number: usize, draws: i64) -> Option<u64> {
        let behind = u64::try_from(number).ok()?.checked_mul(self.script.steps())?;
        self.next.checked_add_signed(draws)?.checked_add(behind)
    }

    /// The offset that the lines from number `line` on bear out best.
    fn best(&mut self, line: usize, offsets: &[i64]) -> Option<Found> {
        let room = self.room(line);
        let offsets: Vec<i64> = offsets.iter().copied().filter(|draws| *draws <= room).collect();
        let tried = u64::try_from(offsets.len()).unwrap_or(u64::MAX);
        let mut fits: Vec<(i64, Fit)> = Vec::new();
        // How well offsets are borne out that do not come into question.
        let mut others = 0.0_f64;
        for draws in offsets {
            let fit = self.fit(line, draws, false);
            if self.effort.is_used_up() {
                return None;
            }
            if fit.chance + log10_tried(tried) < CHANCE {
                fits.push((draws, fit));
            } else {
                others = others.min(fit.chance);
            }
        }
        fits.sort_by(|left, right| left.1.chance.total_cmp(&right.1.chance));
        for (draws, _) in fits.iter().copied() {
            // With what a changing batch can print.
            let fit = self.fit(line, draws, true);
            if self.effort.is_used_up() {
                return None;
            }
            if fit.chance + log10_tried(tried) >= CHANCE || fit.exact <= self.exact(line, fit.length) {
                continue;
            }
            return Some(Found::among(&fits, (draws, fit), line, tried, others));
        }
        None
    }

    /// The offset at which all lines fit, most of them to the digit; where none is, and `or_most`, at which most do.
    fn fullest(&mut self, offsets: &[i64], or_most: bool) -> Option<Found> {
        let room = self.room(0);
        let offsets: Vec<i64> = offsets.iter().copied().filter(|draws| *draws <= room).collect();
        let tried = u64::try_from(offsets.len()).unwrap_or(u64::MAX);
        let all = self.lines.len();
        let is_full = |fit: &Fit| fit.length == all;
        let mut fits: Vec<(i64, Fit)> = Vec::new();
        let mut others = 0.0_f64;
        for draws in offsets {
            // What a batch can make of the draws takes time to find out: only where the steady lines fit.
            let fit = self.fit(0, draws, false);
            let fit = if is_full(&fit) || or_most { self.fit(0, draws, true) } else { fit };
            if self.effort.is_used_up() {
                return None;
            }
            if is_full(&fit) || or_most {
                fits.push((draws, fit));
            } else {
                others = others.min(fit.chance);
            }
        }
        let any_full = fits.iter().any(|(_, fit)| is_full(fit));
        let candidates = fits.iter().filter(|(_, fit)| if any_full { is_full(fit) } else { or_most });
        // The first of equals: the least that is missing.
        let best = candidates
            .reduce(|best, other| if other.1.chance < best.1.chance - 1e-9 { other } else { best })
            .copied()?;
        Some(Found::among(&fits, best, 0, tried, others))
    }

    /// How the lines from number `line` on fit at an offset. `reach` asks of each that a batch can make it print so.
    fn fit(&mut self, line: usize, draws: i64, reach: bool) -> Fit {
        let mut fit = Fit::default();
        let (mut steady, mut others, mut others_exact) = (0_u64, 0, 0);
        let multiple = self.multiple(draws);
        let all: &'a [Line] = self.lines;
        let mut looked_at = 1;
        for (number, line) in all.iter().enumerate().skip(line) {
            looked_at += 1;
            let Some(hundredths) = line.hundredths else {
                fit.length += 1;
                continue;
            };
            let Some(printed) = self.print(number, draws, multiple) else { break };
            let is_exact = printed == hundredths;
            let window = if looked_at == 2 { WindowKind::Unknown } else { line.window };
            if window.is_steady() && !is_exact {
                break;
            }
            if reach && !is_exact && !self.can_reach(&Line { window, ..*line }, number, draws) {
                break;
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
                let chance = crate::law::float(steady) * self.script.odds.log10_line()
                    + self.script.log10_tail(others_exact, others);
                fit.chance = fit.chance.min(chance);
            }
        }
        self.effort.spend(looked_at);
        fit
    }

    /// Whether a batch can make a line print so.
    fn can_reach(&mut self, line: &Line, number: usize, draws: i64) -> bool {
        let Some(at) = self.draw(number, draws) else { return false };
        self.effort.spend(match line.window {
            WindowKind::Changing(_) => self.script.steps().saturating_mul(REACH),
            WindowKind::Steady | WindowKind::Unknown => self.script.steps() / 4,
        });
        if self.effort.is_used_up() {
            return false;
        }
        let lengths = self.sequence.ahead(at, self.script.interval);
        lengths.len() == self.script.interval
            && self.script.printer.judge(line, lengths).0 != Judgement::Failed
    }

    fn multiple(&self, draws: i64) -> Option<i64> {
        let interval = self.interval();
        (draws % interval == 0).then(|| draws / interval)
    }

    /// Lines that are exact at the old offset, of so many from number `line` on.
    fn exact(&mut self, line: usize, count: usize) -> u64 {
        let all: &'a [Line] = self.lines;
        let mut exact = 0;
        for (number, line) in all.iter().enumerate().skip(line).take(count) {
            self.effort.spend(1);
            let printed = self.print(number, 0, Some(0));
            exact += u64::from(line.hundredths.is_some() && printed == line.hundredths);
        }
        exact
    }
}
