//! Files that fail or change while they are read.

use super::program::{Fault, Folder, READERS, each, mentions};

/// Reads that fail are tried up to this one: the files of these tests take few.
const READS: u32 = 60;

/// What could not be read is an error that names the file, wherever it happens; nothing is judged in silence on a part.
#[test]
fn an_error_in_the_middle_is_told() {
    let folder = Folder::new();
    each(&READERS, |line| {
        let whole = folder.run(line, Fault::None);
        let mut met = 0;
        for number in 1..READS {
            let ran = folder.run(line, Fault::Of("eio", number));
            if !ran.met {
                break;
            }
            met += 1;
            // Behind the last entry of an archive nothing is missed.
            if (ran.code, &ran.out) == (whole.code, &whole.out) {
                continue;
            }
            assert_eq!(ran.code, Some(2), "{line}, read {number}: {}", ran.err);
            let names = line.split_whitespace().filter_map(|word| word.strip_prefix('@'));
            // A manifest's rows and an archive's entries are named by themselves.
            let is_named = names.chain(["a/a.log", "long/long.log"]).any(|name| mentions(&ran.err, name));
            let said =
                ran.err.contains("os error 5") || mentions(&String::from_utf8_lossy(&ran.out), "os error 5");
            assert!(is_named && said, "{line}, read {number}: {}", ran.err);
        }
        assert!(met > 0, "{line}: nothing was read");
    });
}

/// Reads that bring little, and reads that are interrupted, change nothing.
#[test]
fn short_and_interrupted_reads_change_nothing() {
    let folder = Folder::new();
    each(&READERS, |line| {
        let expected = folder.run(line, Fault::None);
        assert!(matches!(expected.code, Some(0 | 1 | 3)), "{line}: {}", expected.err);
        for fault in
            [Fault::Of("short", 61), Fault::Of("short", 4096), Fault::Of("eintr", 2), Fault::Of("eintr", 3)]
        {
            let ran = folder.run(line, fault);
            let is_same = (ran.code, &ran.out, &ran.err) == (expected.code, &expected.out, &expected.err);
            assert!(is_same, "{line}, {fault:?}: {}", ran.err);
        }
    });
}

/// A file that is cut, grows, goes or is rotated away while it is read: a documented end. What is open stays readable, so one
/// that goes or is rotated changes nothing.
#[test]
fn files_that_change_while_they_are_read() {
    each(&READERS, |line| {
        let folder = Folder::new();
        let expected = folder.run(line, Fault::None);
        for action in ["unlink", "rotate", "truncate", "grow"] {
            for number in 1..4 {
                // Each time other files.
                let folder = Folder::new();
                let ran = folder.run(line, Fault::Of(action, number));
                let code = ran.code.unwrap_or_else(|| panic!("{line}, {action} {number}: a signal"));
                assert!((0..=3).contains(&code), "{line}, {action} {number}: {code}");
                assert!(code != 2 || !ran.err.is_empty(), "{line}, {action} {number}");
                if !ran.met {
                    break;
                }
                let is_same = code == expected.code.unwrap() && ran.out.len() == expected.out.len();
                let is_kept = matches!(action, "unlink" | "rotate");
                // A path that is opened twice is gone or empty the second time, and that is told.
                let is_told = matches!(code, 2 | 3) && !ran.err.is_empty();
                assert!(!is_kept || is_same || is_told, "{line}, {action} {number}: {}", ran.err);
            }
        }
    });
}
