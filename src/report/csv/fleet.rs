//! Results of a fleet as a table: one row a point, and one a failed row of the manifest.

use std::io::{self, Write};

use csv::WriterBuilder;
use serde_json::Value;

use super::cell::text;
use crate::report::fleet::{FleetPoint, FleetRow, FleetRows, cell_of, columns};

/// Writes the table, the names of the columns first.
pub fn write_fleet(rows: &dyn FleetRows, out: &mut dyn Write) -> io::Result<()> {
    let columns = columns(rows.labels());
    let mut writer = WriterBuilder::new().from_writer(out);
    writer.write_record(columns.iter().map(|column| &column.name))?;
    rows.each(&mut |row| {
        let mut line = |row: &FleetRow, point: Option<&FleetPoint>| {
            writer.write_record(columns.iter().map(
                |column| match cell_of(row, point, &column.name).as_ref() {
                    Value::Null => String::new(),
                    Value::String(word)
                        if point.is_none()
                            || column.name == "failure"
                            || column.name.starts_with("label_") =>
                    {
                        text(word)
                    }
                    Value::String(word) => word.clone(),
                    other => other.to_string(),
                },
            ))
        };
        for point in &row.points {
            line(&row, Some(point))?;
        }
        if row.points.is_empty() {
            line(&row, None)?;
        }
        Ok(())
    })?;
    writer.flush()
}
