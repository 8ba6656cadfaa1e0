//! Any bytes, read in one block and line by line: the same records at the same places, and no panic.

#![no_main]

use accsim::evidence::{Place, Record, Scanner};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|log: &[u8]| {
    let whole = read(&mut std::iter::once(log));
    let by_line = read(&mut log.split_inclusive(|byte| *byte == b'\n'));
    assert_eq!(whole, by_line);
});

/// What the records of a log say, with their lines, when it comes in these blocks.
fn read<'a>(blocks: &mut dyn Iterator<Item = &'a [u8]>) -> Vec<(u64, String)> {
    let mut seen = Vec::new();
    let mut scanner = Scanner::new(0);
    let mut sink = |place: Place, record: &Record<'_>| seen.push((place.line, format!("{record:?}")));
    for block in blocks {
        scanner.lines(block, &mut sink);
    }
    scanner.finish(&mut sink);
    seen
}
