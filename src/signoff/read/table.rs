//! Tables of points.

use crate::signoff::facts::{Table, TableRow};

/// Rows of a table; a curve has a dozen.
const MOST_ROWS: usize = 100_000;

/// Reads a CSV table with names of columns in its first row.
pub fn read_table(file: &str, text: &[u8]) -> Result<Table, String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_reader(text);
    let columns = reader.headers().map_err(|error| error.to_string())?.iter().map(str::to_owned).collect();
    let mut rows = Vec::new();
    for record in reader.records().take(MOST_ROWS) {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        rows.push(TableRow { line, cells: record.iter().map(str::to_owned).collect() });
    }
    Ok(Table { file: file.to_owned(), columns, rows })
}

impl Table {
    /// The number of a column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }
}

impl TableRow {
    /// A cell; empty where the row is too short.
    #[must_use]
    pub fn cell(&self, column: usize) -> &str {
        self.cells.get(column).map_or("", String::as_str)
    }

    /// A cell as a number; not a number where it is none.
    #[must_use]
    pub fn number(&self, column: usize) -> f64 {
        self.cell(column).parse().unwrap_or(f64::NAN)
    }
}
