//! One point, ready for every format.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::audit::{PointReport, Verdict};
use crate::report::audit::AuditRun;
use crate::report::{csv, json};

/// A judged point as the formats print it. It can be written down and read again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FleetPoint {
    /// The point's verdict.
    pub verdict: String,
    /// Its row of the CSV table: the fields by the columns' names.
    pub cells: Map<String, Value>,
    /// Its entry of the JSON document, with its target.
    pub document: Box<RawValue>,
}

impl FleetPoint {
    /// A point of an audit.
    ///
    /// # Errors
    ///
    /// Never in practice: every part of a report can be written as JSON.
    pub fn new(run: &AuditRun<'_>, point: &PointReport) -> io::Result<Self> {
        let Value::Object(cells) = csv::cells(run, point)? else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let document = serde_json::value::to_raw_value(&json::point(run, point))?;
        Ok(Self { verdict: point.verdict.name().to_owned(), cells, document })
    }

    /// The verdict; `None` where a file says another word.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        Verdict::ALL.into_iter().find(|verdict| verdict.name() == self.verdict)
    }
}
