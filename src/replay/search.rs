//! Where a log begins whose first lines are lost: a search through all offsets.

use super::effort::Pool;
use super::line::Line;
use super::odds::log10_tried;
use super::script::Script;
use super::sequence::Sequence;

/// Decimal logarithm of the chance below which an offset is believed, after all that were tried.
const CHANCE: f64 = -9.0;

/// Steady lines that are looked at, at least and at most.
const LEAST_LINES: usize = 8;
const MOST_LINES: usize = 64;

/// Lines between the first and the last of them.
const MOST_SPAN: usize = 1024;

/// Draws held in memory at most.
const MOST_DRAWS: usize = 1 << 23;

/// A place in the sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// Index of the first line that is laid against draws.
    pub(super) line: usize,
    /// Its first draw.
    pub(super) first: u64,
    /// Offsets tried.
    pub(super) tried: u64,
}

/// Searches the draws up to `limit` for the lines' place: the only one at which all of a stretch of steady lines fit. The
/// sequence is that of the script, and no draw of it is forgotten: drawing takes most of the time, and every rank looks
/// through the same draws.
pub(super) fn find_start(
    script: &Script,
    sequence: &mut Sequence,
    lines: &[Line],
    limit: u64,
    pool: &mut Pool,
) -> Option<Start> {
    [0, lines.len() / 2].into_iter().find_map(|from| find_from(script, sequence, lines, from, limit, pool))
}

fn find_from(
    script: &Script,
    sequence: &mut Sequence,
    lines: &[Line],
    from: usize,
    limit: u64,
    pool: &mut Pool,
) -> Option<Start> {
    let stretch = lines.get(from..)?.iter().enumerate();
    let stretch = stretch.take_while(|(index, line)| *index == 0 || !line.flushed).take(MOST_SPAN);
    let needed = (CHANCE - log10_tried(limit)) / script.odds.log10_line().min(-1e-3);
    let needed = usize::try_from(crate::law::whole(needed.ceil())).unwrap_or(MOST_LINES) + 1;
    let clues: Vec<(usize, u32)> = stretch
        .filter(|(_, line)| line.window.is_steady())
        .filter_map(|(index, line)| Some((index.checked_mul(script.interval)?, line.hundredths?)))
        .take(needed.clamp(LEAST_LINES, MOST_LINES))
        .collect();
    let chance = crate::law::float(u64::try_from(clues.len()).ok()?) * script.odds.log10_line();
    if clues.len() < LEAST_LINES || chance + log10_tried(limit) > CHANCE {
        return None;
    }
    let offsets = usize::try_from(limit).ok()?;
    let span = clues.last()?.0.checked_add(script.interval)?;
    let count = offsets.checked_add(span).filter(|count| *count <= MOST_DRAWS)?;
    if !pool.take_start(limit) {
        return None;
    }

    let draws = sequence.ahead(0, count);
    let mut found = None;
    let ((at, printed), others) = clues.split_first()?;
    // The first clue's sum moves along.
    let first = draws.get(*at..)?;
    let mut sum: u64 = super::sequence::sum(first.get(..script.interval)?);
    let leaving = first.iter();
    let entering = first.get(script.interval..)?.iter();
    for (offset, (leaving, entering)) in leaving.zip(entering).take(offsets).enumerate() {
        let is_here = script.printer.print(sum) == *printed
            && others.iter().all(|(at, printed)| {
                let window = draws.get(offset + at..offset + at + script.interval).unwrap_or(&[]);
                script.printer.print(super::sequence::sum(window)) == *printed
            });
        if is_here && found.replace(offset).is_some() {
            // Two places: neither is believed.
            return None;
        }
        sum = sum + u64::from(*entering) - u64::from(*leaving);
    }
    Some(Start { line: from, first: u64::try_from(found?).ok()?, tried: limit })
}
