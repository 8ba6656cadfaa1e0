//! What the shares of the positions, or a histogram, say about how drafts were accepted.
//!
//! A forced length accepts its first drafts always, one of them sometimes, and the others never: 1.000 several times, a
//! fraction, zeros. Drafts that are judged never show 1.000 and then 0.000.

use crate::evidence::Pool;
use crate::law::float;

/// Steps that have to reach the last draft that is accepted, for a zero behind it to say anything.
const TELLING: f64 = 50.0;

/// Share of the steps that may be cut short where a length is forced.
const CUT_SHORT: f64 = 0.05;

/// Standard errors by which the share of the steps that were cut short may be off.
const CUT_ERRORS: f64 = 3.0;

/// Least part of a draft's conditional rate that the next one keeps, where drafts are judged.
const LEAST_KEPT: f64 = 0.25;

/// How many times more than draws of two lengths windows have to scatter: requests of equal seeds accept in lockstep.
const WIDE: f64 = 3.0;

/// How the accepted drafts of the steps look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mark {
    /// One length or the next: `lo` and `lo + 1`, the bonus token included.
    TwoPoint {
        /// The smaller length.
        lo: u32,
        /// Every step is one of the two. Else drafts that had to be accepted were not, as with grammars, and yet the tail
        /// shows the simulation.
        is_exact: bool,
    },
    /// The same length in every step.
    Constant(u32),
    /// Drafts fall off as those do that are judged, or that are drawn by rates.
    Falling,
    /// The drafts behind one that is often accepted never are, as with no drafts that are judged, and those before it are
    /// not always accepted, as with no forced length: a list of rates, or two lengths that are no neighbours.
    Broken,
    /// Nothing tells.
    Unknown,
}

impl Mark {
    /// The mark of some sums.
    pub(super) fn of(pool: &Pool) -> Self {
        if pool.steps() <= 0.0 {
            return Self::Unknown;
        }
        if let Some(length) = constant(pool) {
            return Self::Constant(length);
        }
        if let Some(histogram) = pool.whole_histogram() {
            return of_histogram(histogram, pool.draft_length());
        }
        if pool.positions.is_empty() { of_windows(pool) } else { of_positions(pool) }
    }

    /// Whether only a simulation gives this.
    pub(super) fn is_simulated(self) -> bool {
        match self {
            Self::TwoPoint { .. } => true,
            Self::Constant(length) => length > 1,
            Self::Falling | Self::Broken | Self::Unknown => false,
        }
    }
}

/// The one length of every step, where it is one.
fn constant(pool: &Pool) -> Option<u32> {
    if !pool.is_exact() || pool.steps() < 2.0 * TELLING {
        return None;
    }
    let accepted = pool.accepted.checked_div(pool.steps_low)?;
    let is_whole = pool.accepted == accepted.saturating_mul(pool.steps_low);
    // Every window shows it, and every step where steps are told apart.
    let is_steady = pool.range.is_some_and(|(min, max)| max - min < 1e-9);
    let length = u32::try_from(accepted).ok()?;
    let index = usize::try_from(length).ok()?;
    let by_positions = pool.positions.iter().enumerate().all(|(position, share)| {
        let expected = if position < index { 1.0 } else { 0.0 };
        (share.min - expected).abs() <= pool.resolution + 1e-9
            && (share.max - expected).abs() <= pool.resolution + 1e-9
    });
    let by_histogram = pool.whole_histogram().is_none_or(|bins| bins.get(index) == Some(&pool.steps_low));
    let tells = !pool.positions.is_empty() || pool.whole_histogram().is_some() || pool.windows >= 5;
    (is_whole && is_steady && by_positions && by_histogram && tells).then(|| length.saturating_add(1))
}

fn of_histogram(bins: &[u64], draft_length: Option<u32>) -> Mark {
    let filled: Vec<usize> =
        bins.iter().enumerate().filter(|(_, count)| **count > 0).map(|(index, _)| index).collect();
    let most = draft_length.and_then(|length| usize::try_from(length).ok());
    match filled.as_slice() {
        // With one draft a step, none or one accepted says nothing.
        [low, high] if high - low == 1 && (*low > 0 || most.unwrap_or(bins.len() - 1) > 1) => {
            Mark::TwoPoint { lo: u32::try_from(*low).unwrap_or(u32::MAX).saturating_add(1), is_exact: true }
        }
        [_] | [] | [0, 1] => Mark::Unknown,
        _ => cut_short(bins, most).unwrap_or_else(|| {
            let most = most.unwrap_or(bins.len() - 1);
            if is_broken(&shares(bins, most), float(bins.iter().sum()), 0.0) {
                Mark::Broken
            } else {
                Mark::Falling
            }
        }),
    }
}

/// Two neighbouring lengths, and a few steps below them that a grammar or the end of the text cut short, with drafts behind
/// them that were never accepted: still a forced length.
fn cut_short(bins: &[u64], most: Option<usize>) -> Option<Mark> {
    let high = bins.iter().rposition(|count| *count > 0)?;
    let low = high.checked_sub(1)?;
    let steps: u64 = bins.iter().sum();
    let below: u64 = bins.get(..low)?.iter().sum();
    let is_never_beyond = most.is_some_and(|most| high < most);
    let is_few = float(below) <= CUT_SHORT * float(steps) && float(steps) >= TELLING;
    let lo = u32::try_from(low).ok()?.saturating_add(1);
    (is_never_beyond && is_few).then_some(Mark::TwoPoint { lo, is_exact: false })
}

/// Share of the steps that accepted the first one, two, ... drafts.
fn shares(bins: &[u64], most: usize) -> Vec<f64> {
    let steps: u64 = bins.iter().sum();
    let reached = |drafts: usize| bins.iter().skip(drafts).sum::<u64>();
    (1..=most).map(|drafts| float(reached(drafts)) / float(steps.max(1))).collect()
}

/// Whether the zeros behind the last draft that was ever accepted are none of chance: a quarter of what the draft before
/// them kept would have been seen. `resolution` is how far a share may be off.
fn is_broken(shares: &[f64], steps: f64, resolution: f64) -> bool {
    let Some(last) = shares.iter().rposition(|share| *share > resolution + 1e-9) else { return false };
    let at = |index: usize| shares.get(index).copied().unwrap_or(0.0);
    let before = last.checked_sub(1).map_or(1.0, at).max(f64::MIN_POSITIVE);
    let next = LEAST_KEPT * at(last) * (at(last) / before).min(1.0);
    last + 1 < shares.len() && next > 2.0 * resolution && next * steps >= TELLING
}

/// Windows that say nothing of positions: those of a forced length lie between two neighbouring lengths, and scatter about
/// their mean as draws of two lengths do.
fn of_windows(pool: &Pool) -> Mark {
    let (Some(mean), Some((min, max))) = (pool.accept_len(), pool.range) else { return Mark::Unknown };
    let (low, high) = ((mean + 1e-9).floor(), (mean - 1e-9).ceil());
    // Steps that are cut short fall below, and nothing but judged drafts lies to both sides.
    if pool.is_exact() && min < low - 1e-9 && max > high + 1e-9 {
        return Mark::Falling;
    }
    let (weight, windows) = (mean.fract(), pool.spread.windows);
    let variance = weight * (1.0 - weight);
    if windows < 10 || variance < 1e-6 {
        return Mark::Unknown;
    }
    let freedom = float(windows - 1);
    let d = pool.spread.squares_about(mean - 1.0) / variance;
    let is_wide = d > WIDE * freedom && crate::law::chi_square_upper(d, freedom) < 1e-6;
    if is_wide { Mark::Falling } else { Mark::Unknown }
}

fn of_positions(pool: &Pool) -> Mark {
    let (positions, reach) = (&pool.positions, pool.resolution + 1e-9);
    if positions.is_empty() {
        return Mark::Unknown;
    }
    // The last position that was ever reached.
    let Some(last) = positions.iter().rposition(|position| position.max > reach) else {
        return Mark::Unknown;
    };
    let zeros = positions.len() - 1 - last;
    let ones = positions.iter().take_while(|position| position.min >= 1.0 - reach).count();
    let length = |accepted: usize| u32::try_from(accepted).unwrap_or(u32::MAX).saturating_add(1);
    let is_reached = positions.get(last).is_some_and(|position| position.reached >= TELLING);
    // A first draft that is seldom accepted leaves too few chances for the others to show.
    if last == 0 && ones == 0 && zeros > 0 {
        let share = positions.first().map_or(0.0, crate::evidence::Position::share);
        if share * share * LEAST_KEPT <= 2.0 * pool.resolution {
            return Mark::Unknown;
        }
    }
    // The last one is a fraction; or every step of every window accepted it too, and the fraction is a window's chance.
    let is_forced = (ones == last && (ones > 0 || zeros > 0)) || (ones == last + 1 && zeros > 0);
    if is_forced {
        let two = Mark::TwoPoint { lo: length(last), is_exact: true };
        return if is_reached { two } else { Mark::Unknown };
    }
    if positions.len() == 1 {
        return Mark::Unknown;
    }
    let reached: Vec<f64> = positions.iter().map(crate::evidence::Position::share).collect();
    // Nearly every step accepted all drafts but the last one: the others were cut short.
    let led = positions.get(last.wrapping_sub(1)).map(|position| {
        let error = (CUT_SHORT / position.steps.max(1.0)).sqrt();
        position.share() + reach + CUT_ERRORS * error
    });
    let is_led = led.is_some_and(|led| led >= 1.0 - CUT_SHORT);
    if zeros > 0 && is_reached && is_led {
        return Mark::TwoPoint { lo: length(last), is_exact: false };
    }
    let steps = positions.iter().map(|position| position.steps).fold(f64::INFINITY, f64::min);
    if is_broken(&reached, steps, pool.resolution) { Mark::Broken } else { Mark::Falling }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// None or one accepted: of one draft that is all there is, of several it is a forced length.
    #[test]
    fn two_neighbouring_lengths_are_a_mark_where_there_could_be_others() {
        assert_eq!(of_histogram(&[5, 5], Some(1)), Mark::Unknown);
        assert_eq!(of_histogram(&[5, 5], Some(3)), Mark::TwoPoint { lo: 1, is_exact: true });
        assert_eq!(of_histogram(&[0, 5, 5, 0], None), Mark::TwoPoint { lo: 2, is_exact: true });
    }

    /// A first draft that is seldom accepted says nothing, unless a second one shows.
    #[test]
    fn a_second_draft_that_shows_is_judged() {
        let of = |reached: [f64; 3]| {
            let mut pool = Pool::default();
            let accepted = crate::law::whole((reached.iter().sum::<f64>() * 10_000.0).round());
            let counted = crate::evidence::Window::counted(accepted, 10_000);
            pool.add(&crate::evidence::Window { reached: reached.to_vec(), resolution: 0.0005, ..counted });
            of_positions(&pool)
        };
        assert_eq!((of([0.03, 0.0, 0.0]), of([0.03, 0.01, 0.0])), (Mark::Unknown, Mark::Falling));
    }
}
