//! Which windows count: steady ones, with all their figures.

use std::collections::BTreeMap;

use super::window::Window;

/// A window counts as idle when its step time exceeds the median at its batch by this factor.
const IDLE_FACTOR: f64 = 5.0;

/// Share of the batch by which it may change within a window.
const SAME_BATCH: f64 = 0.02;

/// Seconds of prefill a prompt token that no window is called idle for.
const SLOW_PREFILL_S: f64 = 2e-4;

/// Why a window does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exclusion {
    /// No throughput, or none above 0.
    NoThroughput,
    /// A rank's first line: its throughput counts from the start of the server.
    First,
    /// No requests, or a pause in the window.
    Idle,
    /// The batch changed by more than 2 % since the line before: the line's throughput is not that of the printed batch.
    Ramp,
    /// No graph among lines that mostly have one.
    NoGraph,
    /// The clock jumped.
    ClockJump,
    /// No `#token` on the line, among lines that have it.
    NoContext,
    /// No accept length on the line, among lines that have one.
    NoAcceptLength,
    /// An accept length below 1: a step emits one token at least.
    AcceptLengthBelowOne,
}

impl Exclusion {
    /// Every reason.
    pub const ALL: [Self; 9] = [
        Self::NoThroughput,
        Self::First,
        Self::Idle,
        Self::Ramp,
        Self::NoGraph,
        Self::ClockJump,
        Self::NoContext,
        Self::NoAcceptLength,
        Self::AcceptLengthBelowOne,
    ];

    /// The word for it in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoThroughput => "no-throughput",
            Self::First => "first",
            Self::Idle => "idle",
            Self::Ramp => "ramp",
            Self::NoGraph => "no-graph",
            Self::ClockJump => "clock-jump",
            Self::NoContext => "no-context",
            Self::NoAcceptLength => "no-accept-length",
            Self::AcceptLengthBelowOne => "accept-length-below-1",
        }
    }
}

/// How many windows do not count, by reason.
pub(crate) type Excluded = BTreeMap<Exclusion, u64>;

/// The windows that count, in their order, and how many do not.
pub(crate) fn clean(windows: &[Window]) -> (Vec<Window>, Excluded) {
    let mut times: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for window in windows.iter().filter(|window| window.running > 0 && window.previous.is_some()) {
        if let Some(step) = window.step_s() {
            times.entry(window.running).or_default().push(step);
        }
    }
    let medians: BTreeMap<u32, f64> =
        times.into_iter().filter_map(|(running, times)| Some((running, median(times)?))).collect();
    let on = windows.iter().filter(|window| window.graph == Some(true)).count();
    let off = windows.iter().filter(|window| window.graph == Some(false)).count();
    let usual = Usual {
        medians,
        graphs: on > off,
        contexts: windows.iter().any(|window| window.kv_printed.is_some()),
        speculates: windows.iter().any(|window| window.speculated),
    };
    let mut excluded = Excluded::new();
    let mut kept = Vec::with_capacity(windows.len());
    let mut after_pause = false;
    for window in windows {
        let reason = reason(window, &usual, after_pause);
        after_pause = window.running == 0;
        match reason {
            None => kept.push(*window),
            Some(reason) => *excluded.entry(reason).or_default() += 1,
        }
    }
    (kept, excluded)
}

/// What most windows are like.
struct Usual {
    /// Median step time by batch.
    medians: BTreeMap<u32, f64>,
    graphs: bool,
    contexts: bool,
    speculates: bool,
}

fn reason(window: &Window, usual: &Usual, after_pause: bool) -> Option<Exclusion> {
    let Some(previous) = window.previous else { return Some(Exclusion::First) };
    if window.running == 0 || after_pause {
        return Some(Exclusion::Idle);
    }
    if window.accept_len < 1.0 {
        return Some(Exclusion::AcceptLengthBelowOne);
    }
    let Some(step) = window.step_s() else { return Some(Exclusion::NoThroughput) };
    if window.clock_jumped {
        return Some(Exclusion::ClockJump);
    }
    let largest = f64::from(previous.max(window.running));
    if f64::from(window.running.abs_diff(previous)) > SAME_BATCH * largest {
        return Some(Exclusion::Ramp);
    }
    let prefill = SLOW_PREFILL_S * window.tokens_a_step();
    if usual.medians.get(&window.running).is_some_and(|median| step > IDLE_FACTOR * median + prefill) {
        return Some(Exclusion::Idle);
    }
    if usual.graphs && window.graph == Some(false) {
        return Some(Exclusion::NoGraph);
    }
    if usual.speculates && !window.speculated {
        return Some(Exclusion::NoAcceptLength);
    }
    (usual.contexts && window.kv_printed.is_none()).then_some(Exclusion::NoContext)
}

/// The median; `None` without values.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = values.get(middle).copied()?;
    let lower = values.get(middle.checked_sub(1).unwrap_or(middle)).copied()?;
    Some(if values.len().is_multiple_of(2) { f64::midpoint(lower, upper) } else { upper })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(running: u32, previous: Option<u32>, tps: f64) -> Window {
        Window {
            running,
            previous,
            accept_len: 3.5,
            speculated: true,
            tps: Some(tps),
            kv_printed: Some(1000.0),
            kv_tokens: 1000.0,
            longest: 1000.0,
            prefill_batches: 0,
            prefill_tokens: 0,
            graph: Some(true),
            gap_s: None,
            clock_jumped: false,
            interval: 40,
            busy: 1,
        }
    }

    #[test]
    fn each_reason_has_its_window() {
        let steady = window(4, Some(4), 1400.0);
        let windows = [
            window(4, None, 20.0),
            steady,
            steady,
            steady,
            window(4, Some(4), 100.0),
            window(6, Some(4), 2000.0),
            window(4, Some(5), 1500.0),
            window(4, Some(3), 1300.0),
            Window { graph: Some(false), ..steady },
            Window { tps: None, ..steady },
            Window { clock_jumped: true, ..steady },
            Window { kv_printed: None, ..steady },
            Window { accept_len: 1.0, speculated: false, ..steady },
            Window { accept_len: 0.5, ..steady },
            window(0, Some(4), 0.1),
            steady,
        ];
        let (kept, excluded) = clean(&windows);
        assert_eq!(kept, [steady, steady, steady]);
        let expected = [
            (Exclusion::NoThroughput, 1),
            (Exclusion::First, 1),
            (Exclusion::Idle, 3),
            (Exclusion::Ramp, 3),
            (Exclusion::NoGraph, 1),
            (Exclusion::ClockJump, 1),
            (Exclusion::NoContext, 1),
            (Exclusion::NoAcceptLength, 1),
            (Exclusion::AcceptLengthBelowOne, 1),
        ];
        assert_eq!(excluded, Excluded::from(expected));
    }

    #[test]
    fn medians() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(Vec::new()), None);
    }
}
