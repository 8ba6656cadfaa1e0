//! The frame around every document.

use std::io::{self, Write};

use serde::Serialize;

/// Version of the field names and their meaning. Fields may be added under the same version.
pub const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a, T> {
    schema_version: u32,
    #[serde(flatten)]
    body: &'a T,
}

/// Writes `body`, a struct or a map, as one indented document.
pub fn write<T: Serialize>(out: &mut dyn Write, body: &T) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Document { schema_version: SCHEMA_VERSION, body })?;
    writeln!(out)
}
