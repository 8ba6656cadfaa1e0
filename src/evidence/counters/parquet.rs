//! Parquet exports: a row a sample, labels in columns of their own.

use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader as _, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::Type;

use super::family::Family;
use super::page::Checked;
use super::snapshot::Snapshot;

/// Columns that are no labels.
const OTHERS: [&str; 13] = [
    "endpoint_url",
    "metric_name",
    "metric_type",
    "unit",
    "description",
    "timestamp_ns",
    "value",
    "sum",
    "count",
    "bucket_le",
    "bucket_count",
    "quantile",
    "scrape_latency_ns",
];

/// Rows that a byte may stand for, and all rows: runs of equal values take no space, but time.
const ROWS_PER_BYTE: u64 = 1000;
const MOST_ROWS: u64 = 500_000_000;

/// Columns that are read: a label each.
const MOST_COLUMNS: usize = 256;

/// The bytes of an export; a reader needs its end first.
pub(in crate::evidence) enum Export {
    File(File),
    Held(Vec<u8>),
}

/// Reads an export to its end; `None` for a table of something else.
pub(in crate::evidence) fn read_parquet(export: Export) -> io::Result<Option<Snapshot>> {
    // The library promises errors, and is used on whatever users point at.
    let read = catch_unwind(AssertUnwindSafe(|| match export {
        Export::File(file) => read(file),
        Export::Held(bytes) => read(Bytes::from(bytes)),
    }));
    match read {
        Ok(Ok(snapshot)) => Ok(snapshot),
        Ok(Err(error)) => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("the Parquet file is damaged or not read here ({error})"),
        )),
        Err(_) => Err(io::Error::new(io::ErrorKind::InvalidData, "the Parquet file is damaged")),
    }
}

fn read<R: ChunkReader + 'static>(source: R) -> Result<Option<Snapshot>, ParquetError> {
    let size = source.len();
    let (source, is_open) = Checked::new(source);
    let reader = SerializedFileReader::new(source)?;
    is_open.store(true, Ordering::Relaxed);
    let rows = u64::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or(u64::MAX);
    if rows > size.saturating_mul(ROWS_PER_BYTE).min(MOST_ROWS) {
        return Err(ParquetError::General(format!("{rows} rows in {size} bytes")));
    }
    let schema = reader.metadata().file_metadata().schema();
    let names: Vec<&str> = schema.get_fields().iter().map(|field| field.name()).collect();
    if !["metric_name", "value"].iter().all(|needed| names.contains(needed)) {
        return Ok(None);
    }
    let wanted = |field: &Type| {
        let name = field.name();
        let is_needed = matches!(name, "endpoint_url" | "metric_name" | "timestamp_ns" | "value");
        field.is_primitive() && (is_needed || !OTHERS.contains(&name))
    };
    let columns = schema.get_fields().iter().filter(|field| wanted(field)).count();
    if columns > MOST_COLUMNS {
        return Err(ParquetError::General(format!("{columns} columns")));
    }
    let fields = schema.get_fields().iter().filter(|field| wanted(field)).cloned().collect();
    let projection = Type::group_type_builder(schema.name()).with_fields(fields).build()?;
    let mut snapshot = Snapshot::default();
    // Groups of rows may hold more than the table of contents says.
    for (row, number) in reader.get_row_iter(Some(projection))?.zip(0_u64..) {
        if number >= rows {
            return Err(ParquetError::General(format!("more than the {rows} rows that it says")));
        }
        add(&row?, &mut snapshot);
    }
    Ok(Some(snapshot))
}

fn add(row: &parquet::record::Row, snapshot: &mut Snapshot) {
    let (mut endpoint, mut name, mut time, mut value) = ("", "", None, None);
    for (column, field) in row.get_column_iter() {
        match (column.as_str(), field) {
            ("endpoint_url", Field::Str(text)) => endpoint = text,
            ("metric_name", Field::Str(text)) => name = text,
            ("timestamp_ns", field) => time = integer(field),
            ("value", field) => value = number(field),
            _ => {}
        }
    }
    let is_known = Family::named(name).is_some() || Family::created(name).is_some();
    let Some(value) = value.filter(|_| is_known) else {
        // Counted as one of its engine's.
        return snapshot.add(endpoint, name, std::iter::empty::<(&str, &str)>(), None, 0.0, false);
    };
    let labels = row.get_column_iter().filter(|(column, _)| !OTHERS.contains(&column.as_str()));
    let labels = labels.filter_map(|(column, field)| Some((column.as_str(), text(field)?)));
    snapshot.add(endpoint, name, labels, time, value, false);
}

fn text(field: &Field) -> Option<String> {
    match field {
        Field::Str(text) => Some(text.clone()),
        Field::Null | Field::Group(_) | Field::ListInternal(_) | Field::MapInternal(_) => None,
        other => integer(other).map(|number| number.to_string()),
    }
}

fn integer(field: &Field) -> Option<i64> {
    match field {
        Field::Byte(number) => Some((*number).into()),
        Field::Short(number) => Some((*number).into()),
        Field::Int(number) => Some((*number).into()),
        Field::Long(number) | Field::TimestampMillis(number) | Field::TimestampMicros(number) => {
            Some(*number)
        }
        Field::UByte(number) => Some((*number).into()),
        Field::UShort(number) => Some((*number).into()),
        Field::UInt(number) => Some((*number).into()),
        Field::ULong(number) => i64::try_from(*number).ok(),
        _ => None,
    }
}

fn number(field: &Field) -> Option<f64> {
    match field {
        Field::Double(number) => Some(*number),
        Field::Float(number) => Some((*number).into()),
        other => integer(other).map(|number| {
            let size = super::family::float(number.unsigned_abs());
            if number < 0 { -size } else { size }
        }),
    }
}
