//! Results of a fleet for a terminal: how many points have which verdict, and those that a person has to look at.

use std::io::{self, Write};

use serde_json::Value;

use super::audit::colored;
use super::{Align, Table};
use crate::audit::Verdict;
use crate::report::excerpt::printable;
use crate::report::fleet::{FleetPoint, FleetRow, FleetRows, FleetTally};

/// Points and failures that are named one by one, unless all are asked for.
const NAMED: u64 = 50;

/// Writes the counts and the points that are not consistent; with `all`, every point.
pub fn write_fleet(rows: &dyn FleetRows, all: bool, out: &mut dyn Write) -> io::Result<()> {
    let tally = FleetTally::of(rows)?;
    named(rows, all, out)?;
    failures(rows, all, out)?;
    let mut counts = Table::new([("VERDICT", Align::Left), ("POINTS", Align::Right)]);
    for verdict in Verdict::ALL {
        counts.row([verdict.name().to_owned(), tally.count(verdict).to_string()]);
    }
    counts.write(out)?;
    let failed = match tally.failed {
        0 => String::new(),
        failed => format!(", {failed} with failures"),
    };
    let FleetTally { rows, points, .. } = tally;
    let verdict = tally.worst.unwrap_or(Verdict::Insufficient);
    let (rows, points) = (counted(rows, "row"), counted(points, "point"));
    writeln!(out, "\n{rows}{failed}; verdict over {points}: {}", colored(verdict))
}

/// `1 row`, `15 rows`.
fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn named(rows: &dyn FleetRows, all: bool, out: &mut dyn Write) -> io::Result<()> {
    let (left, right) = (Align::Left, Align::Right);
    let columns =
        [("ROW", right), ("POINT", left), ("TARGET", right), ("LINES", right), ("ACCEPT LEN", right)];
    let mut table = Table::new(columns.into_iter().chain([("VERDICT", left), ("WHY", left)]));
    let (mut shown, mut more) = (0, 0);
    rows.each(&mut |row| {
        for point in &row.points {
            if !all && point.verdict == Verdict::Consistent.name() {
                continue;
            }
            if !all && shown == NAMED {
                more += 1;
                continue;
            }
            shown += 1;
            table.row([
                row.row.map_or_else(String::new, |row| row.to_string()),
                text(point, "point"),
                text(point, "target_accept_len"),
                text(point, "spec_lines"),
                number(point, "accept_len_mean"),
                point.verdict.clone(),
                text(point, "reason"),
            ]);
        }
        Ok(())
    })?;
    if shown > 0 {
        table.write(out)?;
        if more > 0 {
            writeln!(out, "and {more} more; -v names all, --format csv and parquet hold them")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn failures(rows: &dyn FleetRows, all: bool, out: &mut dyn Write) -> io::Result<()> {
    let (mut shown, mut more) = (0, 0);
    rows.each(&mut |row| {
        for failure in &row.failures {
            if all || shown < NAMED {
                shown += 1;
                let text = format!("{}{}", who(&row), printable(failure));
                writeln!(out, "{}", row.said(&text))?;
            } else {
                more += 1;
            }
        }
        Ok(())
    })?;
    if more > 0 {
        writeln!(out, "and {more} more failures")?;
    }
    if shown > 0 { writeln!(out) } else { Ok(()) }
}

/// The labels of a row that failed: whoever reads on has to find it again.
fn who(row: &FleetRow) -> String {
    let labels: Vec<String> = row.labels.iter().map(|(label, value)| format!("{label}={value}")).collect();
    if labels.is_empty() { String::new() } else { format!("[{}] ", printable(&labels.join(", "))) }
}

fn text(point: &FleetPoint, column: &str) -> String {
    match point.cells.get(column) {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

fn number(point: &FleetPoint, column: &str) -> String {
    point.cells.get(column).and_then(Value::as_f64).map_or("-".to_owned(), |number| format!("{number:.3}"))
}
