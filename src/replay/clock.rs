//! What the time of lines says about lines between them.

use super::builder::ReplayLine;

/// Times are printed in whole seconds.
const ROUNDING: u64 = 1000;

/// How often a line's own time must have passed since the line before for another one to be missing; where the batch
/// changed, the time is known only roughly.
const TWICE: f64 = 2.0;
const ROUGHLY: f64 = 4.0;

/// How much faster steps can be than those of the fastest line so far.
const FASTER: f64 = 4.0;

/// When a rank printed its last line, and how fast it steps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    before: Option<u64>,
    /// Draws per millisecond of the fastest line.
    pub(super) fastest: f64,
}

impl Clock {
    /// Takes the next line; whether more time has passed than its own steps and the waiting before them took, so that
    /// lines are missing. The throughput is over all the time since the line before.
    pub(super) fn is_late(&mut self, line: &ReplayLine, interval: Option<u32>, is_same_batch: bool) -> bool {
        let before = std::mem::replace(&mut self.before, line.millis);
        let Some((took, steps)) = own_millis(line, interval) else { return false };
        self.fastest = self.fastest.max(steps / took);
        let Some(passed) = before.zip(line.millis).and_then(|(before, now)| now.checked_sub(before)) else {
            return false;
        };
        let times = if is_same_batch { TWICE } else { ROUGHLY };
        crate::law::float(passed.saturating_sub(ROUNDING)) > times * took
    }
}

/// Milliseconds that a line stands for, and its steps.
fn own_millis(line: &ReplayLine, interval: Option<u32>) -> Option<(f64, f64)> {
    let steps = f64::from(interval.filter(|steps| *steps > 0)?);
    let tokens = f64::from(line.hundredths?) * f64::from(line.batch) * steps;
    let per_second = f64::from(line.throughput_hundredths?);
    (tokens > 0.0 && per_second > 0.0).then(|| (1000.0 * tokens / per_second, steps))
}

/// Draws for which there was time between two lines, at the pace of the fastest one.
pub(super) fn draws_between(before: u64, now: u64, draws_per_milli: f64) -> i64 {
    let passed = crate::law::float(now.saturating_sub(before).saturating_add(ROUNDING));
    let draws = crate::law::whole((passed * FASTER * draws_per_milli).ceil());
    i64::try_from(draws).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Place;

    fn line(millis: u64) -> ReplayLine {
        // 40 steps of 3.50 tokens at batch 10: 1,400 tokens, in half a second.
        ReplayLine {
            place: Place { file: 0, line: 1 },
            hundredths: Some(350),
            batch: 10,
            tokens: None,
            millis: Some(millis),
            throughput_hundredths: Some(280_000),
        }
    }

    #[test]
    fn a_line_is_late_when_others_must_have_stood_before_it() {
        let mut clock = Clock::default();
        let late =
            [0, 1000, 1000, 3000, 5001, 9000].map(|millis| clock.is_late(&line(millis), Some(40), true));
        assert_eq!(late, [false, false, false, false, true, true]);
        assert!((clock.fastest - 0.08).abs() < 1e-12);
        // The batch changed: the time is not known so well. Without a number of steps it is not known at all.
        let mut clock = Clock::default();
        let late = [0, 3000, 6001].map(|millis| clock.is_late(&line(millis), Some(40), false));
        assert_eq!(late, [false, false, true]);
        assert!(!clock.is_late(&line(90_000), None, true));
    }

    #[test]
    fn there_is_time_for_so_many_draws() {
        assert_eq!(draws_between(5000, 5000, 0.08), 320);
        assert_eq!(draws_between(5000, 15_000, 0.08), 3520);
        assert_eq!(draws_between(5000, 4000, 0.08), 320);
    }
}
