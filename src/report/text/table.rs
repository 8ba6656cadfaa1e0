//! Columns without frames: easy to read, easy to cut with other tools.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table as Grid, presets};

/// Where the text of a column stands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table with a heading.
pub(crate) struct Table {
    grid: Grid,
    columns: Vec<Align>,
}

impl Table {
    /// Columns by heading.
    pub(crate) fn new<S: Into<String>>(columns: impl IntoIterator<Item = (S, Align)>) -> Self {
        let (headings, columns): (Vec<String>, Vec<Align>) =
            columns.into_iter().map(|(heading, align)| (heading.into(), align)).unzip();
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING).set_header(headings);
        Self { grid, columns }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.grid.add_row(cells.into_iter().collect::<Vec<_>>());
    }

    pub(crate) fn write(mut self, out: &mut dyn Write) -> io::Result<()> {
        for (index, align) in self.columns.iter().enumerate() {
            if let Some(column) = self.grid.column_mut(index) {
                column.set_padding((0, 2));
                column.set_cell_alignment(match align {
                    Align::Left => CellAlignment::Left,
                    Align::Right => CellAlignment::Right,
                });
            }
        }
        for line in self.grid.lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
