//! Any bytes, read as a log.
//!
//! They are read as a whole, line by line, and each line by a reader that knows no other; all three must agree. What a
//! record says must stand in its message, its JSON must be one line of JSON, and nothing may panic.

#![no_main]

use accsim::evidence::{Deduplicator, Place, Record, Scanner};
use accsim::report::json::write_record;
use libfuzzer_sys::fuzz_target;

type Found = Vec<(u64, String)>;

fn scan<'a>(blocks: impl Iterator<Item = &'a [u8]>) -> Found {
    let mut found = Found::new();
    let mut sink = |place: Place, record: &Record<'_>| found.push((place.line, format!("{record:?}")));
    let mut scanner = Scanner::new(0);
    blocks.for_each(|block| scanner.lines(block, &mut sink));
    scanner.finish(&mut sink);
    found
}

/// Each line by a scanner of its own: what it learnt from other lines changes nothing.
fn scan_apart(lines: &[&[u8]]) -> Found {
    let apart = (1..).zip(lines).flat_map(|(number, line)| {
        scan([*line].into_iter()).into_iter().map(move |(_, record)| (number, record))
    });
    apart.collect()
}

/// Parts of a container runtime's lines belong together.
fn has_parts(bytes: &[u8]) -> bool {
    [&b" stdout "[..], b" stderr "].iter().any(|stream| bytes.windows(8).any(|window| window == *stream))
}

fuzz_target!(|bytes: &[u8]| {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let whole = scan([bytes].into_iter());
    assert_eq!(whole, scan(lines.iter().copied()));
    if !has_parts(bytes) {
        assert_eq!(whole, scan_apart(&lines));
    }

    let mut dedup = Deduplicator::default();
    let mut scanner = Scanner::new(0);
    let mut sink = |place: Place, record: &Record<'_>| {
        if let Record::Decode(line) = record {
            let number = |name: &str| {
                let value = line.field(name).expect("a field that was read");
                let digits: Vec<u8> = value.iter().copied().take_while(u8::is_ascii_digit).collect();
                String::from_utf8(digits).expect("digits").parse::<u32>().expect("a number of 32 bits")
            };
            assert_eq!(number("#running-req"), line.running_req);
            assert_eq!(number("#queue-req"), line.queue_req);
            assert!(line.message.len() <= bytes.len());
            let is_first = !dedup.is_duplicate(line);
            // The same line again is no news, unless it has no time.
            assert!(dedup.is_duplicate(line) || line.timestamp.is_none() || !is_first);
        }
        let mut json = Vec::new();
        write_record(&mut json, "log", place.line, record).expect("memory takes all");
        assert_eq!(json.iter().filter(|byte| **byte == b'\n').count(), 1);
        serde_json::from_slice::<serde_json::Value>(&json).expect("JSON");
    };
    scanner.lines(bytes, &mut sink);
    scanner.finish(&mut sink);
});
