//! Cut and damaged files: what could be read counts, and what could not is said.

use accsim::evidence::{Failure, Format};

use crate::pack::{ENTRY, Pack, gzip, tar, xz, zip, zip_stream, zstd, zstd_window};
use crate::read::{self, decode_line, h200, h200_start, short_log};

fn is_truncated(failure: &Failure) -> bool {
    matches!(failure, Failure::Truncated(_))
}

#[test]
fn a_cut_file_gives_what_is_before_the_cut_and_an_error() {
    let log = h200_start("ngram_al351.log");
    let plain = read::bytes(&log);
    for pack in Pack::ALL {
        let packed = pack.pack(&log);
        // Behind the last entry of a tar archive nothing can be missed.
        let end = match pack {
            Pack::Tar | Pack::TarPax => packed.len() - 1024,
            _ => packed.len() - 1,
        };
        for cut in (0..60).map(|step| end * step / 60).chain(end.saturating_sub(70)..=end) {
            let read = read::bytes(&packed[..cut]);
            let (found, all) = (read.decode_lines(), plain.decode_lines());
            assert!(all.starts_with(&found[..found.len().min(all.len())]), "{pack:?} cut at {cut}");
            if cut < pack.magic_bytes() {
                continue;
            }
            // Between two streams that stand one after the other nothing shows a cut.
            let whole = match pack {
                Pack::GzipMembers | Pack::ZstdFrames | Pack::XzStreams => read.errors.is_empty(),
                _ => false,
            };
            assert!(
                whole || read.errors.iter().any(|error| is_truncated(&error.failure)),
                "{pack:?} at {cut}"
            );
            assert!(read.errors.len() <= 1, "{pack:?} cut at {cut}: {:?}", read.errors);
        }
    }
}

/// Most of what stands before the cut is read: decoders do not keep their window to themselves.
#[test]
fn a_cut_loses_little() {
    let log: Vec<u8> =
        ["base.log", "e3k5_al351_int1.log", "var_k5_al351.log", "dp2_k5_al351.log", "e3k3_al299.log"]
            .iter()
            .flat_map(|name| h200(name))
            .collect();
    let all = read::bytes(&log).decode_lines().len();
    for pack in [Pack::Gzip, Pack::Zstd, Pack::Xz, Pack::Tar, Pack::ZipDeflatedStream] {
        let packed = pack.pack(&log);
        let read = read::bytes(&packed[..packed.len() * 9 / 10]);
        let found = read.decode_lines().len();
        assert!(found * 10 > all * 6, "{pack:?}: {found} of {all}");
        assert!(read.errors[0].bytes > 0);
    }
}

/// A zstd decoder holds back a window of what it has decoded, here 8 MiB: a cut must not make it keep that.
#[test]
fn a_cut_zstd_frame_gives_up_its_window() {
    let log = short_log();
    let frame = zstd_window(23, &[&log, &log, &log]);
    let read = read::bytes(&frame[..frame.len() - 5]);
    assert_eq!(read.records().len(), 6);
    assert_eq!(read.failures(), [("x", &Failure::Truncated(Format::Zstd))]);
    assert_eq!(read.errors[0].bytes, 2 * log.len() as u64);
    // A reserved kind of block is damage.
    let mut damaged = frame;
    damaged[6 + 3 + log.len()] |= 6;
    let read = read::bytes(&damaged);
    assert_eq!(read.records().len(), 3);
    assert!(matches!(read.failures()[..], [("x", Failure::Damaged { format: Format::Zstd, .. })]));
}

/// Every format but tar has checksums: no damage goes unnoticed, and none makes the reader fail.
#[test]
fn a_damaged_file_gives_an_error_or_the_same_records() {
    let log = h200_start("ngram_al351.log");
    let plain = read::bytes(&log);
    for pack in Pack::ALL {
        let packed = pack.pack(&log);
        let steps = packed.len() / 97;
        for at in (0..40).chain((0..97).map(|step| step * steps)).chain(packed.len() - 40..packed.len()) {
            for flip in [0x01, 0xff] {
                let mut damaged = packed.clone();
                damaged[at] ^= flip;
                let read = read::bytes(&damaged);
                if matches!(pack, Pack::Tar | Pack::TarPax) || at < pack.magic_bytes() {
                    continue;
                }
                let same = read.records() == plain.records();
                assert!(same || !read.errors.is_empty(), "{pack:?}: byte {at} with {flip:#x}");
            }
        }
    }
}

#[test]
fn an_error_names_the_entry_it_came_up_in() {
    let log = h200("ngram_al351.log");
    let archive = tar(&[("first.log", &short_log()), (ENTRY, &log), ("last.log", &short_log())]);
    let packed = gzip(&archive);
    let read = read::bytes(&packed[..packed.len() / 2]);
    assert_eq!(read.names(), ["x!/first.log", &format!("x!/{ENTRY}")]);
    let name = format!("x!/{ENTRY}");
    assert_eq!(read.failures(), [(&name[..], &Failure::Truncated(Format::Gzip))]);
    let message = read.errors[0].to_string();
    assert!(
        message.starts_with(
            "cannot read x!/logs/node_decode_w0.out to its end: the gzip stream ends early; the"
        )
    );
}

/// One bad entry does not cost the others.
#[test]
fn what_stands_behind_a_damaged_entry_is_read() {
    let log = short_log();
    let mut inner = gzip(&log);
    let middle = inner.len() / 2;
    inner[middle] ^= 0xff;
    let archives = [
        tar(&[("a.log", &log), ("b.gz", &inner), ("c.log", &log)]),
        zip(&[("a.log", &log), ("b.gz", &inner), ("c.log", &log)], ::zip::CompressionMethod::Stored),
        zip_stream(&[("a.log", &log), ("b.gz", &inner), ("c.log", &log)], ::zip::CompressionMethod::Deflated),
    ];
    for archive in archives {
        let read = read::bytes(&archive);
        assert_eq!(read.names(), ["x!/a.log", "x!/b.gz", "x!/c.log"]);
        assert_eq!(read.logs[2].1, read.logs[0].1);
        assert!(matches!(read.failures()[..], [("x!/b.gz", Failure::Damaged { format: Format::Gzip, .. })]));
    }
    // A damaged entry of the archive itself, whose header knows its length.
    let mut archive =
        zip(&[("a.log", &h200("base.log")), ("c.log", &log)], ::zip::CompressionMethod::Deflated);
    archive[6_000] ^= 0xff;
    let read = read::bytes(&archive);
    assert_eq!(read.names(), ["x!/a.log", "x!/c.log"]);
    assert_eq!(read.logs[1].1.len(), 3);
    assert!(matches!(read.failures()[..], [("x!/a.log", Failure::Damaged { format: Format::Zip, .. })]));
}

/// An outer cut is told although the inner log ended with an error of its own.
#[test]
fn damage_inside_does_not_hide_a_cut_outside() {
    let log = h200("ngram_al351.log");
    let mut inner = gzip(&log);
    inner[40] ^= 0xff;
    let archive = tar(&[("a.gz", &inner), ("b.log", &log)]);
    let read = read::bytes(&archive[..2048]);
    let failures = read.failures();
    assert!(
        matches!(failures[0], ("x!/a.gz", Failure::Damaged { format: Format::Gzip, .. })),
        "{failures:?}"
    );
    assert_eq!(failures[1], ("x", &Failure::Truncated(Format::Tar)));
    // The cut is seen before the damage, by whoever looks ahead for both.
    let mut inner = gzip(&short_log());
    inner[40] ^= 0xff;
    let archive = tar(&[("a.gz", &inner)]);
    let read = read::bytes(&archive[..512 + inner.len() - 20]);
    assert_eq!(read.failures()[1..], [("x", &Failure::Truncated(Format::Tar))], "{:?}", read.errors);
}

#[test]
fn garbage_behind_a_stream_is_an_error_after_its_records() {
    let log = short_log();
    for packed in [gzip(&log), zstd(&log), xz(&log)] {
        let read = read::bytes(&[&packed[..], b"garbage garbage garbage"].concat());
        assert_eq!(read.records().len(), 3);
        assert!(matches!(read.failures()[..], [("x", Failure::Damaged { .. })]), "{:?}", read.errors);
    }
}

/// A file that is still written ends in the middle of a line: that is no error.
#[test]
fn a_half_written_last_line_is_no_error() {
    let line = decode_line(7);
    let log = [short_log(), line.as_bytes()[..60].to_vec()].concat();
    let read = read::bytes(&log);
    assert_eq!(read.errors, []);
    assert_eq!(read.decode_lines().len(), 3);
}
