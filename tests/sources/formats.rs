//! Whatever a log is packed in, its records are those of the log.

use std::fs;

use crate::pack::{ENTRY, Pack, gzip, tar, xz, zip, zstd};
use crate::read::{self, h200, short_log};

/// Files that other people's programs have packed: see `tests/data/packed/README.md`.
const PACKED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/packed");

#[test]
fn every_format_gives_the_records_of_the_plain_log() {
    let log = h200("ngram_al351.log");
    let plain = read::bytes(&log);
    assert!(plain.records().len() > 32);
    for pack in Pack::ALL {
        let read = read::bytes(&pack.pack(&log));
        assert_eq!(read.errors, [], "{pack:?}");
        assert_eq!(read.passed_over, [], "{pack:?}");
        assert_eq!(read.records(), plain.records(), "{pack:?}");
        let name = if pack.is_archive() { format!("x!/{ENTRY}") } else { "x".to_owned() };
        assert_eq!(read.names(), [name], "{pack:?}");
    }
}

#[test]
fn every_format_in_every_other() {
    let log = short_log();
    let plain = read::bytes(&log);
    for outer in Pack::ALL {
        for inner in Pack::ALL {
            let read = read::bytes(&outer.pack(&inner.pack(&log)));
            assert_eq!(read.errors, [], "{inner:?} in {outer:?}");
            assert_eq!(read.records(), plain.records(), "{inner:?} in {outer:?}");
            let part = |pack: Pack| if pack.is_archive() { format!("!/{ENTRY}") } else { String::new() };
            assert_eq!(read.names(), [format!("x{}{}", part(outer), part(inner))]);
        }
    }
}

/// Formats are told by their first bytes: a name that says otherwise changes nothing.
#[test]
fn names_decide_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let log = short_log();
    let plain = read::bytes(&log);
    let files = [
        ("a.log", gzip(&tar(&[("x.gz", &log)]))),
        ("b.gz", log.clone()),
        ("c.zip", xz(&log)),
        ("d", zip(&[("e.tar", &log)], ::zip::CompressionMethod::Deflated)),
        ("e.json", zstd(&log)),
    ];
    for (name, content) in &files {
        fs::write(directory.path().join(name), content).unwrap();
    }
    let read = read::path(directory.path());
    assert_eq!((&read.errors[..], &read.passed_over[..]), (&[][..], &[][..]));
    let root = directory.path().to_str().unwrap();
    let names = ["a.log!/x.gz", "b.gz", "c.zip", "d!/e.tar", "e.json"];
    assert_eq!(read.names(), names.map(|name| format!("{root}/{name}")));
    for (name, records) in &read.logs {
        assert_eq!(records, &plain.logs[0].1, "{name}");
    }
}

#[test]
fn nothing_at_all_is_no_error() {
    assert_eq!(read::bytes(b"").names(), ["x"]);
    for pack in Pack::ALL {
        let read = read::bytes(&pack.pack(b""));
        assert_eq!((read.errors.len(), read.records().len()), (0, 0), "{pack:?}");
    }
    for archive in [tar(&[]), zip(&[], ::zip::CompressionMethod::Stored)] {
        assert_eq!(read::bytes(&archive).errors, []);
    }
}

#[test]
fn what_other_programs_have_packed() {
    let plain = read::path(format!("{PACKED}/plain.log").as_ref());
    assert_eq!(plain.records().len(), 12);
    let mut read_files = 0;
    for entry in fs::read_dir(PACKED).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if matches!(name, "README.md" | "make.sh") {
            continue;
        }
        let read = read::path(&path);
        assert_eq!(read.errors, [], "{name}");
        assert_eq!(read.records(), plain.records(), "{name}");
        let passed_over: Vec<_> = read.passed_over.iter().map(|passed| passed.why).collect();
        let expected: &[accsim::evidence::Why] = if name.contains("links") {
            &[accsim::evidence::Why::ArchivedLink, accsim::evidence::Why::ArchivedLink]
        } else if name.contains("sparse") {
            &[accsim::evidence::Why::Sparse]
        } else {
            &[]
        };
        assert_eq!(passed_over, expected, "{name}");
        read_files += 1;
    }
    assert_eq!(read_files, 20);
}
