//! Any bytes as Prometheus text: read whole and in small pieces, to the same series.

#![no_main]

use std::io::{BufReader, Cursor};

use accsim::evidence::{Exposed, parse_line, read_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let whole = read_text(&mut Cursor::new(bytes), 1 << 16).expect("memory does not fail");
    let pieces = read_text(&mut BufReader::with_capacity(3, bytes), 1 << 16).expect("memory does not fail");
    // NaN is no equal of itself; its name is.
    assert_eq!(format!("{:?}", whole.snapshot), format!("{:?}", pieces.snapshot));
    assert_eq!((whole.faults, whole.is_cut, whole.lines), (pieces.faults, pieces.is_cut, pieces.lines));
    for counts in whole.snapshot.model_counts() {
        let length = counts.counts.accept_length();
        assert!(length.is_none_or(|length| length.is_finite() && length >= 1.0));
        let _ = counts.counts.contradictions();
    }
    if let Ok(line) = std::str::from_utf8(bytes) {
        // A sample that is written again is the same sample.
        if let Ok(Exposed::Sample(sample)) = parse_line(line) {
            assert!(line.contains(sample.name));
        }
    }
});
