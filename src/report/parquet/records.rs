//! Records as a Parquet file: the columns of the CSV table, with their types.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::{Map, Value};

use crate::evidence::Record;
use crate::report::csv::{RECORD_COLUMNS, row_of};

/// Rows that are held and written together.
const GROUP: usize = 1 << 14;

/// Writes records as rows of a Parquet file.
///
/// `tags` reads `DP0 TP0`; `fields` is a JSON object of all fields without a column, as printed. Lengths, shares and rates
/// are doubles, counts 64-bit integers, all of them null where a record lacks them.
pub struct RecordFile<'w> {
    out: &'w mut dyn Write,
    /// What the writer has written and `out` has not.
    written: Written,
    writer: SerializedFileWriter<Written>,
    rows: Vec<Map<String, Value>>,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Bool,
    Double,
    Integer,
}

/// Bytes on their way: the library wants a sink of its own that may change threads.
#[derive(Clone, Debug, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Written {
    fn take(&self) -> Vec<u8> {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Kind {
    fn of(column: &str) -> Self {
        match column {
            "kind"
            | "engine"
            | "file"
            | "timestamp"
            | "tags"
            | "graph_label"
            | "speculative_algorithm"
            | "disaggregation_mode"
            | "reason"
            | "excerpt"
            | "fields" => Self::Text,
            "cuda_graph" => Self::Bool,
            "token_usage" | "accept_len" | "accept_rate" | "gen_throughput_tps" | "input_throughput_tps" => {
                Self::Double
            }
            _ => Self::Integer,
        }
    }

    fn name(self, column: &str) -> String {
        match self {
            Self::Text => format!("optional binary {column} (UTF8);"),
            Self::Bool => format!("optional boolean {column};"),
            Self::Double => format!("optional double {column};"),
            Self::Integer => format!("optional int64 {column};"),
        }
    }
}

impl<'w> RecordFile<'w> {
    /// A file that is written to `out`.
    pub fn new(out: &'w mut dyn Write) -> io::Result<Self> {
        let columns: String = RECORD_COLUMNS.iter().map(|column| Kind::of(column).name(column)).collect();
        let schema = parse_message_type(&format!("message records {{ {columns} }}")).map_err(failed)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("accsim ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let written = Written::default();
        let writer = SerializedFileWriter::new(written.clone(), Arc::new(schema), Arc::new(properties));
        Ok(Self { out, written, writer: writer.map_err(failed)?, rows: Vec::new() })
    }

    /// Adds the record that stands on `line` of `file`.
    pub fn write(&mut self, file: &str, line: u64, record: &Record<'_>) -> io::Result<()> {
        if let Value::Object(row) = serde_json::to_value(row_of(file, line, record))? {
            self.rows.push(row);
        }
        if self.rows.len() >= GROUP { self.group() } else { Ok(()) }
    }

    /// Ends the file.
    pub fn finish(mut self) -> io::Result<()> {
        self.group()?;
        self.writer.close().map_err(failed)?;
        self.out.write_all(&self.written.take())
    }

    fn group(&mut self) -> io::Result<()> {
        if !self.rows.is_empty() {
            let rows = mem::take(&mut self.rows);
            write_group(&mut self.writer, &rows).map_err(failed)?;
        }
        self.out.write_all(&self.written.take())
    }
}

fn write_group(
    writer: &mut SerializedFileWriter<Written>,
    rows: &[Map<String, Value>],
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for column in RECORD_COLUMNS {
        let Some(mut open) = group.next_column()? else { break };
        let cells: Vec<&Value> = rows.iter().map(|row| row.get(column).unwrap_or(&Value::Null)).collect();
        match open.untyped() {
            ColumnWriter::ByteArrayColumnWriter(to) => {
                let (values, present) = split(&cells, |cell| cell.as_str().map(ByteArray::from));
                to.write_batch(&values, Some(&present), None)?;
            }
            ColumnWriter::BoolColumnWriter(to) => {
                let (values, present) = split(&cells, Value::as_bool);
                to.write_batch(&values, Some(&present), None)?;
            }
            ColumnWriter::DoubleColumnWriter(to) => {
                // What has two decimals is a text in the table.
                let double = |cell: &Value| cell.as_f64().or_else(|| cell.as_str()?.parse().ok());
                let (values, present) = split(&cells, double);
                to.write_batch(&values, Some(&present), None)?;
            }
            ColumnWriter::Int64ColumnWriter(to) => {
                let (values, present) = split(&cells, Value::as_i64);
                to.write_batch(&values, Some(&present), None)?;
            }
            _ => return Err(ParquetError::General(format!("no type for the column {column}"))),
        }
        open.close()?;
    }
    group.close()?;
    Ok(())
}

/// The values that are there, and for every cell whether it has one.
fn split<T>(cells: &[&Value], of: impl Fn(&Value) -> Option<T>) -> (Vec<T>, Vec<i16>) {
    let found: Vec<Option<T>> = cells.iter().map(|cell| of(cell)).collect();
    let present = found.iter().map(|value| i16::from(value.is_some())).collect();
    (found.into_iter().flatten().collect(), present)
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}
