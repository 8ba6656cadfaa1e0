//! Where points come from.

use std::collections::BTreeMap;
use std::io;

use serde_json::Value;

use super::point::FleetPoint;
use crate::report::AuditRun;

/// All that came of one row of a manifest, or of one point of parts that were merged.
#[derive(Clone, Debug, Default)]
pub struct FleetRow {
    /// Its number in the manifest, from 1; that of the point where there is none. `None` for what is of no row: a part that
    /// could not be read.
    pub row: Option<u64>,
    /// Its paths: what tables show where it has no point.
    pub name: String,
    /// What the manifest says about it for whoever reads the table.
    pub labels: BTreeMap<String, String>,
    /// Its points; none where it failed as a whole.
    pub points: Vec<FleetPoint>,
    /// What could not be done.
    pub failures: Vec<String>,
    /// What else there is to know.
    pub notes: Vec<String>,
}

impl FleetRow {
    /// A text about the row, with its number.
    #[must_use]
    pub fn said(&self, text: &str) -> String {
        self.row.map_or_else(|| text.to_owned(), |row| format!("row {row}: {text}"))
    }
}

/// Results in the order of the manifest, as often as a format asks for them.
pub trait FleetRows {
    /// Names of all labels, in the order of their columns.
    fn labels(&self) -> &[String];

    /// What there is to know beside all rows.
    fn notes(&self) -> &[String] {
        &[]
    }

    /// Hands out every row.
    ///
    /// # Errors
    ///
    /// What `each` returns, and a journal that cannot be read any more.
    fn each(&self, each: &mut dyn FnMut(FleetRow) -> io::Result<()>) -> io::Result<()>;
}

/// The value of a column: of a point, or of a row that has none.
pub(in crate::report) fn cell_of<'a>(
    row: &'a FleetRow,
    point: Option<&'a FleetPoint>,
    column: &str,
) -> std::borrow::Cow<'a, Value> {
    use std::borrow::Cow;
    match column {
        "row" => Cow::Owned(row.row.map_or(Value::Null, Value::from)),
        "point" if point.is_none() && !row.name.is_empty() => Cow::Owned(Value::from(row.name.as_str())),
        "failure" if row.failures.is_empty() => Cow::Owned(Value::Null),
        "failure" => Cow::Owned(Value::from(row.failures.join("; "))),
        _ => match column.strip_prefix("label_") {
            Some(label) => Cow::Owned(row.labels.get(label).map_or(Value::Null, |text| text.as_str().into())),
            None => {
                point.and_then(|point| point.cells.get(column)).map_or(Cow::Owned(Value::Null), Cow::Borrowed)
            }
        },
    }
}

/// The points of one audit, each a row of its own.
#[derive(Clone, Debug, Default)]
pub struct RunRows(Vec<FleetPoint>);

impl AuditRun<'_> {
    /// The points as rows of a table.
    ///
    /// # Errors
    ///
    /// See [`FleetPoint::new`].
    pub fn fleet_rows(&self) -> io::Result<RunRows> {
        self.points.iter().map(|point| FleetPoint::new(self, point)).collect::<Result<_, _>>().map(RunRows)
    }
}

impl FleetRows for RunRows {
    fn labels(&self) -> &[String] {
        &[]
    }

    fn each(&self, each: &mut dyn FnMut(FleetRow) -> io::Result<()>) -> io::Result<()> {
        for (row, point) in (1..).zip(&self.0) {
            each(FleetRow { row: Some(row), points: vec![point.clone()], ..FleetRow::default() })?;
        }
        Ok(())
    }
}
