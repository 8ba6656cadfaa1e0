//! Results of a fleet: the document of an audit, each point with its target, its row of the manifest and its labels.

use std::io::{self, Write};

use super::SCHEMA_VERSION;
use crate::audit::Verdict;
use crate::report::fleet::{FleetRow, FleetRows, FleetTally};

/// Writes the document, one point a line.
pub fn write_fleet(rows: &dyn FleetRows, out: &mut dyn Write) -> io::Result<()> {
    let tally = FleetTally::of(rows)?;
    write!(out, "{{\n  \"schema_version\": {SCHEMA_VERSION},\n  \"target\": null,\n  \"points\": [")?;
    let mut between = "\n";
    rows.each(&mut |row| {
        for point in &row.points {
            let labels = serde_json::to_string(&row.labels)?;
            // A point's document is an object that is not empty.
            let Some(rest) = point.document.get().strip_prefix('{') else { continue };
            let number = serde_json::to_string(&row.row)?;
            write!(out, "{between}    {{\"row\":{number},\"labels\":{labels},{rest}")?;
            between = ",\n";
        }
        Ok(())
    })?;
    let verdict = tally.worst.unwrap_or(Verdict::Insufficient).name();
    write!(
        out,
        "\n  ],\n  \"verdict\": \"{verdict}\",\n  \"verdicts\": {}",
        serde_json::to_string(&tally.verdicts)?
    )?;
    failed_rows(rows, out)?;
    list(rows, out, "errors", &[], |row| &row.failures)?;
    list(rows, out, "notes", rows.notes(), |row| &row.notes)?;
    writeln!(out, "\n}}")
}

/// Rows of which something could not be done, for programs: what the errors say, with all that tells a row from others.
fn failed_rows(rows: &dyn FleetRows, out: &mut dyn Write) -> io::Result<()> {
    #[derive(serde::Serialize)]
    struct Failed<'a> {
        row: Option<u64>,
        path: &'a str,
        labels: &'a std::collections::BTreeMap<String, String>,
        failures: &'a [String],
    }
    write!(out, ",\n  \"failed_rows\": [")?;
    let mut between = "\n";
    rows.each(&mut |row| {
        if row.failures.is_empty() {
            return Ok(());
        }
        let FleetRow { row, name, labels, failures, .. } = &row;
        let failed = Failed { row: *row, path: name, labels, failures };
        write!(out, "{between}    {}", serde_json::to_string(&failed)?)?;
        between = ",\n";
        Ok(())
    })?;
    write!(out, "{}]", if between == "\n" { "" } else { "\n  " })
}

/// A list of texts: those that are of no row, then each with the number of its row.
fn list(
    rows: &dyn FleetRows,
    out: &mut dyn Write,
    name: &str,
    first: &[String],
    of: fn(&FleetRow) -> &Vec<String>,
) -> io::Result<()> {
    write!(out, ",\n  \"{name}\": [")?;
    let mut between = "\n";
    for text in first {
        write!(out, "{between}    {}", serde_json::to_string(text)?)?;
        between = ",\n";
    }
    rows.each(&mut |row| {
        for text in of(&row) {
            let text = serde_json::to_string(&row.said(text))?;
            write!(out, "{between}    {text}")?;
            between = ",\n";
        }
        Ok(())
    })?;
    write!(out, "{}]", if between == "\n" { "" } else { "\n  " })
}
