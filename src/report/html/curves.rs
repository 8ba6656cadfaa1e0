//! Golden curves to look at.

use std::io::{self, Write};

use super::page::Page;
use super::table::{Cell, Table};
use super::throughput::FiguresPage;
use crate::golden::Curve;
use crate::report::excerpt::printable;
use crate::report::plot;

/// Writes the page: a plot, every cell, and where each curve comes from.
pub fn write_curves(curves: &[(Curve, String)], text: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut table =
        Table::new("Every cell", &["curve", "thinking", "#draft length", "#accept length", "source"]);
    for (curve, file) in curves {
        for mode in curve.modes.keys() {
            for (drafts, length) in curve.values(*mode) {
                table.rows.push(vec![
                    Cell::text(printable(&curve.name)),
                    Cell::text(mode.key()),
                    Cell::count(u64::from(drafts)),
                    Cell::number(Some(length.get()), 2),
                    Cell::text(printable(&curve.source(file))),
                ]);
            }
        }
    }
    let figures = plot::curves(curves.iter().map(|(curve, _)| curve));
    let lead = "Accept lengths that a benchmark with simulated acceptance has to show, by draft length.";
    FiguresPage::new(Page::new("Golden accept length curves"), lead, &figures, vec![table], text).write(out)
}
