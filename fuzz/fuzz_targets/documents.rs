//! Any bytes as JSON of servers, clients and exports: read whole and in small pieces, to the same records.

#![no_main]

use std::io::{BufReader, Cursor};

use accsim::evidence::{CounterRecord, read_json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let read = |source: &mut dyn std::io::BufRead| {
        let mut records = Vec::new();
        let end = read_json(source, 1 << 16, &mut |line, record| {
            if let CounterRecord::Request(request) = &record {
                let _ = (request.accept_length(), request.contradictions());
            }
            records.push((line, format!("{record:?}")));
        });
        let end = end.map(|end| (format!("{:?}", end.snapshot), end.lines, end.stopped));
        (records, end.map_err(|error| error.to_string()))
    };
    assert_eq!(read(&mut Cursor::new(bytes)), read(&mut BufReader::with_capacity(3, bytes)));
});
