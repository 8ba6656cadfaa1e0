//! What a file may cost.

use std::io::{self, Read};

use accsim::evidence::{Failure, Limit, Limits};

use crate::pack::{Pack, gzip, tar, xz, zip, zstd, zstd_window};
use crate::read::{self, decode_line, short_log};

/// Zeros without end, after a log.
fn bomb(zeros: usize) -> Vec<u8> {
    let mut log = short_log();
    log.resize(log.len() + zeros, 0);
    log
}

#[test]
fn a_file_that_decompresses_to_too_much() {
    let packed = gzip(&bomb(3 << 20));
    let limits = Limits::default().with_decompressed(1 << 20);
    let read = read::bytes_within(&packed, limits.clone());
    assert_eq!(read.records().len(), 3);
    assert_eq!(read.failures(), [("x", &Failure::OverLimit(Limit::Decompressed(1 << 20)))]);
    assert!(read.errors[0].to_string().contains("more than 1.0 MiB (--max-decompressed raises the limit)"));
    // Every layer counts, and one archive has one purse for all its entries.
    let archive = zip(&[("a", &packed), ("b", &packed), ("c", &packed)], ::zip::CompressionMethod::Deflated);
    let read = read::bytes_within(&archive, limits);
    assert_eq!(read.failures(), [("x!/a", &Failure::OverLimit(Limit::Decompressed(1 << 20)))]);
    assert_eq!(read.names(), ["x!/a"]);
}

#[test]
fn a_file_that_decompresses_to_too_many_times_its_size() {
    let once = gzip(&bomb(70 << 20));
    let read = read::bytes_within(&once, Limits::default().with_ratio(100));
    assert_eq!(read.failures(), [("x", &Failure::OverLimit(Limit::Ratio(100)))]);
    assert_eq!(read.records().len(), 3);
    assert_eq!(read::bytes_within(&once, Limits::default().with_ratio(2_000)).errors, []);
    // Small files may have any ratio.
    assert_eq!(read::bytes_within(&gzip(&bomb(1 << 20)), Limits::default().with_ratio(10)).errors, []);
    // By default a bomb in a bomb is one.
    let read = read::bytes(&gzip(&once));
    assert_eq!(read.failures(), [("x", &Failure::OverLimit(Limit::Ratio(1_000)))]);
}

#[test]
fn a_stream_that_asks_for_too_much_memory() {
    let log = short_log();
    let read = read::bytes(&zstd_window(26, &[&log]));
    assert_eq!((read.errors.len(), read.records().len()), (0, 3));
    let read = read::bytes(&zstd_window(27, &[&log]));
    assert_eq!(read.failures(), [("x", &Failure::OverLimit(Limit::Window(64 << 20)))]);
    let wide = Limits::default().with_window(128 << 20);
    assert_eq!(read::bytes_within(&zstd_window(27, &[&log]), wide).records().len(), 3);
    // The dictionary of preset 1 has 1 MiB.
    assert_eq!(read::bytes_within(&xz(&log), Limits::default().with_window(1 << 20)).errors, []);
    let read = read::bytes_within(&xz(&log), Limits::default().with_window(1 << 19));
    assert_eq!(read.failures(), [("x", &Failure::OverLimit(Limit::Window(1 << 19)))]);
}

#[test]
fn too_many_layers() {
    let log = short_log();
    let mut packed = log.clone();
    for layer in 1..=5 {
        packed = gzip(&packed);
        assert_eq!(read::bytes(&packed).errors, [], "{layer}");
    }
    packed = gzip(&packed);
    assert_eq!(read::bytes(&packed).failures(), [("x", &Failure::OverLimit(Limit::Layers(5)))]);
    assert_eq!(read::bytes_within(&packed, Limits::default().with_layers(6)).records().len(), 3);
    // What lies beside the one that is too deep is read.
    let archive = tar(&[("deep", &packed), ("a.log", &log)]);
    let read = read::bytes(&archive);
    assert_eq!(read.failures(), [("x!/deep", &Failure::OverLimit(Limit::Layers(5)))]);
    assert_eq!(read.names(), ["x!/a.log"]);
}

/// As deep as the limit can be set, on the two megabytes of stack that this test's thread has.
#[test]
fn the_stack_has_room_for_the_most_layers() {
    for pack in [Pack::Gzip, Pack::Zstd, Pack::Xz, Pack::Tar, Pack::ZipStored, Pack::ZipDeflatedStream] {
        let mut packed = short_log();
        for _ in 0..Limits::MOST_LAYERS {
            packed = pack.pack(&packed);
        }
        let limits = Limits::default().with_layers(u32::MAX);
        let read = read::bytes_within(&packed, limits.clone());
        assert_eq!((read.errors.len(), read.records().len()), (0, 3), "{pack:?}: {:?}", read.errors);
        let read = read::bytes_within(&pack.pack(&packed), limits);
        assert!(matches!(read.failures()[..], [(_, Failure::OverLimit(Limit::Layers(50)))]), "{pack:?}");
    }
}

/// A stream in pieces of a given size.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let most = out.len().min(self.1);
        self.0.read(&mut out[..most])
    }
}

#[test]
fn of_a_line_that_is_too_long_the_beginning_is_read() {
    let limit = 300_000;
    for length in [limit - 1, limit, limit + 1, limit + 262_144, 3_000_000] {
        let (first, last) = (decode_line(10), decode_line(11));
        let between = "x".repeat(length - first.trim_end().len() - last.trim_end().len() - 1);
        let lengthy = format!("{} {between}{}", first.trim_end(), last.trim_end());
        assert_eq!(lengthy.len(), length);
        // Where the line begins in the blocks that the reader works in makes no difference.
        for before in [0, 1, 1_000, 1_300] {
            let log = format!("{}{lengthy}\n{}", decode_line(1).repeat(before), decode_line(2).repeat(2));
            let whole = length <= limit;
            for piece in [4_096, usize::MAX] {
                let limits = Limits::default().with_line(limit as u64);
                let read = read::stream(&mut Pieces(log.as_bytes(), piece), limits);
                let records = read.decode_lines();
                assert_eq!(records.len(), before + 3 + usize::from(whole), "{length} {before} {piece}");
                assert_eq!(records[before].0, before as u64 + 1);
                assert_eq!(records[records.len() - 2].0, before as u64 + 2);
                let passed = if whole {
                    vec![]
                } else {
                    vec![
                        "x: the rest of 1 line longer than 292.9 KiB (--max-line raises the limit)"
                            .to_owned(),
                    ]
                };
                assert_eq!(read.passed(), passed, "{length}");
            }
        }
    }
}

/// A last line without an end, longer than a line may be.
#[test]
fn a_long_line_at_the_end() {
    let log = format!("{}{}", decode_line(1), "z".repeat(700_000));
    let read = read::bytes_within(log.as_bytes(), Limits::default().with_line(0));
    assert_eq!((read.records().len(), read.passed_over.len()), (1, 1));
    assert!(read.passed()[0].contains("256.0 KiB"));
}

/// zstd gives nothing for input without end, too: many empty frames are read in a loop, not by recursion.
#[test]
fn a_hundred_thousand_empty_streams() {
    let log = short_log();
    for empty in [zstd(b""), gzip(b"")] {
        let packed = [empty.repeat(100_000), if empty[0] == 0x1f { gzip(&log) } else { zstd(&log) }].concat();
        let read = read::bytes(&packed);
        assert_eq!((read.errors.len(), read.records().len()), (0, 3));
    }
}
