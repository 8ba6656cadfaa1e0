//! Parquet: exports in, records out.

use std::fs::{self, File};

use accsim::cli::Exit;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Value, json};

use super::aiperf::{export, rows};
use super::support::{accsim, collect, data, records};

#[test]
fn an_export_of_aiperf() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server_metrics_export.bin");
    export(&file, &rows());
    // The first place alone was exported: it cannot be more often accepted than there were steps, and is called out.
    let found = records(&file);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["span"], "window");
    assert_eq!(
        (&found[0]["steps"], &found[0]["accepted"], &found[0]["endpoints"]),
        (&json!(2000), &json!(5000), &json!(2))
    );
    assert_eq!(found[0]["accept_len"], json!(3.5));
    assert_eq!(found[0]["contradictions"].as_array().unwrap().len(), 2);
    // Rows in any order.
    let mut turned = rows();
    turned.reverse();
    export(&file, &turned);
    assert_eq!(records(&file), found);
    // It has no single moment.
    assert_eq!(collect(&file, &file, &[]).exit, Exit::Failed);
}

#[test]
fn a_counter_that_fell_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("export");
    let mut fallen = rows();
    for row in &mut fallen {
        if row.0 == "a:1" && row.2 == 2 {
            row.3 = 1.0;
        }
    }
    export(&file, &fallen);
    assert!(records(&file)[0]["restarted"].as_str().unwrap().contains("a:1"));
}

#[test]
fn other_tables_and_damaged_ones() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.parquet");
    export(&file, &rows());
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let ran = accsim(&["records", file.to_str().unwrap()]);
    assert_eq!(ran.exit, Exit::Failed);
    assert!(ran.err.contains("Parquet"), "{}", ran.err);
    // Every byte turned over, one at a time: an error or records, never a panic.
    for at in (0..whole.len()).step_by(7) {
        let mut spoilt = whole.clone();
        spoilt[at] ^= 0xff;
        fs::write(&file, &spoilt).unwrap();
        let ran = accsim(&["records", file.to_str().unwrap()]);
        assert!(matches!(ran.exit, Exit::Ok | Exit::Failed));
    }
}

/// A row as JSON.
fn object(row: &parquet::record::Row) -> Value {
    let cell = |field: &Field| match field {
        Field::Str(text) => json!(text),
        Field::Long(number) => json!(number),
        Field::Double(number) => json!(number),
        Field::Bool(is) => json!(is),
        Field::Null => Value::Null,
        other => panic!("{other:?}"),
    };
    row.get_column_iter().map(|(name, field)| (name.clone(), cell(field))).collect()
}

#[test]
fn records_as_parquet_say_what_the_lines_say() {
    let folder = tempfile::tempdir().unwrap();
    let (log, file) = (folder.path().join("a.log"), folder.path().join("out.parquet"));
    let line = "[2026-10-12 01:02:03 TP0] Decode batch, #running-req: 16, #token: 793, token usage: 0.05, accept len: 3.52, \
        accept rate: 0.50, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0\n";
    let other = line.replace("01:02:03", "01:02:04").replace("accept len: 3.52, ", "");
    fs::write(&log, format!("{line}{other}")).unwrap();
    let path = log.to_str().unwrap();
    let ran = accsim(&["records", path, "--format", "parquet", "-o", file.to_str().unwrap()]);
    assert_eq!(ran.exit, Exit::Ok, "{}", ran.err);
    let reader = SerializedFileReader::new(File::open(&file).unwrap()).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(|row| object(&row.unwrap())).collect();
    assert_eq!(rows.len(), 2);
    let lines = accsim(&["records", path]).lines();
    for (row, line) in rows.iter().zip(&lines) {
        for name in [
            "kind",
            "engine",
            "line",
            "timestamp",
            "running_req",
            "tokens",
            "accept_len",
            "token_usage",
            "cuda_graph",
            "gen_throughput_tps",
            "queue_req",
        ] {
            assert_eq!(row[name], line[name], "{name}");
        }
    }
    assert_eq!(rows[1]["accept_len"], json!(null));
    // Without a record it is a table without rows.
    let ran = accsim(&[
        "records",
        data("sglang.prom").to_str().unwrap(),
        "--kind",
        "decode",
        "--format",
        "parquet",
    ]);
    assert!(ran.out.starts_with(b"PAR1") && ran.out.ends_with(b"PAR1"));
}

/// The first page's header says that it unpacks to two GiB.
#[test]
fn a_page_that_asks_for_more_than_it_holds_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.parquet");
    export(&file, &rows());
    let mut bytes = fs::read(&file).unwrap();
    // Behind the magic word: kind, then the size unpacked, as Thrift writes numbers; 0x15 is the next one's head.
    assert_eq!((bytes[4], bytes[6]), (0x15, 0x15));
    let end = 7 + bytes[7..].iter().position(|byte| *byte < 128).unwrap();
    for (at, byte) in (7..end).zip([0xfe, 0xff, 0xff]) {
        bytes[at] = byte;
    }
    bytes[end] = 0x7f;
    fs::write(&file, &bytes).unwrap();
    let ran = accsim(&["records", file.to_str().unwrap()]);
    assert_eq!(ran.exit, Exit::Failed);
    assert!(ran.err.contains("a page asks for more than its bytes can hold"), "{}", ran.err);
}
