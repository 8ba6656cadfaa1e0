//! Results of a fleet as a Parquet table, with the columns of the CSV one.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use serde_json::Value;

use crate::report::fleet::{Column, FleetRows, Kind, cell_of, columns};

/// Rows of a row group: some megabytes before they are packed.
const GROUP: usize = 8192;

/// A table that is written group by group: what a group holds is on its way out before the next one is begun.
struct Table<'a> {
    columns: &'a [Column],
    writer: SerializedFileWriter<Vec<u8>>,
    /// The values of the group at hand, by column.
    held: Vec<Vec<Value>>,
    out: &'a mut dyn Write,
}

/// Writes the table.
pub fn write_fleet(rows: &dyn FleetRows, out: &mut dyn Write) -> io::Result<()> {
    let columns = columns(rows.labels());
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("accsim version ", env!("CARGO_PKG_VERSION")).to_owned());
    let schema = schema(&columns).map_err(failed)?;
    let writer =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).map_err(failed)?;
    let mut table = Table { held: vec![Vec::new(); columns.len()], columns: &columns, writer, out };
    rows.each(&mut |row| {
        for point in &row.points {
            table.add(|column| cell_of(&row, Some(point), column).into_owned())?;
        }
        if row.points.is_empty() {
            table.add(|column| cell_of(&row, None, column).into_owned())?;
        }
        Ok(())
    })?;
    table.end_group()?;
    let Table { mut writer, out, .. } = table;
    writer.finish().map_err(failed)?;
    writer.flush()?;
    out.write_all(&std::mem::take(writer.inner_mut()))
}

fn schema(columns: &[Column]) -> Result<TypePtr, ParquetError> {
    let field = |column: &Column| {
        let physical = match column.kind {
            Kind::Text => Physical::BYTE_ARRAY,
            Kind::Count | Kind::Word => Physical::INT64,
            Kind::Number => Physical::DOUBLE,
        };
        let logical = match column.kind {
            Kind::Text => Some(LogicalType::String),
            Kind::Word => Some(LogicalType::integer(64, false)),
            Kind::Count | Kind::Number => None,
        };
        let field = Type::primitive_type_builder(&column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical);
        field.build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder("points").with_fields(fields).build().map(Arc::new)
}

impl Table<'_> {
    fn add(&mut self, value: impl Fn(&str) -> Value) -> io::Result<()> {
        for (column, held) in self.columns.iter().zip(&mut self.held) {
            held.push(value(&column.name));
        }
        if self.held.first().is_some_and(|held| held.len() >= GROUP) { self.end_group() } else { Ok(()) }
    }

    fn end_group(&mut self) -> io::Result<()> {
        if self.held.iter().all(Vec::is_empty) {
            return Ok(());
        }
        self.write_group().map_err(failed)?;
        self.writer.flush()?;
        self.out.write_all(&std::mem::take(self.writer.inner_mut()))
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for (column, held) in self.columns.iter().zip(&mut self.held) {
            let values = std::mem::take(held);
            let Some(mut writer) = group.next_column()? else { break };
            match column.kind {
                Kind::Text => {
                    let (levels, texts) = known(&values, |value| {
                        value.as_str().map(|text| ByteArray::from(text.as_bytes().to_vec()))
                    });
                    writer.typed::<ByteArrayType>().write_batch(&texts, Some(&levels), None)?;
                }
                Kind::Count | Kind::Word => {
                    let (levels, counts) = known(&values, |value| {
                        // A word without a sign has the same bits.
                        let word = value.as_u64().map(|word| i64::from_ne_bytes(word.to_ne_bytes()));
                        value.as_i64().or(word)
                    });
                    writer.typed::<Int64Type>().write_batch(&counts, Some(&levels), None)?;
                }
                Kind::Number => {
                    let (levels, numbers) = known(&values, Value::as_f64);
                    writer.typed::<DoubleType>().write_batch(&numbers, Some(&levels), None)?;
                }
            }
            writer.close()?;
        }
        group.close().map(|_| ())
    }
}

/// Which values there are, and these.
fn known<T>(values: &[Value], read: impl Fn(&Value) -> Option<T>) -> (Vec<i16>, Vec<T>) {
    let read: Vec<Option<T>> = values.iter().map(read).collect();
    let levels = read.iter().map(|value| i16::from(value.is_some())).collect();
    (levels, read.into_iter().flatten().collect())
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}
