//! Points over whole numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Letters that mark series, in order.
const MARKS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Most series of one chart: one a letter.
pub const MOST_SERIES: usize = MARKS.len();

/// Most columns; what lies beyond is counted, not drawn.
const MOST_COLUMNS: usize = 40;

/// Rows that a chart has at most.
const MOST_ROWS: u32 = 25;

/// Least room for the marks of one column.
const LEAST_WIDTH: usize = 4;

/// A named row of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Points (x, y); y is finite.
    pub points: Vec<(u32, f64)>,
}

/// Series over one axis of whole numbers; only the x that occur have a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Name of the axis of whole numbers.
    pub x: &'static str,
    /// Name of the vertical axis.
    pub y: &'static str,
    /// At most [`MOST_SERIES`]; more are left out.
    pub series: Vec<Series>,
}

impl Chart {
    /// Draws the chart with a legend. Every point is marked in the row nearest to it; points of one place stand side
    /// by side.
    pub fn draw(&self, out: &mut dyn Write) -> io::Result<()> {
        let all: BTreeSet<u32> = self.points().map(|(_, x, _)| x).collect();
        let columns: Vec<u32> = all.iter().copied().take(MOST_COLUMNS).collect();
        let Some(axis) = Axis::over(self.points().map(|(_, _, y)| y)) else {
            return writeln!(out, "no points to draw");
        };
        let marks = self.marks(&axis);
        let widest = marks.values().map(String::len).max().unwrap_or_default();
        let numbers = columns.iter().map(|x| x.to_string().len()).max().unwrap_or_default();
        let width = widest.max(numbers).max(LEAST_WIDTH) + 1;

        writeln!(out, "{}", self.y)?;
        for row in axis.rows().rev() {
            let cell = |column: &u32| marks.get(&(row, *column)).cloned().unwrap_or_default();
            let cells: Vec<String> = columns.iter().map(cell).collect();
            write_row(out, &format!("{:>7.2} |", axis.value(row)), &cells, width)?;
        }
        writeln!(out, "{:>7} +{}", "", "-".repeat(width * columns.len()))?;
        let room = width * columns.len();
        let numbers: Vec<String> = columns.iter().map(u32::to_string).collect();
        write_row(out, &format!("{:>9}", ""), &numbers, width)?;
        writeln!(out, "{}", format!("{:>9}{:^room$}", "", self.x).trim_end())?;
        if let Some(more) = all.len().checked_sub(columns.len()).filter(|more| *more > 0) {
            writeln!(out, "{more} larger values of {} are not drawn", self.x)?;
        }
        writeln!(out)?;
        for (mark, series) in MARKS.chars().zip(&self.series) {
            writeln!(out, "  {mark}  {}", series.name)?;
        }
        Ok(())
    }

    fn points(&self) -> impl Iterator<Item = (char, u32, f64)> + '_ {
        let series = MARKS.chars().zip(&self.series);
        series.flat_map(|(mark, series)| series.points.iter().map(move |(x, y)| (mark, *x, *y)))
    }

    /// The marks by row and x.
    fn marks(&self, axis: &Axis) -> BTreeMap<(u32, u32), String> {
        let mut marks: BTreeMap<(u32, u32), String> = BTreeMap::new();
        for (mark, x, y) in self.points() {
            marks.entry((axis.nearest(y), x)).or_default().push(mark);
        }
        marks
    }
}

fn write_row(out: &mut dyn Write, head: &str, cells: &[String], width: usize) -> io::Result<()> {
    let mut line = head.to_owned();
    for cell in cells {
        // Writing to a String cannot fail.
        let _ = write!(line, "{cell:^width$}");
    }
    writeln!(out, "{}", line.trim_end())
}

/// Rows at multiples of a round step.
struct Axis {
    lowest: f64,
    step: f64,
    rows: u32,
}

impl Axis {
    /// The finest axis that holds all `values`; `None` without a value.
    fn over(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if !low.is_finite() || !high.is_finite() {
            return None;
        }
        let mut step = 0.05;
        // 0.05, 0.1, 0.2, 0.5, 1, 2, 5, ...
        for factor in [2.0, 2.0, 2.5].into_iter().cycle() {
            let lowest = (low / step).floor() * step;
            let axis = |rows| Self { lowest, step, rows };
            if let Some(axis) = (1..=MOST_ROWS).map(axis).find(|axis| axis.holds(high)) {
                return Some(axis);
            }
            step *= factor;
        }
        None
    }

    fn holds(&self, value: f64) -> bool {
        self.value(self.rows.saturating_sub(1)) + self.step / 2.0 >= value
    }

    fn rows(&self) -> std::ops::Range<u32> {
        0..self.rows
    }

    fn value(&self, row: u32) -> f64 {
        self.lowest + self.step * f64::from(row)
    }

    fn nearest(&self, value: f64) -> u32 {
        let distance = |row: &u32| (self.value(*row) - value).abs();
        self.rows().min_by(|left, right| distance(left).total_cmp(&distance(right))).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(series: Vec<Series>) -> String {
        let mut out = Vec::new();
        Chart { x: "draft length", y: "accept length", series }.draw(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn series(name: &str, points: &[(u32, f64)]) -> Series {
        Series { name: name.to_owned(), points: points.to_vec() }
    }

    #[test]
    fn points_stand_in_their_rows_and_columns() {
        let text = drawn(vec![series("one", &[(1, 1.8), (2, 1.9)]), series("two", &[(1, 1.8), (4, 2.0)])]);
        let expected = "\
accept length
   2.00 |            b
   1.95 |
   1.90 |       a
   1.85 |
   1.80 | ab
        +---------------
           1    2    4
          draft length

  a  one
  b  two
";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_axis_fits_every_range() {
        for (low, high) in [(1.0, 1.0), (1.8, 5.21), (1.0, 1e6), (1.0, 1e300)] {
            let axis = Axis::over([low, high].into_iter()).unwrap();
            assert!(axis.rows <= MOST_ROWS && axis.holds(high) && axis.value(0) <= low, "{low}-{high}");
        }
        assert!(Axis::over(std::iter::empty()).is_none());
    }

    #[test]
    fn many_columns_are_counted_not_drawn() {
        let points: Vec<(u32, f64)> = (1..=50).map(|x| (x * 1000, 2.0)).collect();
        assert!(
            drawn(vec![series("long", &points)]).contains("10 larger values of draft length are not drawn")
        );
        assert_eq!(drawn(Vec::new()), "no points to draw\n");
    }
}
