//! Which decode lines of a log count: those of a time, and none of the warm-up.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::evidence::Timestamp;

use super::calendar::Calendar;

/// What the caller leaves out. Nothing by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Lines from this time on.
    pub since: Option<Moment>,
    /// Lines up to this time, it included.
    pub until: Option<Moment>,
    /// Leading decode lines of every rank that do not count.
    pub skip_lines: u64,
    /// Every restart, cache flush or clock that jumps back begins a point of its own.
    pub by_segment: bool,
}

/// A time of the engine's clock, to the second or coarser: `2026-10-12T01:02:03`, `2026-10-12 01:02`, `2026-10-12`, or a time of
/// day alone (`01:02:03`, `01:02`). Engines print local time without a zone.
///
/// ```
/// use accsim::audit::Moment;
///
/// let moment: Moment = "2026-10-12T01:02".parse()?;
/// assert_eq!(moment.to_string(), "2026-10-12 01:02");
/// assert!("12 October".parse::<Moment>().is_err());
/// # Ok::<(), accsim::audit::OptionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Moment {
    /// As engines print it, cut behind what was named.
    text: String,
    /// Length of the date and the space behind it; 0 where only a time of day was named.
    date: usize,
}

/// `0000-00-00 `.
const DATE: usize = 11;

/// Where the digits of a time of day may end, counted from its begin.
const CLOCK_ENDS: [usize; 2] = [5, 8];

/// Days of the months; that of a leap year's February is looked at apart.
const DAYS: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

impl Moment {
    /// The year and the month, where a date was named.
    pub(super) fn year_and_month(&self) -> Option<(i32, i32)> {
        let number = |from: usize, to: usize| self.text.get(from..to)?.parse().ok();
        if self.date > 0 { Some((number(0, 4)?, number(5, 7)?)) } else { None }
    }

    /// Whether this moment is later than `other`, as far as both are named.
    fn is_behind(&self, other: &Self) -> bool {
        let shorter = self.text.len().min(other.text.len());
        self.text.get(..shorter) > other.text.get(..shorter)
    }

    /// Whether the calendar and the clock have it. A leap second is one.
    fn exists(&self) -> bool {
        let number =
            |at: usize, end: usize| self.text.get(at..end).and_then(|digits| digits.parse::<u32>().ok());
        let is_day = self.date == 0 || {
            let (year, month) = (number(0, 4).unwrap_or(0), number(5, 7).unwrap_or(0));
            let index = month.checked_sub(1).and_then(|month| usize::try_from(month).ok());
            let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
            let days =
                index.and_then(|index| DAYS.get(index)).map(|days| days + u32::from(month == 2 && is_leap));
            days.is_some_and(|days| number(8, 10).is_some_and(|day| (1..=days).contains(&day)))
        };
        let below =
            |at: usize, end: u32| number(self.date + at, self.date + at + 2).is_none_or(|part| part < end);
        is_day && below(0, 24) && below(3, 60) && below(6, 61)
    }

    /// Refuses two moments between which no line can lie. A date and a time of day do not compare, and of two times of day the
    /// second one may be that of the next day.
    ///
    /// # Errors
    ///
    /// Where `since` is later than `until`, as far as both are named.
    pub fn check_order(since: &Self, until: &Self) -> Result<(), super::OptionError> {
        if since.date > 0 && until.date > 0 && since.is_behind(until) {
            return Err(super::OptionError::Backwards {
                since: since.text.clone(),
                until: until.text.clone(),
            });
        }
        Ok(())
    }

    /// How the line's time, cut to what was named, compares with this moment; `None` where the line has no date and
    /// this has one.
    fn compare(&self, time: Timestamp<'_>) -> Option<Ordering> {
        let time = time.as_bytes();
        let has_date = time.get(4) == Some(&b'-');
        let time = match (has_date, self.date) {
            (true, 0) => time.get(DATE..)?,
            (false, 1..) => return None,
            _ => time,
        };
        Some(time.get(..self.text.len()).unwrap_or(time).cmp(self.text.as_bytes()))
    }
}

impl FromStr for Moment {
    type Err = super::OptionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || super::OptionError::Moment(text.to_owned());
        let trimmed = text.trim();
        let digits: String = trimmed.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        let (date, clock) = match digits.split_at_checked(DATE - 1) {
            Some(("0000-00-00", "")) => (DATE, ""),
            Some(("0000-00-00", rest)) => (DATE, rest.strip_prefix(['T', ' ', 't']).ok_or_else(invalid)?),
            _ => (0, digits.as_str()),
        };
        let is_clock = CLOCK_ENDS.iter().any(|end| Some(clock) == "00:00:00".get(..*end));
        let is_date_alone = date == DATE && trimmed.len() < DATE;
        if !is_clock && !is_date_alone {
            return Err(invalid());
        }
        let moment = Self { text: trimmed.replace(['T', 't'], " "), date };
        if moment.exists() { Ok(moment) } else { Err(super::OptionError::NoSuchMoment(trimmed.to_owned())) }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Scope {
    /// Whether lines are chosen by their time.
    pub(super) fn is_timed(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }

    /// The same of a time as other engines print it: `10-12 01:02:03` of vLLM, whose year the lines before it tell, or any
    /// other form.
    pub(super) fn admits_text(&self, time: Option<&str>, calendar: &Calendar) -> bool {
        if !self.is_timed() {
            return true;
        }
        let Some(time) = time else { return false };
        if time.as_bytes().get(2) != Some(&b'-') {
            return self.admits(Timestamp::parse(time.as_bytes()));
        }
        let year = calendar.year(self.since.as_ref(), self.until.as_ref()).unwrap_or(0);
        self.admits(Timestamp::parse(format!("{year:04}-{time}").as_bytes()))
    }

    /// Whether the times go from one day to the next: `--since 23:59 --until 00:10`.
    fn is_over_midnight(&self) -> bool {
        let both = self.since.as_ref().zip(self.until.as_ref());
        both.is_some_and(|(since, until)| since.date == 0 && until.date == 0 && since.is_behind(until))
    }

    /// Whether anything may be left out.
    pub(super) fn is_whole(&self) -> bool {
        !self.is_timed() && self.skip_lines == 0
    }

    /// Whether a line of that time counts. A line whose time is unknown, or of a kind that does not compare, does not
    /// where a time was asked for.
    pub(super) fn admits(&self, time: Option<Timestamp<'_>>) -> bool {
        let compare = |moment: &Moment| time.and_then(|time| moment.compare(time));
        let since = self.since.as_ref().is_none_or(|since| compare(since).is_some_and(Ordering::is_ge));
        let until = self.until.as_ref().is_none_or(|until| compare(until).is_some_and(Ordering::is_le));
        if self.is_over_midnight() { since || until } else { since && until }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(since: &str, until: &str, time: &str) -> bool {
        let moment = |text: &str| (!text.is_empty()).then(|| text.parse().unwrap());
        let scope = Scope { since: moment(since), until: moment(until), ..Scope::default() };
        scope.admits(Timestamp::parse(time.as_bytes()))
    }

    #[test]
    fn both_ends_count_whatever_their_precision() {
        let line = "2026-10-12 01:02:03.250";
        for (since, until, inside) in [
            ("", "", true),
            ("2026-10-12T01:02:03", "2026-10-12T01:02:03", true),
            ("2026-10-12 01:02", "2026-10-12", true),
            ("2026-10-12T01:02:04", "", false),
            ("", "2026-10-12T01:02:02", false),
            ("", "2026-10-12T01:01", false),
            ("01:02:03", "01:02", true),
            ("01:03", "", false),
            ("01:00", "01:01", false),
            ("01:03", "01:04", false),
        ] {
            assert_eq!(admits(since, until, line), inside, "{since} to {until}");
        }
    }

    #[test]
    fn times_of_day_may_go_over_midnight() {
        for (time, inside) in [
            ("23:59:49", false),
            ("23:59:50", true),
            ("2026-10-12 23:59:59", true),
            ("00:00:10", true),
            ("2026-10-13 00:00:11", false),
        ] {
            assert_eq!(admits("23:59:50", "00:00:10", time), inside, "{time}");
        }
    }

    #[test]
    fn a_line_without_a_date_is_outside_of_dates() {
        assert!(admits("04:40", "04:40:55", "04:40:55"));
        assert!(!admits("2026-10-12", "", "04:40:55"));
        assert!(!admits("2026-10-12", "", "none"));
        assert!(admits("", "", "none"));
    }

    #[test]
    fn times_that_do_not_exist_are_refused() {
        for text in [
            "2026-13-45",
            "2026-00-10",
            "2026-02-29",
            "2026-04-31",
            "2026-10-12T24:00",
            "23:60",
            "2026-10-00",
        ] {
            assert_eq!(text.parse::<Moment>(), Err(super::super::OptionError::NoSuchMoment(text.to_owned())));
        }
        for text in ["2028-02-29", "2026-12-31T23:59:60", "00:00", "2026-01-01"] {
            assert!(text.parse::<Moment>().is_ok(), "{text}");
        }
    }

    #[test]
    fn an_end_before_the_begin_is_refused() {
        let check = |since: &str, until: &str| {
            Moment::check_order(&since.parse().unwrap(), &until.parse().unwrap()).is_ok()
        };
        assert!(!check("2026-10-13", "2026-10-12") && check("23:59:50", "00:00:10"));
        assert!(!check("2026-10-13T00:00", "2026-10-12"));
        assert!(check("2026-10-12T01:02", "2026-10-12") && check("2026-10-12", "2026-10-12T01:02"));
        assert!(check("2026-10-12T01:02", "01:00") && check("01:02", "01:02:00"));
    }

    #[test]
    fn times_of_another_form_are_refused() {
        for text in
            ["", "2026", "2026-10", "2026-10-12T", "2026-10-12T1", "1:02", "01:02:03Z", "01:02:03.5", "é"]
        {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }
}
