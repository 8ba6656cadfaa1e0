//! What a line can print when its batch changes inside the window: exact bounds.
//!
//! The line prints `sum(a_t b_t) / sum(b_t)`. The draws `a_t` are known. Of the batch `b_t` it is known that it was `before`
//! at the end of the line before, is `batch` in the window's last step, never falls below 1, and rises by no more than the
//! requests that joined; it may fall at any time, as requests finish.
//!
//! The greatest quotient is found by Dinkelbach's method (1967): a quotient q is within reach as long as some path has
//! `sum((a_t - q) b_t) >= 0`, and the best path for a q gives the next one. A path is a sum of requests, each running from
//! one step to another. Taking away one that runs throughout, as many are left as the path has, and each for itself takes
//! its best stretch: those that were there a stretch from the start, those that remain one to the end, those that come and
//! go one in between, and those that do both the whole window. So one pass over the window finds the best path.

/// Rounds of Dinkelbach's method; it is done after three or four.
const MAX_ROUNDS: u32 = 40;

/// What is known about the batch of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BatchPath {
    /// `#running-req` of the line before, at least 1.
    pub(super) before: u32,
    /// `#running-req` of the line, at least 1.
    pub(super) batch: u32,
    /// `#new-seq` of the prefill lines between the two.
    pub(super) arrivals: u32,
}

/// Which way to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Least,
    Greatest,
}

/// A stretch of steps: the sum of its draws, their number, and its worth at the quotient at hand.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    draws: u64,
    steps: u64,
    worth: f64,
}

impl Stretch {
    fn with(self, draw: u8, worth: f64) -> Self {
        Self { draws: self.draws + u64::from(draw), steps: self.steps + 1, worth: self.worth + worth }
    }

    fn or_better(self, other: Self) -> Self {
        if other.worth > self.worth { other } else { self }
    }
}

impl BatchPath {
    /// Whether a line over these draws can print `hundredths`.
    pub(super) fn can_print(self, draws: &[u8], hundredths: u32) -> bool {
        let reaches = |end: End| {
            let (sum, steps) = self.extreme(draws, end);
            let printed = crate::law::printed(sum, steps).unwrap_or(0);
            match end {
                End::Least => printed <= hundredths,
                End::Greatest => printed >= hundredths,
            }
        };
        reaches(End::Least) && reaches(End::Greatest)
    }

    /// Sum of `a_t b_t` and sum of `b_t` of the path with the least or the greatest quotient.
    fn extreme(self, draws: &[u8], end: End) -> (u64, u64) {
        let plain = draws.iter().fold(Stretch::default(), |all, draw| all.with(*draw, 0.0));
        let mut best = (plain.draws, plain.steps.max(1));
        for _ in 0..MAX_ROUNDS {
            let quotient = crate::law::float(best.0) / crate::law::float(best.1);
            let path = self.best_path(draws, quotient, end);
            let (left, right) =
                (u128::from(path.0) * u128::from(best.1), u128::from(best.0) * u128::from(path.1));
            let is_better = match end {
                End::Least => left < right,
                End::Greatest => left > right,
            };
            // A constant batch is a path too: who leaves goes at once, and who joins is there from the start.
            if !is_better {
                break;
            }
            best = path;
        }
        best
    }

    fn best_path(self, draws: &[u8], quotient: f64, end: End) -> (u64, u64) {
        let worth = |draw: u8| match end {
            End::Least => quotient - f64::from(draw),
            End::Greatest => f64::from(draw) - quotient,
        };
        let (mut whole, mut from_start) = (Stretch::default(), Stretch::default());
        let (mut between, mut at_hand) = (Stretch::default(), Stretch::default());
        // Who leaves takes no part in the last step, whose batch is the line's.
        let (closing, earlier) =
            draws.split_last().map_or((None, draws), |(last, earlier)| (Some(*last), earlier));
        for draw in earlier {
            let worth = worth(*draw);
            whole = whole.with(*draw, worth);
            from_start = from_start.or_better(whole);
            at_hand = Stretch::default().or_better(at_hand).with(*draw, worth);
            between = between.or_better(at_hand);
        }
        whole = closing.map_or(whole, |draw| whole.with(draw, worth(draw)));
        // Who remains takes part in the last step.
        let mut to_end = Stretch::default();
        let mut tail = Stretch::default();
        for (index, draw) in draws.iter().rev().enumerate() {
            tail = tail.with(*draw, worth(*draw));
            to_end = if index == 0 { tail } else { to_end.or_better(tail) };
        }

        // One request that runs throughout is taken apart: it keeps the batch at 1.
        let (there, remaining) = (self.before.max(1) - 1, self.batch.max(1) - 1);
        // More requests at the end than came: the lines do not tell of all arrivals.
        let arrivals = self.arrivals.max(remaining.saturating_sub(there));
        let least = remaining.saturating_sub(arrivals);
        let greatest = there.min(remaining);
        let of = |throughout: u32| {
            let joined = remaining - throughout;
            [
                (u64::from(throughout) + 1, whole),
                (u64::from(there - throughout), from_start),
                (u64::from(joined), to_end),
                (u64::from(arrivals - joined), between),
            ]
        };
        let value = |path: &[(u64, Stretch); 4]| -> f64 {
            path.iter().map(|(count, stretch)| crate::law::float(*count) * stretch.worth).sum()
        };
        let (few, many) = (of(least.min(greatest)), of(greatest));
        let path = if value(&few) > value(&many) { few } else { many };
        path.iter().fold((0, 0), |(sum, steps), (count, stretch)| {
            (
                u64::saturating_add(sum, count.saturating_mul(stretch.draws)),
                u64::saturating_add(steps, count.saturating_mul(stretch.steps)),
            )
        })
    }
}

#[cfg(test)]
mod tests;
