//! What a reader makes of bytes, in a form that can be compared.

use std::io::Read;
use std::path::Path;

use accsim::evidence::{Failure, Input, Limits, PassedOver, ReadError, Reader, Record};

/// Everything that the reading of an input came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    /// Log by log, the records with their lines.
    pub(crate) logs: Vec<(String, Vec<(u64, String)>)>,
    pub(crate) errors: Vec<ReadError>,
    pub(crate) passed_over: Vec<PassedOver>,
}

impl Outcome {
    pub(crate) fn names(&self) -> Vec<&str> {
        self.logs.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The records of all logs, one after the other.
    pub(crate) fn records(&self) -> Vec<&(u64, String)> {
        self.logs.iter().flat_map(|(_, records)| records).collect()
    }

    /// The decode lines among the records. A line that a cut goes through is a record of its own, and none of these.
    pub(crate) fn decode_lines(&self) -> Vec<&(u64, String)> {
        self.records().into_iter().filter(|(_, record)| record.starts_with("Decode(")).collect()
    }

    pub(crate) fn failures(&self) -> Vec<(&str, &Failure)> {
        self.errors.iter().map(|error| (error.name.as_str(), &error.failure)).collect()
    }

    pub(crate) fn passed(&self) -> Vec<String> {
        self.passed_over.iter().map(ToString::to_string).collect()
    }
}

/// Reads with one thread.
pub(crate) fn with(
    limits: Limits,
    read: impl FnOnce(&mut Reader, &mut Sink<'_>) -> Vec<ReadError>,
) -> Outcome {
    let mut reader = Reader::new(limits);
    let mut found: Vec<Vec<(u64, String)>> = Vec::new();
    let errors = read(&mut reader, &mut |place, record: &Record<'_>| {
        let file = place.file as usize;
        found.resize(found.len().max(file + 1), Vec::new());
        found[file].push((place.line, format!("{record:?}")));
    });
    found.resize(reader.files().len(), Vec::new());
    for (file, records) in reader.files().iter().zip(&found) {
        assert_eq!(file.has_records, !records.is_empty(), "{}", file.name);
    }
    let names = reader.files().iter().map(|file| file.name.clone());
    Outcome { logs: names.zip(found).collect(), errors, passed_over: reader.passed_over().to_vec() }
}

type Sink<'a> = dyn FnMut(accsim::evidence::Place, &Record<'_>) + 'a;

/// Reads bytes as a stream called `x`.
pub(crate) fn bytes(bytes: &[u8]) -> Outcome {
    bytes_within(bytes, Limits::default())
}

pub(crate) fn bytes_within(mut bytes: &[u8], limits: Limits) -> Outcome {
    with(limits, |reader, sink| reader.read_stream("x", &mut bytes, sink))
}

pub(crate) fn stream(source: &mut (dyn Read + Send), limits: Limits) -> Outcome {
    with(limits, |reader, sink| reader.read_stream("x", source, sink))
}

pub(crate) fn path(path: &Path) -> Outcome {
    path_within(path, Limits::default())
}

pub(crate) fn path_within(path: &Path, limits: Limits) -> Outcome {
    with(limits, |reader, sink| reader.read(&Input::from(path), sink))
}

/// A log of a real server.
pub(crate) fn h200(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/h200").join(name)).unwrap()
}

/// The beginning of a log of a real server: 60 lines.
pub(crate) fn h200_start(name: &str) -> Vec<u8> {
    h200(name).split_inclusive(|byte| *byte == b'\n').take(60).flatten().copied().collect()
}

/// Three decode lines and something else between them.
pub(crate) fn short_log() -> Vec<u8> {
    let mut log = String::new();
    for line in 0..3 {
        log.push_str("INFO:     127.0.0.1:50000 - \"POST /generate HTTP/1.1\" 200 OK\n");
        log.push_str(&decode_line(line));
    }
    log.into_bytes()
}

/// A decode line with the time `second`.
pub(crate) fn decode_line(second: usize) -> String {
    format!(
        "[2026-10-12 01:02:{second:02} TP0] Decode batch, #running-req: 16, #token: 793, token usage: 0.05, \
         accept len: 3.52, accept rate: 0.50, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0\n"
    )
}
