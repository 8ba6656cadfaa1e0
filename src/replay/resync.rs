//! Where lines go on after a slip or a flush.

use super::follow::Script;
use super::line::Line;
use super::odds::log10_tried;
use super::sequence::Sequence;

/// Lines that an offset is tried on first.
const LINES: usize = 16;

/// Missing lines that are looked for, and lines that may occur again.
const MISSING_LINES: i64 = 256;
const REPEATED_LINES: i64 = 4;

/// Offsets that are no multiple of the interval: steps drawn and not counted.
const ODD_DRAWS: i64 = 4096;

/// Decimal logarithm of the chance below which an offset is believed, after all that were tried.
const CHANCE: f64 = -3.0;

/// The same before a search through all multiples is charged.
pub(super) const BELIEVED_AT: f64 = -5.5;

/// Where lines go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) draws: i64,
    /// Offsets tried.
    pub(super) tried: u64,
}

/// How lines fit at an offset, the first of which has no known predecessor.
#[derive(Clone, Copy, Debug, Default)]
struct Fit {
    steady_exact: u64,
    others: u64,
    others_exact: u64,
}

impl Fit {
    fn exact(&self) -> u64 {
        self.steady_exact + self.others_exact
    }

    fn log10_chance(&self, script: &Script) -> f64 {
        crate::law::float(self.steady_exact) * script.odds.log10_line()
            + script.odds.log10_tail(self.others_exact, self.others)
    }
}

/// Searches the offset at which the lines fit, the first of which fails at `next`: missing lines first, then any number
/// of draws where the sequence was borne out before. An offset must make every steady line fit, fit better than the old one, and be no accident.
pub(super) fn find_slip(
    script: &Script,
    sequence: &mut Sequence,
    next: u64,
    lines: &[Line],
    is_borne_out: bool,
) -> Option<Found> {
    let interval = i64::try_from(script.interval).ok()?;
    let multiples =
        (1..=MISSING_LINES).chain((1..=REPEATED_LINES).map(|lines| -lines)).map(|lines| lines * interval);
    let odd = (1..=ODD_DRAWS).flat_map(|draws| [draws, -draws]).filter(|draws| draws % interval != 0);
    let mut tried = 0;
    let found = search(script, sequence, next, lines, multiples, &mut tried);
    // Thousands of offsets are for sequences that bore out: there are many wrong ones.
    found.or_else(|| is_borne_out.then(|| search(script, sequence, next, lines, odd, &mut tried))?)
}

fn search(
    script: &Script,
    sequence: &mut Sequence,
    next: u64,
    lines: &[Line],
    offsets: impl Iterator<Item = i64>,
    tried: &mut u64,
) -> Option<Found> {
    let nearest = lines.get(..LINES).unwrap_or(lines);
    let mut best: Option<(i64, Fit)> = None;
    for draws in offsets {
        *tried += 1;
        let Some(first) = next.checked_add_signed(draws) else { continue };
        let Some(fit) = fit(script, sequence, first, nearest) else { continue };
        if best.is_none_or(|(_, best)| fit.log10_chance(script) < best.log10_chance(script)) {
            best = Some((draws, fit));
        }
    }
    let (draws, near) = best?;
    let is_believed = |fit: &Fit| fit.log10_chance(script) + log10_tried(*tried) < CHANCE;
    let first = next.checked_add_signed(draws)?;
    let (fit, tried_on) = if is_believed(&near) {
        (near, nearest)
    } else {
        // Sixteen lines say too little: all that follow.
        (fit(script, sequence, first, lines).filter(is_believed)?, lines)
    };
    let is_better = fit.exact() > exact(script, sequence, next, tried_on);
    is_better.then_some(Found { draws, tried: *tried })
}

/// The phase after a flush: the offset below an interval that the first lines bear out best, however many of them; a
/// greater one where lines are missing beside the flush and none of these does.
pub(super) fn find_phase(script: &Script, sequence: &mut Sequence, next: u64, lines: &[Line]) -> Found {
    let interval = i64::try_from(script.interval).unwrap_or(1);
    let nearest = lines.get(..2 * LINES).unwrap_or(lines);
    let mut best = (0, 0.0);
    for draws in 0..interval {
        let first = next.saturating_add_signed(draws);
        let (mut exact, mut chance) = (0, 0.0_f64);
        for ((line, at), count) in nearest.iter().zip(starts(script, first)).zip(1..) {
            if is_exact(script, sequence, at, line) {
                exact += 1;
                chance = chance.min(script.odds.log10_tail(exact, count));
            }
        }
        if chance < best.1 {
            best = (draws, chance);
        }
    }
    let phase = Found { draws: best.0, tried: script.steps() };
    let stretches = u64::try_from(nearest.len()).unwrap_or(1);
    if best.1 + log10_tried(phase.tried) + log10_tried(stretches) < CHANCE {
        return phase;
    }
    let mut tried = phase.tried;
    let offsets = interval..=ODD_DRAWS.max(interval);
    search(script, sequence, next, lines, offsets, &mut tried).unwrap_or(phase)
}

/// How the lines fit from draw `first` on; `None` where a steady one does not.
fn fit(script: &Script, sequence: &mut Sequence, first: u64, lines: &[Line]) -> Option<Fit> {
    let mut fit = Fit::default();
    // Steady lines rule out most offsets at once.
    for (line, at) in lines.iter().zip(starts(script, first)).skip(1) {
        if line.window.is_steady() && line.hundredths.is_some() {
            if !is_exact(script, sequence, at, line) {
                return None;
            }
            fit.steady_exact += 1;
        }
    }
    for (index, (line, at)) in lines.iter().zip(starts(script, first)).enumerate() {
        if (index == 0 || !line.window.is_steady()) && line.hundredths.is_some() {
            fit.others += 1;
            fit.others_exact += u64::from(is_exact(script, sequence, at, line));
        }
    }
    Some(fit)
}

/// Lines that are exact from draw `first` on.
fn exact(script: &Script, sequence: &mut Sequence, first: u64, lines: &[Line]) -> u64 {
    let exact = lines
        .iter()
        .zip(starts(script, first))
        .filter(|(line, at)| line.hundredths.is_some() && is_exact(script, sequence, *at, line));
    u64::try_from(exact.count()).unwrap_or(0)
}

fn is_exact(script: &Script, sequence: &mut Sequence, at: u64, line: &Line) -> bool {
    sequence.sum_ahead(at, script.interval).map(|sum| script.printer.print(sum)) == line.hundredths
}

fn starts(script: &Script, first: u64) -> impl Iterator<Item = u64> {
    let steps = script.steps();
    (0_u64..).map(move |line| first.saturating_add(line.saturating_mul(steps)))
}
