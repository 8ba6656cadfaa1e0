//! Line charts as SVG: one file, no scripts, readable without colour by dashes and labels.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use crate::throughput::{Basis, Standing, SweepReport};

/// Size of the drawing and its margins, in units of the file.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 56.0;

/// Colours that stay apart for most eyes (Okabe and Ito 2008).
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"];

/// Dashes, for those who print in black.
const DASHES: [&str; 4] = ["", "6 3", "2 3", "8 3 2 3"];

/// One line with a name.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    name: String,
    points: Vec<(f64, f64)>,
    joined: bool,
}

/// A chart over two axes that begin at 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Svg {
    x: String,
    y: String,
    lines: Vec<Line>,
}

/// Tokens a second over concurrency, a line a draft length.
#[must_use]
pub fn sweep(report: &SweepReport) -> Svg {
    let mut lines: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
    let mut beyond: BTreeMap<u32, bool> = BTreeMap::new();
    for cell in &report.cells {
        let point = (f64::from(cell.concurrency), cell.point.steady_tps.mean);
        lines.entry(cell.drafts).or_default().push(point);
        *beyond.entry(cell.drafts).or_default() |= cell.basis == Basis::Extrapolated;
    }
    let name = |drafts: &u32| {
        let label = if beyond.get(drafts) == Some(&true) { " (extrapolated in part)" } else { "" };
        if *drafts == 0 { format!("none{label}") } else { format!("k = {drafts}{label}") }
    };
    let lines = lines.iter().map(|(drafts, points)| Line {
        name: name(drafts),
        points: points.clone(),
        joined: true,
    });
    Svg { x: "concurrency".to_owned(), y: "output tokens/s".to_owned(), lines: lines.collect() }
}

/// Points, and the frontier as a line.
#[must_use]
pub fn pareto(points: &[(f64, f64)], standing: &[Standing], names: (&str, &str)) -> Svg {
    let of = |wanted: fn(&Standing) -> bool| -> Vec<(f64, f64)> {
        let mut found: Vec<(f64, f64)> = points
            .iter()
            .zip(standing)
            .filter(|(_, standing)| wanted(standing))
            .map(|(point, _)| *point)
            .collect();
        found.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.total_cmp(&right.1)));
        found
    };
    let frontier =
        Line { name: "frontier".to_owned(), points: of(|found| *found == Standing::Frontier), joined: true };
    let beaten = Line {
        name: "dominated".to_owned(),
        points: of(|found| matches!(found, Standing::Dominated { .. })),
        joined: false,
    };
    Svg { x: names.0.to_owned(), y: names.1.to_owned(), lines: vec![frontier, beaten] }
}

impl Svg {
    /// Writes the file.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let largest = |of: fn(&(f64, f64)) -> f64| {
            self.lines.iter().flat_map(|line| &line.points).map(of).fold(0.0_f64, f64::max)
        };
        let (step_x, top_x) = ticks(largest(|point| point.0));
        let (step_y, top_y) = ticks(largest(|point| point.1));
        let across = |x: f64| LEFT + x / top_x * (WIDTH - LEFT - RIGHT);
        let up = |y: f64| HEIGHT - BOTTOM - y / top_y * (HEIGHT - TOP - BOTTOM);
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"12\">"
        )?;
        writeln!(out, "<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>")?;
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for at in marks(step_x, top_x) {
            let x = across(at);
            writeln!(out, "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"#ddd\"/>")?;
            let y = bottom + 16.0;
            writeln!(out, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{}</text>", label(at))?;
        }
        for at in marks(step_y, top_y) {
            let y = up(at);
            writeln!(out, "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"#ddd\"/>")?;
            let (x, y) = (LEFT - 8.0, y + 4.0);
            writeln!(out, "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>", label(at))?;
        }
        let (middle, foot) = (f64::midpoint(LEFT, right), HEIGHT - 14.0);
        writeln!(
            out,
            "<text x=\"{middle}\" y=\"{foot}\" text-anchor=\"middle\">{}</text>",
            escaped(&self.x)
        )?;
        writeln!(
            out,
            "<text x=\"16\" y=\"{0}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {0})\">{1}</text>",
            f64::midpoint(TOP, bottom),
            escaped(&self.y)
        )?;
        let styles = COLOURS.iter().cycle().zip(DASHES.iter().cycle());
        let mut legend = TOP + 8.0;
        for (line, (colour, dash)) in self.lines.iter().zip(styles) {
            let mut path = String::new();
            for (at, (x, y)) in line.points.iter().enumerate() {
                let (x, y) = (across(*x), up(*y));
                // Writing to a string cannot fail.
                let _ = write!(path, "{}{x:.1} {y:.1}", if at == 0 { 'M' } else { 'L' });
                writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>")?;
            }
            if line.joined && !path.is_empty() {
                writeln!(
                    out,
                    "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" stroke-dasharray=\"{dash}\"/>"
                )?;
            }
            let (from, to, text) = (right + 8.0, right + 30.0, right + 35.0);
            writeln!(
                out,
                "<path d=\"M{from} {legend}H{to}\" stroke=\"{colour}\" stroke-width=\"1.5\" stroke-dasharray=\"{dash}\"/>"
            )?;
            writeln!(
                out,
                "<text x=\"{text}\" y=\"{:.1}\" font-size=\"10\">{}</text>",
                legend + 4.0,
                escaped(&line.name)
            )?;
            legend += 16.0;
        }
        writeln!(out, "</svg>")
    }
}

/// A round step and the end of an axis that holds `largest` in at most ten steps.
fn ticks(largest: f64) -> (f64, f64) {
    if !(largest > 0.0 && largest < 1e300) {
        return (0.2, 1.0);
    }
    let mut step = libm::pow(10.0, libm::floor(libm::log10(largest)) - 1.0);
    for factor in [2.0, 2.5, 2.0].into_iter().cycle().take(60) {
        if largest / step <= 10.0 {
            break;
        }
        step *= factor;
    }
    (step, step * (largest / step).ceil())
}

fn marks(step: f64, top: f64) -> impl Iterator<Item = f64> {
    (0..=20_u32).map(move |at| f64::from(at) * step).take_while(move |at| *at <= top * 1.000_001)
}

/// A number without the rounding of its last digits.
fn label(value: f64) -> String {
    format!("{value:.6e}").parse::<f64>().map_or_else(|_| value.to_string(), |value| value.to_string())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_is_whole_and_escaped() {
        let standing =
            [Standing::Frontier, Standing::Frontier, Standing::Dominated { by: 1 }, Standing::Invalid];
        let points = [(2.0, 100.0), (3.0, 180.0), (3.0, 150.0), (f64::NAN, 1.0)];
        let mut out = Vec::new();
        pareto(&points, &standing, ("<x>", "a & b")).write(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"), "{text}");
        assert!(text.contains("&lt;x&gt;") && text.contains("a &amp; b") && !text.contains("NaN"), "{text}");
        assert_eq!(text.matches("<circle").count(), 3);
    }

    #[test]
    fn axes_hold_their_values() {
        for largest in [1e-9, 0.7, 1.0, 9.99, 192.0, 192_061.2, 1e12] {
            let (step, top) = ticks(largest);
            assert!(top >= largest && top / step <= 11.0, "{largest}: {step} {top}");
        }
        assert_eq!(label(0.1 + 0.2), "0.3");
    }
}
