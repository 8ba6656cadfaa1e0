//! What the caller decides about an audit.

use std::fmt;
use std::str::FromStr;

use crate::golden::{AcceptLength, Catalogue, Thinking};

/// Margins from here on are no margins: an accept length is seldom as large.
const MOST_TOKENS: f64 = 10.0;

/// How an audit judges.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How far the mean may lie from the target.
    pub margin: Margin,
    /// Confidence of the interval that decides.
    pub confidence: Confidence,
    /// Verify steps per decode line, where the caller knows better than the log.
    pub decode_log_interval: Option<u32>,
    /// The run is an evaluation: its drafts must really be judged, and any sign of a simulation is a fault. No target
    /// counts then.
    pub expect_real: bool,
    /// Golden cells that the server may have been given instead of the target's.
    pub cells: Vec<RivalCell>,
    /// What a proof by the server's own draws counts for, where the point was built with replay.
    pub replay: ReplayMode,
}

/// Whether the server's own draws have to prove the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReplayMode {
    /// A proof decides where there is one.
    #[default]
    Auto,
    /// Without a proof no point is consistent.
    Require,
}

/// A golden cell that is not the target's.
#[derive(Clone, Debug, PartialEq)]
pub struct RivalCell {
    /// Curve name.
    pub curve: String,
    /// Mode of the value.
    pub thinking: Thinking,
    /// Tokens drafted per verify step.
    pub draft_length: u32,
    /// The cell's value.
    pub accept_length: AcceptLength,
}

impl RivalCell {
    /// Every cell of every curve that can be read.
    pub fn all(catalogue: &Catalogue) -> impl Iterator<Item = Self> + '_ {
        let curves = catalogue.entries().filter_map(|entry| entry.load().curve.as_ref().ok());
        curves.flat_map(|curve| {
            [Thinking::On, Thinking::Off, Thinking::Unstated].into_iter().flat_map(move |thinking| {
                curve.values(thinking).map(move |(draft_length, accept_length)| Self {
                    curve: curve.name.clone(),
                    thinking,
                    draft_length,
                    accept_length,
                })
            })
        })
    }
}

/// How far the mean accept length may lie from the target: 2 % unless the caller says otherwise, about the
/// repeatability of a serving benchmark (throughput moves at most in proportion).
///
/// ```
/// use accsim::audit::Margin;
///
/// let share: Margin = "2%".parse()?;
/// assert_eq!(share.tokens(3.5), 0.07);
/// assert_eq!("0.05".parse::<Margin>()?.tokens(3.5), 0.05);
/// assert!("-1%".parse::<Margin>().is_err());
/// # Ok::<(), accsim::audit::OptionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Margin {
    /// A share of the target.
    Share(f64),
    /// Tokens per verify step.
    Tokens(f64),
}

/// Confidence of a two-sided interval: above one half, below 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Confidence(f64);

/// Why a text is no option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// Not a margin.
    #[error("a margin is a share of the target as '2%', or tokens as '0.05', and above 0; found '{0}'")]
    Margin(String),
    /// A margin that every run would meet.
    #[error("a margin of '{0}' decides nothing: it is below 100%, or below {MOST_TOKENS} tokens")]
    Wide(String),
    /// Not a confidence.
    #[error("a confidence lies between 0.5 and 1, as 0.95; found '{0}'")]
    Confidence(String),
    /// Not a time.
    #[error(
        "a time is written as 2026-10-12T01:02:03, or coarser, or as a time of day (01:02:03); found '{0}'"
    )]
    Moment(String),
    /// No day or hour of any calendar.
    #[error("there is no such time: '{0}'")]
    NoSuchMoment(String),
    /// Nothing lies between.
    #[error("no time lies between '{since}' and '{until}': the first is the later one")]
    Backwards {
        /// Where the lines begin to count.
        since: String,
        /// Where they end.
        until: String,
    },
}

impl Default for Margin {
    fn default() -> Self {
        Self::Share(0.02)
    }
}

impl Margin {
    /// The margin around `target`, in tokens per verify step.
    #[must_use]
    pub fn tokens(self, target: f64) -> f64 {
        match self {
            Self::Share(share) => share * target,
            Self::Tokens(tokens) => tokens,
        }
    }
}

impl FromStr for Margin {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || OptionError::Margin(text.to_owned());
        let (digits, scale) = match text.trim().strip_suffix('%') {
            Some(digits) => (digits.trim_end(), Some(100.0)),
            None => (text.trim(), None),
        };
        let value: f64 = digits.parse().map_err(|_| invalid())?;
        if !value.is_finite() || value <= 0.0 {
            return Err(invalid());
        }
        if value >= scale.unwrap_or(MOST_TOKENS) {
            return Err(OptionError::Wide(text.to_owned()));
        }
        Ok(scale.map_or(Self::Tokens(value), |scale| Self::Share(value / scale)))
    }
}

impl fmt::Display for Margin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Share(share) => write!(f, "{} % of the target", share * 100.0),
            Self::Tokens(tokens) => write!(f, "{tokens} tokens"),
        }
    }
}

impl Default for Confidence {
    fn default() -> Self {
        Self(0.95)
    }
}

impl Confidence {
    /// As a number between 0 and 1.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// What may fall outside the interval.
    pub(super) fn outside(self) -> f64 {
        1.0 - self.0
    }

    /// The confidence at which a deviation counts as proven: 99.9 %.
    pub(super) fn proof() -> Self {
        Self(0.999)
    }
}

impl FromStr for Confidence {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim().parse() {
            Ok(value) if 0.5 < value && value < 1.0 => Ok(Self(value)),
            _ => Err(OptionError::Confidence(text.to_owned())),
        }
    }
}

/// In percent.
impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The digits as they stand, the point moved by two: 0.95 * 100 is 95 only after rounding, and 0.99999999 must not
        // read as 100.
        let digits = format!("{:.2}", self.0);
        let digits = if digits.parse() == Ok(self.0) { digits } else { self.0.to_string() };
        let digits = digits.strip_prefix("0.").unwrap_or(&digits);
        let (whole, rest) = digits.split_at_checked(2).unwrap_or((digits, ""));
        let point = if rest.is_empty() { "" } else { "." };
        write!(f, "{whole}{point}{rest} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_and_confidences_are_checked() {
        for text in ["", "%", "0", "nan", "inf%", "2 percent", "100%", "1e9", "10"] {
            assert!(text.parse::<Margin>().is_err(), "{text}");
        }
        assert_eq!("2 %".parse(), Ok(Margin::Share(0.02)));
        assert_eq!(Margin::default().to_string(), "2 % of the target");
        for text in ["0.5", "1", "95", "nan", "x"] {
            assert!(text.parse::<Confidence>().is_err(), "{text}");
        }
        assert_eq!("0.999".parse::<Confidence>().map(|c| c.to_string()), Ok("99.9 %".to_owned()));
    }
}
