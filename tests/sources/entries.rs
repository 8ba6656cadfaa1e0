//! Entries of archives that are no plain files, or have names that mean harm.

use accsim::evidence::{Failure, Format, Limit, Limits};

use crate::pack::{gzip, tar_header, tar_raw, zip};
use crate::read::{self, short_log};

#[test]
fn links_devices_and_directories_of_a_tar() {
    let log = short_log();
    let size = log.len() as u64;
    let entries: Vec<(tar::Header, &[u8])> = vec![
        (tar_header("dir/", b'5', 0), b""),
        (tar_header("old-dir/", b'0', 0), b""),
        (tar_header("dir/a.log", b'0', size), &log),
        // A hard link may carry the size of its target and has no data.
        (tar_header("hard", b'1', size), b""),
        (tar_header("soft", b'2', 0), b""),
        (tar_header("char", b'3', 0), b""),
        (tar_header("block", b'4', 0), b""),
        (tar_header("pipe", b'6', 0), b""),
        (tar_header("contiguous.log", b'7', size), &log),
        (tar_header("global", b'g', 20), b"20 comment=anything\n"),
        (tar_header("unknown.log", b'?', size), &log),
        (tar_header("old.log", 0, size), &log),
    ];
    let read = read::bytes(&tar_raw(&entries));
    assert_eq!(read.errors, []);
    assert_eq!(read.names(), ["x!/dir/a.log", "x!/contiguous.log", "x!/unknown.log", "x!/old.log"]);
    assert_eq!(read.records().len(), 12);
    let passed = read.passed();
    assert_eq!(
        passed,
        [
            "x!/hard: a link in an archive",
            "x!/soft: a link in an archive",
            "x!/char: a pipe or device in an archive",
            "x!/block: a pipe or device in an archive",
            "x!/pipe: a pipe or device in an archive",
        ]
    );
}

#[test]
fn a_sparse_file_is_passed_over_with_all_its_maps() {
    let log = short_log();
    let mut sparse = tar_header("holes", b'S', 512);
    let gnu = sparse.as_gnu_mut().unwrap();
    gnu.set_is_extended(true);
    gnu.set_real_size(1 << 60);
    sparse.set_cksum();
    let mut more = [0; 512];
    more[504] = 1;
    let map_and_data = [&more[..], &[0; 512], &[b'x'; 512]].concat();
    let read = read::bytes(&tar_raw(&[
        (sparse, &map_and_data),
        (tar_header("a.log", b'0', log.len() as u64), &log),
    ]));
    assert_eq!(read.errors, []);
    assert_eq!(read.passed(), ["x!/holes: a sparse file in an archive"]);
    assert_eq!(read.records().len(), 3);
}

/// Names are labels: nothing is looked up, created or followed, and a terminal sees only text.
#[test]
fn names_that_mean_harm_are_labels() {
    let log = short_log();
    let size = log.len() as u64;
    let names = ["../../etc/passwd", "/etc/passwd", "./a.log", "\u{1b}[2Jb.log", "\u{202e}gol.c", "a!/b"];
    let shown = [
        "x!/../../etc/passwd",
        "x!//etc/passwd",
        "x!/a.log",
        "x!/\\u{1b}[2Jb.log",
        "x!/\\u{202e}gol.c",
        "x!/a!/b",
    ];
    let entries: Vec<_> = names.iter().map(|name| (tar_header(name, b'0', size), &log[..])).collect();
    assert_eq!(read::bytes(&tar_raw(&entries)).names(), shown);
    let entries: Vec<_> = names.iter().map(|name| (*name, &log[..])).collect();
    let read = read::bytes(&zip(&entries, ::zip::CompressionMethod::Stored));
    assert_eq!(read.names(), shown);
    assert_eq!((read.records().len(), read.errors.len()), (18, 0));
}

#[test]
fn names_that_are_no_utf_8() {
    let mut header = tar_header("a.log", b'0', 0);
    header.as_old_mut().name[0] = 0xff;
    header.set_cksum();
    assert_eq!(read::bytes(&tar_raw(&[(header, b"")])).names(), ["x!/\u{fffd}.log"]);
}

/// Headers of names may claim any size; memory is not theirs to ask for.
#[test]
fn a_name_of_two_megabytes_is_damage() {
    let name = vec![b'n'; 2 << 20];
    for kind in [b'L', b'x'] {
        let archive = tar_raw(&[(tar_header("long", kind, name.len() as u64), &name)]);
        let read = read::bytes(&gzip(&archive));
        assert!(matches!(read.failures()[..], [("x", Failure::Damaged { format: Format::Tar, .. })]));
    }
}

#[test]
fn a_long_name_is_shown_in_part() {
    let name = vec![b'n'; 100_000];
    let archive = tar_raw(&[(tar_header("long", b'L', 100_000), &name), (tar_header("short", b'0', 0), b"")]);
    let read = read::bytes(&archive);
    assert!(read.errors.is_empty() && read.names()[0].ends_with("nnn…") && read.names()[0].len() < 600);
}

#[test]
fn a_tar_header_that_is_none() {
    let log = short_log();
    let good = tar_header("a.log", b'0', log.len() as u64);
    let mut bad = good.clone();
    bad.as_mut_bytes()[0] ^= 1;
    let read = read::bytes(&tar_raw(&[(good.clone(), &log), (bad, &log)]));
    assert_eq!(read.names(), ["x!/a.log"]);
    assert!(matches!(read.failures()[..], [("x", Failure::Damaged { format: Format::Tar, .. })]));
    let mut no_size = good;
    no_size.as_old_mut().size = *b"not a number";
    no_size.set_cksum();
    let read = read::bytes(&tar_raw(&[(no_size, &log)]));
    assert!(matches!(read.failures()[..], [("x", Failure::Damaged { format: Format::Tar, .. })]));
}

/// Archives that were joined with `cat` are read to the end, and what else stands behind an end is nobody's.
#[test]
fn archives_behind_each_other() {
    let log = short_log();
    let archive = tar_raw(&[(tar_header("a.log", b'0', log.len() as u64), &log)]);
    let read = read::bytes(&[&archive[..], &archive, &[b'?'; 700]].concat());
    assert_eq!((read.names().len(), read.errors.len()), (2, 0));
}

/// Patches the local header of the first entry.
fn patched(mut archive: Vec<u8>, at: usize, bytes: &[u8]) -> Vec<u8> {
    archive[at..at + bytes.len()].copy_from_slice(bytes);
    archive
}

#[test]
fn zip_entries_that_cannot_be_read_are_named_and_the_others_read() {
    let log = short_log();
    let archive = zip(&[("a.log", &log), ("b.log", &log)], ::zip::CompressionMethod::Deflated);
    let encrypted = read::bytes(&patched(archive.clone(), 6, &[1]));
    assert_eq!(encrypted.failures(), [("x!/a.log", &Failure::Encrypted)]);
    let lzma = read::bytes(&patched(archive.clone(), 8, &[14]));
    let unsupported = Failure::Unsupported("compression method 14 of zip".to_owned());
    assert_eq!(lzma.failures(), [("x!/a.log", &unsupported)]);
    assert_eq!(lzma.errors[0].to_string(), "cannot read x!/a.log: compression method 14 of zip is not read");
    for read in [encrypted, lzma] {
        assert_eq!((read.names(), read.records().len()), (vec!["x!/b.log"], 3));
    }
    // Encrypted, and of a length that only the end of the data tells.
    let hidden = read::bytes(&patched(patched(archive, 6, &[9]), 18, &[0; 4]));
    assert_eq!(hidden.failures()[0], ("x!/a.log", &Failure::Encrypted));
    assert!(matches!(hidden.failures()[1], ("x", Failure::Damaged { format: Format::Zip, .. })));
}

/// Some writers announce lengths behind a directory, where nothing is.
#[test]
fn a_zip_directory_without_the_descriptor_that_it_announces() {
    let log = short_log();
    let archive = zip(&[("logs/", b""), ("logs/a.log", &log)], ::zip::CompressionMethod::Stored);
    // Nor need a directory be what its method says.
    for flags_and_method in [[8, 0, 0], [8, 0, 8], [0, 0, 8]] {
        let read = read::bytes(&patched(archive.clone(), 6, &flags_and_method));
        assert_eq!((read.names(), read.errors.len()), (vec!["x!/logs/a.log"], 0));
    }
}

/// Bytes that look like the end of an entry do not end it: only the right checksum and length do.
#[test]
fn a_stored_entry_that_holds_descriptors() {
    let log = short_log();
    let inner =
        crate::pack::zip_stream(&[("a.log", &log), ("b.log", &log)], ::zip::CompressionMethod::Stored);
    let tricky = [&b"PK\x07\x08"[..], &inner, b"PK\x07PK\x07\x08\0\0\0\0\0\0\0\0\0\0\0\0PK\x07"].concat();
    let outer = crate::pack::zip_stream(
        &[("inner.zip", &inner), ("tricky", &tricky), ("c.log", &log)],
        ::zip::CompressionMethod::Stored,
    );
    let read = read::bytes(&outer);
    assert_eq!(read.errors, []);
    assert_eq!(read.names(), ["x!/inner.zip!/a.log", "x!/inner.zip!/b.log", "x!/tricky", "x!/c.log"]);
    assert_eq!(read.records().len(), 15);
}

#[test]
fn a_wrong_checksum_is_told_with_the_records_read() {
    let log = short_log();
    let archive = zip(&[("a.log", &log), ("b.log", &log)], ::zip::CompressionMethod::Stored);
    let read = read::bytes(&patched(archive, 14, &[0; 4]));
    assert_eq!(read.records().len(), 6);
    let [error] = &read.errors[..] else { panic!("{:?}", read.errors) };
    assert_eq!((error.name.as_str(), error.bytes), ("x!/a.log", log.len() as u64));
}

#[test]
fn too_many_entries() {
    let log = short_log();
    let size = log.len() as u64;
    let entries: Vec<_> = (0..11).map(|_| (tar_header("a.log", b'0', size), &log[..])).collect();
    let zipped: Vec<_> = (0..11)
        .map(|index| (["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"][index], &log[..]))
        .collect();
    for archive in [tar_raw(&entries), zip(&zipped, ::zip::CompressionMethod::Deflated)] {
        assert_eq!(read::bytes_within(&archive, Limits::default().with_entries(11)).errors, []);
        let read = read::bytes_within(&archive, Limits::default().with_entries(10));
        assert_eq!(read.names().len(), 10);
        assert_eq!(read.failures(), [("x", &Failure::OverLimit(Limit::Entries(10)))]);
    }
}

/// What is no text is passed over where it was found by the way, by its first bytes.
#[test]
fn files_that_are_no_text() {
    let read = read::bytes(&tar_raw(&[
        (tar_header("plot.log", b'0', 12), b"\x89PNG\r\n\x1a\n...."),
        (tar_header("a.bz2", b'0', 8), b"BZh91AY&"),
        (tar_header("notes", b'0', 4), b"text"),
    ]));
    assert_eq!(read.names(), ["x!/notes"]);
    assert_eq!(read.passed(), ["x!/plot.log: no text (PNG)", "x!/a.bz2: bzip2, which is not read"]);
    // Named itself, it is read, or refused.
    let log = [b"%PDF-1.7\n", &short_log()[..]].concat();
    assert_eq!(read::bytes(&log).records().len(), 3);
    assert_eq!(read::bytes(b"BZh91AY&").failures(), [("x", &Failure::Unsupported("bzip2".to_owned()))]);
}
