//! Lengths of requests, in tokens.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Longest request that is simulated, in tokens.
pub(super) const LONGEST: u32 = 1 << 24;

/// Mean context of a running request, over time: longer outputs run longer.
pub(super) fn context_of(input: Lengths, output: Lengths) -> f64 {
    input.mean() + output.mean() * (1.0 + output.cv().powi(2)) / 2.0
}

/// One length, or all whole numbers of a range with equal probability: `512`, `128-2048`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Lengths {
    low: u32,
    high: u32,
}

/// A text that names no lengths.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a length in tokens; expected one like 512 or a range like 128-2048, from 1 to {LONGEST}"
)]
pub struct LengthsError(String);

impl Lengths {
    /// One length for all; at least 1.
    #[must_use]
    pub fn fixed(tokens: u32) -> Self {
        let tokens = tokens.clamp(1, LONGEST);
        Self { low: tokens, high: tokens }
    }

    /// The smallest.
    #[must_use]
    pub fn low(self) -> u32 {
        self.low
    }

    /// The largest.
    #[must_use]
    pub fn high(self) -> u32 {
        self.high
    }

    /// The mean.
    #[must_use]
    pub fn mean(self) -> f64 {
        f64::midpoint(f64::from(self.low), f64::from(self.high))
    }

    /// Standard deviation over mean.
    #[must_use]
    pub fn cv(self) -> f64 {
        let count = f64::from(self.high - self.low) + 1.0;
        ((count * count - 1.0) / 12.0).sqrt() / self.mean()
    }
}

impl FromStr for Lengths {
    type Err = LengthsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number =
            |text: &str| text.trim().parse::<u32>().ok().filter(|tokens| (1..=LONGEST).contains(tokens));
        let parsed = match text.split_once('-') {
            None => number(text).map(|tokens| (tokens, tokens)),
            Some((low, high)) => number(low).zip(number(high)),
        };
        match parsed {
            Some((low, high)) if low <= high => Ok(Self { low, high }),
            _ => Err(LengthsError(text.chars().take(40).collect())),
        }
    }
}

impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.low == self.high {
            write!(f, "{}", self.low)
        } else {
            write!(f, "{}-{}", self.low, self.high)
        }
    }
}

impl TryFrom<String> for Lengths {
    type Error = LengthsError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Lengths> for String {
    fn from(lengths: Lengths) -> Self {
        lengths.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_moments() {
        let range: Lengths = "128-2048".parse().unwrap();
        assert_eq!((range.low(), range.high(), range.to_string().as_str()), (128, 2048, "128-2048"));
        assert!((range.mean() - 1088.0).abs() < 1e-9);
        let two: Lengths = "1-2".parse().unwrap();
        assert!((two.cv() - 0.5 / 1.5).abs() < 1e-12);
        assert!("512".parse::<Lengths>().unwrap().cv().abs() < 1e-12);
        for text in ["", "0", "5-4", "-5", "1-", "a", "99999999999", "1.5"] {
            assert!(text.parse::<Lengths>().is_err(), "{text}");
        }
    }
}
