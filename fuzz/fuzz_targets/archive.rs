//! Any bytes, read as a file: through whatever they claim to be packed in, to an answer.
//!
//! They are read twice, whole and in small pieces, and both answers must be the same, but for how much is read before
//! a limit is noticed and before damage in xz. Memory is watched by the fuzzer
//! (`-rss_limit_mb`), time by the limits below and `-timeout`.

#![no_main]

use std::io::{self, Read};

use accsim::evidence::{Failure, Format, Limit, Limits, ReadError, Reader, Record};
use libfuzzer_sys::fuzz_target;

/// Bytes in pieces of a few, with an interruption now and then.
struct Pieces<'a> {
    bytes: &'a [u8],
    turn: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.turn += 1;
        if self.turn % 7 == 0 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let most = out.len().min(1 + self.turn * 31 % 97);
        self.bytes.read(&mut out[..most])
    }
}

/// Names, records and errors of what was read.
#[derive(Debug, PartialEq)]
struct Answer {
    names: Vec<String>,
    /// File, line and kind of each record; what is in them is the scanner's to get right.
    records: Vec<(u32, u64, bool)>,
    errors: Vec<ReadError>,
    passed_over: usize,
}

fn answer(source: &mut (dyn Read + Send)) -> Answer {
    let limits = Limits::default()
        .with_decompressed(8 << 20)
        .with_window(8 << 20)
        .with_entries(1_000)
        .with_line(1 << 18);
    let mut reader = Reader::new(limits);
    let mut records = Vec::new();
    let errors = reader.read_stream("x", source, &mut |place, record| {
        records.push((place.file, place.line, matches!(record, Record::Skipped(_))));
    });
    Answer {
        names: reader.files().iter().map(|file| file.name.clone()).collect(),
        records,
        errors,
        passed_over: reader.passed_over().len(),
    }
}

/// Whether the bytes were left at a point that hangs on the sizes of buffers.
fn is_inexact(answer: &Answer) -> bool {
    answer.errors.iter().any(|error| {
        matches!(
            error.failure,
            Failure::Damaged { format: Format::Xz, .. }
                | Failure::OverLimit(Limit::Decompressed(_) | Limit::Ratio(_))
        )
    })
}

fuzz_target!(|bytes: &[u8]| {
    let whole = answer(&mut &bytes[..]);
    assert!(whole.names.iter().all(|name| name == "x" || name.starts_with("x!/")));
    assert!(
        whole
            .names
            .iter()
            .chain(whole.errors.iter().map(|error| &error.name))
            .all(|name| !name.contains('\u{1b}'))
    );
    let pieces = answer(&mut Pieces { bytes, turn: 0 });
    if !is_inexact(&whole) && !is_inexact(&pieces) {
        assert_eq!(whole, pieces);
    }
});
