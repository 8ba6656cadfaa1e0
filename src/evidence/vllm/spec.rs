//! `SpecDecoding metrics: ...` and `Speculative metrics: ...`: what was drafted and accepted in a window.

use crate::evidence::decimal::{Decimal, behind, integer};
use crate::evidence::{SkipReason, StepCount, Window};
use crate::law::{float, whole};

use super::prefix::Prefix;

/// Positions that are read.
const MOST_POSITIONS: usize = 256;

/// Half of the last printed digit of a length, and of a share.
pub(super) const LENGTH_ROUNDING: f64 = 0.005;
pub(super) const SHARE_ROUNDING: f64 = 0.0005;

/// One window of vLLM's speculative decoding. What the line lacks is `None`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct VllmSpec {
    /// The process, where it is named.
    pub pid: Option<u64>,
    /// `MM-DD HH:MM:SS`: local time without a year.
    pub timestamp: Option<String>,
    /// The engine, where the line before says it: see [`Adjacent`](super::Adjacent).
    pub engine_index: Option<u32>,
    /// The line begins with `Speculative metrics`: V0, or V1 before April 2025. It prints no accept length.
    pub is_legacy: bool,
    /// Mean acceptance length, in tokens a step.
    pub accept_len: Option<f64>,
    /// A: accepted drafts.
    pub accepted: u64,
    /// D: drafted tokens.
    pub drafted: u64,
    /// K, where the line shows it: the number of its positions, or V0's `Number of speculative tokens`.
    pub draft_length: Option<u32>,
    /// V0: tokens emitted since the start.
    pub emitted: Option<u64>,
    /// Share of the steps whose first one, two, ... drafts were all accepted; empty where it is not printed.
    pub per_position: Vec<f64>,
    /// A/D, as a fraction.
    pub draft_accept_rate: Option<f64>,
    /// V0: emitted tokens over the most that so many steps can emit.
    pub system_efficiency: Option<f64>,
    /// Accepted tokens per second.
    pub accepted_throughput_tps: Option<f64>,
    /// Drafted tokens per second.
    pub drafted_throughput_tps: Option<f64>,
}

/// Names of the fields.
const NAMES: [&[u8]; 13] = [
    b"Mean acceptance length:",
    b"Accepted throughput:",
    b"Drafted throughput:",
    b"Accepted:",
    b"Drafted:",
    b"Per-position acceptance rate:",
    b"Avg Draft acceptance rate:",
    b"Draft acceptance rate:",
    b"System efficiency:",
    b"Number of speculative tokens:",
    b"Number of accepted tokens:",
    b"Number of draft tokens:",
    b"Number of emitted tokens:",
];

impl VllmSpec {
    /// Reads what stands before and behind the head.
    pub(in crate::evidence) fn parse(
        before: &[u8],
        message: &[u8],
        is_legacy: bool,
    ) -> Result<Self, SkipReason> {
        let Prefix { pid, timestamp } = Prefix::read(before);
        let mut line = Self { pid, timestamp, is_legacy, ..Self::default() };
        let (mut accepted, mut drafted) = (None, None);
        let mut rest = message;
        while let Some((name, value, behind)) = next(rest) {
            let number = Decimal::read(value);
            let share = || {
                let is_percent = number.is_some_and(|number| value.get(number.len) == Some(&b'%'));
                number.map(|number| if is_percent { number.percent() } else { number.get() })
            };
            // A number that ends the line may be cut.
            match name {
                b"Mean acceptance length:" => {
                    if is_not_finite(value) {
                        return Err(SkipReason::NotFinite);
                    }
                    line.accept_len = number.map(Decimal::get);
                }
                b"Accepted throughput:" => line.accepted_throughput_tps = number.map(Decimal::get),
                b"Drafted throughput:" => line.drafted_throughput_tps = number.map(Decimal::get),
                b"Accepted:" => accepted = tokens(value),
                b"Drafted:" => drafted = tokens(value),
                b"Number of accepted tokens:" => accepted = ended(value),
                b"Number of draft tokens:" => drafted = ended(value),
                b"Per-position acceptance rate:" => line.per_position = shares(value),
                b"Avg Draft acceptance rate:" | b"Draft acceptance rate:" => line.draft_accept_rate = share(),
                b"System efficiency:" => line.system_efficiency = number.map(Decimal::get),
                b"Number of speculative tokens:" => line.draft_length = integer(value),
                b"Number of emitted tokens:" => line.emitted = integer(value),
                _ => {}
            }
            rest = behind;
        }
        match (accepted, drafted) {
            (Some(accepted), Some(drafted)) => {
                line.accepted = accepted;
                line.drafted = drafted;
            }
            // Cut before its counts are complete.
            _ if line.accept_len.is_some() || line.draft_accept_rate.is_some() || accepted.is_some() => {
                return Err(SkipReason::Truncated);
            }
            _ => return Err(SkipReason::Lookalike),
        }
        if line.drafted == 0 {
            return Err(SkipReason::NotFinite);
        }
        if line.accepted > line.drafted {
            return Err(SkipReason::Truncated);
        }
        if !line.per_position.is_empty() {
            line.draft_length = u32::try_from(line.per_position.len()).ok();
        }
        Ok(line)
    }

    /// N = D/K where that is a whole number and K is in the line.
    #[must_use]
    pub fn steps(&self) -> Option<u64> {
        let length = u64::from(self.draft_length.filter(|length| *length > 0)?);
        self.drafted.is_multiple_of(length).then_some(self.drafted / length)
    }

    /// The window that an audit adds up: N exactly where K was constant, else its bounds; `None` where the line says too
    /// little, and for V0, whose counts are since the start and count matches behind a rejection (vllm-project/vllm#9565).
    /// `known` is K as the configuration has it, for lines that do not show it.
    #[must_use]
    pub fn window(&self, known: Option<u32>) -> Option<Window> {
        if self.emitted.is_some() || self.system_efficiency.is_some() {
            return None;
        }
        let shown = u32::try_from(self.per_position.len()).ok().filter(|length| *length > 0);
        let length = shown.or(known.filter(|length| *length > 0));
        let exact = length.and_then(|length| {
            let length = u64::from(length);
            self.drafted.is_multiple_of(length).then_some(self.drafted / length)
        });
        let steps = match exact.filter(|steps| self.agrees(*steps)) {
            Some(steps) => StepCount::Exact(steps),
            None => self.bounds(length)?,
        };
        let is_exact = matches!(steps, StepCount::Exact(_));
        Some(Window {
            drafted: Some(self.drafted),
            draft_length: length.filter(|_| is_exact),
            reached: self.per_position.clone(),
            resolution: if self.per_position.is_empty() { 0.0 } else { SHARE_ROUNDING },
            steps,
            ..Window::counted(self.accepted, 0)
        })
    }

    /// Whether so many steps give the printed length, and the positions add up to it.
    fn agrees(&self, steps: u64) -> bool {
        let length = 1.0 + float(self.accepted) / float(steps);
        let by_length =
            self.accept_len.is_none_or(|printed| (printed - length).abs() <= LENGTH_ROUNDING + 1e-9);
        let sum: f64 = self.per_position.iter().sum();
        let count = float(u64::try_from(self.per_position.len()).unwrap_or(0));
        let by_positions =
            self.per_position.is_empty() || (1.0 + sum - length).abs() <= SHARE_ROUNDING * count + 1e-9;
        steps > 0 && by_length && by_positions
    }

    /// What the printed length leaves of N; every step drafted one token at least, and K at most.
    fn bounds(&self, length: Option<u32>) -> Option<StepCount> {
        let printed = self.accept_len?;
        let accepted = float(self.accepted);
        let most = whole(float(self.drafted));
        let least = length.map_or(1, |length| self.drafted.div_ceil(u64::from(length).max(1)));
        let low = accepted / (printed + LENGTH_ROUNDING - 1.0).max(f64::MIN_POSITIVE);
        let high = accepted / (printed - LENGTH_ROUNDING - 1.0);
        let low = if low.is_finite() { whole((low - 1e-9).ceil()) } else { 0 }.max(least);
        let high = if high.is_finite() && high > 0.0 { whole((high + 1e-9).floor()) } else { most }.min(most);
        match (low, high) {
            (0, _) => None,
            _ if low == high => Some(StepCount::Exact(low)),
            _ => (low < high).then_some(StepCount::Between(low, high)),
        }
    }
}

/// The next field of a message: its name, its value up to the next name, and what follows.
fn next(text: &[u8]) -> Option<(&'static [u8], &[u8], &[u8])> {
    let (at, name) = first_name(text)?;
    let behind = text.get(at + name.len()..)?;
    let end = first_name(behind).map_or(behind.len(), |(at, _)| at);
    let (value, rest) = behind.split_at_checked(end)?;
    Some((name, value.trim_ascii_start(), rest))
}

/// The first name in a text; of names that end alike the longest.
fn first_name(text: &[u8]) -> Option<(usize, &'static [u8])> {
    NAMES
        .iter()
        .filter_map(|name| Some((memchr::memmem::find(text, name)?, *name)))
        .min_by_key(|(at, name)| (*at, usize::MAX - name.len()))
}

/// `N tokens`, not cut.
fn tokens(value: &[u8]) -> Option<u64> {
    let number = Decimal::read(value)?;
    let count = number.whole()?;
    behind(value.get(number.len..)?, b"tokens").map(|_| count)
}

/// A number with something behind it, so that it is not cut.
fn ended(value: &[u8]) -> Option<u64> {
    let number = Decimal::read(value)?;
    value.get(number.len).filter(|byte| matches!(byte, b',' | b'.' | b' '))?;
    number.whole()
}

fn is_not_finite(value: &[u8]) -> bool {
    let word = value.get(..3).unwrap_or(&[]).to_ascii_lowercase();
    word == b"nan" || word == b"inf"
}

/// Numbers of three decimals, separated by commas; one that the line's end cuts is none.
fn shares(value: &[u8]) -> Vec<f64> {
    let mut shares = Vec::new();
    let mut rest = value;
    while shares.len() < MOST_POSITIONS {
        rest = rest.trim_ascii_start();
        let Some(number) = Decimal::read(rest) else { break };
        if number.len < 5 || number.get() > 1.0 {
            break;
        }
        shares.push(number.get());
        rest = rest.get(number.len..).unwrap_or(&[]);
        let Some(more) = rest.strip_prefix(b",") else { break };
        rest = more;
    }
    shares
}
