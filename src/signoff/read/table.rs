//! Tables of points.

use crate::signoff::facts::{Table, TableRow};

/// Rows of a table; a curve has a dozen.
const MOST_ROWS: usize = 100_000;

/// Reads a CSV table with names of columns in its first row; why it is none.
pub fn read_table(file: &str, text: &[u8]) -> Result<Table, String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text);
    let wrong = |error: &csv::Error| match error.kind() {
        csv::ErrorKind::Utf8 { pos, .. } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            format!("line {line}: no text in UTF-8; expected a CSV table")
        }
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            format!("line {line}: found {len} cells, the head has {expected_len}")
        }
        _ => format!("no CSV table: {error}"),
    };
    let columns: Vec<String> = reader
        .headers()
        .map_err(|error| wrong(&error))?
        .iter()
        .map(|name| name.trim_start_matches('\u{feff}').to_owned())
        .collect();
    let mut rows = Vec::new();
    for record in reader.records().take(MOST_ROWS) {
        let record = record.map_err(|error| wrong(&error))?;
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
