//! Pareto coverage of the curve.

use crate::signoff::facts::{Point, Run, Table, TableRow};
use crate::signoff::item::{Evidence, Outcome, Weighing, counted};
use crate::signoff::profile::check::Pareto;
use crate::throughput::{Standing, pareto};

/// Columns that say which point a row is, in this order.
const LABELS: [&str; 5] = ["point", "name", "concurrency", "conc", "layout"];

pub(in crate::signoff) fn pareto_coverage(run: &Run, rule: &Pareto) -> Outcome {
    let mut weighing = Weighing::default();
    let Some(table) = &run.table else {
        weighing.miss(format!(
            "no table of points was found; give --points POINTS.csv with the columns {} and {}",
            rule.y,
            rule.x.iter().map(|axis| axis.column.as_str()).collect::<Vec<_>>().join(", ")
        ));
        return weighing.conclude("");
    };
    let column = |name: &str, weighing: &mut Weighing| {
        let found = table.column(name);
        if found.is_none() {
            weighing.miss(format!(
                "{} has no column {name} (columns: {})",
                table.file,
                table.columns.join(", ")
            ));
        }
        found
    };
    let y = column(&rule.y, &mut weighing);
    let xs: Vec<(&str, usize)> = rule
        .x
        .iter()
        .filter_map(|axis| Some((axis.label.as_str(), column(&axis.column, &mut weighing)?)))
        .collect();
    let Some(y) = y else { return weighing.conclude("") };
    let measured = table.rows.len();
    if measured < rule.least_points {
        weighing.fail(
            format!("{} measured, at least {} are asked for", counted(measured, "point"), rule.least_points),
            [],
        );
    }
    against_points(run, table, &mut weighing);
    let (mut counts, mut standings, mut invalid_most) = (Vec::new(), Vec::new(), 0);
    for (label, x) in &xs {
        let points: Vec<(f64, f64)> = table.rows.iter().map(|row| (row.number(*x), row.number(y))).collect();
        let standing = pareto(&points);
        let invalid = standing.iter().filter(|standing| **standing == Standing::Invalid).count();
        let frontier = standing.iter().filter(|standing| **standing == Standing::Frontier).count();
        invalid_most = invalid_most.max(invalid);
        if invalid > 0 {
            let row = standing.iter().zip(&table.rows).find(|(standing, _)| **standing == Standing::Invalid);
            let evidence = row.map(|(_, row)| Evidence {
                file: table.file.clone(),
                line: Some(row.line),
                value: format!("{label} {}, {} {}", row.cell(*x), rule.y, row.cell(y)),
            });
            weighing.fail(
                format!(
                    "{label}: {invalid} of {} {}",
                    counted(measured, "point"),
                    if invalid == 1 { "is invalid" } else { "are invalid" }
                ),
                evidence,
            );
        }
        if frontier < rule.least_frontier {
            let evidence: Vec<Evidence> = beaten(table, &standing, *x, label);
            weighing.fail(
                format!(
                    "{label}: {} on the frontier, at least {} are asked for",
                    counted(frontier, "point"),
                    rule.least_frontier
                ),
                evidence,
            );
        } else {
            for evidence in beaten(table, &standing, *x, label) {
                weighing.show(evidence);
            }
        }
        counts.push(format!("frontier {frontier} of {measured} at {label}"));
        standings.push(standing);
    }
    let message = format!("measured {measured}, invalid {invalid_most}, {}", counts.join(", "));
    let outcome = weighing.conclude(message.clone());
    let message =
        if outcome.message == message { message } else { format!("{}; {message}", outcome.message) };
    Outcome { table: shown(table, rule, y, &xs, &standings), message, ..outcome }
}

/// Whether the table holds the points that ran, each once: one that is left out, or one measured twice of which the better
/// counts, makes another curve.
fn against_points(run: &Run, table: &Table, weighing: &mut Weighing) {
    let Some(column) = ["concurrency", "conc"].iter().find_map(|name| table.column(name)) else {
        if !run.points.is_empty() {
            weighing.miss(format!(
                "{} has no column concurrency, so nothing says which points it holds",
                table.file
            ));
        }
        return;
    };
    let number = |row: &TableRow| {
        let number = row.number(column);
        (number.fract() == 0.0 && number > 0.0).then(|| crate::law::whole(number))
    };
    let told = |point: &Point| {
        let clients = || point.facts.clients.iter().find_map(|client| client.concurrency);
        point.concurrency.or_else(clients)
    };
    for point in &run.points {
        match told(point) {
            Some(wanted) if !table.rows.iter().any(|row| number(row) == Some(wanted)) => {
                let name = &point.name;
                weighing.fail(format!("C{wanted} ({name}) ran and has no row in {}", table.file), []);
            }
            Some(_) => {}
            None => weighing.miss(format!(
                "{}: nothing says its concurrency, so whether it has a row is not known",
                point.label()
            )),
        }
    }
    // Two runs of one concurrency and one row: the better may count.
    for (index, point) in run.points.iter().enumerate() {
        let Some(wanted) = told(point) else { continue };
        let of_it = |other: &&Point| told(other) == Some(wanted);
        let is_first = !run.points.get(..index).unwrap_or(&[]).iter().any(|other| of_it(&other));
        let ran: Vec<&str> = run.points.iter().filter(of_it).map(|point| point.name.as_str()).collect();
        let rows = table.rows.iter().filter(|row| number(row) == Some(wanted)).count();
        if is_first && rows > 0 && ran.len() > rows {
            weighing.fail(
                format!(
                    "C{wanted} ran {} times ({}) and has {}",
                    ran.len(),
                    ran.join(", "),
                    counted(rows, "row")
                ),
                [],
            );
        }
    }
    // Layouts measured at one concurrency are points of their own.
    let layout = ["layout", "point", "name"].iter().find_map(|name| table.column(name));
    let key = |row: &TableRow| (number(row), layout.map(|layout| row.cell(layout).to_owned()));
    for (index, row) in table.rows.iter().enumerate() {
        let earlier = table.rows.get(..index).unwrap_or(&[]).iter().find(|other| key(other) == key(row));
        let (Some(earlier), Some(number)) = (earlier, number(row)) else { continue };
        let at = |row: &TableRow| Evidence {
            file: table.file.clone(),
            line: Some(row.line),
            value: format!("C{number}"),
        };
        weighing.fail(format!("C{number} has more than one row in {}", table.file), [at(earlier), at(row)]);
    }
}

/// Points that others beat, each with the one that does.
fn beaten(table: &Table, standing: &[Standing], x: usize, label: &str) -> Vec<Evidence> {
    let mut found = Vec::new();
    for (standing, row) in standing.iter().zip(&table.rows) {
        let Standing::Dominated { by } = standing else { continue };
        let by = table.rows.get(*by).map_or_else(String::new, |row| named(table, row));
        found.push(Evidence {
            file: table.file.clone(),
            line: Some(row.line),
            value: format!("{label}: {} at {} is dominated by {by}", named(table, row), row.cell(x)),
        });
    }
    found
}

/// What a row is called.
fn named(table: &Table, row: &TableRow) -> String {
    let found = LABELS.iter().find_map(|name| Some((*name, row.cell(table.column(name)?))));
    match found {
        Some(("concurrency" | "conc", value)) => format!("C{value}"),
        Some((_, value)) => value.to_owned(),
        None => format!("row {}", row.line),
    }
}

/// The table with what each point came to.
fn shown(
    table: &Table,
    rule: &Pareto,
    y: usize,
    xs: &[(&str, usize)],
    standings: &[Vec<Standing>],
) -> Vec<Vec<String>> {
    let labels: Vec<usize> = LABELS.iter().filter_map(|name| table.column(name)).collect();
    let mut head: Vec<String> =
        labels.iter().filter_map(|column| table.columns.get(*column).cloned()).collect();
    head.push(rule.y.clone());
    for (label, column) in xs {
        head.push(table.columns.get(*column).cloned().unwrap_or_default());
        head.push(format!("frontier {label}"));
    }
    let mut rows = vec![head];
    for (index, row) in table.rows.iter().enumerate() {
        let mut cells: Vec<String> = labels.iter().map(|column| row.cell(*column).to_owned()).collect();
        cells.push(row.cell(y).to_owned());
        for ((_, column), standing) in xs.iter().zip(standings) {
            cells.push(row.cell(*column).to_owned());
            cells.push(match standing.get(index) {
                Some(Standing::Frontier) => "yes".to_owned(),
                Some(Standing::Dominated { by }) => {
                    format!(
                        "no, by {}",
                        table.rows.get(*by).map_or_else(String::new, |row| named(table, row))
                    )
                }
                Some(Standing::Invalid) | None => "invalid".to_owned(),
            });
        }
        rows.push(cells);
    }
    rows
}
