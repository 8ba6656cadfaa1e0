//! Figures as one SVG file, one below the other: no scripts, nothing from elsewhere, light or dark as the reader has it.

use std::io::{self, Write};

use askama::Template;

use super::drawing::{Drawing, Part};
use super::figure::Figure;

/// What gives the strokes their colours.
const STYLE: &str = include_str!("templates/plot.css");

/// Room for the heading of each figure.
const HEAD: f64 = 28.0;

/// Room between two.
const GAP: f64 = 18.0;

/// The page behind the plots.
const PAPER: &str = ".paper{fill:var(--paper)}\n";

#[derive(Template)]
#[template(path = "file.svg")]
struct File<'a> {
    title: &'a str,
    style: String,
    width: f64,
    height: f64,
    panels: Vec<Panel<'a>>,
    linked: bool,
}

struct Panel<'a> {
    top: f64,
    drawing: Drawing<'a>,
}

/// Writes the figures that have something to show.
///
/// ```
/// use accsim::golden::Catalogue;
/// use accsim::report::plot;
///
/// let catalogue = Catalogue::builtin();
/// let curve = catalogue.get("glm5.2_mtp").and_then(|entry| entry.load().curve.as_ref().ok());
/// let mut drawing = Vec::new();
/// plot::write_svg("Golden accept lengths", &plot::curves(curve), &mut drawing)?;
/// assert!(drawing.starts_with(b"<svg"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_svg(title: &str, figures: &[Figure], out: &mut dyn Write) -> io::Result<()> {
    let mut top = 10.0;
    let mut width = 0.0_f64;
    let mut panels = Vec::new();
    for figure in figures.iter().filter(|figure| !figure.is_empty()) {
        let drawing = Drawing::new(figure);
        let height = drawing.height;
        width = width.max(drawing.width);
        panels.push(Panel { top, drawing });
        top += HEAD + height + GAP;
    }
    if panels.is_empty() {
        width = 520.0;
    }
    let style = format!("{STYLE}{PAPER}");
    let file = File { title, style, width, height: top, panels, linked: false };
    file.write_into(out)?;
    writeln!(out)
}
