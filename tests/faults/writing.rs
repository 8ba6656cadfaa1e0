//! Results that cannot be written, and processes that are ended while they write: the old file or the new one, never half.

use std::fs;

use super::program::{Fault, Folder, WRITERS, each};

const OLD: &[u8] = b"what was there before\n";

/// The files of a command as they are at first. What exists anyway is kept as it is.
fn begin(folder: &Folder, files: &[&str]) -> Vec<Vec<u8>> {
    let old = files.iter().map(|name| {
        if name.starts_with("out") {
            folder.write(name, OLD);
        }
        fs::read(folder.at(name)).unwrap()
    });
    old.collect()
}

fn contents(folder: &Folder, files: &[&str]) -> Vec<Vec<u8>> {
    files.iter().map(|name| fs::read(folder.at(name)).unwrap()).collect()
}

fn put(folder: &Folder, files: &[&str], contents: &[Vec<u8>]) {
    for (name, bytes) in files.iter().zip(contents) {
        folder.write(name, bytes);
    }
}

/// The process is ended before each of its writes, and in the middle of each.
#[test]
fn an_end_at_any_write_leaves_the_old_file_or_the_new_one() {
    each(&WRITERS, |(line, files)| {
        let folder = Folder::new();
        let old = begin(&folder, files);
        let ran = folder.run(line, Fault::None);
        assert!(matches!(ran.code, Some(0 | 1 | 3)), "{line}: {}", ran.err);
        let new = contents(&folder, files);
        let mut ended = 0;
        for action in ["kill", "half"] {
            for number in 1.. {
                put(&folder, files, &old);
                let ran = folder.run(line, Fault::Of(action, number));
                let found = contents(&folder, files);
                for ((found, old), new) in found.iter().zip(&old).zip(&new) {
                    assert!(found == old || found == new, "{line}, {action} {number}: half a file");
                }
                if !ran.met {
                    assert_eq!(found, new, "{line}: leftovers are in the way");
                    break;
                }
                assert_eq!(ran.code, None, "{line}, {action} {number}: it should have been ended");
                ended += 1;
            }
        }
        assert!(ended >= 4 * files.len(), "{line}: ended {ended} times");
    });
}

/// No room from some write on: exit code 2, the file is named, and nothing is left of the attempt.
#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_beside_it() {
    each(&WRITERS, |(line, files)| {
        let folder = Folder::new();
        let old = begin(&folder, files);
        let names = folder.names();
        let clean = folder.run(line, Fault::None);
        let new = contents(&folder, files);
        for number in 1.. {
            put(&folder, files, &old);
            let ran = folder.run(line, Fault::Of("full", number));
            if !ran.met {
                break;
            }
            assert_eq!(ran.code, Some(2), "{line}, write {number}: {}", ran.err);
            assert!(ran.err.contains("No space left on device"), "{line}, write {number}: {}", ran.err);
            assert!(files.iter().any(|name| ran.err.contains(name)), "{line}, write {number}: {}", ran.err);
            let found = contents(&folder, files);
            // Of several results one may be there when another fails.
            assert!(found.iter().zip(&old).any(|(found, old)| found == old), "{line}, write {number}");
            assert!(found.iter().zip(&old).zip(&new).all(|((found, old), new)| found == old || found == new));
            let left: Vec<_> = folder.names().into_iter().filter(|name| !names.contains(name)).collect();
            assert!(left.iter().all(|name| name == "provenance"), "{line}, write {number}: {left:?}");
        }
        assert!(clean.code.is_some());
    });
}

/// Writes that take little, and writes that are interrupted, change nothing.
#[test]
fn short_and_interrupted_writes_change_nothing() {
    each(&WRITERS, |(line, files)| {
        let folder = Folder::new();
        let old = begin(&folder, files);
        let expected = folder.run(line, Fault::None);
        let new = contents(&folder, files);
        for fault in [Fault::Of("wshort", 61), Fault::Of("weintr", 2)] {
            put(&folder, files, &old);
            let ran = folder.run(line, fault);
            assert_eq!(ran.code, expected.code, "{line}, {fault:?}: {}", ran.err);
            assert!(contents(&folder, files) == new, "{line}, {fault:?}");
        }
    });
}
