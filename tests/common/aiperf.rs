//! Parquet exports of AIPerf: the table that its documentation describes.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// One row of an export: endpoint, metric, time, value, model, position.
pub(crate) type Row<'a> = (&'a str, &'a str, i64, f64, Option<&'a str>, Option<&'a str>);

pub(crate) fn export(path: &Path, rows: &[Row<'_>]) {
    let schema = parse_message_type(
        "message schema { optional binary endpoint_url (UTF8); optional binary metric_name (UTF8); \
         optional binary metric_type (UTF8); optional int64 timestamp_ns; optional double value; \
         optional binary model_name (UTF8); optional binary position (UTF8); }",
    )
    .unwrap();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer =
        SerializedFileWriter::new(File::create(path).unwrap(), Arc::new(schema), properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let texts: [Vec<Option<&str>>; 5] = [
        rows.iter().map(|row| Some(row.0)).collect(),
        rows.iter().map(|row| Some(row.1)).collect(),
        rows.iter().map(|_| Some("counter")).collect(),
        rows.iter().map(|row| row.4).collect(),
        rows.iter().map(|row| row.5).collect(),
    ];
    let mut texts = texts.into_iter();
    let all = vec![1_i16; rows.len()];
    while let Some(mut column) = group.next_column().unwrap() {
        match column.untyped() {
            ColumnWriter::ByteArrayColumnWriter(to) => {
                let cells = texts.next().unwrap();
                let present: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
                let values: Vec<ByteArray> = cells.into_iter().flatten().map(ByteArray::from).collect();
                to.write_batch(&values, Some(&present), None).unwrap();
            }
            ColumnWriter::Int64ColumnWriter(to) => {
                let values: Vec<i64> = rows.iter().map(|row| row.2).collect();
                to.write_batch(&values, Some(&all), None).unwrap();
            }
            ColumnWriter::DoubleColumnWriter(to) => {
                let values: Vec<f64> = rows.iter().map(|row| row.3).collect();
                to.write_batch(&values, Some(&all), None).unwrap();
            }
            _ => panic!("no such column"),
        }
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

/// Two endpoints, three scrapes.
pub(crate) fn rows() -> Vec<Row<'static>> {
    let mut rows = Vec::new();
    for (time, drafts) in [(1, [500.0, 500.0]), (2, [1000.0, 900.0]), (3, [1600.0, 1400.0])] {
        for (endpoint, drafts) in ["a:1", "b:1"].into_iter().zip(drafts) {
            let model = Some("m");
            rows.push((endpoint, "vllm:spec_decode_num_drafts", time, drafts, model, None));
            rows.push((endpoint, "vllm:spec_decode_num_accepted_tokens", time, drafts * 2.5, model, None));
            rows.push((
                endpoint,
                "vllm:spec_decode_num_accepted_tokens_per_pos",
                time,
                drafts * 1.5,
                model,
                Some("0"),
            ));
            rows.push((endpoint, "vllm:num_requests_running", time, 3.0, model, None));
        }
    }
    rows
}
