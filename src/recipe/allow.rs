//! Sanctioned findings: each with a reason and a day on which it ends.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use super::config::path_matches;
use super::{Finding, FindingCode};

/// A day of the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

/// No day.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a date; expected one like 2027-01-31")]
pub struct DateError(String);

impl FromStr for Date {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || DateError(text.to_owned());
        let parts: Vec<&str> = text.split('-').collect();
        let [year, month, day] = parts.as_slice() else { return Err(error()) };
        if (year.len(), month.len(), day.len()) != (4, 2, 2) {
            return Err(error());
        }
        let year: u16 = year.parse().map_err(|_| error())?;
        let month: u8 = month.parse().map_err(|_| error())?;
        let day: u8 = day.parse().map_err(|_| error())?;
        let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if is_leap => 29,
            2 => 28,
            _ => return Err(error()),
        };
        if (1..=days).contains(&day) { Ok(Self { year, month, day }) } else { Err(error()) }
    }
}

impl TryFrom<String> for Date {
    type Error = DateError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl Date {
    /// The day of a number of days since 1970-01-01.
    ///
    /// ```
    /// use accsim::recipe::Date;
    ///
    /// assert_eq!(Date::from_days(0).to_string(), "1970-01-01");
    /// assert_eq!(Date::from_days(20_787).to_string(), "2026-11-30");
    /// ```
    #[must_use]
    pub fn from_days(days: u32) -> Self {
        // Howard Hinnant's algorithm, "chrono-Compatible Low-Level Date Algorithms".
        let shifted = u64::from(days) + 719_468;
        let era = shifted / 146_097;
        let of_era = shifted % 146_097;
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = year_of_era + era * 400 + u64::from(month <= 2);
        Self {
            year: u16::try_from(year).unwrap_or(u16::MAX),
            month: u8::try_from(month).unwrap_or(12),
            day: u8::try_from(day).unwrap_or(31),
        }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// A sanctioned finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Allowed {
    /// Pattern over paths.
    pub path: String,
    /// The finding.
    pub code: FindingCode,
    /// The role; none means every.
    pub role: Option<String>,
    /// The variant; none means every.
    pub variant: Option<String>,
    /// Why.
    pub reason: String,
    /// The last day on which it holds.
    pub expires: Date,
}

impl Allowed {
    /// Whether it is about a finding of the file at `path`, expired or not.
    #[must_use]
    pub fn is_about(&self, path: &str, finding: &Finding) -> bool {
        let is_variant = self.variant.as_ref().is_none_or(|wanted| finding.variant.as_ref() == Some(wanted));
        self.code == finding.code
            && path_matches(&self.path, path)
            && self.role.as_deref().is_none_or(|role| role == finding.role.name())
            && is_variant
    }

    /// Whether it still holds on a day.
    #[must_use]
    pub fn holds_on(&self, today: Date) -> bool {
        today <= self.expires
    }
}
