//! `[MTP Stats Interval] Average toks/fwd: ...`, and the cumulative twin.

use std::collections::BTreeMap;

use crate::evidence::decimal::{Decimal, behind};
use crate::evidence::{SkipReason, Window};
use crate::law::float;

use super::forced::clock;

/// Entries of a distribution that are read.
const MOST: usize = 256;

/// Figures of one line that cannot all be right.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum AtomContradiction {
    /// D is counted K a step.
    #[error("{drafted} drafted tokens are no whole number of steps of {length}")]
    Drafted {
        /// Drafted tokens.
        drafted: u64,
        /// K.
        length: u32,
    },
    /// The mean that is printed is not that of the counts.
    #[error("{printed:.2} tokens a forward are printed, and its own counts give {counted:.3}")]
    Length {
        /// Tokens a forward, as printed.
        printed: f64,
        /// 1 + A/N.
        counted: f64,
    },
    /// The bins have another mean than the counts.
    #[error("the distribution has the mean {binned:.3}, and the line's own counts give {counted:.3}")]
    Distribution {
        /// 1 plus the mean of the bins.
        binned: f64,
        /// 1 + A/N.
        counted: f64,
    },
}

/// Statistics of one scheduler, which the line does not name.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct AtomStats {
    /// Time of day, as printed: no date.
    pub timestamp: Option<String>,
    /// Since the start, and not of the last interval: never added to intervals.
    pub is_cumulative: bool,
    /// Tokens a step as printed, with two decimals.
    pub accept_len_printed: Option<f64>,
    /// A: accepted drafts.
    pub accepted: u64,
    /// D: drafted tokens; K per step, whatever was verified.
    pub drafted: u64,
    /// The largest number of accepted drafts in the distribution: K, where a step ever accepted all.
    pub draft_length: Option<u32>,
    /// A/D, as a fraction.
    pub draft_accept_rate: Option<f64>,
    /// Share of the steps by their accepted drafts.
    pub distribution: BTreeMap<u32, f64>,
}

impl AtomStats {
    /// Reads what stands before the head and behind `[MTP Stats`.
    pub(in crate::evidence) fn parse(before: &[u8], message: &[u8]) -> Result<Self, SkipReason> {
        let end = memchr::memchr(b']', message).ok_or(SkipReason::Truncated)?;
        let label = message.get(..end).unwrap_or(&[]);
        let is_cumulative = match label.trim_ascii() {
            b"Interval" => false,
            b"" => true,
            _ => return Err(SkipReason::Lookalike),
        };
        let text = message.get(end + 1..).unwrap_or(&[]);
        let counts = behind(text, b"Accepted/Total Draft tokens:").ok_or({
            // A shape of old documentation has none.
            if behind(text, b"Average toks/fwd:").is_some() {
                SkipReason::Truncated
            } else {
                SkipReason::Lookalike
            }
        })?;
        let accepted = Decimal::read(counts).ok_or(SkipReason::Truncated)?;
        let total = counts.get(accepted.len..).and_then(|rest| rest.strip_prefix(b"/"));
        let total = total.ok_or(SkipReason::Truncated)?;
        let drafted = Decimal::read(total).ok_or(SkipReason::Truncated)?;
        // A number at the line's end may be cut.
        if total.get(drafted.len).is_none() {
            return Err(SkipReason::Truncated);
        }
        let whole = |number: Decimal| number.whole().ok_or(SkipReason::Lookalike);
        let (accepted, drafted) = (whole(accepted)?, whole(drafted)?);
        if drafted == 0 {
            return Err(SkipReason::NotFinite);
        }
        if accepted > drafted {
            return Err(SkipReason::Truncated);
        }
        let distribution = behind(text, b"distribution:").and_then(bins).unwrap_or_default();
        Ok(Self {
            timestamp: clock(before),
            is_cumulative,
            accept_len_printed: behind(text, b"Average toks/fwd:").and_then(Decimal::read).map(Decimal::get),
            accepted,
            drafted,
            draft_length: distribution.keys().next_back().copied().filter(|length| *length > 0),
            draft_accept_rate: behind(text, b"Acceptance rate:")
                .and_then(Decimal::read)
                .map(Decimal::percent),
            distribution,
        })
    }

    /// K: as the configuration has it; else the one that gives the printed length and mean of the distribution; else the largest
    /// key. A forced run never reaches K, so its largest key says too little.
    #[must_use]
    pub fn draft_length(&self, known: Option<u32>) -> Option<u32> {
        let known = known.filter(|length| *length > 0);
        known.or_else(|| self.implied_length()).or(self.draft_length)
    }

    /// N = D/K where that is a whole number.
    #[must_use]
    pub fn steps(&self, known: Option<u32>) -> Option<u64> {
        let length = u64::from(self.draft_length(known)?);
        self.drafted.is_multiple_of(length).then_some(self.drafted / length)
    }

    /// 1 + A/N.
    #[must_use]
    pub fn accept_len(&self, known: Option<u32>) -> Option<f64> {
        let steps = self.steps(known).filter(|steps| *steps > 0)?;
        Some(1.0 + float(self.accepted) / float(steps))
    }

    /// The window that an audit adds up.
    #[must_use]
    pub fn window(&self, known: Option<u32>) -> Option<Window> {
        let length = self.draft_length(known)?;
        let steps = self.steps(known).filter(|steps| *steps > 0)?;
        let mut reached = Vec::new();
        let mut left = 1.0;
        for accepted in 0..length {
            left -= self.distribution.get(&accepted).copied().unwrap_or(0.0);
            reached.push(left.clamp(0.0, 1.0));
        }
        if self.distribution.is_empty() {
            reached.clear();
        }
        Some(Window {
            drafted: Some(self.drafted),
            draft_length: Some(length),
            // Each bin is rounded to a hundredth of a percent.
            resolution: if reached.is_empty() { 0.0 } else { 0.0005 },
            reached,
            ..Window::counted(self.accepted, steps)
        })
    }

    /// What the line prints against its own counts: the mean beside A/N, and the bins beside it. `None` where they agree, or
    /// where K is not known.
    #[must_use]
    pub fn contradiction(&self, known: Option<u32>) -> Option<AtomContradiction> {
        let length = self.draft_length(known)?;
        let Some(steps) = self.steps(known) else {
            return Some(AtomContradiction::Drafted { drafted: self.drafted, length });
        };
        let counted = 1.0 + float(self.accepted) / float(steps.max(1));
        if let Some(printed) =
            self.accept_len_printed.filter(|printed| (printed - counted).abs() > 0.005 + 1e-9)
        {
            return Some(AtomContradiction::Length { printed, counted });
        }
        let mean = |bin: (&u32, &f64)| f64::from(*bin.0) * bin.1;
        let binned = 1.0 + self.distribution.iter().map(mean).sum::<f64>();
        // Each bin is rounded to a hundredth of a percent.
        let reach: f64 = self.distribution.keys().map(|accepted| 0.000_05 * f64::from(*accepted)).sum();
        ((binned - counted).abs() > reach + 1e-9 && !self.distribution.is_empty())
            .then_some(AtomContradiction::Distribution { binned, counted })
    }

    /// The K at which D/K steps have the mean that is printed: A/N is the mean of the distribution.
    fn implied_length(&self) -> Option<u32> {
        if self.accepted == 0 {
            return None;
        }
        let mean: f64 = self.distribution.iter().map(|(accepted, share)| f64::from(*accepted) * share).sum();
        let mean = if mean > 0.0 { mean } else { self.accept_len_printed? - 1.0 };
        let length = mean * float(self.drafted) / float(self.accepted);
        let nearest = crate::law::whole32(length.round());
        let is_near = (length - f64::from(nearest)).abs() < 0.1;
        (is_near && nearest > 0 && self.drafted.is_multiple_of(u64::from(nearest))).then_some(nearest)
    }
}

/// `{0: '27.30%', 1: '72.70%'}`.
fn bins(text: &[u8]) -> Option<BTreeMap<u32, f64>> {
    let inside = text.strip_prefix(b"{")?;
    let inside = inside.get(..memchr::memchr(b'}', inside)?)?;
    let mut bins = BTreeMap::new();
    for entry in inside.split(|byte| *byte == b',').take(MOST).filter(|entry| !entry.trim_ascii().is_empty())
    {
        let colon = memchr::memchr(b':', entry)?;
        let (key, value) = (entry.get(..colon)?.trim_ascii(), entry.get(colon + 1..)?.trim_ascii());
        let is_mark = |byte: &u8| matches!(byte, b'\'' | b'"');
        let key = key.iter().position(|byte| !is_mark(byte)).and_then(|at| key.get(at..))?;
        let value = value.iter().position(|byte| !is_mark(byte)).and_then(|at| value.get(at..))?;
        let key = u32::try_from(Decimal::read(key)?.whole()?).ok()?;
        bins.insert(key, Decimal::read(value)?.percent());
    }
    Some(bins)
}
