//! `Forced speculative acceptance ON: mean acceptance length 3.7800 over 7 draft positions (per-position rates [...])`.

use crate::evidence::SkipReason;
use crate::evidence::decimal::{Decimal, behind, integer, owned};
use crate::evidence::pattern::begins_like;

/// The acceptance that an ATOM server was told to force.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct AtomForced {
    /// Time of day, as printed.
    pub timestamp: Option<String>,
    /// Tokens a step that are forced.
    pub target_accept_len: f64,
    /// K.
    pub draft_length: Option<u32>,
    /// Probability that the first one, two, ... drafts are all accepted.
    pub rates: Vec<f64>,
}

/// Rates that are read.
const MOST: usize = 256;

impl AtomForced {
    /// Reads what stands before and behind `Forced speculative acceptance ON`.
    pub(in crate::evidence) fn parse(before: &[u8], message: &[u8]) -> Result<Self, SkipReason> {
        let length = behind(message, b"mean acceptance length").ok_or(SkipReason::Lookalike)?;
        let number = Decimal::read(length).ok_or(SkipReason::Truncated)?;
        // `3.7800 over`: a number that ends the line may be cut.
        length.get(number.len).ok_or(SkipReason::Truncated)?;
        let rates = behind(message, b"per-position rates [").and_then(|text| {
            let inside = text.get(..memchr::memchr(b']', text)?)?;
            let numbers = inside.split(|byte| *byte == b',').take(MOST);
            numbers
                .map(|text| Decimal::read(text.trim_ascii()).map(Decimal::get))
                .collect::<Option<Vec<f64>>>()
        });
        let target_accept_len = number.get();
        if target_accept_len < 1.0 {
            return Err(SkipReason::Lookalike);
        }
        Ok(Self {
            timestamp: clock(before),
            target_accept_len,
            draft_length: behind(length, b"over").and_then(integer),
            rates: rates.unwrap_or_default(),
        })
    }
}

/// The last time of day in a text.
pub(super) fn clock(before: &[u8]) -> Option<String> {
    let near = before.get(before.len().saturating_sub(64)..).unwrap_or(before);
    let at = (0..near.len()).rev().find(|at| {
        let is_begin =
            at.checked_sub(1).and_then(|last| near.get(last)).is_none_or(|byte| !byte.is_ascii_digit());
        is_begin && near.get(*at..).and_then(|text| begins_like(text, b"00:00:00")).is_some()
    })?;
    near.get(at..at + 8).map(owned)
}
