//! From a figure to strokes and texts at places; templates turn them into SVG.
//!
//! Plotting crates were looked at first. `plotters` writes SVG with colours fixed in the file: no dark scheme, no titles, nothing
//! to link to. This is a few hundred lines, and every stroke has a class that a style sheet gives its colour.

use std::fmt::Write as _;

use super::figure::{Figure, Layer, Look, Mark, Shape};
use super::scale::Scale;

/// Width of a drawing in its own units.
const WIDTH: f64 = 520.0;
/// Height of what lies between the axes.
const INNER: f64 = 210.0;
/// Room for the name of the vertical axis, and for each letter of its longest number.
const NAME: f64 = 30.0;
const DIGIT: f64 = 9.6;
const RIGHT: f64 = 14.0;
const BOTTOM: f64 = 46.0;
/// Height of a row of the legend.
const ROW: f64 = 20.0;
/// Width of a letter, generously.
const LETTER: f64 = 9.2;
/// Length of a stroke in the legend.
const SWATCH: f64 = 22.0;
/// Radius of a mark.
const MARK: f64 = 9.0;

/// Letters of a name in the legend.
const NAME_LETTERS: usize = 40;

/// Entries of a legend; more are summed up.
const MOST_ENTRIES: usize = 14;

/// A figure as strokes and texts.
pub(in crate::report) struct Drawing<'a> {
    pub(in crate::report) figure: &'a Figure,
    pub(in crate::report) width: f64,
    pub(in crate::report) height: f64,
    pub(in crate::report) parts: Vec<Part>,
    pub(in crate::report) marks: Vec<Flag<'a>>,
}

/// One stroke, area or text.
pub(in crate::report) enum Part {
    Path { class: String, data: String },
    Text { class: &'static str, x: String, y: String, text: String },
}

/// A mark at its place.
pub(in crate::report) struct Flag<'a> {
    pub(in crate::report) mark: &'a Mark,
    /// Its stroke.
    pub(in crate::report) data: String,
    /// The middle of its number.
    pub(in crate::report) x: String,
    pub(in crate::report) y: String,
    pub(in crate::report) text_y: String,
}

impl<'a> Drawing<'a> {
    pub(in crate::report) fn new(figure: &'a Figure) -> Self {
        let y = Scale::over(figure.layers.iter().flat_map(|layer| layer.shape.ys()), figure.y.with_zero);
        let letters = y.ticks().iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0);
        let left = NAME + 6.0 + DIGIT * f64::from(u32::try_from(letters.min(14)).unwrap_or(14));
        let legend = Legend::of(&figure.layers, left);
        let head = 6.0 + ROW * legend.rows + if figure.marks.is_empty() { 4.0 } else { 2.0 * MARK + 6.0 };
        let frame = Frame { x: x_scale(figure), y, left, top: head };
        let mut parts = frame.axes(figure);
        for layer in &figure.layers {
            frame.layer(layer, &mut parts);
        }
        parts.extend(legend.parts);
        Self { figure, width: WIDTH, height: head + INNER + BOTTOM, parts, marks: frame.flags(&figure.marks) }
    }
}

fn x_scale(figure: &Figure) -> Scale {
    let xs: Vec<f64> = figure.layers.iter().flat_map(|layer| layer.shape.xs()).collect();
    let is_line = figure.layers.iter().all(|layer| !matches!(layer.shape, Shape::Bars(..)));
    let round = Scale::over(xs.iter().copied(), figure.x.with_zero);
    let finite = || xs.iter().copied().filter(|x| x.is_finite());
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    // Room at both ends, no more.
    let pad = (high - low) * if is_line { 0.02 } else { 0.01 };
    let scale = if figure.x.with_zero || high <= low { round } else { Scale::between(low - pad, high + pad) };
    if figure.x.is_whole { scale.whole() } else { scale }
}

/// The area between the axes.
struct Frame {
    x: Scale,
    y: Scale,
    left: f64,
    top: f64,
}

impl Frame {
    fn across(&self, x: f64) -> f64 {
        self.left + self.x.share(x) * (WIDTH - self.left - RIGHT)
    }

    fn up(&self, y: f64) -> f64 {
        self.top + INNER - self.y.share(y) * INNER
    }

    fn axes(&self, figure: &Figure) -> Vec<Part> {
        let (right, bottom) = (WIDTH - RIGHT, self.top + INNER);
        let mut parts = Vec::new();
        let mut grid = String::new();
        for (value, label) in self.y.ticks() {
            let y = self.up(value);
            let _ = write!(grid, "M{} {}H{}", number(self.left), number(y), number(right));
            parts.push(Part::text("tick end", self.left - 6.0, y + 4.5, label));
        }
        for (value, label) in self.x.ticks() {
            let x = self.across(value);
            let _ = write!(grid, "M{} {}v4", number(x), number(bottom));
            parts.push(Part::text("tick middle", x, bottom + 18.0, label));
        }
        let axis =
            format!("M{} {}V{}H{}", number(self.left), number(self.top), number(bottom), number(right));
        parts.insert(0, Part::Path { class: "grid".to_owned(), data: grid });
        parts.insert(1, Part::Path { class: "axis".to_owned(), data: axis });
        parts.push(Part::text(
            "name middle",
            f64::midpoint(self.left, right),
            bottom + 38.0,
            figure.x.label.clone(),
        ));
        parts.push(Part::text("name turned", 14.0, self.top + INNER / 2.0, figure.y.label.clone()));
        parts
    }

    fn layer(&self, layer: &Layer, parts: &mut Vec<Part>) {
        let mut data = String::new();
        // Writing to a string cannot fail.
        match &layer.shape {
            Shape::Line(points) => {
                let mut pen = 'M';
                for (x, y) in points {
                    if !(x.is_finite() && y.is_finite()) {
                        pen = 'M';
                        continue;
                    }
                    let _ = write!(data, "{pen}{} {}", number(self.across(*x)), number(self.up(*y)));
                    pen = 'L';
                }
            }
            Shape::Dots(points) => {
                for (x, y) in points.iter().filter(|(x, y)| x.is_finite() && y.is_finite()) {
                    let _ = write!(data, "M{} {}h0", number(self.across(*x)), number(self.up(*y)));
                }
            }
            Shape::Band(points) => {
                for run in points.split(|(_, low, high)| !(low.is_finite() && high.is_finite())) {
                    let edge = |(x, low, high): &(f64, f64, f64)| {
                        (number(self.across(*x)), number(self.up(*low)), number(self.up(*high)))
                    };
                    let mut pen = 'M';
                    for (x, _, high) in run.iter().map(edge) {
                        let _ = write!(data, "{pen}{x} {high}");
                        pen = 'L';
                    }
                    for (x, low, _) in run.iter().rev().map(edge) {
                        let _ = write!(data, "L{x} {low}");
                    }
                    if !run.is_empty() {
                        data.push('Z');
                    }
                }
            }
            Shape::Zone(low, high) => {
                let (top, bottom) = (self.up(*high), self.up(*low));
                let (left, right) = (number(self.left), number(WIDTH - RIGHT));
                let _ = write!(data, "M{left} {}H{right}V{}H{left}Z", number(top), number(bottom));
            }
            Shape::Rule(y) => {
                let _ =
                    write!(data, "M{} {}H{}", number(self.left), number(self.up(*y)), number(WIDTH - RIGHT));
            }
            Shape::Bars(width, bars) => {
                for (x, from, to) in bars {
                    let (left, right) = self.sides(*x, *width, 0.8);
                    let (top, bottom) = (number(self.up(*to)), number(self.up(*from)));
                    let _ = write!(data, "M{} {bottom}V{top}H{}V{bottom}Z", number(left), number(right));
                }
            }
            Shape::Steps(width, steps) => {
                for (x, y) in steps {
                    let (left, right) = self.sides(*x, *width, 1.0);
                    let _ = write!(data, "M{} {}H{}", number(left), number(self.up(*y)), number(right));
                }
            }
        }
        if !data.is_empty() {
            parts.push(Part::Path { class: class(layer), data });
        }
    }

    /// The sides of a bar that takes this share of its room, and never less than a hair.
    fn sides(&self, x: f64, width: f64, share: f64) -> (f64, f64) {
        let (left, right) = (self.across(x - width / 2.0), self.across(x + width / 2.0));
        let half = ((right - left) * share / 2.0).max(0.5);
        let middle = f64::midpoint(left, right);
        (middle - half, middle + half)
    }

    /// The marks, their numbers side by side where places are near.
    fn flags<'a>(&self, marks: &'a [Mark]) -> Vec<Flag<'a>> {
        let mut order: Vec<&Mark> = marks.iter().collect();
        order.sort_by(|left, right| left.x.total_cmp(&right.x).then(left.number.cmp(&right.number)));
        let room = 2.0 * MARK + 2.0;
        let mut at: Vec<f64> = Vec::new();
        for mark in &order {
            let least = at.last().map_or(self.left + MARK, |last| last + room);
            at.push(self.across(mark.x).max(least));
        }
        let mut most = WIDTH - RIGHT - MARK + 8.0;
        for x in at.iter_mut().rev() {
            *x = x.min(most);
            most = *x - room;
        }
        let y = self.top - MARK - 4.0;
        let flag = |(mark, x): (&'a Mark, f64)| {
            let foot = number(self.across(mark.x));
            Flag {
                mark,
                data: format!(
                    "M{} {}L{foot} {}V{}",
                    number(x),
                    number(y + MARK),
                    number(self.top + 2.0),
                    number(self.top + INNER)
                ),
                x: number(x),
                y: number(y),
                text_y: number(y + 4.0),
            }
        };
        order.into_iter().zip(at).map(flag).collect()
    }
}

impl Part {
    fn text(class: &'static str, x: f64, y: f64, text: String) -> Self {
        Self::Text { class, x: number(x), y: number(y), text }
    }
}

/// The classes of a layer: what it is, and whose.
fn class(layer: &Layer) -> String {
    let shape = match layer.shape {
        Shape::Line(_) | Shape::Rule(_) => "line",
        Shape::Dots(_) => "dots",
        Shape::Band(_) => "band",
        Shape::Zone(..) => "zone",
        Shape::Bars(..) => "bars",
        Shape::Steps(..) => "line steps",
    };
    let look = match layer.look {
        Look::Series(number) if number < 8 => format!("s{number}"),
        // The same colours with another dash.
        Look::Series(number) => format!("s{} again", number % 8),
        Look::Target => "target".to_owned(),
        Look::Margin => "margin".to_owned(),
        Look::Law => "law".to_owned(),
        Look::Faint => "faint".to_owned(),
        Look::Chosen => "chosen".to_owned(),
    };
    format!("{shape} {look}")
}

/// Names beside strokes, in rows above the plot.
struct Legend {
    parts: Vec<Part>,
    rows: f64,
    left: f64,
}

impl Legend {
    fn of(layers: &[Layer], left: f64) -> Self {
        let named: Vec<&Layer> = layers.iter().filter(|layer| !layer.name.is_empty()).collect();
        let mut legend = Self { parts: Vec::new(), rows: 0.0, left };
        let mut x = left;
        let more = named.len().saturating_sub(MOST_ENTRIES);
        for layer in named.iter().take(MOST_ENTRIES) {
            legend.add(&mut x, Some(class(layer)), shortened(&layer.name));
        }
        if more > 0 {
            legend.add(&mut x, None, format!("and {more} more"));
        }
        legend
    }

    fn add(&mut self, x: &mut f64, class: Option<String>, name: String) {
        let letters = f64::from(u32::try_from(name.chars().count()).unwrap_or(u32::MAX));
        let wide = SWATCH + 6.0 + letters * LETTER + 12.0;
        if self.rows < 1.0 || *x + wide > WIDTH - RIGHT + 12.0 {
            self.rows += 1.0;
            *x = self.left;
        }
        let y = 6.0 + ROW * (self.rows - 0.5);
        if let Some(class) = class {
            let (left, right) = (number(*x), number(*x + SWATCH));
            let is_area = class.starts_with("band") || class.starts_with("zone") || class.starts_with("bars");
            let data = if is_area {
                format!("M{left} {}H{right}v10H{left}Z", number(y - 5.0))
            } else if class.starts_with("dots") {
                format!("M{} {}h0", number(*x + SWATCH / 2.0), number(y))
            } else {
                format!("M{left} {}H{right}", number(y))
            };
            self.parts.push(Part::Path { class, data });
        }
        self.parts.push(Part::text("key", *x + SWATCH + 6.0, y + 4.5, name));
        *x += wide;
    }
}

/// A name that has room.
fn shortened(name: &str) -> String {
    if name.chars().nth(NAME_LETTERS).is_none() {
        return name.to_owned();
    }
    let head: String = name.chars().take(NAME_LETTERS - 1).collect();
    format!("{head}…")
}

/// A coordinate with one decimal, none where it is whole.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
