//! Local time as servers print it: no zone, no leap seconds.

use std::fmt;
use std::str::FromStr;

use crate::evidence::Timestamp;

use super::text::{Text, two_digits};

const DAY_SECONDS: u64 = 86_400;

/// The last second that four digits of a year can name.
const LAST_SECOND: u64 = 253_402_300_799;

/// A date and a time of day, from 1970 to 9999, whole seconds.
///
/// ```
/// use accsim::simulate::log::LocalTime;
///
/// let start: LocalTime = "2026-10-12T01:02:03".parse()?;
/// assert_eq!(start.to_string(), "2026-10-12 01:02:03");
/// assert!("2026-02-29T00:00:00".parse::<LocalTime>().is_err());
/// # Ok::<(), accsim::simulate::log::LocalTimeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalTime {
    /// Since the start of 1970.
    seconds: u64,
}

impl LocalTime {
    /// So many seconds later, and no later than the end of 9999.
    #[must_use]
    pub fn plus(self, seconds: u64) -> Self {
        Self { seconds: self.seconds.saturating_add(seconds).min(LAST_SECOND) }
    }

    /// Seconds since the start of 1970, in local time.
    #[must_use]
    pub fn seconds(self) -> u64 {
        self.seconds
    }

    /// So many seconds after the start of 1970.
    #[must_use]
    pub fn at(seconds: u64) -> Self {
        Self { seconds: 0 }.plus(seconds)
    }

    /// Seconds of a printed time; of a clock without a date since midnight.
    #[must_use]
    pub fn seconds_of(time: Timestamp<'_>) -> Option<f64> {
        let text = time.as_str();
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let whole = if whole.len() == 8 {
            parse(format!("1970-01-01 {whole}").as_bytes())?.seconds
        } else {
            parse(whole.as_bytes())?.seconds
        };
        let fraction =
            if fraction.is_empty() { 0.0 } else { format!("0.{fraction}0").parse::<f64>().ok()? };
        Some(crate::law::float(whole) + fraction)
    }
}

/// A text that is no local time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a time; expected one from 1970 to 9999 like 2026-10-12T01:02:03")]
pub struct LocalTimeError(pub String);

impl FromStr for LocalTime {
    type Err = LocalTimeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text.as_bytes()).ok_or_else(|| LocalTimeError(text.chars().take(40).collect()))
    }
}

fn parse(text: &[u8]) -> Option<LocalTime> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T' | b' ', h1, h2, b':', i1, i2, b':', s1, s2] = text
    else {
        return None;
    };
    let number = |digits: &[&u8]| {
        digits.iter().try_fold(0_u64, |number, digit| {
            digit.is_ascii_digit().then(|| number * 10 + u64::from(*digit - b'0'))
        })
    };
    let (year, month, day) = (number(&[y1, y2, y3, y4])?, number(&[m1, m2])?, number(&[d1, d2])?);
    let (hour, minute, second) = (number(&[h1, h2])?, number(&[i1, i2])?, number(&[s1, s2])?);
    if year < 1970 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = days_before(year, month, day)?;
    // A day that its month does not have comes back as another date.
    (date(days) == (year, month, day))
        .then_some(LocalTime { seconds: days * DAY_SECONDS + hour * 3600 + minute * 60 + second })
}

/// Days from 1970-01-01 to a date, months counted from March so that the leap day is the last of its year
/// (H. Hinnant, chrono-compatible low-level date algorithms).
fn days_before(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    (era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year).checked_sub(719_468)
}

/// Year, month and day of a day counted from 1970-01-01.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

impl fmt::Display for LocalTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date(self.seconds / DAY_SECONDS);
        let second = self.seconds % DAY_SECONDS;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }
}

/// How a prefix writes the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stamp {
    /// `01:02:03`
    Clock,
    /// `2026-10-12 01:02:03`
    Seconds,
    /// `2026-10-12 01:02:03.004`
    Milliseconds,
    /// `10-12 01:02:03`
    YearLess,
}

/// Writes the times of a log: most lines share their second with the line before.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    start: LocalTime,
    second: Option<u64>,
    /// `2026-10-12 01:02:03`, in a chunk that is copied whole.
    text: [u8; 32],
}

/// Bytes of `2026-10-12 01:02:03`.
const DATED: usize = 19;

impl Clock {
    /// A clock for a log that begins at `start`.
    pub(super) fn new(start: LocalTime) -> Self {
        Self { start, second: None, text: [0; 32] }
    }

    /// Appends the time `micros` microseconds after the start.
    #[inline]
    pub(super) fn write(&mut self, micros: u64, stamp: Stamp, text: &mut Text) {
        self.set(micros / 1_000_000);
        match stamp {
            Stamp::Seconds => text.chunk(&self.text, DATED),
            Stamp::Milliseconds => {
                text.chunk(&self.text, DATED);
                text.byte(b'.');
                text.padded(micros / 1000 % 1000, 3);
            }
            Stamp::Clock => text.put(self.text.get(11..DATED).unwrap_or(&[])),
            Stamp::YearLess => text.put(self.text.get(5..DATED).unwrap_or(&[])),
        }
    }

    /// Appends `2026-10-12T01:02:03.004005`, with as many as nine digits.
    pub(super) fn write_iso(&mut self, micros: u64, digits: usize, text: &mut Text) {
        self.set(micros / 1_000_000);
        text.put(self.text.get(..10).unwrap_or(&[]));
        text.byte(b'T');
        text.put(self.text.get(11..DATED).unwrap_or(&[]));
        text.byte(b'.');
        text.padded(micros % 1_000_000, 6);
        (6..digits).for_each(|_| text.byte(b'0'));
    }

    #[inline]
    fn set(&mut self, passed: u64) {
        if self.second != Some(passed) {
            self.renew(passed);
        }
    }

    fn renew(&mut self, passed: u64) {
        let seconds = self.start.seconds.saturating_add(passed).min(LAST_SECOND);
        let known = self.second.map(|second| self.start.seconds.saturating_add(second) / DAY_SECONDS);
        if known == Some(seconds / DAY_SECONDS) {
            let second = seconds % DAY_SECONDS;
            let [h1, h2] = two_digits(second / 3600);
            let [m1, m2] = two_digits(second / 60 % 60);
            let [s1, s2] = two_digits(second % 60);
            if let Some(to) = self.text.get_mut(11..DATED) {
                to.copy_from_slice(&[h1, h2, b':', m1, m2, b':', s1, s2]);
            }
        } else {
            let whole = LocalTime { seconds }.to_string();
            self.text.iter_mut().zip(whole.as_bytes()).for_each(|(to, byte)| *to = *byte);
        }
        self.second = Some(passed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> LocalTime {
        text.parse().unwrap()
    }

    #[test]
    fn dates_read_back() {
        for text in
            ["1970-01-01 00:00:00", "2000-02-29 23:59:59", "2026-12-31 12:00:00", "9999-12-31 23:59:59"]
        {
            assert_eq!(time(text).to_string(), text);
        }
        assert_eq!(time("2026-10-12 01:02:03").seconds, 1_791_766_923);
        for text in [
            "",
            "2026-10-12",
            "2026-10-12T01:02",
            "2026-10-12T24:00:00",
            "1969-12-31T00:00:00",
            "2026-13-01T00:00:00",
            "2026-00-10T00:00:00",
            "2026-02-29T00:00:00",
            "2026-10-12T01:02:03Z",
            "2026-10-1xT01:02:03",
        ] {
            assert!(text.parse::<LocalTime>().is_err(), "{text}");
        }
    }

    #[test]
    fn every_day_of_a_leap_cycle_reads_back() {
        for day in 0..146_097 {
            let (year, month, of_month) = date(day);
            assert_eq!(days_before(year, month, of_month), Some(day));
        }
    }

    #[test]
    fn a_clock_crosses_midnight_and_jumps() {
        let mut clock = Clock::new(time("2026-12-31T23:59:58"));
        let mut write = |micros, stamp| {
            let mut text = Text::default();
            text.begin_line();
            clock.write(micros, stamp, &mut text);
            String::from_utf8(text.as_bytes().to_vec()).unwrap()
        };
        assert_eq!(write(0, Stamp::Seconds), "2026-12-31 23:59:58");
        assert_eq!(write(1_999_000, Stamp::Milliseconds), "2026-12-31 23:59:59.999");
        assert_eq!(write(2_000_000, Stamp::Seconds), "2027-01-01 00:00:00");
        assert_eq!(write(3_723_004_000, Stamp::Clock), "01:02:01");
        assert_eq!(write(3_723_004_000, Stamp::YearLess), "01-01 01:02:01");
        assert_eq!(write(90_000_000_000, Stamp::Seconds), "2027-01-02 00:59:58");
        assert_eq!(write(1_000_000, Stamp::Seconds), "2026-12-31 23:59:59");
        assert_eq!(write(u64::MAX, Stamp::Seconds), "9999-12-31 23:59:59");
        let mut text = Text::default();
        text.begin_line();
        clock.write_iso(4_000_005, 9, &mut text);
        assert_eq!(text.as_bytes(), b"2027-01-01T00:00:02.000005000");
    }
}
