//! How likely a wrong sequence prints the same.

use std::f64::consts::LN_10;

use crate::law::{LineLaw, Window, beta_reg, ln_gamma};

use super::law::DrawLaw;

/// Decimal logarithms of chances, for the lines of one law.
#[derive(Clone, Copy, Debug)]
pub(super) struct Odds {
    /// Chance that two lines of the law read the same.
    collision: f64,
}

impl Odds {
    pub(super) fn new(law: &DrawLaw, interval: u32) -> Self {
        let acceptance = law.acceptance();
        let line = LineLaw::new(&acceptance, interval);
        let support = acceptance.support();
        let values = support.start().saturating_mul(100)..=support.end().saturating_mul(100);
        let square = |value: u32| (2.0 * line.ln_probability(value, Window::Steady { batch: 1 })).exp();
        let collision = values.map(square).sum::<f64>().clamp(0.0, 1.0);
        Self { collision }
    }

    /// For each line that must read the same: 0.089 for 3.51 and 40 steps.
    pub(super) fn log10_line(self) -> f64 {
        self.collision.log10().min(0.0)
    }

    /// That at least `exact` of `lines` read the same.
    pub(super) fn log10_tail(self, exact: u64, lines: u64) -> f64 {
        if exact == 0 || lines == 0 || self.collision >= 1.0 {
            return 0.0;
        }
        let exact = exact.min(lines);
        let (exact, missed) = (crate::law::float(exact), crate::law::float(lines - exact));
        let tail = beta_reg(exact, missed + 1.0, self.collision);
        if tail > 1e-250 {
            return tail.log10().min(0.0);
        }
        // Far out the first term is nearly all: log10 of C(lines, exact) p^exact (1 - p)^missed.
        let ln = ln_gamma(exact + missed + 1.0) - ln_gamma(exact + 1.0) - ln_gamma(missed + 1.0)
            + exact * self.collision.ln()
            + missed * (-self.collision).ln_1p();
        (ln / LN_10).min(0.0)
    }
}

/// Lines whose tails are worked out once: searches ask for the same ones again and again.
const TABLED: usize = 64;

/// [`Odds::log10_tail`], the first lines from a table.
#[derive(Clone, Debug)]
pub(super) struct Tails {
    odds: Odds,
    /// For each number of lines and of exact ones among them.
    table: Vec<[f64; TABLED + 1]>,
}

impl Tails {
    pub(super) fn new(odds: Odds) -> Self {
        let one = odds.collision;
        let mut tails = [0.0; TABLED + 1];
        tails[0] = 1.0;
        let mut table = Vec::with_capacity(TABLED + 1);
        for _ in 0..=TABLED {
            table.push(tails.map(|tail: f64| tail.log10().min(0.0)));
            // One line more: it is exact or not.
            let mut fewer = 1.0;
            for (exact, tail) in tails.iter_mut().enumerate() {
                let before = *tail;
                *tail = if exact == 0 { 1.0 } else { (1.0 - one) * before + one * fewer };
                fewer = before;
            }
        }
        Self { odds, table }
    }

    pub(super) fn log10(&self, exact: u64, lines: u64) -> f64 {
        let index = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let tabled = self.table.get(index(lines)).and_then(|row| row.get(index(exact))).copied();
        tabled.filter(|tail| tail.is_finite()).unwrap_or_else(|| self.odds.log10_tail(exact, lines))
    }
}

/// The price of having tried so many.
pub(super) fn log10_tried(tried: u64) -> f64 {
    crate::law::float(tried.max(1)).log10()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Setting;
    use crate::replay::DrawMethod;

    fn odds(length: f64, max: u32, interval: u32) -> Odds {
        let setting = Setting::new(length, max).unwrap();
        Odds::new(&DrawLaw::new(DrawMethod::MatchExpected, setting).unwrap(), interval)
    }

    /// Worked values of the specification: 0.089 a line of 3.51, 53 lines: -55.7; 18 of 35: -9.9.
    #[test]
    fn worked_values() {
        let odds = odds(3.51, 6, 40);
        assert!((odds.collision - 0.089).abs() < 0.0005, "{}", odds.collision);
        assert!((53.0 * odds.log10_line() + 55.7).abs() < 0.05);
        assert!((odds.log10_tail(18, 35) + 9.9).abs() < 0.05);
    }

    #[test]
    fn tails_far_out_are_continuous_and_never_above_one() {
        let odds = odds(3.51, 6, 40);
        assert!((odds.log10_tail(300, 300) - 300.0 * odds.log10_line()).abs() < 1e-6);
        assert!((odds.log10_tail(237, 237) - 237.0 * odds.log10_line()).abs() < 1e-6);
        assert!(odds.log10_tail(0, 50).abs() < 1e-12 && odds.log10_tail(3, 0).abs() < 1e-12);
    }

    #[test]
    fn the_table_says_the_same() {
        for odds in [odds(3.51, 6, 40), odds(2.99, 4, 40), odds(3.51, 6, 1)] {
            let tails = Tails::new(odds);
            for lines in 0..100 {
                for exact in 0..=lines {
                    let (tabled, direct) = (tails.log10(exact, lines), odds.log10_tail(exact, lines));
                    assert!((tabled - direct).abs() < 1e-6, "{exact} of {lines}: {tabled} {direct}");
                }
            }
        }
    }

    #[test]
    fn one_step_lines_agree_half_of_the_time() {
        assert!((odds(3.51, 6, 1).collision - 0.5002).abs() < 1e-6);
    }
}
