//! Figures in characters, small enough to stand between lines of text. Series differ by sign, not by colour.

use std::io::{self, Write};

use super::figure::{Figure, Layer, Look, Shape};
use super::scale::Scale;

/// Signs of the series, in order.
const SIGNS: [char; 8] = ['•', '+', 'x', 'o', '*', '#', '%', '@'];

/// Columns and rows between the axes. With title, axis and legend a plot has twelve lines.
const COLUMNS: u32 = 64;
const ROWS: u32 = 7;

/// Eighths of a row, for bars.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws the figure with its title and its legend, every line begun by `indent`.
///
/// ```
/// use accsim::golden::Catalogue;
/// use accsim::report::plot;
///
/// let catalogue = Catalogue::builtin();
/// let entry = catalogue.get("glm5.2_mtp").ok_or("no such curve")?;
/// let curve = entry.load().curve.as_ref().map_err(ToString::to_string)?;
/// let mut text = Vec::new();
/// for figure in plot::curves([curve]) {
///     plot::draw(&figure, "  ", &mut text)?;
/// }
/// assert!(String::from_utf8(text)?.contains('•'));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn draw(figure: &Figure, indent: &str, out: &mut dyn Write) -> io::Result<()> {
    if figure.is_empty() {
        return Ok(());
    }
    let xs = figure.layers.iter().flat_map(|layer| layer.shape.xs());
    let ys = figure.layers.iter().flat_map(|layer| layer.shape.ys());
    let finite: Vec<f64> = xs.filter(|x| x.is_finite()).collect();
    let low = finite.iter().copied().fold(f64::INFINITY, f64::min);
    let high = finite.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let x =
        if figure.x.with_zero { Scale::over(finite.into_iter(), true) } else { Scale::between(low, high) };
    let x = if figure.x.is_whole { x.whole() } else { x };
    let mut raster = Raster { cells: vec![' '; cells()], x, y: Scale::over(ys, figure.y.with_zero) };
    for layer in &figure.layers {
        raster.layer(layer);
    }
    writeln!(out, "{indent}{}: {}", figure.title, figure.y.label)?;
    raster.write(indent, out)?;
    writeln!(out, "{indent}{:>9}{}", "", figure.x.label)?;
    let keys: Vec<String> = figure.layers.iter().filter_map(key).collect();
    if !keys.is_empty() {
        writeln!(out, "{indent}{:>9}{}", "", keys.join("   "))?;
    }
    Ok(())
}

fn cells() -> usize {
    usize::try_from(COLUMNS * ROWS).unwrap_or(0)
}

/// The sign of a layer in the plot.
fn sign(layer: &Layer) -> char {
    match (&layer.shape, layer.look) {
        (Shape::Zone(..), Look::Margin) => ':',
        (Shape::Zone(..), _) => '·',
        (Shape::Band(_), _) => '│',
        (Shape::Bars(..), Look::Faint) => '░',
        (Shape::Bars(..), _) => '█',
        (Shape::Steps(..), _) => '_',
        (_, Look::Series(number)) => SIGNS.get(number % SIGNS.len()).copied().unwrap_or('•'),
        (_, Look::Target) => '─',
        (_, Look::Chosen) => '◎',
        (_, Look::Margin | Look::Law | Look::Faint) => '.',
    }
}

fn key(layer: &Layer) -> Option<String> {
    (!layer.name.is_empty()).then(|| format!("{} {}", sign(layer), layer.name))
}

struct Raster {
    cells: Vec<char>,
    x: Scale,
    y: Scale,
}

impl Raster {
    fn column(&self, x: f64) -> u32 {
        crate::law::whole32((self.x.share(x) * f64::from(COLUMNS - 1)).round())
    }

    /// The row from below.
    fn row(&self, y: f64) -> u32 {
        crate::law::whole32((self.y.share(y) * f64::from(ROWS - 1)).round())
    }

    fn set(&mut self, column: u32, row: u32, sign: char) {
        let index = usize::try_from(row * COLUMNS + column).unwrap_or(usize::MAX);
        if let Some(cell) = self.cells.get_mut(index) {
            *cell = sign;
        }
    }

    fn layer(&mut self, layer: &Layer) {
        let sign = sign(layer);
        match &layer.shape {
            Shape::Line(points) | Shape::Dots(points) | Shape::Steps(_, points) => {
                for (x, y) in points.iter().filter(|(x, y)| x.is_finite() && y.is_finite()) {
                    self.set(self.column(*x), self.row(*y), sign);
                }
            }
            Shape::Band(points) => {
                for (x, low, high) in points.iter().filter(|(_, low, high)| low <= high) {
                    for row in self.row(*low)..=self.row(*high) {
                        self.set(self.column(*x), row, sign);
                    }
                }
            }
            Shape::Zone(low, high) => {
                for row in self.row(*low)..=self.row(*high) {
                    (0..COLUMNS).for_each(|column| self.set(column, row, sign));
                }
            }
            Shape::Rule(y) => {
                let row = self.row(*y);
                for column in 0..COLUMNS {
                    let index = usize::try_from(row * COLUMNS + column).unwrap_or(usize::MAX);
                    // Behind the lines.
                    if let Some(cell) = self.cells.get_mut(index).filter(|cell| matches!(cell, ' ' | '·')) {
                        *cell = sign;
                    }
                }
            }
            Shape::Bars(_, bars) if layer.look == Look::Faint => {
                for (x, from, to) in bars {
                    let column = self.column(*x);
                    let first = self.row(*from) + u32::from(*from > 0.0);
                    (first..=self.row(*to)).for_each(|row| self.set(column, row, sign));
                }
            }
            Shape::Bars(_, bars) => self.bars(bars),
        }
    }

    /// The highest bar of each column, in eighths of a row.
    fn bars(&mut self, bars: &[(f64, f64, f64)]) {
        for (x, _, to) in bars {
            let column = self.column(*x);
            let eighths = crate::law::whole32((self.y.share(*to) * f64::from(8 * ROWS)).ceil());
            for row in 0..ROWS {
                let part = usize::try_from(eighths.saturating_sub(8 * row).min(8)).unwrap_or(8);
                if let Some(block) = EIGHTHS.get(part).filter(|_| part > 0) {
                    self.set(column, row, *block);
                }
            }
        }
    }

    fn write(&self, indent: &str, out: &mut dyn Write) -> io::Result<()> {
        let ticks = self.y.ticks();
        let width = usize::try_from(COLUMNS).unwrap_or(1);
        for (row, cells) in (0..ROWS).zip(self.cells.chunks(width)).rev() {
            let label = ticks.iter().find(|(value, _)| self.row(*value) == row);
            let label = label.map_or("", |(_, label)| label.as_str());
            let line: String = cells.iter().collect();
            writeln!(out, "{indent}{label:>7} │{}", line.trim_end())?;
        }
        writeln!(out, "{indent}{:>7} └{}", "", "─".repeat(width))?;
        let ticks = self.x.ticks();
        let mut line = vec![' '; width + 8];
        for (value, label) in &ticks {
            let at = usize::try_from(self.column(*value)).unwrap_or(0);
            let is_free =
                line.iter().skip(at.saturating_sub(1)).take(label.chars().count() + 2).all(|c| *c == ' ');
            if is_free {
                for (cell, letter) in line.iter_mut().skip(at).zip(label.chars()) {
                    *cell = letter;
                }
            }
        }
        let line: String = line.iter().collect();
        writeln!(out, "{indent}{:>9}{}", "", line.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::super::figure::Axis;
    use super::*;

    #[test]
    fn a_plot_is_compact() {
        let points = (0..50).map(|x| (f64::from(x), f64::from(x * x))).collect();
        let figure = Figure {
            id: "id".to_owned(),
            title: "Title".to_owned(),
            description: String::new(),
            caption: String::new(),
            x: Axis::of("x"),
            y: Axis::of("y"),
            layers: vec![Layer::new("squares", Look::Series(0), Shape::Line(points))],
            marks: Vec::new(),
        };
        let mut text = Vec::new();
        draw(&figure, "  ", &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().count(), 12, "{text}");
        assert!(text.lines().all(|line| line.starts_with("  ") && line.chars().count() <= 80), "{text}");
        assert!(figure.has_course());
        let one = Shape::Dots(vec![(2.0, 1.0), (2.0, 3.0)]);
        let one = Figure { layers: vec![Layer::new("one", Look::Series(0), one)], ..figure };
        assert!(!one.has_course());
    }
}
