//! The year of lines that print none: from the order of the lines and the time that is asked for.

use super::scope::Moment;

/// Months by which a line goes back, at least, where a year has turned.
const TURN: i32 = 6;

/// The lines of one log, by their months.
#[derive(Clone, Debug, Default)]
pub(super) struct Calendar {
    first: Option<i32>,
    last: Option<i32>,
    /// Turns of the year since the first line.
    turns: i32,
}

impl Calendar {
    /// Takes the time of the next line; only `MM-DD ...` says anything.
    pub(super) fn follow(&mut self, time: Option<&str>) {
        let Some(month) = time.and_then(month) else { return };
        self.first.get_or_insert(month);
        let Some(last) = self.last.replace(month) else { return };
        if last - month >= TURN {
            self.turns += 1;
        } else if month - last >= TURN && self.turns > 0 {
            // Two writers, one of them late.
            self.turns -= 1;
        }
    }

    /// The year of the last line, for a log in which the moments lie.
    pub(super) fn year(&self, since: Option<&Moment>, until: Option<&Moment>) -> Option<i32> {
        let first = self.first.unwrap_or(1);
        // A log begins before the time that is asked for, or a little behind it.
        let by = |moment: &Moment, least_before: i32| {
            let (year, month) = moment.year_and_month()?;
            Some(match first - month {
                ahead if ahead >= least_before => year - 1,
                behind if behind <= -11 => year + 1,
                _ => year,
            })
        };
        let year = since.and_then(|since| by(since, 10)).or_else(|| until.and_then(|until| by(until, TURN)));
        year.map(|year| year + self.turns)
    }
}

/// The month of `MM-DD HH:MM:SS`.
fn month(time: &str) -> Option<i32> {
    let (month, _) = time.split_once('-').filter(|(month, _)| month.len() == 2)?;
    month.parse().ok().filter(|month| (1..=12).contains(month))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn years(since: &str, until: &str, times: &[&str]) -> Vec<i32> {
        let moment = |text: &str| (!text.is_empty()).then(|| text.parse::<Moment>().unwrap());
        let (since, until) = (moment(since), moment(until));
        let mut calendar = Calendar::default();
        times
            .iter()
            .map(|time| {
                calendar.follow(Some(time));
                calendar.year(since.as_ref(), until.as_ref()).unwrap()
            })
            .collect()
    }

    #[test]
    fn a_year_turns_with_the_lines() {
        let turn = ["12-31 23:59:50", "01-01 00:00:00", "01-01 00:00:10"];
        assert_eq!(years("2026-12-31T23:59", "2027-01-01", &turn), [2026, 2027, 2027]);
        assert_eq!(years("2026-12-31", "", &turn), [2026, 2027, 2027]);
        assert_eq!(years("", "2027-01-01", &turn), [2026, 2027, 2027]);
        assert_eq!(years("2027-01-01", "", &turn), [2026, 2027, 2027]);
        assert_eq!(years("2026-12-31", "", &turn[1..]), [2027, 2027]);
        assert_eq!(
            years("2026-10-12", "", &["10-12 01:02:03", "12-30 01:02:03", "01-02 01:02:03"]),
            [2026, 2026, 2027]
        );
        // Two writers whose lines cross.
        assert_eq!(years("2026-12-31", "", &[turn[0], turn[1], turn[0], turn[1]]), [2026, 2027, 2026, 2027]);
        assert_eq!(years("2026-10-12", "", &["03-01 00:00:00", "10-12 00:00:00"]), [2026, 2026]);
    }
}
